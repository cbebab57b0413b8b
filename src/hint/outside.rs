use super::evidence::{Evidence, Way, Weight};
use super::tables;
use super::words;
use crate::model::{HintSource, Language, RepoPath};
use crate::resolve::{Resolver, is_standard, package_part};
use crate::source::Source;

/// Adds what tables and manifests know about a name: the standard library, packages that bear the
/// name, and the table of known names. A package counts only when a manifest declares it.
pub(super) fn add(
    evidence: &mut Evidence,
    source: &dyn Source,
    resolver: &Resolver<'_>,
    language: Language,
    file: &RepoPath,
    name: &str,
) {
    let mut put = |module: &str, imported: &str, from: HintSource| {
        let way = Way {
            module: module.to_owned(),
            imported: imported.to_owned(),
            path: None,
        };
        let weight = Weight {
            outside: Some(from),
            ..Weight::default()
        };
        evidence.add(way, &weight);
    };
    let script = language.is_script();
    if !script {
        for module in tables::python_modules(name) {
            put(module, name, HintSource::Stdlib);
        }
        if is_standard(language, name) {
            put(name, "*", HintSource::Stdlib);
        } else if declares_python(source, file, name) {
            put(name, "*", HintSource::Manifest);
        }
    }
    for (module, imported) in tables::known(name, script) {
        let imported = if imported.is_empty() { name } else { imported };
        if is_standard(language, module) {
            put(module, imported, HintSource::Stdlib);
            continue;
        }
        let declared = if script {
            package_part(module).is_some_and(|package| resolver.declares(file, package))
        } else {
            let package = module.split('.').next().unwrap_or(module);
            declares_python(source, file, package)
        };
        if declared {
            put(module, imported, HintSource::Manifest);
        }
    }
}

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

// Whether a Python manifest at or above the file names the package, as a word of its own.
fn declares_python(source: &dyn Source, file: &RepoPath, module: &str) -> bool {
    let renamed = DISTRIBUTIONS.iter().find(|(import, _)| *import == module);
    let wanted = normal(renamed.map_or(module, |(_, package)| package));
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
        let below = below.map(|entry| entry.path.as_str().to_owned());
        let texts = below.filter(|path| path.ends_with(".txt") || path.ends_with(".in"));
        named.chain(texts).any(|path| {
            let bytes = source
                .listing()
                .file(&path)
                .and_then(|path| source.read(path).ok());
            bytes.is_some_and(|bytes| {
                let text = normal(&String::from_utf8_lossy(&bytes));
                let mut at = words::places(text.as_bytes(), &wanted);
                // `pytest` is not `pytest-xdist`.
                at.any(|at| {
                    let around = [at.checked_sub(1), Some(at + wanted.len())];
                    !around
                        .iter()
                        .flatten()
                        .any(|at| text.as_bytes().get(*at) == Some(&b'-'))
                })
            })
        })
    })
}

// Package names do not tell case, `-`, `_` and `.` apart.
fn normal(text: &str) -> String {
    text.to_ascii_lowercase().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::declares_python;
    use crate::model::RepoPath;
    use crate::source::Memory;

    #[test]
    fn packages_are_declared_by_whole_words() {
        let path = |text| RepoPath::new(text).unwrap();
        let source = Memory::new([
            (
                path("pyproject.toml"),
                b"dependencies = ['PyYAML>=6', 'pytest-xdist']".to_vec(),
            ),
            (path("requirements/dev.txt"), b"trio==0.3\n".to_vec()),
        ]);
        let file = path("src/a.py");
        for (module, expected) in [
            ("yaml", true),
            ("trio", true),
            ("pytest", false),
            ("tri", false),
        ] {
            assert_eq!(
                declares_python(&source, &file, module),
                expected,
                "{module}"
            );
        }
    }
}
