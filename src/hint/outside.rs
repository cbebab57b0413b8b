use super::Query;
use super::evidence::{Evidence, Way, Weight};
use super::installed::{Has, exported};
use super::style::ScriptStyle;
use super::tables;
use super::words;
use crate::languages::{Language, Resolver, TYPESCRIPT, package_part};
use crate::model::{HintSource, RepoPath};
use crate::source::Source;

/// Declared packages that are looked into for one name.
const MAX_PACKAGES: usize = 200;

/// Adds what tables and manifests know about a name: the standard library, packages that bear the
/// name, the table of known names, and what declared packages export as they are installed. A package counts only when a manifest declares it.
pub(super) fn add(
    evidence: &mut Evidence,
    source: &dyn Source,
    resolver: &Resolver<'_>,
    language: &'static Language,
    style: &ScriptStyle,
    query: &Query<'_>,
    name: &str,
) {
    let file = query.file;
    let mut put = |module: &str, imported: &str, from: HintSource, erased: bool| {
        let way = Way {
            module: module.to_owned(),
            imported: imported.to_owned(),
            path: None,
        };
        let weight = Weight {
            outside: Some(from),
            types: u32::from(erased),
            ..Weight::default()
        };
        evidence.add(way, &weight);
    };
    let script = language == &TYPESCRIPT;
    if !script {
        for module in tables::python_modules(name) {
            put(module, name, HintSource::Stdlib, false);
        }
        if language.is_standard(name) {
            put(name, "*", HintSource::Stdlib, false);
        } else {
            // A class that bears the name of its package: `Redis` of redis, `IniConfig` of iniconfig.
            let package = name.to_lowercase();
            let imported = if package == name { "*" } else { name };
            let class = name.starts_with(|c: char| c.is_ascii_uppercase());
            if (imported == "*" || class) && declares_python(source, file, &package) {
                put(&package, imported, HintSource::Manifest, false);
            }
        }
    }
    if script {
        for one in tables::node_modules(name) {
            // `test` and what is newer exist under the prefix alone.
            let bare = !style.node_prefix && one.module != "test";
            let prefix = if bare { "" } else { "node:" };
            let module = format!("{prefix}{}", one.module);
            let imported = some_or(one.imported, name);
            put(&module, imported, HintSource::Stdlib, one.erased);
        }
        if let Some(package) = resolver.declared_as(file, name) {
            put(&package, "default", HintSource::Manifest, false);
        } else {
            for package in resolver.declared_like(file, name) {
                put(&package, "default", HintSource::Manifest, false);
            }
        }
    }
    for one in tables::told(query.known, name, script) {
        put(
            one.module,
            some_or(one.imported, name),
            HintSource::Manifest,
            one.erased,
        );
    }
    for one in tables::known(name, script) {
        let module = one.module;
        let declared = if script {
            package_part(module).is_some_and(|package| resolver.declares(file, package))
        } else {
            let package = module.split('.').next().unwrap_or(module);
            declares_python(source, file, package)
        };
        if declared {
            let imported = some_or(one.imported, name);
            put(module, imported, HintSource::Manifest, one.erased);
        }
    }
    for (module, erased) in shown(source, resolver, query, script, name) {
        let way = Way {
            module,
            imported: name.to_owned(),
            path: None,
        };
        let weight = Weight {
            outside: Some(HintSource::Manifest),
            types: u32::from(erased),
            installed: true,
            ..Weight::default()
        };
        evidence.add(way, &weight);
    }
}

// The declared packages that are installed and export the name, each with whether it is a type.
fn shown(
    source: &dyn Source,
    resolver: &Resolver<'_>,
    query: &Query<'_>,
    script: bool,
    name: &str,
) -> Vec<(String, bool)> {
    let file = query.file;
    let modules: Vec<String> = if script {
        resolver.declared(file)
    } else {
        let all = query.installed.distributions().into_iter();
        let named = all.flat_map(|one| {
            let modules = one.modules.into_iter();
            modules.map(move |module| (normal(&one.name), module))
        });
        let has = |module: &str| {
            matches!(
                exported(query.installed, file, module, name),
                Some(Has::Exported { .. })
            )
        };
        named
            .filter(|(package, module)| has(module) && is_required(source, file, package))
            .map(|(_, module)| module)
            .collect()
    };
    let mut found: Vec<(String, bool)> = modules
        .into_iter()
        .take(MAX_PACKAGES)
        .filter_map(
            |module| match exported(query.installed, file, &module, name)? {
                Has::Exported { erased } => Some((module, erased)),
                Has::Nothing => None,
            },
        )
        .collect();
    found.sort();
    found.dedup();
    found
}

fn some_or<'n>(imported: &'n str, name: &'n str) -> &'n str {
    if imported.is_empty() { name } else { imported }
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
    is_required(
        source,
        file,
        &normal(renamed.map_or(module, |(_, package)| package)),
    )
}

// Whether such a manifest names a distribution, given in its normal form.
fn is_required(source: &dyn Source, file: &RepoPath, wanted: &str) -> bool {
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
                words::places(text, wanted).any(|at| is_requirement(text, at, wanted.len()))
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
                b"dependencies = ['PyYAML>=6', 'pytest-xdist'] # as given".to_vec(),
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
