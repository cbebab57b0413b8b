//! Parses files before and after a patch, to find new syntax errors and dead imports.

use std::collections::{HashMap, HashSet};

use super::change::Change;
use super::text::Text;
use crate::languages::{Language, Resolver, facts, parses_where_changed, syntax_errors};
use crate::model::{AfterProblem, Code, Import, RepoPath};
use crate::policy::unreadable;
use crate::source::{Overlay, Source};

/// Problems that the tree has after a patch and not before.
#[derive(Debug, Default)]
pub(super) struct AfterImage {
    pub(super) syntax: Vec<AfterProblem>,
    pub(super) imports: Vec<AfterProblem>,
    /// Whether a file imports what it did not.
    pub(super) gains_imports: bool,
    /// The first error of each file that has none now.
    pub(super) broken: Vec<AfterProblem>,
}

// Beyond this many files a patch is no repair, and its after-image is not looked at.
const MAX_FILES: usize = 500;

/// Parses what changed of files before and after, and where asked resolves the imports they gain.
pub(super) fn after_image(
    source: &dyn Source,
    changes: &[Change],
    with_imports: bool,
) -> AfterImage {
    let mut after = AfterImage {
        broken: broken_data(changes).into_iter().collect(),
        ..AfterImage::default()
    };
    if changes.len() > MAX_FILES {
        return after;
    }
    let files: Vec<&Change> = changes
        .iter()
        .filter(|change| Language::of_path(change.path.as_str()).is_some())
        .collect();
    let looked = crate::parallel::map(files, inspect_change);
    let mut gained: Vec<(&RepoPath, Import)> = Vec::new();
    for mut found in looked.into_iter().flatten() {
        if found.broken {
            after.broken.extend(found.errors.first().cloned());
        }
        after.syntax.append(&mut found.errors);
        gained.extend(found.gained.into_iter().map(|import| (found.path, import)));
    }
    if gained.is_empty() || !with_imports {
        return after;
    }
    after.gains_imports = true;
    let edits = changes.iter().map(|change| {
        let bytes = change.after.as_ref().map(|state| state.bytes.clone());
        (change.path.clone(), bytes)
    });
    let overlay = Overlay::new(source, edits);
    let resolver = Resolver::new(&overlay);
    for (path, import) in gained {
        if resolver.resolve(path, &import).is_unresolved() {
            after.imports.push(AfterProblem {
                code: Code::P802,
                path: path.as_str().to_owned(),
                line: u64::from(import.line),
                message: format!("the import of `{}` does not resolve", import.specifier),
            });
        }
    }
    after
}

// Problems that one file has after a change and not before.
struct Looked<'c> {
    path: &'c RepoPath,
    errors: Vec<AfterProblem>,
    // It parses now.
    broken: bool,
    gained: Vec<Import>,
}

fn inspect_change(change: &Change) -> Option<Looked<'_>> {
    let (path, after) = (&change.path, change.after.as_ref()?);
    if after.mode == 0o120_000 {
        return None;
    }
    let old = change.before.as_ref().map_or(&[][..], |state| &state.bytes);
    let errors = new_errors(path, old, &after.bytes);
    let broken = !errors.is_empty() && !old.is_empty() && syntax_errors(path, old).is_empty();
    let mut gained = Vec::new();
    if may_import(path, old, &after.bytes) {
        let earlier = facts(path, old).imports;
        gained = facts(path, &after.bytes).imports;
        gained.retain(|import| {
            let mut earlier = earlier.iter();
            !earlier.any(|one| one.specifier == import.specifier && one.kind == import.kind)
        });
    }
    Some(Looked {
        path,
        errors,
        broken,
        gained,
    })
}

// Whether new lines could hold an import. Otherwise neither file is parsed for imports, which is most of the time
// that a patch takes.
fn may_import(path: &RepoPath, old: &[u8], new: &[u8]) -> bool {
    let Some(language) = Language::of_path(path.as_str()) else {
        return false;
    };
    let earlier: HashSet<&[u8]> = old.split(|byte| *byte == b'\n').collect();
    let mut added = new.split(|byte| *byte == b'\n');
    added.any(|line| language.may_import(line) && !earlier.contains(line))
}

// The first file of data that can be read now and could not be read after.
fn broken_data(changes: &[Change]) -> Option<AfterProblem> {
    changes.iter().take(MAX_FILES).find_map(|change| {
        let path = change.path.as_str();
        let (before, after) = (change.before.as_ref(), change.after.as_ref());
        let before = before.filter(|state| !state.bytes.is_empty())?;
        let after = after.filter(|state| state.mode != 0o120_000)?;
        let message = unreadable(path, &after.bytes)?;
        let number = message.split("line ").nth(1).unwrap_or_default();
        let number = number.split(|letter: char| !letter.is_ascii_digit()).next();
        let line = number.and_then(|number| number.parse().ok()).unwrap_or(1);
        let parses = unreadable(path, &before.bytes).is_none();
        parses.then(|| AfterProblem {
            code: Code::P801,
            path: path.to_owned(),
            line,
            message,
        })
    })
}

// Errors are distinguished by message and by the text of their line, because lines move.
fn new_errors(path: &RepoPath, old: &[u8], new: &[u8]) -> Vec<AfterProblem> {
    if parses_where_changed(path, old, new) {
        return Vec::new();
    }
    let found = syntax_errors(path, new);
    let mut earlier: HashMap<(String, &[u8]), usize> = HashMap::new();
    for error in syntax_errors(path, old) {
        *earlier.entry((error.message, line_of(old, error.line))).or_default() += 1;
    }
    let errors = found
        .into_iter()
        .filter(
            |error| match earlier.get_mut(&(error.message.clone(), line_of(new, error.line))) {
                Some(left) if *left > 0 => {
                    *left -= 1;
                    false
                }
                _ => error.line > 0,
            },
        )
        .map(|error| {
            let line = String::from_utf8_lossy(line_of(new, error.line));
            let line = line.trim();
            let is_whole = error.message == format!("unexpected `{line}`");
            AfterProblem {
                code: Code::P801,
                path: path.as_str().to_owned(),
                line: u64::from(error.line),
                message: match is_whole {
                    true => format!("`{line}` does not parse"),
                    false => format!("{} in `{line:.120}`", error.message),
                },
            }
        });
    let mut errors: Vec<AfterProblem> = errors.collect();
    errors.dedup();
    errors
}

fn line_of(bytes: &[u8], line: u32) -> &[u8] {
    Text::new(bytes).line((line as usize).saturating_sub(1))
}
