//! Reads what installed npm packages export.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::packages::package_part;
use crate::languages::installed::InstalledFiles;
use crate::model::RepoPath;
use crate::source::Installed;

pub(super) const FILES: InstalledFiles = InstalledFiles {
    read_as: "index.d.ts",
    entry: find_entry,
    beside: |file, relative| find_types(&file.parent()?.join(relative)),
};

fn find_entry(installed: &Installed, file: &RepoPath, module: &str) -> Option<(PathBuf, PathBuf)> {
    let package = package_part(module)?;
    let types = match package.strip_prefix('@') {
        Some(scoped) => format!("@types/{}", scoped.replace('/', "__")),
        None => format!("@types/{package}"),
    };
    let below = module.strip_prefix(package)?.trim_start_matches('/');
    [package, &types].into_iter().find_map(|package| {
        let folder = installed.npm(file.directory(), package)?;
        let entry = declared_entry(installed, &folder, below)?;
        Some((folder, entry))
    })
}

// The declarations that a package gives for its whole or for a part below it.
fn declared_entry(installed: &Installed, folder: &Path, below: &str) -> Option<PathBuf> {
    let manifest = installed.read(folder, &folder.join("package.json"))?;
    let manifest: Value = serde_json::from_slice(&manifest).ok()?;
    if let Some(exports) = manifest.get("exports").filter(|exports| !exports.is_null()) {
        let value = match below {
            "" => exports.get(".").or(Some(exports)),
            below => exports.get(format!("./{below}")),
        };
        if let Some(found) = value.and_then(|value| types_of(folder, value, 0)) {
            return Some(found);
        }
        if !below.is_empty() {
            return None;
        }
    }
    if !below.is_empty() {
        return find_types(&folder.join(below));
    }
    let named = ["types", "typings", "main"]
        .into_iter()
        .filter_map(|field| manifest.get(field).and_then(Value::as_str));
    named
        .map(|path| folder.join(path.trim_start_matches("./")))
        .find_map(|base| find_types(&base))
        .or_else(|| find_types(&folder.join("index")))
}

fn types_of(folder: &Path, value: &Value, depth: usize) -> Option<PathBuf> {
    match value {
        Value::String(path) => find_types(&folder.join(path.trim_start_matches("./"))),
        Value::Object(map) if depth < 6 => {
            ["types", "import", "module", "node", "default", "require"]
                .iter()
                .filter_map(|key| map.get(*key))
                .find_map(|value| types_of(folder, value, depth + 1))
        }
        _ => None,
    }
}

// `x.d.ts` for `x`, `x.js` and itself; `x/index.d.ts` for a folder.
fn find_types(base: &Path) -> Option<PathBuf> {
    let name = base.file_name()?.to_str()?;
    let whole = [".ts", ".mts", ".cts"].iter().any(|end| name.ends_with(end));
    let itself = whole.then(|| base.to_owned());
    let endings = [(".mjs", ".d.mts"), (".cjs", ".d.cts"), (".js", ".d.ts")];
    let stems = endings.iter().filter_map(|(script, types)| {
        Some(base.with_file_name(format!("{}{types}", name.strip_suffix(script)?)))
    });
    let plain = [".d.ts", ".d.mts", ".ts"].map(|end| base.with_file_name(format!("{name}{end}")));
    let index = ["index.d.ts", "index.d.mts"].map(|file| base.join(file));
    Installed::first_file(itself.into_iter().chain(stems).chain(plain).chain(index))
}
