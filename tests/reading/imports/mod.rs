//! What imports mean, asked through the library over files in memory.

mod cli;
mod closure;
mod meaning;
mod symbols;

use mendit::documents::RepoPath;
use mendit::internals::source::Memory;

// A repository path.
pub(crate) fn path(text: &str) -> RepoPath {
    RepoPath::new(text).unwrap()
}

// Files in memory.
pub(crate) fn memory(files: &[(&str, &str)]) -> Memory {
    Memory::named(files.iter().copied())
}
