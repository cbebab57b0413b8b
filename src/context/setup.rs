//! Builds the request for a packet from settings and history.

use super::{CapOverrides, LevelChoice, Request};
use crate::config::Settings;
use crate::git::Repository;
use crate::model::{History, Level, Profile};
use crate::source::Installed;
use crate::state::Known;
use crate::workplace::installed;

/// Bytes of the log in a packet; the middle is left out.
const MAX_LOG_BYTES: u64 = 32_768;

/// A request as the settings have it: caps, profile and size of the log. The log, targets and the
/// attempt before are the caller's to add.
#[must_use]
pub fn base_request(settings: &Settings, git: Option<&Repository>) -> Request {
    Request {
        caps: CapOverrides {
            max_files: settings.context.max_files,
            max_file_bytes: settings.context.max_file_bytes.map(|size| size.0),
            max_total_bytes: settings.context.max_total_bytes.map(|size| size.0),
            max_tokens: settings.context.max_tokens,
        },
        profile: settings.context.profile,
        installed: git
            .and_then(Repository::workdir)
            .map_or_else(Installed::default, installed),
        max_log_bytes: MAX_LOG_BYTES,
        history: History {
            shallow: git.is_some_and(Repository::is_shallow),
            commits_used: 0,
        },
        ..Request::default()
    }
}

/// Adds the commits before a revision, newest first, where the ranking looks at them. History helps
/// and is never required: without it the packet says so. What is known of commits is not read
/// again.
pub fn add_history(request: &mut Request, git: Option<&Repository>, revision: &str, known: &Known) {
    let needed =
        request.level != LevelChoice::Exactly(Level::Targets) && request.profile == Profile::Ranked;
    let Some(git) = git.filter(|_| needed) else {
        return;
    };
    let mut changes = git
        .changes(revision, MAX_COMMITS, &known.history)
        .unwrap_or_default();
    request.history.commits_used = changes.len() as u64;
    if changes.len() < MAX_COMMITS {
        // The first commit is skipped, because it adds all files together, which relates none of them.
        changes.pop();
    }
    request.commits = changes;
}

const MAX_COMMITS: usize = 1000;
