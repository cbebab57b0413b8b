use crate::languages::uses::words as places;
use crate::model::RepoPath;
use crate::source::Source;

// Import names whose package is called something else.
const DISTRIBUTIONS: &[(&str, &str)] = &[
    ("OpenSSL", "pyopenssl"),
    ("PIL", "pillow"),
    ("attr", "attrs"),
    ("bs4", "beautifulsoup4"),
    ("cv2", "opencv-python"),
    ("dateutil", "python-dateutil"),
    ("dotenv", "python-dotenv"),
    ("git", "gitpython"),
    ("jwt", "pyjwt"),
    ("serial", "pyserial"),
    ("sklearn", "scikit-learn"),
    ("yaml", "pyyaml"),
];

const MANIFESTS: &[&str] = &[
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "requirements.txt",
    "requirements-dev.txt",
    "dev-requirements.txt",
    "Pipfile",
    "tox.ini",
];

/// Whether a Python manifest at or above the file names the package, as a word of its own.
pub(crate) fn declares(source: &dyn Source, file: &RepoPath, module: &str) -> bool {
    let renamed = DISTRIBUTIONS.iter().find(|(import, _)| *import == module);
    is_required(
        source,
        file,
        &normal(renamed.map_or(module, |(_, package)| package)),
    )
}

/// Whether such a manifest names a distribution, given in its normal form.
pub(crate) fn is_required(source: &dyn Source, file: &RepoPath, wanted: &str) -> bool {
    file.ancestors().any(|directory| {
        let named = MANIFESTS.iter().map(|name| {
            if directory.is_empty() {
                (*name).to_owned()
            } else {
                format!("{directory}/{name}")
            }
        });
        let folder = if directory.is_empty() {
            "requirements".to_owned()
        } else {
            format!("{directory}/requirements")
        };
        let below = source.listing().below(&folder).iter();
        let texts = below
            .filter(|entry| matches!(entry.path.extension(), Some("txt" | "in")))
            .map(|entry| entry.path.as_str().to_owned());
        named.chain(texts).any(|path| {
            let bytes = source
                .listing()
                .file(&path)
                .and_then(|path| source.read(path).ok());
            bytes.is_some_and(|bytes| {
                let text = normal(&String::from_utf8_lossy(&bytes));
                let text = text.as_bytes();
                places(text, wanted).any(|at| is_requirement(text, at, wanted.len()))
            })
        })
    })
}

// A requirement starts a string or a line, and a version, an extra or nothing follows it. `pytest`
// is not `pytest-xdist`, and a word of a sentence is no package.
fn is_requirement(text: &[u8], at: usize, length: usize) -> bool {
    let head = text.get(..at).unwrap_or_default().trim_ascii_end();
    let spaced = head.len() < at;
    let starts = match head.last() {
        None => true,
        Some(b'"' | b'\'') => !spaced,
        _ => {
            text.get(..at)
                .unwrap_or_default()
                .trim_end_matches_blank()
                .last()
                == Some(&b'\n')
        }
    };
    let rest = text.get(at + length..).unwrap_or_default();
    let ends = match rest.trim_start_matches_blank().first() {
        None => true,
        Some(byte) => b"\"'<>=!~[;,\n\r@#^".contains(byte),
    };
    starts && ends
}

trait Blank {
    fn trim_start_matches_blank(&self) -> &Self;
    fn trim_end_matches_blank(&self) -> &Self;
}

impl Blank for [u8] {
    fn trim_start_matches_blank(&self) -> &Self {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let end = self
            .iter()
            .position(|byte| !blank(byte))
            .unwrap_or(self.len());
        self.get(end..).unwrap_or_default()
    }

    fn trim_end_matches_blank(&self) -> &Self {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let end = self
            .iter()
            .rposition(|byte| !blank(byte))
            .map_or(0, |at| at + 1);
        self.get(..end).unwrap_or_default()
    }
}

/// A package's name in its normal form: these do not tell case, `-`, `_` and `.` apart.
pub(crate) fn normal(text: &str) -> String {
    text.to_ascii_lowercase().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::declares;
    use crate::model::RepoPath;
    use crate::source::Memory;

    #[test]
    fn packages_are_declared_by_whole_words() {
        let path = |text| RepoPath::new(text).unwrap();
        let source = Memory::named([
            (
                "pyproject.toml",
                "dependencies = ['PyYAML>=6', 'pytest-xdist'] # as given",
            ),
            ("requirements/dev.txt", "trio==0.3\n"),
        ]);
        let file = path("src/a.py");
        for (module, expected) in [
            ("yaml", true),
            ("trio", true),
            ("pytest", false),
            ("tri", false),
        ] {
            assert_eq!(declares(&source, &file, module), expected, "{module}");
        }
    }
}
