use std::collections::BTreeMap;

use super::super::change::{Change, FileState, recorded_mode};
use super::super::write::write_worktree;
use super::destination::Destination;
use super::messages::Messages;
use super::options::{GitApplyOptions, Verbosity};
use crate::git::{Staged, Staging};
use crate::model::RepoPath;
use crate::patch::strict::{Fatal, SectionResult, said_name};
use crate::patch::structure::parent_paths;

// What a path shall be: nothing, or content and mode.
type Wanted<'d> = BTreeMap<String, Option<(&'d [u8], u32)>>;

/// Writes what was judged: the worktree all or nothing, then what the index shall have into its
/// list of changes.
pub(super) fn write_tree(
    done: &[SectionResult<'_>],
    destination: &mut Destination,
    state: &std::path::Path,
    options: &GitApplyOptions,
    messages: &mut Messages,
) -> Result<(), Fatal> {
    let wanted = collect_wanted(done);
    if options.uses_index()
        && let Some(staging) = &mut destination.staging
    {
        stage_files(&wanted, staging, !options.cached)?;
    }
    if !options.cached {
        write_files(&wanted, destination, state)?;
    }
    if options.verbosity > Verbosity::Normal {
        for one in done {
            let names = said_name(&one.section);
            messages.line(&format!("Applied patch {names} cleanly."));
        }
    }
    Ok(())
}

fn collect_wanted<'d>(done: &'d [SectionResult<'_>]) -> Wanted<'d> {
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

fn stage_files(wanted: &Wanted<'_>, staging: &mut Staging, fresh: bool) -> Result<(), Fatal> {
    for (name, _) in wanted.iter().filter(|(_, want)| want.is_none()) {
        staging.set(name, Vec::new());
    }
    for (name, want) in wanted {
        let Some((bytes, mode)) = want else {
            continue;
        };
        let id = staging.store(bytes);
        let id = id.map_err(|error| Fatal(error.to_string()))?;
        let is_taken = |above: &str| staging.entry(above).is_some();
        if staging.has_below(name) || parent_paths(name).any(is_taken) {
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

fn write_files(
    wanted: &Wanted<'_>,
    destination: &Destination,
    state: &std::path::Path,
) -> Result<(), Fatal> {
    let mut changes = Vec::new();
    for (name, want) in wanted {
        let failed = |what: &str| Fatal(format!("unable to write file '{name}': {what}"));
        let seen = destination.look_up(name);
        let standing = seen.map_err(|error| failed(&error.to_string()))?;
        if standing.is_none() && want.is_some() {
            // An empty directory gives way.
            let _ = std::fs::remove_dir(destination.root.join(name));
        }
        let after = want.map(|(bytes, mode)| {
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
    write_worktree(&destination.root, state, &changes).map_err(|error| Fatal(error.to_string()))
}
