use super::bodies::unmarked;
use super::change::recorded_mode;
use super::names::{Names, Naming, names, strip};
use super::prefix::{Prefix, common_prefix, meant};
use super::set::{Body, FilePatch, Headers, LineKind, PatchSet, Side};
use crate::model::{Code, Mend, Operation, PatchProblem, Refusal, Safety, refuse};
use crate::policy::check_path;
use crate::source::Listing;

/// What a file section does, with paths as the tree has them.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) operation: Operation,
    /// The path read; for creations, the path written.
    pub(super) old: String,
    /// The path written; for deletions, the path read.
    pub(super) new: String,
    /// The mode asked for, when one is.
    pub(super) mode: Option<u32>,
}

/// Finds the paths of every section. Sections with an error give `None`.
pub(super) fn targets(
    set: &PatchSet<'_>,
    listing: &Listing,
    naming: &Naming<'_>,
    mends: &mut Vec<Mend>,
    problems: &mut Vec<PatchProblem>,
) -> Vec<Option<Target>> {
    let mut raw = Vec::with_capacity(set.files.len());
    for file in &set.files {
        match names(file) {
            Ok(mut names) if naming.strict => {
                settle_two_names(&mut names, file, listing, naming.strip);
                raw.push(Some(names));
            }
            Ok(mut names) => {
                settle_two_names(&mut names, file, listing, naming.strip);
                if let Some(message) = plainly(&mut names, file, listing) {
                    mends.push(Mend::new(Code::M208, Safety::Safe, file.line, message));
                }
                raw.push(Some(names));
            }
            Err(refusal) => {
                problems.push(refusal.problem(None, u64::from(file.line)));
                raw.push(None);
            }
        }
    }
    let prefix = match common_prefix(&set.files, &raw, listing, naming, mends) {
        Ok(prefix) => prefix,
        Err(refusal) => {
            if let Some(file) = set.files.first() {
                problems.push(refusal.problem(None, u64::from(file.line)));
            }
            return vec![None; raw.len()];
        }
    };
    set.files
        .iter()
        .zip(raw)
        .map(|(file, names)| {
            let names = names?;
            match target(file, &names, &prefix, listing, naming, mends) {
                Ok(target) => Some(target),
                Err(refusal) => {
                    let path = names.new.as_deref().or(names.old.as_deref());
                    problems.push(refusal.problem(path, u64::from(file.line)));
                    None
                }
            }
        })
        .collect()
}

// Of a diff without a git header the second name counts, or the first where the second only adds to it
// (`x`, `x.new`), as for git; a name that is there beats one that is not (`x.orig`, `/tmp/1234`).
fn settle_two_names(
    names: &mut Names,
    file: &FilePatch<'_>,
    listing: &Listing,
    level: Option<usize>,
) {
    let (Some(old), Some(new)) = (&names.old, &names.new) else {
        return;
    };
    let levels = || level.map_or(0..=DEEPEST_GUESS, |level| level..=level);
    let alike = levels().any(|level| strip(old, level).is_some_and(|it| strip(new, level) == Some(it)));
    if file.headers.is_git || file.headers.explicit.is_some() || names.bare || alike {
        return;
    }
    let exists = |name: &str| {
        levels().any(|level| strip(name, level).is_some_and(|path| listing.get(path).is_some()))
    };
    let meant = match (exists(old), exists(new)) {
        _ if new.starts_with(old.as_str()) => old.clone(),
        (_, true) if old.starts_with(new.as_str()) => new.clone(),
        (true, false) => old.clone(),
        (false, true) => new.clone(),
        _ => return,
    };
    names.old = Some(meant.clone());
    names.new = Some(meant);
}

// Components in front of a name that may stand for nothing.
const DEEPEST_GUESS: usize = 3;

// Reads names as those of files that are there; tells what it did.
fn plainly(names: &mut Names, file: &FilePatch<'_>, listing: &Listing) -> Option<&'static str> {
    let mut action = None;
    for name in [&mut names.old, &mut names.new].into_iter().flatten() {
        if undress(name, listing) {
            action = Some("read the name without what stands around it, with slashes");
        }
        if file.headers.explicit.is_some() && below_root(name, listing) {
            action = Some("read an absolute name as that of the file of the repository");
        }
        let changes = matches!(file.body, Body::Hunks(_) | Body::Edits(_));
        if file.headers.explicit == Some(Operation::Modify)
            && changes
            && listing.get(name).is_none()
            && let Some(path) = meant(name, listing)
        {
            *name = path;
            action = Some("read the name as that of the only file that ends alike");
        }
    }
    if let (Some(old), Some(new)) = (&mut names.old, &mut names.new) {
        // A prefix on one side alone.
        let alone = |long: &str, short: &str, prefix| {
            long.strip_prefix(prefix) == Some(short) && listing.get(short).is_some()
        };
        if alone(new, old, "b/") {
            new.clone_from(old);
            action = Some("left out the prefix that one of two names has");
        } else if alone(old, new, "a/") {
            old.clone_from(new);
            action = Some("left out the prefix that one of two names has");
        }
    }
    action
}

// Takes off quotes, remarks, colons and line numbers around the name of a file that is there, and reads
// backslashes as slashes.
fn undress(name: &mut String, listing: &Listing) -> bool {
    let exists = |name: &str| {
        let there = |path: Option<&str>| path.is_some_and(|path| listing.get(path).is_some());
        there(Some(name)) || there(strip(name, 1))
    };
    if exists(name) {
        return false;
    }
    let dress = |it| matches!(it, '`' | '"' | '\'' | '*' | ' ' | '@');
    let mut rest = name.trim_matches(dress);
    if let Some((before, remark)) = rest.rsplit_once(" (")
        && let Some(remark) = remark.strip_suffix(')')
        && REMARKS.contains(&remark.to_lowercase().as_str())
    {
        rest = before.trim_matches(dress);
    }
    rest = rest.trim_end_matches([':', ' ']);
    if let Some((before, line)) = rest.rsplit_once(':')
        && line.bytes().all(|it| it.is_ascii_digit())
    {
        rest = before;
    }
    let rest = rest.replace('\\', "/");
    let fits = rest != *name && exists(&rest);
    if fits {
        *name = rest;
    }
    fits
}

const REMARKS: &[&str] = &[
    "original", "modified", "updated", "old", "new", "before", "after", "current", "fixed",
];

// Reads an absolute name as the one file that it ends with.
fn below_root(name: &mut String, listing: &Listing) -> bool {
    let path = name.strip_prefix("file://").unwrap_or(name);
    if !path.starts_with('/') {
        return false;
    }
    let ends = path
        .match_indices('/')
        .filter_map(|(at, _)| path.get(at + 1..));
    let there: Vec<&str> = ends.filter(|path| listing.get(path).is_some()).collect();
    let [one] = there.as_slice() else {
        return false;
    };
    *name = (*one).to_owned();
    true
}

fn has_old_lines(body: &Body<'_>) -> bool {
    matches!(body, Body::Hunks(hunks) if unmarked(hunks).is_none() && hunks.iter().any(|hunk| {
        hunk.firm(hunk.loose_tail).iter().any(|line| line.kind != LineKind::Add)
    }))
}

fn target(
    file: &FilePatch<'_>,
    names: &Names,
    prefix: &Prefix,
    listing: &Listing,
    naming: &Naming<'_>,
    mends: &mut Vec<Mend>,
) -> Result<Target, Refusal> {
    let headers = &file.headers;
    let explicit = headers.explicit.is_some();
    let path = |name: &Option<String>| -> Result<Option<String>, Refusal> {
        let Some(name) = name else {
            return Ok(None);
        };
        let path = if explicit {
            let add = prefix.add.as_str();
            Some(format!("{add}{}", name.strip_prefix("./").unwrap_or(name)))
        } else {
            prefix.apply(name, names.bare)
        };
        path.map(|path| path.replace("/./", "/"))
            .map(Some)
            .ok_or_else(|| {
                let message = format!("nothing is left of the name `{name}`");
                Refusal::new(Code::P201, message)
            })
    };
    let (old, new) = (path(&names.old)?, path(&names.new)?);
    let mut note = |code: Code, safety: Safety, message: &str| {
        mends.push(Mend::new(code, safety, file.line, message));
    };
    let moves = headers.rename_from.is_some() || headers.copy_from.is_some();
    if headers.minus.is_none() && !explicit && !moves && matches!(file.body, Body::Hunks(_)) {
        note(
            Code::M207,
            Safety::Safe,
            "took the names from the `diff --git` line",
        );
    }
    let operation = operation(
        file,
        old.as_deref(),
        new.as_deref(),
        listing,
        naming,
        &mut note,
    )?;
    let old = old.or_else(|| new.clone()).unwrap_or_default();
    let new = new.unwrap_or_else(|| old.clone());
    for (path, is_new) in [
        (
            &old,
            listing.get(&old).is_none() && operation != Operation::Delete,
        ),
        (&new, listing.get(&new).is_none()),
    ] {
        check_path(path, is_new).map_err(|found| Refusal {
            message: format!(
                "the path `{}` is unsafe: {}",
                path.escape_debug(),
                found.message
            ),
            ..found
        })?;
    }
    let mode = mode(headers, operation)?;
    Ok(Target {
        operation,
        old,
        new,
        mode,
    })
}

// What headers of git say against each other.
fn contradiction(headers: &Headers<'_>) -> Option<&'static str> {
    let creates = headers.new_file_mode.is_some();
    let deletes = headers.deleted_file_mode.is_some();
    if creates && deletes {
        Some("the file is both new and deleted")
    } else if creates && headers.plus == Some(Side::Null) {
        Some("the file is new and its new side is /dev/null")
    } else if deletes && matches!(headers.plus, Some(Side::Name(_))) {
        Some("the file is deleted and has a new side")
    } else {
        None
    }
}

fn operation(
    file: &FilePatch<'_>,
    old: Option<&str>,
    new: Option<&str>,
    listing: &Listing,
    naming: &Naming<'_>,
    note: &mut impl FnMut(Code, Safety, &str),
) -> Result<Operation, Refusal> {
    let headers = &file.headers;
    let has = |path: Option<&str>| path.is_some_and(|path| listing.get(path).is_some());
    if let Some(operation) = headers.explicit {
        return Ok(match (operation, &file.body) {
            (Operation::Modify, Body::Whole(_) | Body::Code(_)) if !has(new) => Operation::Create,
            (operation, _) => operation,
        });
    }
    if headers.rename_from.is_some() {
        return Ok(Operation::Rename);
    }
    if headers.copy_from.is_some() {
        return Ok(Operation::Copy);
    }
    let creates = headers.new_file_mode.is_some();
    let deletes = headers.deleted_file_mode.is_some();
    if let Some(message) = contradiction(headers) {
        return refuse(Code::P202, message);
    }
    let is_told = creates || deletes || !headers.is_git;
    if creates || (!deletes && old.is_none() && new.is_some()) {
        if has_old_lines(&file.body) {
            let message = "the file is said to be new, yet the patch has lines of an old one";
            return refuse(Code::P205, message);
        }
        if !is_told {
            let message = "took the file for new, as its old side is /dev/null";
            note(Code::M201, Safety::Safe, message);
        }
        return Ok(Operation::Create);
    }
    if deletes || (old.is_some() && new.is_none()) {
        if !is_told {
            let message = "took the file for deleted, as its new side is /dev/null";
            note(Code::M202, Safety::Safe, message);
        }
        return Ok(Operation::Delete);
    }
    match (old, new) {
        (Some(one), Some(two)) if one == two => {
            // A line of an old file is stated where there is one to add after.
            let only_adds = matches!(&file.body, Body::Hunks(hunks)
                if hunks.iter().all(|hunk| hunk.old.is_none_or(|(line, _)| line < 2)))
                && !has_old_lines(&file.body);
            if !has(old) && only_adds && !naming.strict {
                note(
                    Code::M203,
                    Safety::Safe,
                    "took the file for new, as it is not there and only lines are added",
                );
                return Ok(Operation::Create);
            }
            Ok(Operation::Modify)
        }
        (Some(_), Some(_)) if headers.is_git && has(old) && !has(new) && !naming.strict => {
            note(
                Code::M204,
                Safety::Lossy,
                "took two different names for a rename",
            );
            Ok(Operation::Rename)
        }
        _ => refuse(Code::P202, "the two sides name different files"),
    }
}

fn mode(headers: &Headers<'_>, operation: Operation) -> Result<Option<u32>, Refusal> {
    let asked = match operation {
        Operation::Create => headers.new_file_mode,
        Operation::Delete => headers.deleted_file_mode,
        _ => headers.new_mode,
    };
    let index = headers.index.and_then(|index| index.mode);
    let stated = [headers.old_mode, asked, index];
    if stated.contains(&Some(0o160_000)) {
        return refuse(Code::P506, "the patch changes a submodule");
    }
    let recorded = [0o100_644, 0o100_755, 0o100_664, 0o100_600, 0o120_000];
    let mut own = [headers.old_mode, asked].into_iter().flatten();
    if !own.all(|mode| recorded.contains(&mode)) {
        return refuse(Code::P206, "the patch has a mode that git does not record");
    }
    if let (Some(old), Some(new)) = (headers.old_mode, headers.new_mode)
        && (old == 0o120_000) != (new == 0o120_000)
    {
        let message = "the patch turns a file into a link by its mode alone";
        return refuse(Code::P206, message);
    }
    Ok(asked.map(recorded_mode))
}
