use std::collections::BTreeMap;

use super::super::change::{Change, FileState, recorded_mode};
use super::super::write::write_worktree;
use super::destination::{Destination, OnDisk};
use super::messages::Messages;
use super::options::{GitApplyOptions, Verbosity};
use crate::git::Staged;
use crate::model::RepoPath;
use crate::patch::strict::{Fatal, SectionResult, is_submodule, said_name};

// What a path shall be: nothing, or content and mode.
type Wanted<'d> = BTreeMap<String, Option<(&'d [u8], u32)>>;

/// Writes what was judged: the worktree all or nothing, then what the index shall have into its
/// list of changes.
pub(super) fn write(
    done: &[SectionResult<'_>],
    destination: &mut Destination,
    state: &std::path::Path,
    options: &GitApplyOptions,
    messages: &mut Messages,
) -> Result<(), Fatal> {
    let wanted = wanted(done);
    if options.uses_index() {
        stage(done, destination, options)?;
    }
    if !options.cached {
        write_files(&wanted, destination, state, messages)?;
    }
    if options.verbosity > Verbosity::Normal {
        for one in done {
            let names = said_name(&one.section);
            messages.line(&format!("Applied patch {names} cleanly."));
        }
    }
    Ok(())
}

fn wanted<'d>(done: &'d [SectionResult<'_>]) -> Wanted<'d> {
    let mut wanted = Wanted::new();
    for one in done {
        let section = &one.section;
        if let Some(old) = section.old_name.as_ref().filter(|_| !section.is_copy) {
            wanted.insert(old.clone(), None);
        }
    }
    for one in done.iter().filter(|one| !one.section.deletes()) {
        let mode = match one.section.new_mode {
            0 => 0o100_644,
            mode => recorded_mode(mode),
        };
        let name = one.section.target().to_owned();
        wanted.insert(name, Some((&one.after, mode)));
    }
    wanted
}

fn stage(
    done: &[SectionResult<'_>],
    destination: &mut Destination,
    options: &GitApplyOptions,
) -> Result<(), Fatal> {
    let Some(staging) = &mut destination.staging else {
        return Ok(());
    };
    for one in done {
        let section = &one.section;
        if let Some(old) = section.old_name.as_ref().filter(|_| !section.is_copy) {
            staging.set(old, Vec::new());
        }
    }
    let failed = |error: crate::git::GitError| Fatal(error.to_string());
    for one in done.iter().filter(|one| !one.section.deletes()) {
        let section = &one.section;
        let name = section.target();
        let mode = recorded_mode(section.new_mode);
        let id = if is_submodule(mode) {
            let commit = one.after.strip_prefix(b"Subproject commit ");
            let id = commit
                .map(<[u8]>::trim_ascii_end)
                .and_then(super::binary::full_id);
            id.ok_or_else(|| Fatal(format!("corrupt patch for submodule {name}")))?
        } else {
            staging.store(&one.after).map_err(failed)?
        };
        let entry = Staged {
            fresh: !options.cached,
            ..Staged::new(id, mode)
        };
        let mut above = name;
        let mut blocked = staging.has_below(name);
        while let Some((directory, _)) = above.rsplit_once('/') {
            above = directory;
            blocked |= staging.entry(directory).is_some();
        }
        if blocked {
            return Err(Fatal(format!("unable to add cache entry for {name}")));
        }
        staging.set(name, vec![entry]);
    }
    Ok(())
}

fn write_files(
    wanted: &Wanted<'_>,
    destination: &Destination,
    state: &std::path::Path,
    messages: &mut Messages,
) -> Result<(), Fatal> {
    let mut changes = Vec::new();
    let mut submodules = Vec::new();
    for (name, want) in wanted {
        let failed = |what: &str| Fatal(format!("unable to write file '{name}': {what}"));
        let seen = destination
            .look(name)
            .map_err(|error| failed(&error.to_string()))?;
        let absolute = destination.root.join(name);
        let makes_submodule = want.is_some_and(|(_, mode)| is_submodule(mode));
        if makes_submodule {
            submodules.push(absolute.clone());
        }
        if seen == OnDisk::Directory && !makes_submodule {
            // Where a directory or submodule used to be; one with files in it stays.
            match std::fs::remove_dir(&absolute) {
                Err(error) if want.is_none() => {
                    messages.warning(&format!("unable to rmdir '{name}': {}", words(&error)));
                }
                Ok(()) if want.is_none() => destination.tree.remove_emptied_above(name),
                _ => {}
            }
        }
        let standing = match seen {
            OnDisk::File(bytes, mode) => Some(FileState::new(bytes, mode)),
            OnDisk::Nothing | OnDisk::Directory => None,
        };
        let after = want.filter(|_| !makes_submodule).map(|(bytes, mode)| {
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
        let path = RepoPath::new(name).map_err(|error| failed(&error.to_string()))?;
        changes.push(Change {
            new_permissions: true,
            ..Change::between(path, standing, after)
        });
    }
    write_worktree(&destination.root, state, &changes).map_err(|error| Fatal(error.to_string()))?;
    for directory in submodules {
        // That it stands there already is no fault.
        let _ = std::fs::create_dir_all(directory);
    }
    Ok(())
}

fn words(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}
