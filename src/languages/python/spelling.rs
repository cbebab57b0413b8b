//! Spells a Python import as the repository spells its own.

use std::collections::BTreeMap;

use crate::languages::Resolver;
use crate::languages::files::split_path;
use crate::languages::uses::{is_word, words};
use crate::model::{FileFacts, Import, ImportKind, RepoPath};

/// The place of a module: its path without extension; for a package its directory.
pub(crate) fn module_place(path: &RepoPath) -> String {
    let text = path.as_str();
    let stem = text.strip_suffix(".pyi").or(text.strip_suffix(".py")).unwrap_or(text);
    stem.strip_suffix("/__init__").unwrap_or(stem).to_owned()
}

/// What a relative specifier of `path` points at.
pub(crate) fn place_of(path: &RepoPath, relative: &str) -> Option<String> {
    let rest = relative.trim_start_matches('.');
    let dots = relative.len() - rest.len();
    let base = path.ancestors().nth(dots.checked_sub(1)?)?;
    let rest = rest.replace('.', "/");
    let parts: Vec<&str> = [base, &rest].into_iter().filter(|part| !part.is_empty()).collect();
    Some(parts.join("/"))
}

/// The first parts of dotted names by which the repository imports its own modules, with their counts. They
/// distinguish a package's full name from a part of it.
#[derive(Debug, Default)]
pub(crate) struct Tops(BTreeMap<String, u32>);

impl Tops {
    pub(crate) fn learn(&mut self, resolver: &Resolver<'_>, path: &RepoPath, facts: &FileFacts) {
        let absolute = facts.imports.iter().filter(|import| {
            matches!(import.kind, ImportKind::Import | ImportKind::From)
                && !import.specifier.starts_with('.')
        });
        for import in absolute {
            let first = import.specifier.split('.').next().unwrap_or_default();
            if let Some(count) = self.0.get_mut(first) {
                *count += 1;
            } else if !resolver.resolve(path, import).files.is_empty() {
                self.0.insert(first.to_owned(), 1);
            }
        }
    }

    /// The dotted name of what is at `place`, for `file`.
    pub(crate) fn dotted(&self, resolver: &Resolver<'_>, file: &RepoPath, place: &str) -> String {
        let names = resolver.module_names(file, place);
        let best = names.iter().enumerate().max_by_key(|(at, name)| {
            let first = name.split('.').next().unwrap_or_default();
            let is_seen = self.0.get(first).is_some_and(|count| *count > 0);
            (is_seen, std::cmp::Reverse(*at))
        });
        best.map_or_else(|| place.replace('/', "."), |(_, name)| name.clone())
    }
}

/// The module as `file` would write it: relative when `relative` says so and both are in one
/// package.
pub(crate) fn spell_module(
    resolver: &Resolver<'_>,
    module: &str,
    path: Option<&RepoPath>,
    file: &RepoPath,
    relative: bool,
) -> String {
    let Some(path) = path.filter(|_| relative) else {
        return module.to_owned();
    };
    // The place of the module, which for `from package import submodule` is not the file's.
    let mut target = module_place(path);
    if module.rsplit('.').next() != target.rsplit('/').next() {
        target = target.rsplit_once('/').map_or(String::new(), |halves| halves.0.to_owned());
    }
    let (own, parts) = (split_path(file.directory()), split_path(&target));
    let shared = own.iter().zip(&parts).take_while(|(a, b)| a == b).count();
    let common = own.get(..shared).unwrap_or_default().join("/");
    // A folder without `__init__.py` inside a package belongs to it.
    let inside = RepoPath::new(&format!("{common}/x"))
        .is_ok_and(|path| path.ancestors().any(|folder| resolver.is_package(folder)));
    if shared == 0 || !inside {
        return module.to_owned();
    }
    let dots = ".".repeat(own.len() - shared + 1);
    format!(
        "{dots}{}",
        parts.get(shared..).unwrap_or_default().join(".")
    )
}

/// Whether a name that a module binds is there whatever happens while it is loaded: a statement at the top level
/// binds it, and none deletes it.
pub(crate) fn may_count_on(facts: &FileFacts, text: &[u8], name: &str) -> bool {
    const BRANCHES: [&[u8]; 5] = [b" ", b"\t", b"if ", b"for ", b"while "];
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let own = facts.exports.iter().filter(|export| export.name == name);
    let own: Vec<&[u8]> = own
        .filter_map(|export| lines.get((export.line as usize).checked_sub(1)?).copied())
        .collect();
    own.is_empty()
        || own.iter().any(|line| !BRANCHES.iter().any(|start| line.starts_with(start)))
            && !lines
                .iter()
                .any(|line| line.starts_with(b"del ") && words(line, name).next().is_some())
}

/// The statement that binds `name`, on one line.
pub(crate) fn write_statement(name: &str, module: &str, imported: &str) -> String {
    match imported {
        "*" if module == name || module.split('.').next() == Some(name) => {
            format!("import {module}")
        }
        "*" => format!("import {module} as {name}"),
        same if same == name => format!("from {module} import {name}"),
        other => format!("from {module} import {other} as {name}"),
    }
}

/// The module on the line of its statement or call, as a dotted name of its own.
pub(crate) fn specifier_in(rest: &str, import: &Import) -> Option<usize> {
    let line = rest.split('\n').next()?;
    let module = import.specifier.as_str();
    let mut found = line.match_indices(module).map(|(at, _)| at);
    found.find(|at| {
        let before = at.checked_sub(1).and_then(|at| line.as_bytes().get(at));
        !is_inside_name(before) && !is_inside_name(line.as_bytes().get(at + module.len()))
    })
}

fn is_inside_name(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| *byte == b'.' || is_word(*byte))
}
