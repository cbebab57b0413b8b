//! Stores the runs of a worktree. They are kept outside the repository, because a command could forge
//! them otherwise.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::files::{to_json, write_file};
use super::{App, AppError, Result};
use crate::diagnose::{Log, LogFacts, diagnose_in};
use crate::exec::CommandLine;
use crate::git::Repository;
use crate::model::{AtPath as _, Code, CommandRecord, RepoPath, RunSummary, file_name};
use crate::repair::{files_digest, read_json};
use crate::state::{RepositoryState, RunId, StateHome};
use crate::why::RedRun;
use crate::workspace::{Workspace, canonical};

/// The file that names the folder of a run's copy.
const SHOWN: &str = "shown";
/// The file that holds what it takes to run a command again.
const RERUN: &str = "command.json";
/// Files that mark the folder of a run.
pub(super) const RUN: &[&str] = &["run.json", "result.json", "events.jsonl"];
/// Files that mark the folder of a repair.
pub(super) const REPAIR: &[&str] = &["result.json", "events.jsonl"];

/// The runs of one worktree: of `mendit run` and of repairs. They are kept outside the repository, out of reach of
/// what is run; copies of them are written and never read back.
pub(super) struct RunStore<'a> {
    pub(super) app: &'a App<'a>,
    pub(super) state: RepositoryState,
    /// The current directory below the root of the worktree.
    pub(super) prefix: String,
}

/// The folders of a run.
pub(super) struct RunFolders {
    /// Where it is kept.
    pub(super) kept: PathBuf,
    /// Its copy, for people and CI.
    pub(super) shown: Option<PathBuf>,
}

impl RunFolders {
    /// The folder that messages name.
    pub(super) fn named(&self) -> &Path {
        self.shown.as_deref().unwrap_or(&self.kept)
    }

    /// Writes a file of the run and its copy.
    pub(super) fn write(&self, name: &str, content: &str) -> Result<()> {
        let mut folders = std::iter::once(&self.kept).chain(&self.shown);
        folders.try_for_each(|folder| write_file(&folder.join(name), content))
    }
}

/// What is needed to rerun a command.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct RerunSpec {
    /// The words; one with blanks is a line for the shell. `None` when a secret is in them.
    pub(super) words: Option<Vec<String>>,
    /// The folder it was run in, below the root.
    pub(super) prefix: String,
    /// Variables that were passed on, but those whose value is a secret.
    pub(super) env: Vec<String>,
    /// The digest of all files, of a run that failed.
    pub(super) files: Option<String>,
    /// The commit that was checked out, of a run that passed.
    pub(super) head: Option<String>,
    /// Its exit code, or the negative number of the signal that ended it.
    pub(super) exit_code: Option<i32>,
    /// When it began and ended, in milliseconds: files written in between are its output.
    pub(super) window: Option<[u64; 2]>,
}

impl RerunSpec {
    /// A command that is run in this folder.
    pub(super) fn new(app: &App, command: &[OsString], prefix: &str) -> Self {
        let redactor = app.redactor();
        let words = command.iter().map(|word| word.to_str().map(str::to_owned));
        let words: Option<Vec<String>> = words.collect();
        let mut env = app.settings().test.env.clone();
        env.retain(|text| redactor.finds_nothing(text));
        Self {
            words: words.filter(|words| redactor.finds_nothing(&words.join(" "))),
            prefix: prefix.to_owned(),
            env,
            ..Self::default()
        }
    }

    /// As a line for the shell.
    pub(super) fn line(&self) -> Option<String> {
        Some(match self.words.as_deref()? {
            [one] => one.clone(),
            words => CommandLine::Program(words.iter().map(Into::into).collect()).to_string(),
        })
    }
}

/// The log of the last run, for a task that is given none.
#[derive(Debug, Clone)]
pub struct LastLog {
    /// The output.
    pub log: Log,
    /// How it ended.
    pub facts: LogFacts,
}

/// A run as it is read back.
pub struct KeptRun {
    folder: PathBuf,
    /// What it takes to run it again; `None` of a repair.
    pub(super) rerun: Option<RerunSpec>,
    /// `run.json`.
    pub record: Value,
}

impl KeptRun {
    pub(super) fn read(folder: PathBuf) -> Self {
        Self {
            rerun: read_json(&folder.join(RERUN)),
            record: read_json(&folder.join("run.json")).unwrap_or_default(),
            folder,
        }
    }

    pub(super) fn passed(&self) -> bool {
        self.record["status"] == "passed"
    }

    /// Its command as a line for the shell.
    pub(super) fn line(&self) -> Option<String> {
        self.rerun.as_ref()?.line()
    }

    fn is_of(&self, line: &str, prefix: &str) -> bool {
        let rerun = self.rerun.as_ref().filter(|rerun| rerun.prefix == prefix);
        rerun.and_then(RerunSpec::line).as_deref() == Some(line)
    }

    /// Its command, with secrets masked; the first one of a repair.
    pub fn command(&self) -> Option<String> {
        let command = self.record["command"].as_str();
        command.or_else(|| self.record["commands"][0].as_str()).map(str::to_owned)
    }

    /// How it ended, in words.
    pub fn end(&self) -> &str {
        self.record["testResult"]["message"].as_str().unwrap_or_default()
    }

    /// Its failure in short; `None` when it passed.
    pub fn summary(&self) -> Option<RunSummary> {
        serde_json::from_value(self.record["summary"].clone()).ok()
    }

    /// Whether it found its packages and programs: it passed, or a test failed for another reason.
    pub(super) fn found_its_packages(&self) -> bool {
        self.passed()
            || self.summary().is_some_and(|summary| {
                let mut tests = summary.failures.iter();
                tests.any(|failure| !failure.test.is_empty()) && !summary.requires_user_action
            })
    }

    // Its log; `None` where it has none yet.
    fn log(&self) -> Result<Option<LastLog>> {
        let logs = ["test.log", "baseline.log"].map(|name| self.folder.join(name));
        let Some(path) = logs.into_iter().find(|log| log.is_file()) else {
            return Ok(None);
        };
        let log = std::fs::File::open(&path).and_then(Log::read).at(&path)?;
        Ok(Some(LastLog {
            log,
            facts: LogFacts {
                command: self.command(),
                timed_out: self.record["testResult"]["timedOut"] == true,
                exit_code: self.rerun.as_ref().and_then(|rerun| rerun.exit_code),
            },
        }))
    }
}

impl<'a> RunStore<'a> {
    /// Opens the runs of the worktree that the app is in; of a bare repository, those of its git directory.
    pub(super) fn open(app: &'a App<'a>) -> Result<Self> {
        let directory = app.directory();
        let place = match Repository::discover(directory)? {
            None => directory.to_owned(),
            Some(git) => canonical(git.workdir().unwrap_or(git.git_dir()))?,
        };
        let below = directory.strip_prefix(&place).ok().and_then(Path::to_str);
        Ok(Self {
            app,
            state: StateHome::open()?.repository(&place)?,
            prefix: below.unwrap_or_default().to_owned(),
        })
    }

    /// Starts a run. The copy is written to `out`; without one below `.mendit`, where `visible` asks for it or the
    /// folder is there already.
    pub(super) fn start(
        &self,
        workspace: &Workspace,
        out: Option<&Path>,
        visible: bool,
    ) -> Result<RunFolders> {
        let id = RunId::now();
        let shown = match out {
            Some(out) => Some(self.app.directory().join(out)),
            None => own_folder(self.app, workspace, visible)
                .map(|folder| folder.join("runs").join(id.to_string())),
        };
        let kept = self.state.runs().start(&id)?;
        if let Some(shown) = &shown {
            write_file(&kept.join(SHOWN), shown.as_os_str().as_encoded_bytes())?;
        }
        Ok(RunFolders { kept, shown })
    }

    /// Finds a repair to continue by its name, `latest`, or the folder of its copy.
    pub(super) fn resume(&self, run: &str) -> Result<RunFolders> {
        let mut repairs = self.runs().filter(|kept| kept.rerun.is_none());
        let latest = repairs.next().filter(|_| run == "latest");
        let kept = latest.map_or_else(|| self.find(run), |kept| Ok(kept.folder))?;
        let shown = std::fs::read_to_string(kept.join(SHOWN)).ok();
        Ok(RunFolders {
            kept,
            shown: shown.map(PathBuf::from),
        })
    }

    /// Finds a run by its name, `latest`, or the folder of its copy, which holds its name.
    pub(super) fn find(&self, run: &str) -> Result<PathBuf> {
        let copy = self.app.directory().join(run).join("run.json");
        let copied: Option<Value> = read_json(&copy);
        let name = copied.and_then(|copy| copy["runId"].as_str().map(str::to_owned));
        self.state.runs().find(name.as_deref().unwrap_or(run)).ok_or_else(|| match run {
            "latest" => no_run(),
            _ => AppError::new(Code::U306, format!("there is no run `{run}`"))
                .hint("only runs of this worktree on this machine are known; `mendit report` alone shows the last"),
        })
    }

    /// Keeps a run that ended, with its log, which is masked already.
    pub(super) fn keep_run(
        &self,
        folders: &RunFolders,
        record: &mut CommandRecord,
        log: &str,
        rerun: &RerunSpec,
    ) -> Result<()> {
        record.run_id = Some(file_name(&folders.kept.to_string_lossy()).to_owned());
        folders.write("test.log", log)?;
        folders.write("run.json", &to_json(record)?)?;
        // The copy has none of what it takes to run the command again.
        write_file(&folders.kept.join(RERUN), to_json(rerun)?)?;
        self.forget_old();
        Ok(())
    }

    // Removes the oldest runs of `mendit run` beyond those that are kept.
    fn forget_old(&self) {
        let commands = self.folders().filter(|folder| folder.join(RERUN).is_file());
        // Only the last runs are stored.
        for old in commands.skip(50) {
            // Ignored, since a folder that cannot be removed now is removed another time.
            let _ = std::fs::remove_dir_all(old);
        }
    }

    // The folders of all runs, the newest first.
    fn folders(&self) -> impl Iterator<Item = PathBuf> {
        let runs = self.state.runs();
        let names = runs.names().into_iter().rev();
        names.filter_map(move |name| runs.find(&name))
    }

    fn runs(&self) -> impl Iterator<Item = KeptRun> {
        self.folders().map(KeptRun::read)
    }

    /// The last run of `mendit run`.
    pub(super) fn last_command(&self) -> Option<KeptRun> {
        self.runs().find(|run| run.rerun.is_some())
    }

    /// The last run, where it failed with this line on these very files.
    pub(super) fn last_red(&self, workspace: &Workspace, line: &str) -> Result<Option<RedRun>> {
        let last = self.last_command();
        let last = last.filter(|last| last.is_of(line, &workspace.prefix) && !last.passed());
        let Some(last) = last else {
            return Ok(None);
        };
        let source = workspace.source.as_ref();
        let files = last.rerun.as_ref().and_then(|rerun| rerun.files.clone());
        if files != Some(files_digest(source)) {
            return Ok(None);
        }
        let window = last.rerun.as_ref().and_then(|rerun| rerun.window);
        let took = window.map_or(Duration::MAX, |[from, to]| {
            Duration::from_millis(to.saturating_sub(from))
        });
        Ok(last.log()?.map(|last| {
            let text = last.log.text();
            let diagnosis = diagnose_in(text, &last.facts, source);
            let (exit_code, root) = (last.facts.exit_code, workspace.root.as_deref());
            RedRun::new(diagnosis, text, exit_code, took, root)
        }))
    }

    /// The commit that was checked out when this line last passed here.
    pub(super) fn passed_at(&self, line: &str) -> Option<String> {
        let mut runs = self.runs();
        runs.find_map(|run| {
            let is_green = run.is_of(line, &self.prefix) && run.passed();
            run.rerun?.head.filter(|_| is_green)
        })
    }

    /// Tells which files were written while this line last ran here: they are output, and no change.
    pub(super) fn outputs_of_last(
        &self,
        workspace: &Workspace,
        line: &str,
    ) -> impl Fn(&RepoPath) -> bool + Sync + use<> {
        let last = self.last_command();
        let last = last.filter(|last| last.line().as_deref() == Some(line));
        let window = last.and_then(|last| last.rerun?.window).zip(workspace.root.clone());
        move |path| {
            let written = window
                .as_ref()
                .and_then(|(window, root)| is_written_in(*window, &root.join(path.as_str())));
            written == Some(true)
        }
    }
}

fn is_written_in([began, ended]: [u64; 2], file: &Path) -> Option<bool> {
    let written = file.symlink_metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((began.into()..=ended.into()).contains(&written.as_millis()))
}

/// The log of the last run of this worktree, with a note that says so; `None` when nothing was run yet.
pub(super) fn last_log(app: &App) -> Result<Option<LastLog>> {
    for run in RunStore::open(app)?.runs() {
        if let Some(last) = run.log()? {
            let (line, end) = (run.command().unwrap_or_default(), run.end());
            let end = Some(end).filter(|end| !end.is_empty());
            let end = end.map_or(String::new(), |end| format!(", {end}"));
            app.note(&format!("reading the log of the last run, `{line}`{end}"));
            return Ok(Some(last));
        }
    }
    Ok(None)
}

/// Why a task that needs a run has none.
pub fn no_run() -> AppError {
    AppError::new(Code::U306, "nothing was run here yet")
        .hint("`mendit run CMD` runs a test command and stores its log")
}

/// Returns the words of the last command, to run it again from where it was and with the variables it was given;
/// `None` when nothing was run here yet.
///
/// # Errors
/// When a secret is in its command, or its folder is gone.
pub fn enter_last(app: &mut App) -> Result<Option<Vec<OsString>>> {
    let last = RunStore::open(app)?.last_command();
    let Some(rerun) = last.and_then(|last| last.rerun) else {
        return Ok(None);
    };
    let words = rerun.words.clone().ok_or_else(secret)?;
    super::fix::enter(app, rerun)?;
    Ok(Some(words.into_iter().map(Into::into).collect()))
}

/// Why a command cannot be run again.
pub(super) fn secret() -> AppError {
    AppError::usage("the last command was not stored, because it contains a secret")
        .hint("pass it again with the secret in a variable: `--env NAME`")
}

/// The place of facts about the repository.
pub(super) fn state(app: &App) -> Result<RepositoryState> {
    Ok(RunStore::open(app)?.state)
}

/// `.mendit` of the worktree, which git is never shown: when it is there or `make` asks for it. `None` when there is
/// none, or a link or the repository's own is in its place: it may be hidden by rules, and a link be followed.
pub(super) fn own_folder(app: &App, workspace: &Workspace, make: bool) -> Option<PathBuf> {
    let folder = workspace.root.as_deref().unwrap_or(app.directory()).join(".mendit");
    if make && !is_there(&folder) {
        std::fs::create_dir(&folder).ok()?;
    }
    let runs = folder.join("runs");
    let leads_away = is_there(&runs) && !is_directory(&runs);
    let is_listed = workspace.source.listing().has_directory(".mendit");
    if is_listed || !is_directory(&folder) || leads_away {
        return None;
    }
    let ignore = folder.join(".gitignore");
    if !is_there(&ignore) {
        // The write that follows reports what cannot be written.
        let _ = write_file(&ignore, "*\n");
    }
    Some(folder)
}

fn is_directory(place: &Path) -> bool {
    place.symlink_metadata().is_ok_and(|about| about.is_dir())
}

fn is_there(place: &Path) -> bool {
    place.symlink_metadata().is_ok()
}

/// Refuses a folder that has these marks: two runs in one would be read as one.
pub(super) fn refuse_used(app: &App, typed: &Path, marks: &[&str]) -> Result<()> {
    let folder = app.directory().join(typed);
    if !marks.iter().any(|name| folder.join(name).exists()) {
        return Ok(());
    }
    let typed = typed.display();
    let error = AppError::new(Code::U303, format!("`{typed}` already contains a run"));
    let resume = format!("`mendit fix --resume {typed}`");
    Err(error.hint(format!(
        "choose a new folder, or continue that run with {resume}"
    )))
}
