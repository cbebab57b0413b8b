use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::files::{to_json, write_file};
use super::{App, AppError, runs};
use crate::diagnose::Log;
use crate::exec::{CommandLine, End};
use crate::git::Repository;
use crate::model::{Code, RepoPath, RunSummary};
use crate::policy::sanitize_log;
use crate::repair::{Before, LastRun, files_digest, may_pass_again, read_json};
use crate::source::Source;
use crate::workspace::Workspace;

/// The log of the last run, for a task that is given none.
#[derive(Debug, Clone)]
pub struct LastLog {
    /// What the command wrote.
    pub log: Log,
    /// Which run it is, in words.
    pub name: String,
    /// The command, when the run tells it.
    pub command: Option<String>,
    /// How it ended; a negative number is a signal.
    pub exit_code: Option<i32>,
    /// Whether a time limit ended it.
    pub timed_out: bool,
}

/// The log of the newest run of this worktree: of `mendit run`, or the first of a repair. `None`
/// when nothing was run yet.
///
/// # Errors
/// What the system says of the place where runs are kept.
pub fn last_log(app: &App) -> Result<Option<LastLog>, AppError> {
    let found = runs::newest(app)?.find_map(|folder| {
        let log = ["test.log", "baseline.log"].iter();
        let mut log = log.map(|it| folder.join(it)).filter(|it| it.is_file());
        Some((log.next()?, folder))
    });
    let Some((log, folder)) = found else {
        return Ok(None);
    };
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let file = std::fs::File::open(&log);
    let read = file.and_then(|file| Log::read(file, &app.rules()));
    let log = read.map_err(|error| AppError::unreadable(&log.display().to_string(), &error))?;
    let about: About = read_json(&folder.join("run.json")).unwrap_or_default();
    let end = about.test_result.as_ref().map(|it| it.end.as_str());
    let command = about.command.or_else(|| about.commands.first().cloned());
    let message = match (&command, end) {
        (Some(command), Some(end)) => format!("the last run, `{command}` ({end}; {name})"),
        (Some(command), None) => format!("the last run, `{command}` ({name})"),
        _ => format!("the last run ({name})"),
    };
    Ok(Some(LastLog {
        log,
        name: message,
        command,
        timed_out: about.test_result.as_ref().is_some_and(|it| it.timed_out),
        exit_code: about.test_result.and_then(|it| it.code()),
    }))
}

/// Why a task that needs a log has none.
#[must_use]
pub fn no_run() -> AppError {
    AppError::new(Code::U306, "no log is named, and nothing was run here yet")
        .hint("`mendit run CMD` runs a test command and keeps its log")
        .hint("or name a log: a file, or `-` for standard input")
}

/// A run of `mendit run`, as `mendit report` shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandReport {
    /// The command.
    pub command: String,
    /// How it ended, in words.
    pub end: String,
    /// What its failure comes to; `None` when it passed.
    pub summary: Option<RunSummary>,
    /// `run.json` as it was written.
    pub document: serde_json::Value,
}

/// Reads a run of `mendit run` back from its folder; `None` when it is none.
pub(super) fn command_report(folder: &Path) -> Option<CommandReport> {
    let document: serde_json::Value = read_json(&folder.join("run.json"))?;
    if document["document"] != "run" {
        return None;
    }
    let about: About = serde_json::from_value(document.clone()).ok()?;
    Some(CommandReport {
        command: about.command.unwrap_or_default(),
        end: about.test_result.map(|it| it.end).unwrap_or_default(),
        summary: about.summary,
        document,
    })
}

/// What it takes to run a command again. It stands in the registry alone: no copy of it is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Again {
    /// The words; one with blanks in it is a line for the shell. `None` when a secret stands in
    /// them.
    pub(super) words: Option<Vec<String>>,
    /// The folder it was run in, below the root.
    pub(super) prefix: String,
    /// Variables handed on; one whose value is a secret is left out.
    pub(super) env: Vec<String>,
    /// The digest of all files that it was run on; `None` where nobody needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) files: Option<String>,
    /// The commit that was checked out; told of a run that passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) head: Option<String>,
    /// When it began and ended, in milliseconds: what was written in between is its output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) window: Option<[u64; 2]>,
}

impl Again {
    /// What was run in this folder.
    pub(super) fn of(app: &App, command: &[std::ffi::OsString], prefix: &str) -> Self {
        let plain = |text: &str| app.redactor().redact(text).findings.is_empty();
        let words: Option<Vec<String>> = command
            .iter()
            .map(|word| word.to_str().map(str::to_owned))
            .collect();
        let env = app.settings().test.env.iter();
        Self {
            words: words.filter(|words| plain(&words.join(" "))),
            prefix: prefix.to_owned(),
            env: env.filter(|it| plain(it)).cloned().collect(),
            files: None,
            head: None,
            window: None,
        }
    }

    /// The same with the files as they are.
    pub(super) fn with_files(mut self, workspace: &Workspace) -> Self {
        self.files = Some(files_digest(workspace.source.as_ref(), &[]));
        self
    }

    /// The same with the commit that is checked out.
    pub(super) fn at_head(mut self, app: &App) -> Self {
        let git = Repository::discover(app.directory()).ok().flatten();
        self.head = git.and_then(|git| git.head());
        self
    }

    /// As a line for the shell.
    pub(super) fn line(&self) -> Option<String> {
        Some(match self.words.as_deref()? {
            [one] => one.clone(),
            words => CommandLine::Program(words.iter().map(Into::into).collect()).to_string(),
        })
    }
}

/// What the last run of `mendit run` ran, and how it ended.
pub(super) struct LastCommand {
    pub(super) again: Again,
    pub(super) passed: bool,
    // Which failure it was, when it may be one that comes and goes.
    flaky: Option<String>,
}

/// What the last run of a command told, and of which files.
#[derive(Default)]
pub(super) struct LastOf {
    // The digest of the files that it was run on; nothing else holds of others.
    files: Option<String>,
    pub(super) facts: Before,
}

impl LastOf {
    /// What of it holds of these files.
    pub(super) fn of(self, source: &dyn Source) -> Before {
        let same = self.files.is_some_and(|it| it == files_digest(source, &[]));
        Some(self.facts).filter(|_| same).unwrap_or_default()
    }
}

/// What the last run tells of this line.
pub(super) fn before(app: &App, line: &str, prefix: &str) -> Result<LastOf, AppError> {
    let same = |it: &LastCommand| it.again.line().as_deref() == Some(line);
    let last = last_command(app)?.filter(same);
    let Some(last) = last.filter(|it| it.again.prefix == prefix && !it.passed) else {
        return Ok(LastOf::default());
    };
    let log = last_log(app)?.filter(|it| it.command.as_deref() == Some(line));
    let run = log.and_then(|last| {
        Some(LastRun {
            log: app
                .redactor()
                .redact(&sanitize_log(last.log.text().as_bytes()))
                .text
                .into_owned(),
            exit_code: last.exit_code.filter(|it| *it > 0)?,
        })
    });
    Ok(LastOf {
        files: last.again.files,
        facts: Before {
            flaky: last.flaky,
            run,
        },
    })
}

/// The last run of `mendit run`.
pub(super) fn last_command(app: &App) -> Result<Option<LastCommand>, AppError> {
    Ok(commands(app)?.next().map(|(again, about)| LastCommand {
        again,
        passed: about.status == "passed",
        flaky: about.flaky(),
    }))
}

// What was run here, the newest first.
fn commands(app: &App) -> Result<impl Iterator<Item = (Again, About)>, AppError> {
    Ok(runs::newest(app)?.filter_map(|folder| {
        let about = read_json(&folder.join("run.json")).unwrap_or_default();
        Some((read_json(&folder.join(AGAIN))?, about))
    }))
}

/// The commit that was checked out when the same line was last seen to pass here.
pub(super) fn passed_at(app: &App, line: &str, prefix: &str) -> Result<Option<String>, AppError> {
    Ok(commands(app)?.find_map(|(again, about)| {
        let same = again.line()? == line && again.prefix == prefix && about.status == "passed";
        again.head.filter(|_| same)
    }))
}

/// Tells whether a file was written while this line last ran here: then it is output, and no change.
pub(super) fn was_written_by_last(
    app: &App,
    workspace: &Workspace,
    line: &str,
) -> impl Fn(&RepoPath) -> bool + Sync + use<> {
    let last = last_command(app).ok().flatten();
    let last = last.filter(|last| last.again.line().as_deref() == Some(line));
    let window = last.and_then(|last| last.again.window);
    let root = workspace.root.clone();
    move |path| {
        let (Some([began, ended]), Some(root)) = (window, &root) else {
            return false;
        };
        let written = root.join(path.as_str()).symlink_metadata();
        let written = written.and_then(|about| about.modified()).ok();
        let written = written.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        written.is_some_and(|at| (began.into()..=ended.into()).contains(&at.as_millis()))
    }
}

/// Whether the last run of `mendit run` found what it needs of packages and programs: it passed, or a
/// test failed for another reason.
pub(super) fn found_its_packages(app: &App) -> Result<bool, AppError> {
    Ok(commands(app)?.next().is_some_and(|(_, about)| {
        let ran = |summary: &RunSummary| {
            let named = summary
                .failures
                .iter()
                .any(|failure| !failure.test.is_empty());
            named && !summary.requires_user_action
        };
        about.status == "passed" || about.summary.as_ref().is_some_and(ran)
    }))
}

/// Whether a command was run here before.
///
/// # Errors
/// What the system says of the place where runs are kept.
pub fn has_last_run(app: &App) -> Result<bool, AppError> {
    Ok(last_command(app)?.is_some())
}

/// The words of the last command, to run it again.
///
/// # Errors
/// When nothing was run, or a secret stands in its command.
pub fn last_words(app: &App) -> Result<Vec<std::ffi::OsString>, AppError> {
    let Some(last) = last_command(app)? else {
        return Err(
            AppError::usage("no command is named, and nothing was run here yet")
                .hint("`mendit run CMD`, such as `mendit run pytest` or `mendit run npm test`"),
        );
    };
    let words = last.again.words.ok_or_else(secret)?;
    Ok(words.into_iter().map(Into::into).collect())
}

/// The words of the last command, to run it again from where it was and with the variables it was given.
///
/// # Errors
/// As [`last_words`]; when its folder is gone.
pub fn enter_last(app: &mut App) -> Result<Vec<std::ffi::OsString>, AppError> {
    let words = last_words(app)?;
    if let Some(last) = last_command(app)? {
        super::fix::enter(app, &last.again)?;
        app.settings_mut().test.env.extend(last.again.env);
    }
    Ok(words)
}

/// Why a command cannot be run again.
pub(super) fn secret() -> AppError {
    AppError::usage("the last command is not kept: a secret stands in it")
        .hint("name it again, with the secret in a variable: `--env NAME`")
}

/// Keeps what it takes to run a command again.
pub(super) fn keep(folder: &Path, again: &Again) -> Result<(), AppError> {
    write_file(&folder.join(AGAIN), to_json(again)?)
}

/// Forgets the oldest runs of `mendit run` beyond those that are kept.
pub(super) fn forget_old(app: &App) -> Result<(), AppError> {
    let commands = runs::newest(app)?.filter(|it| is_command(it));
    for old in commands.skip(MOST) {
        // What cannot be removed now is removed another time.
        let _ = std::fs::remove_dir_all(old);
    }
    Ok(())
}

/// Whether the folder is of `mendit run`.
pub(super) fn is_command(folder: &Path) -> bool {
    folder.join(AGAIN).is_file()
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct About {
    command: Option<String>,
    commands: Vec<String>,
    status: String,
    test_result: Option<CommandEnd>,
    summary: Option<RunSummary>,
}

impl About {
    fn flaky(&self) -> Option<String> {
        let summary = self.summary.as_ref().filter(|_| self.status == "failed")?;
        // What is missing around the code may have come since.
        (may_pass_again(summary.kind) && !summary.kind.is_around_code()).then_some(())?;
        let mut tests = summary.failures.iter().map(|it| it.test.as_str());
        let test = tests.find(|it| !it.is_empty());
        let alike: u64 = summary.failures.iter().map(|it| it.alike).sum();
        Some(match (test, tests.count() as u64 + alike + summary.more) {
            (None, _) => summary.kind.to_string(),
            (Some(test), 0) => format!("`{test}`"),
            (Some(test), more) => format!("`{test}` and {more} more"),
        })
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CommandEnd {
    end: String,
    timed_out: bool,
    exit: Option<i32>,
    signal: Option<i32>,
}

impl CommandEnd {
    // What never began is told as a shell tells it.
    fn code(&self) -> Option<i32> {
        let unstarted = [End::NotFound, End::NotExecutable].into_iter();
        let mut unstarted = unstarted.filter(|end| self.end == end.to_string());
        let code = self.exit.or(self.signal.map(|signal| -signal));
        code.or_else(|| unstarted.next()?.code_or_signal())
    }
}

/// The file that keeps what it takes to run a command again.
pub(super) const AGAIN: &str = "command.json";
const MOST: usize = 50;
