//! Tries the file names that a specifier may mean, in the compiler's order, and maps an emitted file to its source.

use crate::languages::files::{below, child};
use crate::model::RepoPath;
use crate::source::Listing;

/// Extensions tried on a specifier that has none: TypeScript's order, then what bundlers add.
const EXTENSIONS: &[&str] = &[
    "ts", "tsx", "d.ts", "js", "jsx", "mts", "cts", "mjs", "cjs", "d.mts", "d.cts", "vue", "svelte",
];

// What may be in the source where the emitted file is named.
const SOURCES_OF: &[(&str, &[&str])] = &[
    ("js", &["ts", "tsx", "d.ts", "js", "jsx"]),
    ("jsx", &["tsx", "ts", "d.ts", "jsx", "js"]),
    ("mjs", &["mts", "d.mts", "mjs"]),
    ("cjs", &["cts", "d.cts", "cjs"]),
];

/// The file itself, what it is emitted from, or the name with an extension.
pub(super) fn by_name(files: &Listing, path: &str) -> Option<RepoPath> {
    if let Some((_, extension)) = path.rsplit('/').next().unwrap_or(path).rsplit_once('.')
        && let Some((_, sources)) = SOURCES_OF.iter().find(|(emitted, _)| *emitted == extension)
    {
        let stem = path.strip_suffix(extension)?;
        for source in *sources {
            if let Some(found) = files.file(&format!("{stem}{source}")) {
                return Some(found.clone());
            }
        }
    }
    if let Some(found) = files.file(path) {
        return Some(found.clone());
    }
    let mut candidate = String::with_capacity(path.len() + 7);
    for extension in EXTENSIONS {
        candidate.clear();
        candidate.push_str(path);
        candidate.push('.');
        candidate.push_str(extension);
        if let Some(found) = files.file(&candidate) {
            return Some(found.clone());
        }
    }
    None
}

/// Drops the extension of an emitted file, declaration extensions included.
pub(super) fn without_extension(path: &str) -> &str {
    for extension in [
        ".d.ts", ".d.mts", ".d.cts", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".mts", ".cts",
    ] {
        if let Some(stem) = path.strip_suffix(extension) {
            return stem;
        }
    }
    path
}

/// Directories of emitted files, whatever the tool.
const EMITTED: &[&str] = &[
    "dist", "build", "lib", "out", "output", "esm", "cjs", "es", "commonjs", "module", "modules",
    "types", "typings", "dts", "umd", "node", "browser", "_esm", "_cjs", "_types", "dist-esm",
    "dist-cjs", "dist-src",
];

/// The source of an emitted file that is not in the repository, by the customary names of such directories below
/// `package`.
pub(super) fn source_of(files: &Listing, package: &str, path: &str) -> Option<RepoPath> {
    let stem = without_extension(below(package, path)?);
    let mut rest = stem;
    // `src/lib/x` names a source.
    if stem.starts_with("src/") {
        return None;
    }
    while let Some((first, others)) = rest.split_once('/') {
        if !EMITTED.contains(&first) && first != "src" {
            break;
        }
        rest = others;
        for base in ["src", ""] {
            let candidate = child(package, &child(base, rest));
            if candidate != without_extension(path) {
                let found = by_name(files, &candidate)
                    .or_else(|| by_name(files, &child(&candidate, "index")));
                if found.is_some() {
                    return found;
                }
            }
        }
    }
    None
}
