use std::collections::BTreeMap;
use std::path::PathBuf;

use super::ci_logs::each_log;
use super::diagnose::read_log;
use super::flags::request;
use super::hint::{HintRequest, find_remedies};
use super::repair::{RepairRequest, repair_repository};
use super::run_summary::full_summary;
use super::{App, AppError, Input, Progress};
use crate::config::Seconds;
use crate::diagnose::{Log, LogFacts, Scene, diagnose_masked};
use crate::model::{
    AgentProtocol, CiCause, CiFailure, CiReport, CiSuggestion, Diagnosis, FailureKind, RunStatus,
    SCHEMA_VERSION, StopReason, Usage,
};
use crate::patch::{self, Body, Hunk, HunkLine, LineKind, ReadOptions};
use crate::workspace::{At, Workspace};

request! {
/// Say what failed in the jobs of a CI run, and mend it.
#[derive(Default)]
FixCiRequest {
    /// Logs of jobs, or folders or archives of them
    #[arg(value_name = "LOG|DIR|ZIP", required = true)] logs: Vec<PathBuf>;
    /// Logs of the base's last run: what fails there too is told as such
    #[arg(long, value_name = "LOG|DIR")] base: Vec<PathBuf>;
    /// Logs of another run of the same commit: what does not fail there is told as flaky
    #[arg(long, value_name = "LOG|DIR")] again: Vec<PathBuf>;
    /// A command that must pass with the patch; can be given again
    #[arg(long, value_name = "CMD")] test: Vec<String> => only test.command;
    /// Ask an agent for what needs a model: a name as for `mendit fix`, or a command line
    #[arg(long, value_name = "NAME|CMD", requires = "test")] agent: Option<String> => set agent.command;
    /// How an agent that is given as a command line is spoken to
    #[arg(long, value_enum, requires = "agent")] agent_protocol: Option<AgentProtocol> => set agent.protocol;
    /// Time for one run of the command, such as `10m`
    #[arg(long, value_name = "S")] timeout: Option<Seconds> => set test.timeout;
}
}

/// Reads the logs of all jobs, tells each failure once and whose it is, and mends what can be mended.
/// With test commands in the settings the patch is tried; without, it holds the imports that are
/// certain.
///
/// # Errors
/// A log that cannot be read, or a repair that cannot be run.
pub fn fix_ci(
    app: &App,
    request: &FixCiRequest,
    progress: &dyn Progress,
) -> Result<CiReport, AppError> {
    let workspace = app.workspace(At::Worktree, progress)?;
    let read = |paths: &[PathBuf]| jobs_of(app, &workspace, paths, progress);
    let jobs = read(&request.logs)?;
    if jobs.is_empty() {
        let message = "there is no log in what was named, or nothing in it";
        return Err(AppError::usage(message).hint(
            "give what the job wrote: its log as a file, a folder of them, or the archive that the \
             service offers; `gh run view RUN --log > ci.log` brings one",
        ));
    }
    let (base, again) = (read(&request.base)?, read(&request.again)?);
    let (passed, failing): (Vec<&Job>, Vec<&Job>) =
        (jobs.iter()).partition(|job| job.diagnosis.kind == FailureKind::None);
    let mut found: BTreeMap<String, (Vec<String>, &Job)> = BTreeMap::new();
    for job in failing {
        let row = found.entry(job.signature());
        row.or_insert_with(|| (Vec::new(), job))
            .0
            .push(job.name.clone());
    }
    let mut failures = Vec::new();
    let mut mendable: Vec<(&[String], &Job)> = Vec::new();
    for (jobs, job) in found.values() {
        let cause = job.cause(&base, &again);
        if matches!(cause, CiCause::Regression | CiCause::Unattributed) {
            mendable.push((jobs.as_slice(), job));
        }
        failures.push(CiFailure {
            jobs: jobs.clone(),
            cause,
            summary: full_summary(app, &workspace, (&job.diagnosis, &job.log), ""),
        });
    }
    failures.sort_by_key(|it| (it.cause as u8, it.jobs.clone()));
    let mended = mend(app, &workspace, &mendable, progress)?;
    Ok(CiReport {
        schema_version: SCHEMA_VERSION,
        document: "ci-report",
        failures,
        passed: passed.iter().map(|it| it.name.clone()).collect(),
        suggestions: mended.patch.as_deref().map(suggestions).unwrap_or_default(),
        patch: mended.patch,
        left: mended.left,
        verified: mended.verified,
        passes_here: mended.passes_here,
        attempts: mended.attempts,
        usage: mended.usage,
    })
}

fn jobs_of(
    app: &App,
    workspace: &Workspace,
    paths: &[PathBuf],
    progress: &dyn Progress,
) -> Result<Vec<Job>, AppError> {
    let mut jobs = Vec::new();
    for path in paths {
        each_log(path, &mut |name, log| {
            let log = read_log(app, log)?;
            if log.text().trim().is_empty() {
                progress.note(&format!("the log `{name}` is empty"));
                return Ok(());
            }
            let mut apart = crate::diagnose::jobs(&log);
            if apart.is_empty() {
                apart.push((name.to_owned(), log));
            }
            jobs.extend(apart.into_iter().map(|it| Job::read(app, workspace, it)));
            Ok(())
        })?;
    }
    Ok(jobs)
}

#[derive(Default)]
struct Mended {
    patch: Option<String>,
    verified: Option<bool>,
    left: Vec<String>,
    passes_here: bool,
    attempts: u32,
    usage: Option<Usage>,
}

fn mend(
    app: &App,
    workspace: &Workspace,
    failures: &[(&[String], &Job)],
    progress: &dyn Progress,
) -> Result<Mended, AppError> {
    if failures.is_empty() {
        return Ok(Mended::default());
    }
    if !app.settings().test.command.0.is_empty() {
        return repair_each(app, failures, progress);
    }
    // One question for all of them: two patches made apart may not fit together.
    let request = HintRequest {
        fix: true,
        ..HintRequest::default()
    };
    let logs = failures
        .iter()
        .map(|(_, job)| (job.diagnosis.clone(), job.log.text()));
    let logs: Vec<_> = logs.collect();
    // A log that names no file of the repository has no import to add.
    let found = find_remedies(app, workspace, &request, &logs, progress).ok();
    Ok(Mended {
        patch: found.and_then(|it| it.document.patch),
        ..Mended::default()
    })
}

// One repair a failure, with the log that tells of it, until the commands pass: patches that are made
// apart may not fit together. What no repair was about is left.
fn repair_each(
    app: &App,
    failures: &[(&[String], &Job)],
    progress: &dyn Progress,
) -> Result<Mended, AppError> {
    let mut mended = Mended {
        verified: Some(false),
        ..Mended::default()
    };
    for (at, (jobs, job)) in failures.iter().enumerate() {
        let fixed = mended.verified == Some(true);
        if fixed || at >= MOST_REPAIRS {
            mended.left.extend_from_slice(jobs);
            continue;
        }
        if failures.len() > 1 {
            progress.note(&format!("repairing what fails in {}", jobs.join(", ")));
        }
        let request = RepairRequest {
            log: Some(Input::held(&job.name, job.log.text())),
            ..RepairRequest::default()
        };
        let repaired = repair_repository(app, &request, progress)?;
        mended.attempts += repaired.result.attempts;
        if let Some(usage) = repaired.result.usage {
            mended.usage = Some(mended.usage.unwrap_or_default().plus(usage));
        }
        if repaired.result.status == RunStatus::Fixed {
            mended.verified = Some(true);
            mended.patch = repaired.patch;
        } else if repaired.result.stop_reason == StopReason::NothingToRepair {
            return Ok(Mended {
                passes_here: true,
                ..Mended::default()
            });
        } else {
            mended.patch = mended.patch.or(repaired.patch);
            mended.left.extend_from_slice(jobs);
        }
    }
    Ok(mended)
}

// Each may ask an agent as often as its settings allow.
const MOST_REPAIRS: usize = 4;

// The log of one job, and what it says.
struct Job {
    name: String,
    log: Log,
    diagnosis: Diagnosis,
}

impl Job {
    fn read(app: &App, workspace: &Workspace, (name, log): (String, Log)) -> Self {
        let facts = LogFacts {
            rules: app.rules(),
            ..LogFacts::default()
        };
        let scene = Scene {
            source: Some(workspace.source.as_ref()),
            directory: "",
        };
        let diagnosis = diagnose_masked(&log, &facts, scene, &[], app.redactor());
        Self {
            name,
            log,
            diagnosis,
        }
    }

    // Whose it is, by the logs of the base and of another run of the same commit.
    fn cause(&self, base: &[Self], again: &[Self]) -> CiCause {
        let signature = self.signature();
        let shows = |others: &[Self]| others.iter().any(|it| it.signature() == signature);
        if is_machine(self.diagnosis.kind) {
            CiCause::Infrastructure
        } else if shows(base) {
            CiCause::BrokenOnBase
        } else if !again.is_empty() && !shows(again) {
            CiCause::Flaky
        } else if base.is_empty() {
            CiCause::Unattributed
        } else {
            CiCause::Regression
        }
    }

    // The same for the same failure on another machine: what is missing is one cause, whatever tests
    // and tools of a job trip over it.
    fn signature(&self) -> String {
        let it = &self.diagnosis;
        let mut named: Vec<String> = it.lacks().cloned().collect();
        let mut parts = Vec::new();
        if named.is_empty() {
            parts.push(it.kind.to_string());
            named.clone_from(&it.failing_tests);
        }
        if named.is_empty() {
            let plain = |text: &str| text.chars().filter(|it| !it.is_ascii_digit()).collect();
            named.extend(it.evidence.first().map(|it| plain(it.text.trim())));
        }
        named.sort();
        named.dedup();
        parts.append(&mut named);
        parts.join("\n")
    }
}

fn is_machine(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::NetworkError
            | FailureKind::DiskFull
            | FailureKind::OutOfMemory
            | FailureKind::AuthFailed
            | FailureKind::ConnectionRefused
    )
}

// Each run of changed lines as a suggestion for the lines that stand there now. What is only added is
// hung on the line before it, or on the one after where it comes first.
fn suggestions(patch: &str) -> Vec<CiSuggestion> {
    let read = patch::read(patch.as_bytes(), &ReadOptions::default(), |set| {
        let mut found = Vec::new();
        for file in &set.files {
            let Some(path) = file.headers.plus.as_ref().and_then(|it| it.name()) else {
                continue;
            };
            let path = String::from_utf8_lossy(path);
            let path = path.strip_prefix("b/").unwrap_or(&path);
            let Body::Hunks(hunks) = &file.body else {
                continue;
            };
            for hunk in hunks {
                found.extend(of_hunk(path, hunk));
            }
        }
        found
    });
    read.unwrap_or_default()
}

fn of_hunk(path: &str, hunk: &Hunk<'_>) -> Vec<CiSuggestion> {
    let mut found = Vec::new();
    let Some((mut line, _)) = hunk.old else {
        return found;
    };
    let text = |it: &HunkLine<'_>| String::from_utf8_lossy(it.text()).into_owned();
    let mut rest = hunk.lines.as_slice();
    let mut before: Option<&HunkLine<'_>> = None;
    while let Some(first) = rest.first() {
        if first.kind == LineKind::Context {
            before = Some(first);
            line += 1;
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        let run = rest.iter().take_while(|it| it.kind != LineKind::Context);
        let (run, after) = rest.split_at(run.count());
        rest = after;
        let gone = run.iter().filter(|it| it.kind == LineKind::Remove).count();
        let gone = u32::try_from(gone).unwrap_or(u32::MAX);
        let added = run.iter().filter(|it| it.kind == LineKind::Add).map(text);
        let mut lines: Vec<String> = added.collect();
        let (start, end) = match (gone, before, after.first()) {
            (1.., ..) => (line, line + gone - 1),
            (0, Some(before), _) => {
                lines.insert(0, text(before));
                (line - 1, line - 1)
            }
            (0, None, Some(next)) => {
                lines.push(text(next));
                (line, line)
            }
            // A file of these lines alone has no line that they could hang on.
            (0, None, None) => continue,
        };
        line += gone;
        found.push(CiSuggestion {
            path: path.to_owned(),
            start_line: start,
            line: end,
            replacement: lines,
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::suggestions;

    #[test]
    fn a_patch_is_told_as_what_to_put_in_place_of_which_lines() {
        let patch = "--- a/x.py\n+++ b/x.py\n@@ -3,5 +3,6 @@\n a\n+b\n c\n-d\n-e\n+f\n g\n\
                     @@ -20,1 +21,2 @@\n+first\n last\n";
        let found = suggestions(patch);
        let rows: Vec<_> = found
            .iter()
            .map(|it| (it.start_line, it.line, it.replacement.join("|")))
            .collect();
        let expected = [(3, 3, "a|b"), (5, 6, "f"), (20, 20, "first|last")];
        assert_eq!(
            rows,
            expected.map(|(start, end, text)| (start, end, text.to_owned()))
        );
        assert!(suggestions("no patch").is_empty());
    }
}
