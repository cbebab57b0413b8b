//! Writes the result of `git apply` to worktree and index.

use std::collections::{BTreeMap, BTreeSet};

use super::super::change::{Change, FileState, recorded_mode};
use super::super::write::write_worktree;
use super::destination::Destination;
use super::messages::Messages;
use super::options::{GitApplyOptions, Verbosity};
use crate::git::{Staged, Staging};
use crate::model::{BlobId, RepoPath, file_name};
use crate::patch::strict::{Fatal, SectionResult, is_submodule, said_name};
use crate::patch::structure::parent_paths;

// What a path shall be: nothing, or content and mode.
type Wanted<'d> = BTreeMap<String, Option<(&'d [u8], u32)>>;

/// Writes what was checked: the worktree all or nothing, then what the index shall have into its
/// list of changes. Returns whether hunks were left out or conflicts are left.
pub(super) fn write_tree(
    done: &[SectionResult<'_>],
    destination: &mut Destination<'_>,
    state: &std::path::Path,
    options: &GitApplyOptions,
    messages: &mut Messages,
) -> Result<bool, Fatal> {
    let wanted = collect_wanted(done);
    if options.uses_index()
        && let Some(staging) = &mut destination.staging
    {
        // Before a file is written that the index would then not follow.
        staging
            .lock()
            .map_err(|error| Fatal(format!("Unable to create 'index.lock': {error}")))?;
        stage_files(&wanted, staging, !options.cached)?;
        stage_conflicts(done, staging)?;
    }
    if !options.cached {
        write_files(&wanted, destination, state)?;
    }
    let mut is_left = false;
    for one in done {
        is_left |= one.refused || write_rejects(one, destination, options, messages)?;
    }
    let conflicts = done.iter().filter(|one| one.conflict.is_some());
    let conflicts: BTreeSet<&str> = conflicts.map(|one| one.section.target()).collect();
    for name in &conflicts {
        messages.line(&format!("U {name}"));
    }
    Ok(is_left || !conflicts.is_empty())
}

fn collect_wanted<'d>(done: &'d [SectionResult<'_>]) -> Wanted<'d> {
    let mut wanted = Wanted::new();
    let standing = done.iter().filter(|one| !one.refused);
    for one in standing.clone() {
        let section = &one.section;
        if let Some(old) = section.old_name.as_ref().filter(|_| !section.is_copy) {
            wanted.insert(old.clone(), None);
        }
    }
    for one in standing.filter(|one| !one.section.deletes()) {
        let mode = match one.section.new_mode {
            0 => 0o100_644,
            mode => recorded_mode(mode),
        };
        let name = one.section.target().to_owned();
        wanted.insert(name, Some((&one.after, mode)));
    }
    wanted
}

fn stage_files(wanted: &Wanted<'_>, staging: &mut Staging, fresh: bool) -> Result<(), Fatal> {
    for (name, _) in wanted.iter().filter(|(_, want)| want.is_none()) {
        staging.set(name, Vec::new());
    }
    for (name, want) in wanted {
        let Some((bytes, mode)) = want else {
            continue;
        };
        let id = if is_submodule(*mode) {
            let commit = bytes.strip_prefix(b"Subproject commit ");
            let text = commit.and_then(|text| std::str::from_utf8(text).ok());
            let id = text.and_then(|text| text.trim_end().parse().ok());
            id.ok_or_else(|| Fatal(format!("corrupt patch for submodule {name}")))?
        } else {
            store_blob(staging, bytes)?
        };
        if staging.has_below(name) || parent_paths(name).any(|above| staging.entry(above).is_some())
        {
            return Err(Fatal(format!("unable to add cache entry for {name}")));
        }
        let entry = Staged {
            fresh,
            ..Staged::new(id, *mode)
        };
        staging.set(name, vec![entry]);
    }
    Ok(())
}

fn store_blob(staging: &Staging, bytes: &[u8]) -> Result<BlobId, Fatal> {
    staging.store(bytes).map_err(|error| Fatal(error.to_string()))
}

fn stage_conflicts(done: &[SectionResult<'_>], staging: &mut Staging) -> Result<(), Fatal> {
    for one in done {
        let Some(sides) = &one.conflict else {
            continue;
        };
        let mode = recorded_mode(one.section.new_mode);
        let mut entries = Vec::new();
        for (bytes, stage) in sides.iter().zip(1_u8..) {
            if let Some(bytes) = bytes {
                let entry = Staged::new(store_blob(staging, bytes)?, mode);
                entries.push(Staged { stage, ..entry });
            }
        }
        staging.set(one.section.target(), entries);
    }
    Ok(())
}

fn write_files(
    wanted: &Wanted<'_>,
    destination: &Destination<'_>,
    state: &std::path::Path,
) -> Result<(), Fatal> {
    let mut changes = Vec::new();
    let mut submodules = Vec::new();
    for (name, want) in wanted {
        let seen = destination.look_up(name);
        let standing =
            seen.map_err(|error| Fatal(format!("unable to write file '{name}': {error}")))?;
        let absolute = destination.root.join(name);
        // An empty directory gives way, also that of a submodule.
        if want.is_some_and(|(_, mode)| is_submodule(mode)) {
            submodules.push(absolute);
        } else if standing.is_none() && absolute.is_dir() {
            let is_gone = std::fs::remove_dir(absolute).is_ok();
            if want.is_none() && is_gone {
                destination.tree.remove_emptied_above(name);
            }
        }
        let after = want.filter(|(_, mode)| !is_submodule(*mode)).map(|(bytes, mode)| {
            let bytes = if mode == 0o120_000 {
                bytes.into()
            } else {
                destination.line_ends(name).to_worktree(bytes)
            };
            FileState::new(bytes.as_ref(), mode)
        });
        if standing.is_none() && after.is_none() {
            continue;
        }
        let path = RepoPath::new(name)
            .map_err(|error| Fatal(format!("unable to write file '{name}': {error}")))?;
        changes.push(Change {
            new_permissions: true,
            ..Change::between(path, standing, after)
        });
    }
    write_worktree(&destination.root, state, &changes).map_err(|error| Fatal(error.to_string()))?;
    for directory in submodules {
        // That it is there already is no fault.
        let _ = std::fs::create_dir_all(directory);
    }
    Ok(())
}

// Hunks that were left out go to a file of their own beside the one that they are for.
fn write_rejects(
    one: &SectionResult<'_>,
    destination: &Destination<'_>,
    options: &GitApplyOptions,
    messages: &mut Messages,
) -> Result<bool, Fatal> {
    let count = one.rejected.iter().filter(|is_left| **is_left).count();
    let names = said_name(&one.section);
    let said = match count {
        0 => format!("Applied patch {names} cleanly."),
        1 => format!("Applying patch {names} with 1 reject..."),
        _ => format!("Applying patch {names} with {count} rejects..."),
    };
    if options.verbosity > Verbosity::Normal {
        messages.line(&said);
    }
    if count == 0 {
        return Ok(false);
    }
    let name = one.section.target();
    let mut text = format!("diff a/{name} b/{name}\t(rejected hunks)\n").into_bytes();
    for ((hunk, is_left), number) in one.section.hunks.iter().zip(&one.rejected).zip(1..) {
        if *is_left {
            messages.line(&format!("Rejected hunk #{number}."));
            text.extend_from_slice(hunk.text);
        } else {
            messages.line(&format!("Hunk #{number} applied cleanly."));
        }
    }
    let file = format!("{name}.rej");
    let parent = destination.tree.parent(&file, true);
    let written = parent.and_then(|parent| {
        parent.remove(file_name(&file))?;
        parent.create(file_name(&file), &text, 0o100_644, None)
    });
    written.map_err(|error| Fatal(format!("cannot open {file}: {error}")))?;
    Ok(true)
}
