use std::path::{Path, PathBuf};

/// The names of a configuration file, best first.
pub const FILE_NAMES: [&str; 2] = ["mendit.toml", ".mendit.toml"];

/// The nearest configuration file from `directory` up to and including `root`.
#[must_use]
pub fn find(directory: &Path, root: &Path) -> Option<PathBuf> {
    directory
        .ancestors()
        .take_while(|ancestor| ancestor.starts_with(root))
        .flat_map(|ancestor| FILE_NAMES.map(|name| ancestor.join(name)))
        .find(|path| path.is_file())
}
