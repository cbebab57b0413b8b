//! Opens what every task needs once: the worktree, the settings, the policy and the redactor.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{AppError, Result};
use crate::config::Settings;
use crate::context::expand_target;
use crate::exec::Stop;
use crate::git::{Repository, TreeSource};
use crate::graph::Graph;
use crate::model::{Code, Event, Profile, RepoPath};
use crate::policy::{Allowed, ReadPolicy, ReadRules, Redactor, sanitize_log};
use crate::state::Known;
use crate::workspace::{At, SettingsChoice, Workspace, canonical, settings};

/// The context of every task, opened once: directory, settings and redactor.
pub struct App<'a> {
    /// Hears what a task does, and ends it.
    pub(super) progress: &'a dyn Progress,
    pub(super) directory: PathBuf,
    pub(super) settings: Settings,
    // Learns the environment when something is first masked, which a check of a small patch does not do.
    redactor: LazyLock<Redactor, Box<dyn FnOnce() -> Redactor + Send>>,
    // Whether it was said that there is no repository: once is enough.
    said_alone: AtomicBool,
}

/// Where a task works, as the person who asks for it says.
#[derive(Debug, Clone, Default)]
pub struct AppOptions {
    /// The directory it is in.
    pub directory: PathBuf,
    /// The settings' file; when none is named it is looked for from the directory upwards.
    pub settings: SettingsChoice,
}

impl<'a> App<'a> {
    /// Opens it. The environment of this process is read: settings and secrets are in it.
    /// `merge` puts what the caller says, such as flags, before the other settings.
    ///
    /// # Errors
    /// A directory that cannot be entered, or wrong settings.
    pub fn open(
        options: &AppOptions,
        progress: &'a dyn Progress,
        merge: impl FnOnce(&mut Settings),
    ) -> Result<Self> {
        let mut settings = settings(&options.directory, &options.settings, environment())?;
        merge(&mut settings);
        // Variables with a value on the command line are masked like the environment, because a command may print
        // them.
        let given = list_values(settings.test.env.iter().chain(&settings.agent.env));
        let given: Vec<_> = given.collect();
        let redactor = Redactor::default().with_rules(&settings.output.secret);
        let redactor = redactor
            .map_err(|error| AppError::new(Code::U103, format!("`output.secret`: {error}")))?;
        Ok(Self {
            progress,
            directory: canonical(&options.directory)?,
            redactor: LazyLock::new(Box::new(move || redactor.know(environment().chain(given)))),
            settings,
            said_alone: AtomicBool::new(false),
        })
    }

    /// Prints a notice that is not part of the JSON output.
    pub(super) fn note(&self, text: &str) {
        self.progress.note(text);
    }

    /// Announces the next step, and ends the task when the caller is gone.
    pub(super) fn go_on(&self, what: &str) -> Result<()> {
        let is_awaited = self.progress.step(what);
        is_awaited.then_some(()).ok_or_else(AppError::cancelled)
    }

    /// The files of the worktree as they are.
    pub(super) fn worktree(&self) -> Result<Workspace> {
        self.workspace(At::Worktree)
    }

    /// The directory it is in, absolute, with links resolved.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The settings in force there.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Masks what must not be shown.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// The repository, read at a point in time.
    pub(super) fn workspace(&self, at: At<'_>) -> Result<Workspace> {
        self.go_on("listing the repository")?;
        let threads = self.settings.output.threads;
        let threads = threads.map_or(0, |threads| threads.get().into());
        let workspace = Workspace::at(&self.directory, at, threads)?;
        if workspace.git.is_none() && !self.said_alone.swap(true, Ordering::Relaxed) {
            let folder = self.directory.display();
            self.note(&format!(
                "this is not a git repository: reading all files below {folder} (hint: choose another folder with `-C DIR`)"
            ));
        }
        if workspace.git.as_ref().is_some_and(Repository::is_foreign) {
            self.note(
                "another user owns this repository, so its configuration is not trusted (trust it with `git config --global --add safe.directory DIR`)",
            );
        }
        Ok(workspace)
    }

    /// Returns the rules of what may be read and shown.
    pub(super) fn read_policy(&self, profile: Profile) -> Result<ReadPolicy> {
        let rules = ReadRules::from_settings(&self.settings.context);
        Ok(ReadPolicy::new(&rules, profile)?)
    }

    /// Which protected files a patch may change.
    pub(super) fn allowed(&self) -> Result<Allowed> {
        let allowed = Allowed::from_settings(&self.settings.patch)
            .map_err(|error| AppError::usage(format!("protected files: {error}")))?;
        Ok(allowed.reading(self.read_policy(Profile::Ranked)?))
    }

    /// A log as it may be read on: decoded, without terminal escapes, its secrets masked.
    pub(super) fn clean(&self, log: &[u8]) -> String {
        self.redactor.mask(&sanitize_log(log))
    }
}

/// Runs `work` with the cache of facts about files and commits, and saves new facts. Without
/// `cached` the cache is empty.
pub(super) fn with_known<T>(app: &App, cached: bool, work: impl FnOnce(&Known) -> T) -> T {
    // Not an error, since cached facts can be found again.
    let state = cached.then(|| super::runs::state(app)).and_then(Result::ok);
    let cache = state.map_or_else(Known::nothing, |state| state.known());
    tracing::debug!(cached, "cache of facts");
    let done = work(&cache);
    cache.save();
    done
}

/// Does some work on the import graph; with `cached`, with the facts that are known already.
pub(super) fn with_graph<T>(
    app: &App,
    workspace: &Workspace,
    cached: bool,
    work: impl FnOnce(&Graph<'_>) -> T,
) -> T {
    with_known(app, cached, |cache| {
        let source = workspace.source.as_ref();
        work(&Graph::with_fact_cache(source, &cache.facts))
    })
}

/// The root of a repository in which commands can run.
pub(super) fn root_to_run_in(workspace: &Workspace) -> Result<PathBuf> {
    let root = workspace.root.clone();
    root.ok_or_else(|| AppError::bare(": there is nothing to run commands in"))
}

/// Returns the files of the commit that a flag compares with.
pub(super) fn base_tree(workspace: &Workspace, flag: &str, base: &str) -> Result<TreeSource> {
    let git = workspace.git.as_ref().ok_or_else(|| {
        let message = format!("`{flag}` compares with a commit, and this is not a git repository");
        AppError::new(Code::U204, message)
    })?;
    Ok(git.tree(base)?)
}

/// Returns what a caller names: a file, or all that is below a folder; `.` is the whole repository.
pub(super) fn find_named(workspace: &Workspace, typed: &str) -> Result<Vec<RepoPath>> {
    let listing = workspace.source.listing();
    let path = workspace.repo_path(typed);
    if path.is_none() && workspace.prefix.is_empty() && [".", "./", ""].contains(&typed) {
        let all = listing.entries().iter().map(|entry| entry.path.clone());
        return Ok(all.collect());
    }
    let found = path.as_ref().and_then(|path| expand_target(listing, path));
    let root = workspace.root.as_deref().unwrap_or(Path::new(""));
    found.ok_or_else(|| {
        let why = match path {
            None => "is outside the repository",
            Some(path) if root.join(path.as_str()).symlink_metadata().is_ok() => {
                "is ignored by git; add it with `git add -f`"
            }
            Some(_) => "is not a file of the repository",
        };
        let error = AppError::new(Code::C311, format!("`{typed}` {why}"));
        error.hint(match listing.nearest_paths(typed, 1).first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => "the path is relative to the current directory".to_owned(),
        })
    })
}

/// Listens to Ctrl-C and its like.
pub(super) fn listen() -> Result<Stop> {
    Stop::install().map_err(|error| AppError::environment(format!("cannot handle Ctrl-C: {error}")))
}

/// Lists the variables that are given with a value: `NAME=VALUE`.
pub(super) fn list_values<'a>(
    variables: impl IntoIterator<Item = &'a String>,
) -> impl Iterator<Item = (String, String)> {
    let given = variables.into_iter().filter_map(|text| text.split_once('='));
    given.map(|(name, value)| (name.to_owned(), value.to_owned()))
}

/// The variables of this process that are UTF-8.
pub(super) fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// How a task speaks to whoever waits for it, while it works.
pub trait Progress: Sync {
    /// Announces the next step. Returns `false` when the caller is gone.
    fn step(&self, _what: &str) -> bool {
        true
    }

    /// Prints a notice that is not part of the JSON output.
    fn note(&self, text: &str);

    /// Reports that a trial begins; the text stays on screen until the next one.
    fn trial(&self, _what: &str) {}

    /// Says what happened in a repair.
    fn event(&self, _event: &Event) {}

    /// What ends the commands that the task runs: Ctrl-C, unless whoever waits has a way of its own.
    ///
    /// # Errors
    /// When the system takes no handler.
    fn stop(&self) -> Result<Stop> {
        listen()
    }
}
