//! Refuses a reply with a change that no reader read, because half of a reply must not be applied.

use super::elision::elision_of;
use super::set::{Suspect, Unread};
use super::structure::FileChange;
use crate::model::{Code, PatchProblem, Refusal, RepoPath};
use crate::source::{EntryKind, Source};
use std::collections::BTreeMap;

/// Returns the problem of what looks like a change and was read by no reader; `None` where the files show
/// that it is none: code as it is in one of them, a command about files that the tree does not have.
pub(super) fn weigh_unread(
    unread: &Unread,
    source: &dyn Source,
    slots: &BTreeMap<String, FileChange>,
) -> Option<PatchProblem> {
    let what = match &unread.what {
        Suspect::Code { path, rows } => {
            if is_shown(path.as_deref(), rows, source, slots) {
                return None;
            }
            match path {
                Some(path) => format!("code for {path} that the patch does not contain"),
                None => "code that no file of the patch contains".to_owned(),
            }
        }
        Suspect::Command { text, takes } => {
            if !takes.is_empty() && !takes.iter().any(|path| is_there(path, source)) {
                return None;
            }
            format!("the command `{text}`, which mendit does not run")
        }
        Suspect::Other(what) => what.clone(),
    };
    let message = format!("in addition to the changes, the reply contains {what}");
    let refusal = Refusal::new(Code::P107, message)
        .hint("send all changes in one format, and nothing else that looks like a change");
    Some(refusal.problem(None, u64::from(unread.line)))
}

/// Whether a file that is named, or one that the patch changes, has all of these lines, before or after.
fn is_shown(
    path: Option<&str>,
    rows: &[String],
    source: &dyn Source,
    slots: &BTreeMap<String, FileChange>,
) -> bool {
    let states = slots
        .iter()
        .filter(|(name, _)| path.is_none_or(|path| is_suffix(path, name) || is_suffix(name, path)));
    let states = states.flat_map(|(_, slot)| [&slot.before, &slot.after]);
    let states = states.flatten().map(|state| state.bytes.clone());
    let path = path.and_then(|path| RepoPath::new(path.trim_start_matches("./")).ok());
    let standing = path.and_then(|path| source.read(&path).ok());
    states.chain(standing).any(|bytes| holds_rows(&bytes, rows))
}

/// Whether the lines between those that say that some are left out follow each other in the text.
fn holds_rows(bytes: &[u8], rows: &[String]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut from = 0;
    let mut pieces = rows.split(|row| elision_of(row.as_bytes()).is_some());
    pieces.all(|piece| {
        let piece: Vec<&str> =
            piece.iter().map(|row| row.trim()).filter(|line| !line.is_empty()).collect();
        if piece.is_empty() {
            return true;
        }
        let rest = lines.get(from..).unwrap_or_default();
        let at = rest.windows(piece.len()).position(|window| window == piece);
        from += at.map_or(0, |at| at + piece.len());
        at.is_some()
    })
}

fn is_suffix(long: &str, short: &str) -> bool {
    let rest = long.strip_suffix(short);
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// Whether a path, which may have a pattern in it or be below a folder of the writer's, is in the tree.
fn is_there(path: &str, source: &dyn Source) -> bool {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    let listing = source.listing();
    path.contains(['*', '?', '$', '{', '['])
        || listing.has_directory(path)
        || listing.entries().iter().any(|entry| {
            !matches!(entry.kind, EntryKind::Special) && is_suffix(path, entry.path.as_str())
        })
}
