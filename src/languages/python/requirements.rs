//! Checks whether a Python manifest declares a package.

use regex::Regex;

use crate::languages::files::child;
use crate::model::RepoPath;
use crate::source::Source;

// Import names whose package is called something else.
const DISTRIBUTIONS: &str = "\
    OpenSSL=pyopenssl PIL=pillow attr=attrs bs4=beautifulsoup4 cv2=opencv-python dateutil=python-dateutil \
    dotenv=python-dotenv git=gitpython jwt=pyjwt serial=pyserial sklearn=scikit-learn yaml=pyyaml";

const MANIFESTS: &[&str] = &[
    "pyproject.toml", "setup.cfg", "setup.py", "requirements.txt", "requirements-dev.txt",
    "dev-requirements.txt", "Pipfile", "tox.ini",
];

/// Whether a Python manifest at or above the file names the package, as a word of its own.
pub(crate) fn declares(source: &dyn Source, file: &RepoPath, module: &str) -> bool {
    let mut renamed = DISTRIBUTIONS.split(' ');
    let package = renamed.find_map(|pair| pair.strip_prefix(module)?.strip_prefix('='));
    is_required(source, file, &normal_name(package.unwrap_or(module)))
}

/// Whether such a manifest names a distribution, given in its normal form.
///
/// A requirement starts a string or a line, and a version, an extra or nothing follows it: `pytest` is not
/// `pytest-xdist`, and a word of a sentence is no package.
pub(crate) fn is_required(source: &dyn Source, file: &RepoPath, wanted: &str) -> bool {
    let wanted = regex::escape(wanted);
    let requirement = format!(r#"(?m)(?:^[ \t]*|["']){wanted}[ \t]*(?:["'<>=!~\[;,\r@\#^]|$)"#);
    let Ok(requirement) = Regex::new(&requirement) else {
        return false;
    };
    file.ancestors().any(|directory| {
        let named = MANIFESTS.iter().map(|name| child(directory, name));
        let folder = child(directory, "requirements");
        let below = source.listing().below(&folder).iter();
        let texts = below
            .filter(|entry| matches!(entry.path.extension(), Some("txt" | "in")))
            .map(|entry| entry.path.as_str().to_owned());
        named.chain(texts).any(|path| {
            let path = source.listing().file(&path);
            let bytes = path.and_then(|path| source.read(path).ok());
            bytes.is_some_and(|bytes| {
                requirement.is_match(&normal_name(&String::from_utf8_lossy(&bytes)))
            })
        })
    })
}

/// Normalizes a package's name: case, `-`, `_` and `.` make no difference.
pub(crate) fn normal_name(text: &str) -> String {
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
