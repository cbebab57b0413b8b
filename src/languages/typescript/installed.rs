use std::path::{Path, PathBuf};

use serde_json::Value;

use super::packages::package_part;
use crate::languages::installed::{Look, MAX_BYTES, MAX_FILES};
use crate::languages::{facts, words};
use crate::model::RepoPath;
use crate::source::Installed;

/// Packages that pass a name on from each other.
const MAX_DEPTH: usize = 3;

/// Whether a package declares a name, and whether as a type. The outer `None` says that it is not
/// there, the inner one that nothing was found.
#[expect(
    clippy::option_option,
    reason = "not there, and there without the name"
)]
pub(super) fn shows(look: &mut Look<'_>, file: &RepoPath, module: &str) -> Option<Option<bool>> {
    look.package(file.directory(), module, 0)
}

impl Look<'_> {
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
