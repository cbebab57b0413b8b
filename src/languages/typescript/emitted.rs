use super::probe;
use crate::languages::files::{below, child};
use crate::model::RepoPath;
use crate::source::Listing;

/// Directories of emitted files, whatever the tool.
const EMITTED: &[&str] = &[
    "dist", "build", "lib", "out", "output", "esm", "cjs", "es", "commonjs", "module", "modules",
    "types", "typings", "dts", "umd", "node", "browser", "_esm", "_cjs", "_types", "dist-esm",
    "dist-cjs", "dist-src",
];

/// The source of an emitted file that is not in the repository, by the customary names of such directories below
/// `package`.
pub(super) fn source_of(files: &Listing, package: &str, path: &str) -> Option<RepoPath> {
    let stem = probe::without_extension(below(package, path)?);
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
            if candidate != probe::without_extension(path) {
                let found = probe::by_name(files, &candidate)
                    .or_else(|| probe::by_name(files, &child(&candidate, "index")));
                if found.is_some() {
                    return found;
                }
            }
        }
    }
    None
}
