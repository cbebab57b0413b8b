//! Checks the tree after a patch: links, directories in the way, names that differ only by case.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use unicode_normalization::UnicodeNormalization;

use super::change::FileState;
use crate::model::{Code, Operation, PatchProblem, Refusal, file_name, refuse};
use crate::source::{EntryKind, Source};

/// Refuses a path below a link, a submodule or a file, in the tree or as the patch makes it.
pub(super) fn check_ancestors(
    source: &dyn Source,
    slots: &BTreeMap<String, FileChange>,
    path: &str,
) -> Result<(), Refusal> {
    for above in parent_paths(path) {
        let link = "a directory of the path is a symbolic link";
        if let Some(slot) = slots.get(above) {
            if slot.after.as_ref().is_some_and(|state| state.mode == 0o120_000) {
                return refuse(Code::P505, link);
            }
            continue;
        }
        match source.entry(above).map(|entry| entry.kind) {
            Some(EntryKind::Symlink { .. }) => return refuse(Code::P505, link),
            Some(EntryKind::Submodule { .. }) => {
                return refuse(Code::P506, "the path is inside a submodule");
            }
            _ => {}
        }
    }
    Ok(())
}

/// Refuses a link that leads out of the tree or into git's directory, or is no plain path.
pub(super) fn check_link(path: &str, target: &[u8]) -> Result<(), Refusal> {
    let refuse = |message: &str| refuse(Code::P505, message);
    let Ok(target) = std::str::from_utf8(target) else {
        return refuse("the target of the link is not UTF-8");
    };
    let own = [".gitattributes", ".gitmodules", ".gitignore", ".mailmap"];
    if own.contains(&&*file_name(path).to_ascii_lowercase()) {
        return refuse("git does not follow this file when it is a link");
    }
    if target.len() > 4095 {
        return refuse("the target of the link is longer than any path");
    }
    if target.is_empty() || target.chars().any(char::is_control) {
        return refuse("the target of the link is not a plain path");
    }
    if target.starts_with(['/', '\\', '~']) || target.get(1..2) == Some(":") {
        return refuse("the link points outside the repository");
    }
    let mut depth: Vec<&str> = path.split('/').collect();
    depth.pop();
    for part in target.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                if depth.pop().is_none() {
                    return refuse("the link points outside the repository");
                }
            }
            part if crate::policy::check_path(part, false).is_err() => {
                return refuse("the link points into git's own directory");
            }
            part => depth.push(part),
        }
    }
    Ok(())
}

/// Looks at all changes together: what is file and directory at once, what differs by case alone,
/// what makes a repository inside the repository.
pub(super) fn check_all(
    source: &dyn Source,
    slots: &BTreeMap<String, FileChange>,
) -> Vec<PatchProblem> {
    let made = slots
        .iter()
        .filter(|(path, slot)| slot.after.is_some() && source.entry(path).is_none());
    let made: Vec<(&String, &FileChange)> = made.collect();
    if made.is_empty() {
        return Vec::new();
    }
    let listing = source.listing();
    let mut found = Vec::new();
    let stays = |path: &str| match slots.get(path) {
        Some(slot) => slot.after.is_some(),
        None => listing.get(path).is_some(),
    };
    let mut spelled: HashMap<String, &str> = HashMap::with_capacity(listing.entries().len());
    let mut directory = "";
    for entry in listing.entries() {
        let path = entry.path.as_str();
        if !stays(path) {
            continue;
        }
        // Neighbours of one directory share what is above them.
        if entry.path.directory() != directory {
            directory = entry.path.directory();
            for part in parent_paths(path) {
                spelled.entry(fold_case(part)).or_insert(part);
            }
        }
        spelled.entry(fold_case(path)).or_insert(path);
    }
    for (path, slot) in &made {
        let mut say = |message: String| {
            found.push(PatchProblem::new(Code::P507, message).at(Some(path), u64::from(slot.line)));
        };
        if let Some(above) = parent_paths(path).find(|above| stays(above)) {
            say(format!("`{above}` would be a file and a directory at once"));
        }
        let mut below = listing.below(path).iter();
        let below = below.any(|entry| stays(entry.path.as_str()));
        let prefix = format!("{path}/");
        if below || made.len() < 2000 && made.iter().any(|(other, _)| other.starts_with(&prefix)) {
            say("it would be a file and a directory at once".to_owned());
        }
        for part in parent_paths(path).chain([path.as_str()]) {
            let one = *spelled.entry(fold_case(part)).or_insert(part);
            if one != part {
                say(format!(
                    "it differs from `{one}` only by case or Unicode form"
                ));
                break;
            }
        }
    }
    if let Some((path, line)) = embedded_repository(&made) {
        let message = "the patch makes a git repository inside the repository";
        found.push(PatchProblem::new(Code::P506, message).at(Some(&path), u64::from(line)));
    }
    found
}

fn fold_case(path: &str) -> String {
    if path.is_ascii() {
        return path.to_ascii_lowercase();
    }
    path.nfc().flat_map(char::to_lowercase).collect::<String>()
}

/// The directories above a path, the outermost first.
pub(super) fn parent_paths(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(at, _)| path.get(..at))
}

// `HEAD` beside `objects/` or `refs/` is what git takes for a bare repository.
fn embedded_repository(made: &[(&String, &FileChange)]) -> Option<(String, u32)> {
    let paths: BTreeSet<String> = made.iter().map(|(path, _)| path.to_ascii_lowercase()).collect();
    made.iter().find_map(|(path, slot)| {
        let lower = path.to_ascii_lowercase();
        let directory = lower.strip_suffix("head")?;
        if !directory.is_empty() && !directory.ends_with('/') {
            return None;
        }
        let is_repository = ["objects", "refs"].iter().any(|name| {
            let start = format!("{directory}{name}/");
            let mut below = paths.range(start.clone()..);
            below.next().is_some_and(|path| path.starts_with(&start))
        });
        is_repository.then(|| ((*path).clone(), slot.line))
    })
}

// The state of one path after the sections so far.
pub(super) struct FileChange {
    /// Placed byte for byte: nothing may doubt it.
    pub(super) is_exact: bool,
    pub(super) before: Option<FileState>,
    pub(super) after: Option<FileState>,
    pub(super) from: Option<String>,
    pub(super) operation: Operation,
    pub(super) line: u32,
}
