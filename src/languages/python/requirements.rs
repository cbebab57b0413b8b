use crate::languages::files::child;
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
        let named = MANIFESTS.iter().map(|name| child(directory, name));
        let folder = child(directory, "requirements");
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
    let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t');
    let before = text.get(..at).unwrap_or_default();
    let starts = match before.trim_ascii_end().last() {
        None => true,
        Some(b'"' | b'\'') => before.last().is_some_and(|it| !it.is_ascii_whitespace()),
        _ => before.iter().rev().find(|it| !is_blank(it)) == Some(&b'\n'),
    };
    let after = text.get(at + length..).unwrap_or_default();
    let next = after.iter().find(|it| !is_blank(it));
    starts && next.is_none_or(|byte| b"\"'<>=!~[;,\n\r@#^".contains(byte))
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
