use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::files::{to_json, write_file};
use super::{App, AppError, Progress};
use crate::diagnose::{Log, LogFacts, diagnose_in};
use crate::exec::{CommandLine, End};
use crate::git::Repository;
use crate::model::{Code, CommandRecord, RepoPath, RunSummary};
use crate::policy::sanitize_log;
use crate::repair::{Before, LastRun, files_digest, may_pass_again, read_json};
use crate::source::Source;
use crate::state::{RepositoryState, RunFile, RunId, Runs, StateHome};
use crate::why::RedRun;
use crate::workspace::{At, Workspace, canonical};

/// Runs of `mendit run` that are kept.
const MAX_KEPT: usize = 50;
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
    app: &'a App,
    state: RepositoryState,
}

/// The folders of a run.
pub(super) struct RunFolders {
    /// Where it is kept.
    pub(super) kept: PathBuf,
    /// Its copy, for people and CI.
    pub(super) shown: Option<PathBuf>,
}

impl RunFolders {
    /// The name of the run.
    pub(super) fn id(&self) -> String {
        let name = self.kept.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// The folder that messages name.
    pub(super) fn named(&self) -> &Path {
        self.shown.as_deref().unwrap_or(&self.kept)
    }

    /// Writes a file of the run and its copy.
    pub(super) fn write(&self, name: &str, content: &str) -> Result<(), AppError> {
        let mut folders = std::iter::once(&self.kept).chain(&self.shown);
        folders.try_for_each(|folder| write_file(&folder.join(name), content))
    }

    /// Writes what it takes to run the command again; the copy has none of it.
    pub(super) fn write_rerun(&self, rerun: &RerunSpec) -> Result<(), AppError> {
        write_file(&self.kept.join(RERUN), to_json(rerun)?)
    }
}

/// What it takes to run a command again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RerunSpec {
    /// The words; one with blanks is a line for the shell. `None` when a secret stands in them.
    pub(super) words: Option<Vec<String>>,
    /// The folder it was run in, below the root.
    pub(super) prefix: String,
    /// Variables that were passed on, but those whose value is a secret.
    pub(super) env: Vec<String>,
    /// The digest of all files, of a run that failed.
    #[serde(default)]
    pub(super) files: Option<String>,
    /// The commit that was checked out, of a run that passed.
    #[serde(default)]
    pub(super) head: Option<String>,
    /// When it began and ended, in milliseconds: files written in between are its output.
    #[serde(default)]
    pub(super) window: Option<[u64; 2]>,
}

impl RerunSpec {
    /// A command that is run in this folder.
    pub(super) fn new(app: &App, command: &[OsString], prefix: &str) -> Self {
        let is_plain = |text: &str| app.redactor().redact(text).findings.is_empty();
        let words = command.iter().map(|word| word.to_str().map(str::to_owned));
        let words: Option<Vec<String>> = words.collect();
        let env = app.settings().test.env.iter();
        Self {
            words: words.filter(|words| is_plain(&words.join(" "))),
            prefix: prefix.to_owned(),
            env: env.filter(|text| is_plain(text)).cloned().collect(),
            files: None,
            head: None,
            window: None,
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

/// The last run of `mendit run`.
pub(super) struct LastCommand {
    pub(super) rerun: RerunSpec,
    pub(super) passed: bool,
    // Its failure, when that may come and go.
    flaky: Option<String>,
}

/// What the last run of a command showed, and of which files.
#[derive(Default)]
pub(super) struct LastOf {
    files: Option<String>,
    pub(super) facts: Before,
}

impl LastOf {
    /// What of it holds for these files.
    pub(super) fn resolve(self, source: &dyn Source) -> Before {
        let is_same = self.files == Some(files_digest(source, &[]));
        if is_same {
            self.facts
        } else {
            Before::default()
        }
    }
}

/// The log of the last run, for a task that is given none.
#[derive(Debug, Clone)]
pub struct LastLog {
    /// The output.
    pub log: Log,
    /// The run in words.
    pub name: String,
    /// The command, when it is known.
    pub command: Option<String>,
    /// How it ended; a negative number is a signal.
    pub exit_code: Option<i32>,
    /// Whether a time limit ended it.
    pub timed_out: bool,
}

/// A run of `mendit run`, as `mendit report` shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandReport {
    /// The command.
    pub command: String,
    /// How it ended, in words.
    pub end: String,
    /// Its failure in short; `None` when it passed.
    pub summary: Option<RunSummary>,
    /// `run.json` as it was written.
    pub document: serde_json::Value,
}

impl<'a> RunStore<'a> {
    /// Opens the runs of the worktree that the app stands in.
    pub(super) fn open(app: &'a App) -> Result<Self, AppError> {
        let state = here(app)?;
        Ok(Self { app, state })
    }

    /// Keeps a run that passed, with its log.
    pub(super) fn keep_pass(
        &self,
        record: &mut CommandRecord,
        log: &str,
        rerun: &RerunSpec,
    ) -> Result<(), AppError> {
        let folders = RunFolders {
            kept: self.state.runs().start(&RunId::now())?,
            shown: None,
        };
        record.run_id = Some(folders.id());
        folders.write("test.log", &self.app.redactor().redact(log).text)?;
        folders.write("run.json", &to_json(record)?)?;
        folders.write_rerun(rerun)?;
        self.forget_old();
        Ok(())
    }

    /// Removes the oldest runs of `mendit run` beyond those that are kept.
    pub(super) fn forget_old(&self) {
        let commands = self.folders().filter(|folder| is_command(folder));
        for old in commands.skip(MAX_KEPT) {
            // A folder that cannot be removed now is removed another time.
            let _ = std::fs::remove_dir_all(old);
        }
    }

    // The folders of all runs, the newest first.
    fn folders(&self) -> impl Iterator<Item = PathBuf> {
        let runs = self.state.runs();
        let names = runs.names().into_iter().rev();
        names.filter_map(move |name| runs.find(&name))
    }

    fn commands(&self) -> impl Iterator<Item = (RerunSpec, KeptRun)> {
        self.folders().filter_map(|folder| {
            let run = read_json(&folder.join("run.json")).unwrap_or_default();
            Some((read_json(&folder.join(RERUN))?, run))
        })
    }

    /// The last run of `mendit run`.
    pub(super) fn last_command(&self) -> Option<LastCommand> {
        let (rerun, run) = self.commands().next()?;
        Some(LastCommand {
            rerun,
            passed: run.status == "passed",
            flaky: run.flaky(),
        })
    }

    // The last run, where it failed with this line in this folder.
    fn last_failed(&self, line: &str, prefix: &str) -> Option<LastCommand> {
        let last = self.last_command()?;
        let is_same = last.rerun.line().as_deref() == Some(line) && last.rerun.prefix == prefix;
        (is_same && !last.passed).then_some(last)
    }

    /// What the last run showed of this line.
    pub(super) fn before(&self, line: &str, prefix: &str) -> Result<LastOf, AppError> {
        let Some(last) = self.last_failed(line, prefix) else {
            return Ok(LastOf::default());
        };
        let log = self.last_log()?;
        let run = log.filter(|log| log.command.as_deref() == Some(line));
        let run = run.and_then(|log| {
            let text = sanitize_log(log.log.text().as_bytes());
            Some(LastRun {
                log: self.app.redactor().redact(&text).text.into_owned(),
                exit_code: log.exit_code.filter(|code| *code > 0)?,
            })
        });
        Ok(LastOf {
            files: last.rerun.files,
            facts: Before {
                flaky: last.flaky,
                run,
            },
        })
    }

    /// The last run, where it failed with this line on these very files.
    pub(super) fn last_red(
        &self,
        workspace: &Workspace,
        line: &str,
    ) -> Result<Option<RedRun>, AppError> {
        let source = workspace.source.as_ref();
        let last = self.last_failed(line, &workspace.prefix);
        let last = last.filter(|last| last.rerun.files == Some(files_digest(source, &[])));
        let Some(log) = self.last_log()?.filter(|_| last.is_some()) else {
            return Ok(None);
        };
        let facts = LogFacts {
            exit_code: log.exit_code,
            timed_out: log.timed_out,
            command: Some(line.to_owned()),
            rules: self.app.rules(),
        };
        let text = log.log.text();
        let diagnosis = diagnose_in(text, &facts, source);
        let root = workspace.root.as_deref();
        Ok(Some(RedRun::new(diagnosis, text, log.exit_code, root)))
    }

    /// The commit that was checked out when this line last passed here.
    pub(super) fn passed_at(&self, line: &str, prefix: &str) -> Option<String> {
        self.commands().find_map(|(rerun, run)| {
            let is_same = rerun.line()? == line && rerun.prefix == prefix;
            rerun.head.filter(|_| is_same && run.status == "passed")
        })
    }

    /// Tells which files were written while this line last ran here: they are output, and no change.
    pub(super) fn outputs_of_last(
        &self,
        workspace: &Workspace,
        line: &str,
    ) -> impl Fn(&RepoPath) -> bool + Sync + use<> {
        let last = self.last_command().map(|last| last.rerun);
        let last = last.filter(|last| last.line().as_deref() == Some(line));
        let window = last.and_then(|last| last.window);
        let root = workspace.root.clone();
        move |path| {
            let (Some([began, ended]), Some(root)) = (window, &root) else {
                return false;
            };
            let about = root.join(path.as_str()).symlink_metadata();
            let written = about.and_then(|about| about.modified()).ok();
            let written = written.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            written.is_some_and(|time| (began.into()..=ended.into()).contains(&time.as_millis()))
        }
    }

    /// Whether the last run found its packages and programs: it passed, or a test failed for another reason.
    pub(super) fn found_its_packages(&self) -> bool {
        self.commands().next().is_some_and(|(_, run)| {
            let ran = |summary: &RunSummary| {
                let mut tests = summary.failures.iter();
                tests.any(|failure| !failure.test.is_empty()) && !summary.requires_user_action
            };
            run.status == "passed" || run.summary.as_ref().is_some_and(ran)
        })
    }

    /// The log of the newest run: of `mendit run`, or the first of a repair.
    ///
    /// # Errors
    /// A log that cannot be read.
    fn last_log(&self) -> Result<Option<LastLog>, AppError> {
        let found = self.folders().find_map(|folder| {
            let logs = ["test.log", "baseline.log"].map(|name| folder.join(name));
            let log = logs.into_iter().find(|log| log.is_file())?;
            Some((log, folder))
        });
        let Some((log, folder)) = found else {
            return Ok(None);
        };
        let file = std::fs::File::open(&log);
        let read = file.and_then(|file| Log::read(file, &self.app.rules()));
        let log = read.map_err(|error| AppError::unreadable(&log.display().to_string(), &error))?;
        let run: KeptRun = read_json(&folder.join("run.json")).unwrap_or_default();
        let command = run.command.or_else(|| run.commands.first().cloned());
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let end = run.test_result.as_ref().map(|result| result.message.as_str());
        let name = match (&command, end) {
            (Some(command), Some(end)) => format!("the last run, `{command}` ({end}; {name})"),
            (Some(command), None) => format!("the last run, `{command}` ({name})"),
            _ => format!("the last run ({name})"),
        };
        Ok(Some(LastLog {
            log,
            name,
            command,
            timed_out: run.test_result.as_ref().is_some_and(|end| end.timed_out),
            exit_code: run.test_result.and_then(|end| end.code()),
        }))
    }
}

// What is read back of a `run.json`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct KeptRun {
    document: String,
    command: Option<String>,
    commands: Vec<String>,
    status: String,
    test_result: Option<KeptEnd>,
    summary: Option<RunSummary>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct KeptEnd {
    message: String,
    timed_out: bool,
    exit: Option<i32>,
    signal: Option<i32>,
}

impl KeptRun {
    fn flaky(&self) -> Option<String> {
        let summary = self.summary.as_ref().filter(|_| self.status == "failed")?;
        // The environment may have changed since.
        if !may_pass_again(summary.kind) || summary.kind.is_around_code() {
            return None;
        }
        let mut tests = summary.failures.iter().map(|failure| &failure.test);
        let test = tests.find(|test| !test.is_empty());
        Some(test.map_or_else(|| summary.kind.to_string(), |test| format!("`{test}`")))
    }
}

impl KeptEnd {
    // A command that never started ends as a shell reports it.
    fn code(&self) -> Option<i32> {
        let unstarted = [End::NotFound, End::NotExecutable].into_iter();
        let mut unstarted = unstarted.filter(|end| self.message == end.to_string());
        let code = self.exit.or(self.signal.map(|signal| -signal));
        code.or_else(|| unstarted.next()?.code_or_signal())
    }
}

/// The log of the newest run of this worktree; `None` when nothing was run yet.
///
/// # Errors
/// What the system says of the place where runs are kept.
pub fn last_log(app: &App) -> Result<Option<LastLog>, AppError> {
    RunStore::open(app)?.last_log()
}

/// Why a task that needs a log has none.
#[must_use]
pub fn no_run() -> AppError {
    AppError::new(Code::U306, "no log is named, and nothing was run here yet")
        .hint("`mendit run CMD` runs a test command and keeps its log")
        .hint("or name a log: a file, or `-` for standard input")
}

/// Whether a command was run here before.
///
/// # Errors
/// What the system says of the place where runs are kept.
pub fn has_last_run(app: &App) -> Result<bool, AppError> {
    Ok(RunStore::open(app)?.last_command().is_some())
}

/// The words of the last command, to run it again.
///
/// # Errors
/// When nothing was run, or a secret stands in its command.
pub fn last_words(app: &App) -> Result<Vec<OsString>, AppError> {
    let Some(last) = RunStore::open(app)?.last_command() else {
        return Err(
            AppError::usage("no command is named, and nothing was run here yet")
                .hint("`mendit run CMD`, such as `mendit run pytest` or `mendit run npm test`"),
        );
    };
    let words = last.rerun.words.ok_or_else(secret)?;
    Ok(words.into_iter().map(Into::into).collect())
}

/// The words of the last command, to run it again from where it was and with the variables it was given.
///
/// # Errors
/// As [`last_words`]; when its folder is gone.
pub fn enter_last(app: &mut App) -> Result<Vec<OsString>, AppError> {
    let words = last_words(app)?;
    let last = RunStore::open(app)?.last_command();
    if let Some(last) = last {
        super::fix::enter(app, &last.rerun)?;
        app.settings_mut().test.env.extend(last.rerun.env);
    }
    Ok(words)
}

/// Why a command cannot be run again.
pub(super) fn secret() -> AppError {
    AppError::usage("the last command is not kept: a secret stands in it")
        .hint("name it again, with the secret in a variable: `--env NAME`")
}

/// Reads a run of `mendit run` back from its folder; `None` when it is none.
pub(super) fn command_report(folder: &Path) -> Option<CommandReport> {
    let document: serde_json::Value = read_json(&folder.join("run.json"))?;
    let run: KeptRun = serde_json::from_value(document.clone()).ok()?;
    (run.document == "run").then(|| CommandReport {
        command: run.command.unwrap_or_default(),
        end: run.test_result.map(|end| end.message).unwrap_or_default(),
        summary: run.summary,
        document,
    })
}

/// The place of facts about a repository: by its worktree, or by its git directory when it is bare.
pub(super) fn state(app: &App, workspace: &Workspace) -> Result<RepositoryState, AppError> {
    let git = workspace.git.as_ref().map(|git| git.git_dir().to_owned());
    let place = workspace.root.clone().or(git);
    let place = place.unwrap_or_else(|| app.directory().to_owned());
    Ok(StateHome::open()?.repository(&place)?)
}

/// The same of the current directory, without reading the repository.
pub(super) fn here(app: &App) -> Result<RepositoryState, AppError> {
    let git = Repository::discover(app.directory())?;
    let place = match &git {
        Some(git) => match git.workdir() {
            Some(root) => canonical(root)?,
            None => git.git_dir().to_owned(),
        },
        None => app.directory().to_owned(),
    };
    Ok(StateHome::open()?.repository(&place)?)
}

/// The current directory below the root of the worktree.
pub(super) fn prefix(app: &App) -> Result<String, AppError> {
    let git = Repository::discover(app.directory())?;
    let root = git.as_ref().and_then(Repository::workdir).map(canonical);
    let root = root.transpose()?;
    let below = root.and_then(|root| {
        let below = app.directory().strip_prefix(root).ok()?;
        Some(below.to_str()?.replace('\\', "/"))
    });
    Ok(below.unwrap_or_default())
}

/// Starts a run. The copy is written to `out`; without one below `.mendit`, where `visible` asks for it or the folder
/// is there already.
pub(super) fn start(
    app: &App,
    workspace: &Workspace,
    out: Option<&Path>,
    visible: bool,
) -> Result<RunFolders, AppError> {
    let id = RunId::now();
    let own = || {
        let own = own_folder(app, workspace, visible)?;
        Some(own.join("runs").join(id.to_string()))
    };
    let shown = out.map_or_else(own, |out| Some(app.directory().join(out)));
    let kept = state(app, workspace)?.runs().start(&id)?;
    if let Some(shown) = &shown {
        write_file(&kept.join(SHOWN), shown.as_os_str().as_encoded_bytes())?;
    }
    Ok(RunFolders { kept, shown })
}

/// A repair to continue, by its name, `latest`, or the folder of its copy.
pub(super) fn resume(app: &App, run: &str, workspace: &Workspace) -> Result<RunFolders, AppError> {
    let store = RunStore::open(app)?;
    let mut repairs = store.folders().filter(|folder| !is_command(folder));
    let latest = repairs.next().filter(|_| run == "latest");
    let kept = latest.map_or_else(|| find(app, run, workspace), Ok)?;
    let shown = std::fs::read_to_string(kept.join(SHOWN)).ok();
    Ok(RunFolders {
        kept,
        shown: shown.map(PathBuf::from),
    })
}

/// A run by its name, `latest`, or the folder of its copy, which holds its name.
pub(super) fn find(app: &App, run: &str, workspace: &Workspace) -> Result<PathBuf, AppError> {
    let copy = app.directory().join(run).join("run.json");
    let copied: Option<serde_json::Value> = read_json(&copy);
    let name = copied.and_then(|copy| copy["runId"].as_str().map(str::to_owned));
    let found = state(app, workspace)?
        .runs()
        .find(name.as_deref().unwrap_or(run));
    found.ok_or_else(|| {
        if run == "latest" {
            return AppError::new(Code::U306, "nothing was run here yet")
                .hint("`mendit run CMD` runs a test command, such as `mendit run pytest`");
        }
        AppError::new(Code::U306, format!("there is no run `{run}`")).hint(
            "only runs of this machine and this worktree are known; `mendit report` alone takes \
             the last",
        )
    })
}

/// The files of the last run that describe it, sorted by name.
///
/// # Errors
/// A repository that cannot be read.
pub fn last_run(app: &App, progress: &dyn Progress) -> Result<(String, Vec<RunFile>), AppError> {
    let workspace = app.workspace(At::Worktree, progress)?;
    let Some(folder) = state(app, &workspace)?.runs().find("latest") else {
        return Ok((String::new(), Vec::new()));
    };
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let mut files = Runs::files(&folder);
    files.retain(|file| file.name != SHOWN && file.name != RERUN);
    Ok((name.into_owned(), files))
}

/// `.mendit` of the worktree, which git is never shown: when it is there or `make` asks for it. `None` when there is
/// none, or a link or the repository's own stands in its place: it may be hidden by rules, and a link be followed.
pub(super) fn own_folder(app: &App, workspace: &Workspace, make: bool) -> Option<PathBuf> {
    let root = workspace.root.as_deref().unwrap_or(app.directory());
    let folder = root.join(".mendit");
    let is_listed = workspace.source.listing().has_directory(".mendit");
    match folder.symlink_metadata() {
        Ok(about) if !about.is_dir() || is_listed => return None,
        Ok(_) => {}
        Err(_) if make => std::fs::create_dir(&folder).ok()?,
        Err(_) => return None,
    }
    let leads_away = |name: &&str| {
        let about = folder.join(name).symlink_metadata();
        about.is_ok_and(|about| !about.is_dir())
    };
    if ["runs", "context"].iter().any(leads_away) {
        return None;
    }
    let ignore = folder.join(".gitignore");
    if ignore.symlink_metadata().is_err() {
        // The write that follows reports what cannot be written.
        let _ = write_file(&ignore, "*\n");
    }
    Some(folder)
}

/// Refuses a folder that has these marks: two runs in one would be read as one.
pub(super) fn refuse_used(app: &App, typed: &Path, marks: &[&str]) -> Result<(), AppError> {
    let folder = app.directory().join(typed);
    if !marks.iter().any(|name| folder.join(name).exists()) {
        return Ok(());
    }
    let message = format!("`{}` holds a run already", typed.display());
    Err(AppError::new(Code::U303, message).hint(format!(
        "name a new folder, or continue that run with `mendit fix --resume {}`",
        typed.display()
    )))
}

fn is_command(folder: &Path) -> bool {
    folder.join(RERUN).is_file()
}
