use super::elision::is_left_out;
use super::set::{Suspect, Unread};
use super::structure::FileChange;
use crate::languages::Language;
use crate::model::{Code, PatchProblem, RepoPath};
use crate::source::{EntryKind, Source};
use std::collections::BTreeMap;

/// The problem of what looks like a change and was read by no reader; `None` where the files show that it
/// is none: code as it stands in one of them, a command about files that the tree does not have.
pub(super) fn weigh_unread(
    unread: &Unread,
    source: &dyn Source,
    slots: &BTreeMap<String, FileChange>,
) -> Option<PatchProblem> {
    let what = match &unread.what {
        Suspect::Code { path, rows } => {
            if is_shown(path.as_deref(), rows, source, slots)
                || (path.is_none() && !concerns(rows, source, slots))
            {
                return None;
            }
            match path {
                Some(path) => format!("code for {path} that does not stand there"),
                None => "code that stands in none of its files".to_owned(),
            }
        }
        Suspect::Command {
            text,
            takes,
            writes,
        } => {
            if !writes && !takes.iter().any(|path| is_there(path, source)) {
                return None;
            }
            format!("the command `{text}`, which is not run")
        }
        Suspect::Other(what) => what.clone(),
    };
    let message = format!("beside the changes that were read stands {what}");
    let mut problem = PatchProblem::new(Code::P107, message).at(None, u64::from(unread.line));
    problem.hint =
        Some("send all changes in one form, and nothing else that looks like one".to_owned());
    Some(problem)
}

// Whether code defines what a file of the tree defines, or what a changed one speaks of; all else only
// explains.
fn concerns(rows: &[String], source: &dyn Source, slots: &BTreeMap<String, FileChange>) -> bool {
    let names: Vec<&str> = rows.iter().filter_map(|row| defined(row)).collect();
    let states = slots.values().flat_map(|slot| [&slot.before, &slot.after]);
    let mut states = states.flatten();
    let speaks = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let mut words = text.split(|it: char| !is_of_name(it));
        words.any(|word| names.contains(&word))
    };
    states.any(|state| speaks(&state.bytes)) || defined_elsewhere(&names, source)
}

// Whether a file of the tree defines one of these names; where too much would have to be read, it may.
fn defined_elsewhere(names: &[&str], source: &dyn Source) -> bool {
    const MOST_SEARCHED: usize = 64 << 20;
    let files = source.listing().files();
    let mut code = files.filter(|entry| Language::of_path(entry.path.as_str()).is_some());
    let mut left = MOST_SEARCHED;
    code.any(|entry| {
        let bytes = source.read(&entry.path).unwrap_or_default();
        left = left.saturating_sub(bytes.len());
        let text = String::from_utf8_lossy(&bytes);
        let mut rows = text.lines().filter_map(defined);
        left == 0 || rows.any(|name| names.contains(&name))
    })
}

// The name that a line of code defines: `export async function a(`, `class A:`, `const a =`.
fn defined(row: &str) -> Option<&str> {
    let mut words = row
        .split(|it: char| !is_of_name(it))
        .filter(|it| !it.is_empty());
    let heads = [
        "def",
        "class",
        "function",
        "interface",
        "const",
        "let",
        "type",
    ];
    let before = ["export", "default", "async", "abstract"];
    let head = words.find(|word| !before.contains(word))?;
    heads.contains(&head).then(|| words.next()).flatten()
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '$')
}

// Whether a file has all of these lines, before or after.
fn is_shown(
    path: Option<&str>,
    rows: &[String],
    source: &dyn Source,
    slots: &BTreeMap<String, FileChange>,
) -> bool {
    let rows: Vec<&str> = rows.iter().map(|it| it.trim()).collect();
    let pieces: Vec<Vec<&str>> = rows
        .split(|row| is_left_out(row.as_bytes()))
        .map(|piece| piece.iter().copied().filter(|it| !it.is_empty()).collect())
        .filter(|piece: &Vec<&str>| !piece.is_empty())
        .collect();
    let shows = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        holds(&text, &pieces)
    };
    let named = |name: &str| path.is_none_or(|path| is_suffix(path, name) || is_suffix(name, path));
    let mut states = slots
        .iter()
        .filter(|(name, _)| named(name))
        .flat_map(|(_, slot)| [&slot.before, &slot.after])
        .flatten();
    if states.any(|state| shows(&state.bytes)) {
        return true;
    }
    let path = path.and_then(|path| RepoPath::new(path.trim_start_matches("./")).ok());
    path.and_then(|path| source.read(&path).ok())
        .is_some_and(|bytes| shows(&bytes))
}

// Whether the lines of each piece follow each other in the text, the pieces in their order.
fn holds(text: &str, pieces: &[Vec<&str>]) -> bool {
    let lines = text.lines().map(str::trim).filter(|it| !it.is_empty());
    let lines: Vec<&str> = lines.collect();
    let mut from = 0;
    pieces.iter().all(|piece| {
        let rest = lines.get(from..).unwrap_or_default();
        let at = rest.windows(piece.len()).position(|it| it == piece);
        from += at.map_or(0, |at| at + piece.len());
        at.is_some()
    })
}

fn is_suffix(long: &str, short: &str) -> bool {
    let rest = long.strip_suffix(short);
    rest.is_some_and(|it| it.is_empty() || it.ends_with('/'))
}

// Whether a path, which may have a pattern in it or stand below a folder of the writer's, is in the tree.
fn is_there(path: &str, source: &dyn Source) -> bool {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    let listing = source.listing();
    path.contains(['*', '?', '$', '{', '['])
        || listing.has_directory(path)
        || listing.entries().iter().any(|entry| {
            !matches!(entry.kind, EntryKind::Special) && is_suffix(path, entry.path.as_str())
        })
}
