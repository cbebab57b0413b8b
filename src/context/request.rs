//! The request for a packet: everything that does not come from the repository, as settings and history have it.

use super::ladder::{LevelChoice, Retry};
use crate::config::Settings;
use crate::diagnose::{Log, LogFacts};
use crate::git::Repository;
use crate::junit::Report;
use crate::model::{
    Caps, ChangeUnderTest, Code, History, KnownCause, Level, Profile, RepoPath, Traced,
};
use crate::source::Installed;
use crate::state::Known;
use crate::workplace::installed;

/// What a packet is to be built from. Everything outside the repository's files is in here.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The raw log, escapes and all; `None` when there is none.
    pub log: Option<Log>,
    /// The text of an issue or a task, in place of a log.
    pub issue: Option<String>,
    /// Reports of the tests, in the form of `JUnit`.
    pub reports: Vec<Report>,
    /// The directory that relative paths of the log are tried in first, relative to the root.
    pub directory: String,
    /// How the command ended that wrote the log; its line is the first of the test commands.
    pub facts: LogFacts,
    /// Files the caller says the failure is about; empty leaves it to the log.
    pub targets: Vec<RepoPath>,
    /// The level asked for.
    pub level: LevelChoice,
    /// Why that level, when the caller knows better than that it was asked for.
    pub level_reason: Option<String>,
    /// The facts of the attempt before.
    pub retry: Retry,
    /// Paths an agent asked for, as it wrote them, one list for each request, oldest first. A request
    /// that was answered with an earlier packet may be empty here.
    pub requests: Vec<Vec<String>>,
    /// Whether level 4 is permitted.
    pub include_bundle: bool,
    /// Caps that replace the level's own.
    pub caps: CapOverrides,
    /// How places are given out.
    pub profile: Profile,
    /// Commands that show the failure.
    pub test_commands: Vec<String>,
    /// Bytes of the log that go into the failure packet.
    pub max_log_bytes: u64,
    /// The history of the files, where there is any.
    pub history: History,
    /// The paths that each commit of that history changed, newest first.
    pub commits: Vec<Vec<RepoPath>>,
    /// The packages that are installed for the repository.
    pub installed: Installed,
    /// The change that made it fail, where trials showed one.
    pub cause: Option<KnownCause>,
    /// The code that the failing tests ran, when it was traced.
    pub traced: Option<Traced>,
    /// The change under test.
    pub change: Option<ChangeUnderTest>,
}

impl Request {
    /// Whether nothing in it leads to a file.
    pub fn says_nothing(&self) -> bool {
        let reported = self.log.is_some() || self.issue.is_some();
        !reported && self.targets.is_empty() && self.requests.is_empty()
    }

    /// Whether the caller says how many tokens there are.
    pub(super) fn has_token_limit(&self) -> bool {
        self.caps.max_tokens.is_some_and(|tokens| tokens > 0)
    }
}

/// Caps given by the caller; `None` keeps the level's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CapOverrides {
    /// See [`Caps::max_files`].
    pub max_files: Option<u64>,
    /// See [`Caps::max_file_bytes`].
    pub max_file_bytes: Option<u64>,
    /// See [`Caps::max_total_bytes`].
    pub max_total_bytes: Option<u64>,
    /// See [`Caps::max_tokens`]; 0 is no limit.
    pub max_tokens: Option<u64>,
}

impl CapOverrides {
    pub(super) fn over(self, caps: Caps, profile: Profile) -> Caps {
        // The specification's own profile has no token limit; 0 is no limit.
        let own = caps.max_tokens.filter(|_| profile == Profile::Ranked);
        // Who pays for more tokens than the level's gets more places at the level's rate.
        let more = own.zip(self.max_tokens).filter(|(own, given)| given > own);
        let places = more.map_or(caps.max_files, |(own, given)| {
            caps.max_files.saturating_mul(given) / own
        });
        Caps {
            max_files: self.max_files.unwrap_or(places),
            max_file_bytes: self.max_file_bytes.unwrap_or(caps.max_file_bytes),
            max_total_bytes: self.max_total_bytes.unwrap_or(caps.max_total_bytes),
            max_tokens: self.max_tokens.or(own).filter(|tokens| *tokens > 0),
        }
    }
}

/// Why no packet can be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContextError {
    /// Level 4 without the flag that permits it.
    #[error("level 4 contains the whole repository and must be allowed")]
    BundleNotPermitted,
    /// A log was given and there is nothing in it.
    #[error("the log is empty")]
    EmptyLog,
    /// An issue was given and there is nothing in it.
    #[error("the issue is empty")]
    EmptyIssue,
}

impl ContextError {
    /// The stable code.
    pub fn code(&self) -> Code {
        match self {
            Self::BundleNotPermitted => Code::C110,
            Self::EmptyLog | Self::EmptyIssue => Code::C320,
        }
    }
}

/// A request as the settings have it: caps, profile and size of the log. The log, targets and the
/// attempt before are the caller's to add.
pub fn base_request(settings: &Settings, git: Option<&Repository>) -> Request {
    Request {
        caps: CapOverrides {
            max_files: settings.context.max_files,
            max_file_bytes: settings.context.max_file_bytes.map(|size| size.0),
            max_total_bytes: settings.context.max_total_bytes.map(|size| size.0),
            max_tokens: settings.context.max_tokens,
        },
        profile: settings.context.profile,
        installed: git.and_then(Repository::workdir).map_or_else(Installed::default, installed),
        // Bytes of the log in a packet; the middle is left out.
        max_log_bytes: 32_768,
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
    let max_commits = 1000;
    let mut changes = git.changes(revision, max_commits, &known.history).unwrap_or_default();
    request.history.commits_used = changes.len() as u64;
    if changes.len() < max_commits {
        // The first commit is skipped, because it adds all files together, which relates none of them.
        changes.pop();
    }
    request.commits = changes;
}
