use std::path::Path;

use super::{App, Result};
use crate::model::SCHEMA_VERSION;
use crate::repair::RunLock;
use crate::state::StateHome;

/// What is kept of one worktree, as `mendit config clean` shows it.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeptRow {
    /// The worktree.
    pub root: String,
    /// Whether it is still there.
    pub there: bool,
    /// How many runs are kept.
    pub runs: usize,
    /// Bytes of everything that is kept for it.
    pub bytes: u64,
    /// Whether it was removed now.
    pub removed: bool,
}

/// What is kept on this machine.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeptDocument {
    /// The version of this document.
    pub schema_version: u32,
    /// `kept`.
    pub document: &'static str,
    /// A row for each worktree.
    pub repositories: Vec<KeptRow>,
}

/// What `mendit config clean` removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clean {
    /// Nothing.
    Show,
    /// What is kept for worktrees that are gone.
    Gone,
    /// What is kept for the current worktree.
    Here,
    /// Everything.
    All,
}

/// Shows what is kept, and removes the part that is asked for. Nothing is removed while a run holds it.
///
/// # Errors
/// What the system says.
pub fn clean(app: &App, what: Clean) -> Result<KeptDocument> {
    let here = app.worktree()?.root;
    let mut repositories = Vec::new();
    for kept in StateHome::open()?.all() {
        let root = kept.root().unwrap_or_default();
        let there = root.is_dir();
        let removed = match what {
            Clean::Show => false,
            Clean::Gone => !there,
            Clean::Here => here.as_ref() == Some(&root),
            Clean::All => true,
        };
        repositories.push(KeptRow {
            root: root.display().to_string(),
            there,
            runs: kept.runs().names().len(),
            bytes: bytes_below(kept.directory()),
            removed,
        });
        if removed {
            let _lock = RunLock::take(kept.directory())?;
            kept.remove()?;
        }
    }
    repositories.sort_by(|a, b| a.root.cmp(&b.root));
    Ok(KeptDocument {
        schema_version: SCHEMA_VERSION,
        document: "kept",
        repositories,
    })
}

fn bytes_below(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(about) if about.is_dir() => bytes_below(&entry.path()),
        about => about.map_or(0, |about| about.len()),
    });
    bytes.sum()
}
