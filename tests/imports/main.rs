//! What imports mean, asked through the library over files in memory.

#[path = "../support/mod.rs"]
mod support;

mod cli;
mod closure;
mod python;
mod script;
mod symbols;

use mendit::languages::Resolver;
use mendit::model::RepoPath;
use mendit::source::Memory;

// A repository path.
pub(crate) fn path(text: &str) -> RepoPath {
    RepoPath::new(text).unwrap()
}

// Files in memory.
pub(crate) fn memory(files: &[(&str, &str)]) -> Memory {
    Memory::named(files.iter().copied())
}

// The meaning of every import of `from`, one line each: `specifier -> files`, `-> (external)` or
// `-> ?`.
pub(crate) fn resolved(files: &[(&str, &str)], from: &str) -> Vec<String> {
    let source = memory(files);
    let resolver = Resolver::new(&source);
    let from = path(from);
    let text = files
        .iter()
        .find(|(name, _)| *name == from.as_str())
        .unwrap()
        .1;
    mendit::languages::facts(&from, text.as_bytes())
        .imports
        .iter()
        .map(|import| {
            let found = resolver.resolve(&from, import);
            let target = match found.external {
                Some(name) => format!("({name})"),
                None if found.files.is_empty() => "?".to_owned(),
                None => {
                    let files: Vec<&str> = found.files.iter().map(RepoPath::as_str).collect();
                    files.join(" ")
                }
            };
            format!("{} -> {target}", import.specifier)
        })
        .collect()
}
