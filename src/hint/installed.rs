use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::languages::{Language, TYPESCRIPT, facts, package_part, words};
use crate::model::RepoPath;
use crate::source::Installed;

/// Files of a package that are read for one name.
const MAX_FILES: usize = 48;
/// Bytes of them.
const MAX_BYTES: usize = 8 << 20;
/// Packages that pass a name on from each other.
const MAX_DEPTH: usize = 3;

/// What an installed module is known to have under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Has {
    /// It exports it; a type that is gone at run time, or more.
    Exported { erased: bool },
    /// The word stands in nothing that it shows.
    Nothing,
}

/// Whether a module as it is installed for `file` exports a name. `None` when it is not installed,
/// or shows too much or too little to tell.
pub(super) fn exported(
    installed: &Installed,
    file: &RepoPath,
    module: &str,
    name: &str,
) -> Option<Has> {
    let script = Language::of_path(file.as_str())? == &TYPESCRIPT;
    let mut look = Look {
        installed,
        name,
        script,
        bytes: 0,
        seen: BTreeSet::new(),
        unknown: false,
    };
    let found = if script {
        look.package(file.directory(), module, 0)?
    } else {
        look.python(module)?
    };
    match found {
        Some(erased) => Some(Has::Exported { erased }),
        None => (!look.unknown).then_some(Has::Nothing),
    }
}

struct Look<'l> {
    installed: &'l Installed,
    name: &'l str,
    script: bool,
    bytes: usize,
    seen: BTreeSet<PathBuf>,
    unknown: bool,
}

impl Look<'_> {
    // The outer `None` says that it is not there, the inner one that nothing was found.
    #[expect(
        clippy::option_option,
        reason = "not there, and there without the name"
    )]
    fn package(&mut self, directory: &str, module: &str, depth: usize) -> Option<Option<bool>> {
        let package = package_part(module)?;
        let types = match package.strip_prefix('@') {
            Some(scoped) => format!("@types/{}", scoped.replace('/', "__")),
            None => format!("@types/{package}"),
        };
        let below = module.strip_prefix(package)?.trim_start_matches('/');
        let (folder, entry) = [package, &types].into_iter().find_map(|package| {
            let folder = self.installed.npm(directory, package)?;
            let entry = entry(self.installed, &folder, below)?;
            Some((folder, entry))
        })?;
        Some(self.declared(&folder, entry, directory, depth))
    }

    // Whether the file or what it passes on by a star declares the name, and whether as a type.
    fn declared(&mut self, folder: &Path, file: PathBuf, from: &str, depth: usize) -> Option<bool> {
        let mut open = vec![file];
        while let Some(file) = open.pop() {
            if !self.seen.insert(file.clone()) {
                continue;
            }
            let bytes = self.installed.read(folder, &file);
            let Some(bytes) = bytes.filter(|_| self.seen.len() <= MAX_FILES) else {
                self.unknown = true;
                continue;
            };
            self.bytes += bytes.len();
            if self.bytes > MAX_BYTES {
                self.unknown = true;
                return None;
            }
            let named = words(&bytes, self.name).next().is_some();
            let has = |text: &str| memchr::memmem::find(&bytes, text.as_bytes()).is_some();
            self.unknown |= named || has("export =") || has("declare module");
            if !named && !has("*") {
                continue;
            }
            let facts = facts(&RepoPath::new("index.d.ts").ok()?, &bytes);
            if let Some(export) = facts.exports.iter().find(|it| it.name == self.name) {
                let local = export.local.as_deref().unwrap_or(&export.name);
                let mut kinds = facts.definitions.iter().filter(|it| it.name == local);
                let erased = kinds.next().is_some_and(|it| it.kind.is_erased())
                    && kinds.all(|it| it.kind.is_erased());
                return Some(erased);
            }
            let stars = facts.exports.iter().filter(|it| it.name == "*");
            for star in stars.filter_map(|it| it.from.as_deref()) {
                if star.starts_with('.') {
                    let base = file.parent()?.join(star);
                    let next = declaration(self.installed, &base);
                    self.unknown |= next.is_none();
                    open.extend(next);
                } else if depth == MAX_DEPTH {
                    self.unknown = true;
                } else {
                    // As the file in the package would find it, else as the repository does.
                    match self.package(from, star, depth + 1) {
                        Some(Some(erased)) => return Some(erased),
                        Some(None) => {}
                        None => self.unknown = true,
                    }
                }
            }
        }
        None
    }

    #[expect(
        clippy::option_option,
        reason = "not there, and there without the name"
    )]
    fn python(&mut self, module: &str) -> Option<Option<bool>> {
        debug_assert!(!self.script);
        let place = module.replace('.', "/");
        let top = module.split('.').next()?;
        let found = self.installed.sites().iter().find_map(|site| {
            let file = self.python_file(&site.join(&place))?;
            Some((site.clone(), file))
        });
        let (site, file) = found?;
        let folder = self.installed.module_folder(&site, top);
        let mut open = vec![file];
        while let Some(file) = open.pop() {
            if !self.seen.insert(file.clone()) || self.seen.len() > MAX_FILES {
                continue;
            }
            let Some(bytes) = self.installed.read(&folder, &file) else {
                self.unknown = true;
                continue;
            };
            let named = words(&bytes, self.name).next().is_some();
            let dynamic = memchr::memmem::find(&bytes, b"__getattr__").is_some();
            self.unknown |= named || dynamic;
            let facts = facts(&RepoPath::new("module.py").ok()?, &bytes);
            let own = facts.definitions.iter().any(|it| it.name == self.name);
            let passed = facts.exports.iter().any(|it| it.name == self.name);
            let inner = file.file_stem().is_some_and(|it| it == "__init__")
                && self.python_file(&file.with_file_name(self.name)).is_some();
            if own || passed || inner {
                return Some(Some(false));
            }
            for star in facts.exports.iter().filter(|it| it.name == "*") {
                let near = star.from.as_deref().and_then(|it| it.strip_prefix('.'));
                let next = near.filter(|it| !it.starts_with('.')).and_then(|near| {
                    self.python_file(&file.parent()?.join(near.replace('.', "/")))
                });
                self.unknown |= next.is_none();
                open.extend(next);
            }
        }
        Some(None)
    }

    fn python_file(&self, place: &Path) -> Option<PathBuf> {
        let with = |ending: &str| {
            let mut name = place.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        self.installed.first([
            place.join("__init__.pyi"),
            place.join("__init__.py"),
            with(".pyi"),
            with(".py"),
        ])
    }
}

// The declarations that a package gives for its whole or for a part below it.
fn entry(installed: &Installed, folder: &Path, below: &str) -> Option<PathBuf> {
    let manifest = installed.read(folder, &folder.join("package.json"))?;
    let manifest: Value = serde_json::from_slice(&manifest).ok()?;
    let text = |field: &str| manifest.get(field).and_then(Value::as_str);
    if let Some(exports) = manifest.get("exports").filter(|it| !it.is_null()) {
        let keyed = exports
            .as_object()
            .is_some_and(|map| map.keys().any(|key| key.starts_with('.')));
        let key = match below {
            "" => ".".to_owned(),
            below => format!("./{below}"),
        };
        let value = match (keyed, below) {
            (true, _) => exports.get(&key),
            (false, "") => Some(exports),
            (false, _) => None,
        };
        if let Some(found) = value.and_then(|value| types_of(installed, folder, value, 0)) {
            return Some(found);
        }
        if !below.is_empty() {
            return None;
        }
    }
    if !below.is_empty() {
        return declaration(installed, &folder.join(below));
    }
    let named = ["types", "typings", "main"].into_iter().filter_map(text);
    named
        .map(|path| folder.join(path.trim_start_matches("./")))
        .find_map(|base| declaration(installed, &base))
        .or_else(|| declaration(installed, &folder.join("index")))
}

fn types_of(installed: &Installed, folder: &Path, value: &Value, depth: usize) -> Option<PathBuf> {
    match value {
        Value::String(path) => declaration(installed, &folder.join(path.trim_start_matches("./"))),
        Value::Object(map) if depth < 6 => {
            ["types", "import", "module", "node", "default", "require"]
                .iter()
                .filter_map(|key| map.get(*key))
                .find_map(|value| types_of(installed, folder, value, depth + 1))
        }
        _ => None,
    }
}

// `x.d.ts` for `x`, `x.js` and itself; `x/index.d.ts` for a folder.
fn declaration(installed: &Installed, base: &Path) -> Option<PathBuf> {
    let name = base.file_name()?.to_str()?;
    let whole = [".ts", ".mts", ".cts"].iter().any(|it| name.ends_with(it));
    let itself = whole.then(|| base.to_owned());
    let endings = [(".mjs", ".d.mts"), (".cjs", ".d.cts"), (".js", ".d.ts")];
    let stems = endings.iter().filter_map(|(script, types)| {
        Some(base.with_file_name(format!("{}{types}", name.strip_suffix(script)?)))
    });
    let plain = [".d.ts", ".d.mts", ".ts"].map(|it| base.with_file_name(format!("{name}{it}")));
    let index = ["index.d.ts", "index.d.mts"].map(|it| base.join(it));
    installed.first(itself.into_iter().chain(stems).chain(plain).chain(index))
}
