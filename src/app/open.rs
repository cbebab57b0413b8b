use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{AppError, Progress};
use crate::config::Settings;
use crate::exec::Stop;
use crate::git::Repository;
use crate::graph::{FactsCache, Graph};
use crate::model::{Code, Profile, RepoPath};
use crate::policy::{ReadPolicy, Redactor, sanitize_log};
use crate::source::Source;
use crate::workspace::{At, Workspace, canonical, settings_file};

/// What every task stands on, opened once: where it works, under which settings, and what it must
/// not show.
pub struct App {
    directory: PathBuf,
    threads: usize,
    settings: Settings,
    redactor: Redactor,
}

/// Where a task works, as the person who asks for it says.
#[derive(Debug, Clone, Default)]
pub struct AppOptions {
    /// The directory it stands in.
    pub directory: PathBuf,
    /// The settings' file; without one it is looked for from the directory upwards.
    pub config: Option<PathBuf>,
    /// Threads for listing files; 0 leaves it to the machine.
    pub threads: usize,
    /// Variables given beside the environment, `NAME=VALUE`: what is secret among them is masked
    /// as if it stood there. A `NAME` alone hands on a variable and says nothing new.
    pub variables: Vec<String>,
}

impl App {
    /// Opens it. The environment of this process is read: settings and secrets stand in it.
    ///
    /// # Errors
    /// A directory that cannot be entered, or wrong settings.
    pub fn open(options: &AppOptions) -> Result<Self, AppError> {
        let file = match &options.config {
            Some(file) => Some(file.clone()),
            None => settings_file(&options.directory)?,
        };
        let given = options.variables.iter().filter_map(|it| it.split_once('='));
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Ok(Self {
            directory: canonical(&options.directory)?,
            threads: options.threads,
            settings: Settings::load(file.as_deref(), environment())?,
            redactor: Redactor::new(environment().chain(given)),
        })
    }

    /// The directory it stands in, absolute, with links resolved.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The settings in force there.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Masks what must not be shown.
    #[must_use]
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// How many threads list files; 0 leaves it to the machine.
    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// The repository, read at a point in time.
    pub(super) fn workspace(
        &self,
        at: At<'_>,
        progress: &dyn Progress,
    ) -> Result<Workspace, AppError> {
        super::progress::go_on(progress, "listing the repository")?;
        let workspace = Workspace::at(&self.directory, at, self.threads)?;
        if workspace.git.as_ref().is_some_and(Repository::is_foreign) {
            progress.note(
                "another user owns this repository; it is read without trusting its configuration \
                 (`git config --global --add safe.directory DIR` says that you trust it)",
            );
        }
        Ok(workspace)
    }

    /// What may be read and shown: the settings' patterns and those of the caller.
    pub(super) fn read_policy(
        &self,
        allow: &[String],
        deny: &[String],
        profile: Profile,
    ) -> Result<ReadPolicy, AppError> {
        let globs = |key, given: &[String]| [self.settings.list(key), given].concat();
        Ok(ReadPolicy::new(
            &globs("context.allow", allow),
            &globs("context.deny", deny),
            profile,
        )?)
    }

    /// A log as it may be read on: decoded, without terminal escapes, its secrets masked.
    pub(super) fn clean(&self, log: &[u8]) -> String {
        self.redactor.redact(&sanitize_log(log)).text.into_owned()
    }
}

/// Does some work on the import graph; with `cached`, with the facts that are known already.
pub(super) fn with_graph<T>(
    app: &App,
    workspace: &Workspace,
    cached: bool,
    work: impl FnOnce(&Graph<'_>) -> T,
) -> T {
    let source = workspace.source.as_ref();
    // Knowledge that cannot be kept is found again.
    let state = cached.then(|| super::runs::state(app, workspace).ok());
    let directory = state.flatten().map(|state| state.cache("facts"));
    let cache = directory.map(|directory| FactsCache::open(&directory));
    let graph = match &cache {
        Some(cache) => Graph::with_facts(source, cache.reader(source)),
        None => Graph::new(source),
    };
    let done = work(&graph);
    if let Some(cache) = &cache {
        cache.save();
    }
    done
}

/// A file of the repository as a caller names it.
pub(super) fn known_file(workspace: &Workspace, typed: &str) -> Result<RepoPath, AppError> {
    workspace
        .repo_path(typed)
        .filter(|path| workspace.source.listing().has_file(path.as_str()))
        .ok_or_else(|| no_such_file(typed, workspace.source.as_ref()))
}

/// A name that is no file of the repository, with the nearest one that is.
pub(super) fn no_such_file(typed: &str, source: &dyn Source) -> AppError {
    let error = AppError::new(
        Code::U104,
        format!("`{typed}` is not a file of the repository"),
    );
    let near = crate::context::nearest_paths(source.listing(), typed, 1);
    match near.first() {
        Some(path) => error.hint(format!("did you mean `{path}`?")),
        None => error,
    }
}

/// Listens to Ctrl-C and its like.
pub(super) fn listen() -> Result<Stop, AppError> {
    Stop::install()
        .map_err(|error| AppError::environment(format!("cannot listen to Ctrl-C: {error}")))
}

/// The variables of this process that are UTF-8.
pub(super) fn environment() -> impl Iterator<Item = (String, String)> {
    let utf8 = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(utf8)
}
