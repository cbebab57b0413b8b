//! Runs the test commands in the isolated copy.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::error::RepairError;
use super::limits::RunLimit;
use super::observe::observe;
use super::setup::Commands;
use crate::diagnose::{LogFacts, diagnose_in, plain_lines};
use crate::exec::{
    CommandLine, Discard, End, Environment, ExecError, Job, Limits, Outcome, Sandbox, SandboxState,
    Stop, run,
};
use crate::model::{Diagnosis, FailureKind, NotConfined, Observed};
use crate::policy::{CommandFiles, Redactor, sanitize_log};
use crate::proof::{CommandEvidence, CommandOutput, Evidence, command_evidence, named_runners};
use crate::source::Source;
use crate::workplace::Workplace;

/// Commands, where they are run, and for how long.
#[derive(Clone, Copy)]
pub struct CommandsAt<'a> {
    /// The commands.
    pub commands: &'a Commands,
    /// The isolated copy of the repository.
    pub place: &'a Workplace<'a>,
    /// The folder below it in which they start.
    pub prefix: &'a str,
    /// Masks secrets.
    pub redactor: &'a Redactor,
    /// The files there.
    pub source: &'a dyn Source,
    /// How long each and all of them may take.
    pub limit: RunLimit,
}

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
    /// Walls of it that are not available.
    pub not_confined: Vec<NotConfined>,
    /// Whether they were stopped because nothing was left for everything: then their end says
    /// nothing of the change.
    pub cut_short: bool,
    /// Whether someone asked to stop.
    pub interrupted: bool,
}

impl CommandsAt<'_> {
    /// Runs the commands in order, until one fails.
    ///
    /// # Errors
    /// [`RepairError::Exec`] when one cannot be started at all.
    pub fn run(&self, stop: &Stop) -> Result<CommandsRun, RepairError> {
        let started = Instant::now();
        let mut log = String::new();
        let mut evidence = Evidence::new();
        let mut last = None;
        for line in &self.commands.lines {
            let (limit, is_the_rest) = self.limit.after(started.elapsed());
            let (outcome, found) = self.run_line(line, limit, stop)?;
            log.push_str(&outcome.output.text());
            evidence.push(found);
            let is_over = !outcome.passed();
            last = Some((line, outcome, is_the_rest));
            if is_over {
                break;
            }
        }
        let (line, outcome, is_the_rest) = last.ok_or(ExecError::Empty)?;
        let log = self.clean_log(&log);
        let facts = LogFacts::new(&outcome, line);
        let mut diagnosis = diagnose_in(&log, &facts, self.source);
        if outcome.end == End::NotFound {
            diagnosis.kind = FailureKind::CommandNotFound;
        }
        Ok(CommandsRun {
            observed: observe(&outcome, &diagnosis, &log),
            cut_short: is_the_rest && outcome.end == End::TimedOut,
            interrupted: outcome.end == End::Interrupted,
            refused: outcome.refused,
            sandbox: outcome.sandbox,
            not_confined: outcome.not_confined,
            diagnosis,
            evidence,
            log,
        })
    }

    // With a report asked for where the runner allows that, and without where it turns out not to.
    fn run_line(
        &self,
        line: &str,
        limit: Duration,
        stop: &Stop,
    ) -> Result<(Outcome, CommandEvidence), RepairError> {
        let plain = self.job(line, limit);
        let mut job = plain.clone();
        let report = report_folder(self.place.private());
        if let Some(folder) = &report {
            let allow = &mut job.environment.allow;
            let mut given = allow.iter().rev();
            let own = given.find_map(|variable| variable.strip_prefix("PYTEST_ADDOPTS="));
            let own = own.map(str::to_owned).or_else(|| std::env::var("PYTEST_ADDOPTS").ok());
            allow.push(report_variable(folder.path(), own.as_deref()));
        }
        let mut outcome = run(&job, stop, &mut Discard)?;
        let mut text = sanitize_log(outcome.output.text().as_bytes());
        if text.contains("unrecognized arguments: --junitxml") {
            outcome = run(&plain, stop, &mut Discard)?;
            text = sanitize_log(outcome.output.text().as_bytes());
        }
        let report = report.and_then(|folder| read_report(&folder.path().join(REPORT)));
        let run = CommandFiles::find(&[line.to_owned()], self.prefix, self.source);
        let mut printed = CommandOutput {
            text: &text,
            passed: outcome.passed(),
            named: named_runners(&run),
            report: report.map(|report| self.redactor.mask(&report)),
        };
        let mut evidence = command_evidence(&printed);
        if evidence.accounts.is_empty() && !printed.named.is_empty() {
            // Runners of several programs put the name of each before its lines.
            let plain = plain_lines(&text);
            printed.text = &plain;
            evidence = command_evidence(&printed);
        }
        Ok((outcome, evidence))
    }

    /// Runs a line without reading its output.
    ///
    /// # Errors
    /// As [`CommandsAt::run`].
    pub(super) fn run_plain(&self, line: &str, stop: &Stop) -> Result<Outcome, RepairError> {
        let limit = self.limit.after(Duration::ZERO).0;
        Ok(run(&self.job(line, limit), stop, &mut Discard)?)
    }

    fn job(&self, line: &str, limit: Duration) -> Job {
        let commands = self.commands;
        let mut environment = commands.environment.clone();
        // Compiled files are not written, because Python knows them by time and size, and an edited file may keep
        // both.
        environment.push("PYTHONDONTWRITEBYTECODE=1".to_owned());
        let mut job = Job {
            environment: Environment::with(environment),
            limits: Limits {
                timeout: Some(limit),
                grace: commands.grace,
                max_output: commands.max_output,
                ..Limits::default()
            },
            sandbox: Sandbox {
                mode: commands.sandbox,
                writable: commands.writable.clone(),
                closed: Vec::new(),
                no_network: commands.no_network,
            },
            ..Job::new(
                CommandLine::Shell(line.to_owned()),
                self.place.root().join(self.prefix),
            )
        };
        self.place.confine(&mut job);
        job
    }

    // The copy's own path is removed, because it differs between runs and machines.
    fn clean_log(&self, log: &str) -> String {
        let root = self.place.root().to_string_lossy();
        let log = log.replace(&format!("{root}/"), "").replace(&*root, ".");
        let log = sanitize_log(log.as_bytes());
        self.redactor.mask(&log)
    }
}

// The file that a report is asked for in, below a folder of its own.
const REPORT: &str = "report.xml";

// A folder that is new for each run, has a name nobody can guess, and goes with its value.
fn report_folder(private: &Path) -> Option<TempDir> {
    let mut named = tempfile::Builder::new();
    named.prefix("report-").rand_bytes(24).tempdir_in(private).ok()
}

// What was written, when it is a plain file of a sane size.
fn read_report(path: &Path) -> Option<String> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    // A larger report is ignored.
    let is_sane = metadata.is_file() && metadata.len() <= 256 << 20;
    let bytes = std::fs::read(path).ok().filter(|_| is_sane)?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

// The variable that asks a runner for a report in `folder` without a change of the command, as `NAME=VALUE`. `own` is
// what the user gave the same variable.
//
// Only pytest has such a variable that can do no harm. Reporters of node are options of every program that node starts,
// and one more of them replaces what a command names itself; jest, vitest and mocha take none from outside. Their text
// is read.
fn report_variable(folder: &Path, own: Option<&str>) -> String {
    let own = own.filter(|own| !own.is_empty());
    let own = own.map_or_else(String::new, |own| format!("{own} "));
    let path = folder.join(REPORT).to_string_lossy().replace('\'', r"'\''");
    format!("PYTEST_ADDOPTS={own}--junitxml='{path}'")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::report_variable;

    #[test]
    fn keeps_user_options() {
        assert_eq!(
            report_variable(Path::new("/a b"), Some("-n 2")),
            "PYTEST_ADDOPTS=-n 2 --junitxml='/a b/report.xml'"
        );
        assert_eq!(
            report_variable(Path::new("/a"), None),
            "PYTEST_ADDOPTS=--junitxml='/a/report.xml'"
        );
    }
}
