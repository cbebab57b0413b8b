use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::error::RepairError;
use super::limits::RunLimit;
use super::observe::observe;
use super::setup::Commands;
use crate::diagnose::{LogFacts, diagnose_in, plain_lines};
use crate::exec::{
    CommandLine, Discard, End, Environment, Job, Limits, Outcome, Sandbox, SandboxState, Stop, run,
};
use crate::model::{Diagnosis, FailureKind, NotConfined, Observed};
use crate::policy::{CommandFiles, Redactor, sanitize_log};
use crate::proof::{CommandEvidence, CommandOutput, Evidence, command_evidence, named_runners};
use crate::source::Source;
use crate::workplace::Workplace;

/// What came of running the commands once.
#[derive(Debug, Clone)]
pub struct CommandsRun {
    /// What it says.
    pub observed: Observed,
    /// The same in full.
    pub diagnosis: Diagnosis,
    /// What the runners of the tests say of it, command by command.
    pub evidence: Evidence,
    /// The output of the commands: escapes removed, secrets masked, without the scratch path.
    pub log: String,
    /// What the sandbox refused to be written.
    pub refused: Vec<PathBuf>,
    /// What of the sandbox was in force.
    pub sandbox: SandboxState,
    /// Walls of it that cannot be had.
    pub not_confined: Vec<NotConfined>,
    /// Whether they were stopped because nothing was left for everything: then their end says
    /// nothing of the change.
    pub cut_short: bool,
    /// Whether someone asked to stop.
    pub interrupted: bool,
}

/// Runs the commands in order in a copy of the repository, until one fails.
///
/// # Errors
/// [`RepairError::Exec`] when one cannot be started at all.
pub fn run_commands(
    commands: &Commands,
    place: &Workplace<'_>,
    prefix: &str,
    redactor: &Redactor,
    source: &dyn Source,
    limit: RunLimit,
    stop: &Stop,
) -> Result<CommandsRun, RepairError> {
    let started = Instant::now();
    let mut cut_short = false;
    let mut log = String::new();
    let mut last = None;
    let mut evidence = Evidence::new();
    for line in &commands.lines {
        let (limit, is_the_rest) = limit.after(started.elapsed());
        let runner = CommandRunner {
            commands,
            place,
            prefix,
            redactor,
            source,
            limit,
        };
        let (outcome, found) = runner.run(line, stop)?;
        log.push_str(&outcome.output.text());
        evidence.push(found);
        let passed = outcome.passed();
        cut_short = is_the_rest && matches!(outcome.end, End::TimedOut);
        last = Some((line, outcome));
        if !passed {
            break;
        }
    }
    let log = readable(&log, place.root(), redactor);
    let (line, outcome) = last.unwrap_or_else(|| (NO_LINE, nothing()));
    let facts = LogFacts::new(&outcome, line);
    let mut diagnosis = diagnose_in(&log, &facts, source);
    if outcome.end == End::NotFound {
        diagnosis.kind = FailureKind::CommandNotFound;
    }
    Ok(CommandsRun {
        observed: observe(&outcome, &diagnosis, &log),
        cut_short,
        interrupted: outcome.end == End::Interrupted,
        refused: outcome.refused.clone(),
        sandbox: outcome.sandbox,
        not_confined: outcome.not_confined.clone(),
        diagnosis,
        evidence,
        log,
    })
}

struct CommandRunner<'a> {
    commands: &'a Commands,
    place: &'a Workplace<'a>,
    prefix: &'a str,
    redactor: &'a Redactor,
    source: &'a dyn Source,
    limit: Duration,
}

impl CommandRunner<'_> {
    // With a report asked for where the runner allows that, and without where it turns out not to.
    fn run(&self, line: &str, stop: &Stop) -> Result<(Outcome, CommandEvidence), RepairError> {
        let plain = job(self.commands, line, self.place, self.prefix, self.limit);
        let mut asking = plain.clone();
        let report = report_folder(self.place.private()).ok();
        if let Some(report) = &report {
            let allow = &mut asking.environment.allow;
            allow.push(report_variable(report.path(), allow));
        }
        let outcome = run(&asking, stop, &mut Discard)?;
        let text = sanitize_log(outcome.output.text().as_bytes());
        if text.contains("unrecognized arguments: --junitxml") {
            let outcome = run(&plain, stop, &mut Discard)?;
            let text = sanitize_log(outcome.output.text().as_bytes());
            let evidence = self.evidence(line, &outcome, &text, None);
            return Ok((outcome, evidence));
        }
        let report = report.and_then(|folder| read_written_report(folder.path()));
        let report = report.map(|it| self.redactor.redact(&it).text.into_owned());
        let evidence = self.evidence(line, &outcome, &text, report);
        Ok((outcome, evidence))
    }

    fn evidence(
        &self,
        line: &str,
        outcome: &Outcome,
        text: &str,
        report: Option<String>,
    ) -> CommandEvidence {
        let run = CommandFiles::find(&[line.to_owned()], self.prefix, self.source);
        let mut printed = CommandOutput {
            text,
            passed: outcome.passed(),
            named: named_runners(&run),
            report,
        };
        let evidence = command_evidence(&printed);
        if !evidence.accounts.is_empty() || printed.named.is_empty() {
            return evidence;
        }
        // Runners of several programs put the name of each before its lines.
        let plain = plain_lines(text);
        printed.text = &plain;
        command_evidence(&printed)
    }
}

/// Runs the setup command once.
///
/// # Errors
/// As [`run_commands`].
pub(super) fn run_setup(
    commands: &Commands,
    line: &str,
    place: &Workplace<'_>,
    prefix: &str,
    limit: Duration,
    stop: &Stop,
) -> Result<Outcome, RepairError> {
    Ok(run(
        &job(commands, line, place, prefix, limit),
        stop,
        &mut Discard,
    )?)
}

static NO_LINE: &String = &String::new();

fn nothing() -> Outcome {
    Outcome {
        end: End::Exit(0),
        leaked: 0,
        duration: Duration::ZERO,
        output: crate::exec::Captured::default(),
        stdout: crate::exec::Captured::default(),
        stderr: crate::exec::Captured::default(),
        sandbox: crate::exec::SandboxState::None,
        not_confined: Vec::new(),
        refused: Vec::new(),
    }
}

fn job(
    commands: &Commands,
    line: &str,
    place: &Workplace<'_>,
    prefix: &str,
    limit: Duration,
) -> Job {
    let mut environment = commands.environment.clone();
    // Compiled files are known by time and size, and a mended file may keep both.
    environment.push("PYTHONDONTWRITEBYTECODE=1".to_owned());
    let mut job = Job {
        environment: Environment::with(environment),
        limits: Limits {
            timeout: Some(limit),
            grace: commands.grace,
            max_output: commands.max_output,
        },
        sandbox: Sandbox {
            mode: commands.sandbox,
            writable: commands.writable.clone(),
            closed: Vec::new(),
            no_network: commands.no_network,
        },
        ..Job::new(
            CommandLine::Shell(line.to_owned()),
            place.root().join(prefix),
        )
    };
    place.confine(&mut job);
    job
}

// The copy's own path says nothing to anyone and differs between machines.
fn readable(log: &str, root: &Path, redactor: &Redactor) -> String {
    let root = root.to_string_lossy();
    let log = log
        .replace(&format!("{root}/"), "")
        .replace(root.as_ref(), ".");
    redactor
        .redact(&sanitize_log(log.as_bytes()))
        .text
        .into_owned()
}

/// Bytes of a report that are read.
const MAX_REPORT: u64 = 256 << 20;

// A folder that is new for each run, has a name nobody can guess, and goes with its value.
fn report_folder(private: &Path) -> io::Result<TempDir> {
    let mut named = tempfile::Builder::new();
    named.prefix("report-").rand_bytes(24).tempdir_in(private)
}

// The variable that asks for it, with what the user or this process gives the same variable.
fn report_variable(folder: &Path, environment: &[String]) -> String {
    let mut given = environment.iter().rev();
    let named = given.find_map(|variable| variable.strip_prefix(&format!("{OPTIONS}=")));
    let own = named
        .map(str::to_owned)
        .or_else(|| std::env::var(OPTIONS).ok());
    ask(folder, own.as_deref())
}

// What was written, when it is a plain file of a sane size.
fn read_written_report(folder: &Path) -> Option<String> {
    let path = folder.join(REPORT);
    let metadata = std::fs::symlink_metadata(&path).ok()?;
    if !metadata.is_file() || metadata.len() > MAX_REPORT {
        return None;
    }
    let bytes = std::fs::read(&path).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

// The file that a report is asked for in, below a folder of its own.
const REPORT: &str = "report.xml";

// The variable that asks a runner for a report in `folder` without a change of the command, as
// `NAME=VALUE`. `own` is what the user gave the same variable.
//
// Only pytest has such a variable that can do no harm. Reporters of node are options of every
// program that node starts, and one more of them replaces what a command names itself; jest, vitest
// and mocha take none from outside. Their text is read.
fn ask(folder: &Path, own: Option<&str>) -> String {
    let own = own.unwrap_or_default();
    let between = if own.is_empty() { "" } else { " " };
    let path = folder.join(REPORT);
    format!(
        "{OPTIONS}={own}{between}--junitxml='{}'",
        path.to_string_lossy().replace('\'', r"'\''")
    )
}

// The variable that `ask` sets: options that pytest takes before those of its command.
const OPTIONS: &str = "PYTEST_ADDOPTS";

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::ask;

    #[test]
    fn what_the_user_gave_stays() {
        assert_eq!(
            ask(Path::new("/a b"), Some("-n 2")),
            "PYTEST_ADDOPTS=-n 2 --junitxml='/a b/report.xml'"
        );
        assert_eq!(
            ask(Path::new("/a"), None),
            "PYTEST_ADDOPTS=--junitxml='/a/report.xml'"
        );
    }
}
