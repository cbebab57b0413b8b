use std::path::Path;

use super::flags::request;
use super::{App, Result};
use crate::repair::RunLock;
use crate::state::StateHome;

/// What is kept of one worktree, as `mendit config clean` shows it.
#[derive(Debug, Clone, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptRow {
    /// The worktree.
    pub root: String,
    /// Whether it is still there.
    pub there: bool,
    /// Bytes of everything that is kept for it.
    pub bytes: u64,
    /// Whether it was removed now.
    pub removed: bool,
}

request! {
/// What is deleted: nothing where no flag is given.
#[derive(Copy)]
CleanRequest {
    /// Delete what is kept for worktrees that are gone
    #[arg(long)] gone: bool;
    /// Delete what is kept for this worktree
    #[arg(long, conflicts_with = "gone")] here: bool;
    /// Delete everything
    #[arg(long, conflicts_with_all = ["gone", "here"])] all: bool;
}
}

/// Shows what is kept, and removes the part that is asked for. Nothing is removed while a run holds it.
///
/// # Errors
/// What the system says.
pub fn clean(app: &App, what: CleanRequest) -> Result<Vec<KeptRow>> {
    let here = app.worktree()?.root;
    let mut repositories = Vec::new();
    for kept in StateHome::open()?.all() {
        let root = kept.root().unwrap_or_default();
        let there = root.is_dir();
        let is_here = here.as_ref() == Some(&root);
        let removed = what.all || what.gone && !there || what.here && is_here;
        repositories.push(KeptRow {
            root: root.display().to_string(),
            there,
            bytes: bytes_below(kept.directory()),
            removed,
        });
        if removed {
            let _lock = RunLock::take(kept.directory())?;
            kept.remove()?;
        }
    }
    repositories.sort_by(|a, b| a.root.cmp(&b.root));
    Ok(repositories)
}

fn bytes_below(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(about) if about.is_dir() => bytes_below(&entry.path()),
        about => about.map_or(0, |about| about.len()),
    });
    bytes.sum()
}
