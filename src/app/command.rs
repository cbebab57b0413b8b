//! Builds the job of a user's command, describes how it ended, and finds the test command of a project.

use std::path::Path;

use super::files::temporary;
use super::{App, AppError, Result, runs};
use crate::exec::{CommandLine, End, Job, Outcome, Sandbox, SandboxState, Temporary};
use crate::git::Repository;
use crate::model::{
    Code, Diagnosis, Exit, FailureKind, NotConfined, RemedySource, RunSummary, WorkplaceMode,
    walls_in_words,
};
use crate::report::kept_summary;
use crate::runners::missing_program;
use crate::workplace::{Plan, Workplace, find_linked};

/// A job in the worktree itself, confined as the settings say: it may write all of the worktree, wherever in it the
/// command runs, but not what git reads later; without git, the folder it runs in.
/// Its private folder is gone with the second value.
pub(super) fn confined(app: &App, command: CommandLine) -> Result<(Job, Temporary)> {
    let private = temporary()?;
    let settings = &app.settings().sandbox;
    let mut writable = settings.allow_write.clone();
    let repository = Repository::discover(app.directory())?;
    let mut closed = Vec::new();
    if let Some(git) = &repository {
        writable.extend(git.workdir().map(Path::to_owned));
        closed = git.own_folders();
    }
    closed.retain(|place| !writable.contains(place));
    let mut job = Job::new(command, app.directory());
    job.private = Some(private.path().to_owned());
    job.sandbox = Sandbox {
        mode: settings.mode,
        writable,
        closed,
        no_network: settings.no_net,
    };
    Ok((job, private))
}

/// Moves a job from the worktree to an isolated copy, which lasts as long as its folder, where the settings ask for
/// that.
pub(super) fn move_to_copy(app: &App, job: &mut Job) -> Result<Option<Temporary>> {
    let choice = app.settings().sandbox.workplace.unwrap_or(WorkplaceMode::InPlace);
    if choice == WorkplaceMode::InPlace {
        return Ok(None);
    }
    let workspace = app.worktree()?;
    let Some(root) = &workspace.root else {
        return Ok(None);
    };
    let slot = Temporary::within(runs::state(app)?.directory())
        .map_err(|error| AppError::environment(format!("no isolated copy: {error}")))?;
    let commands = [job.command.to_string()];
    let plan = Plan {
        choice,
        slot: slot.path(),
        source: workspace.source.as_ref(),
        root,
        git: workspace.git.as_ref(),
        linked_folders: find_linked(workspace.source.as_ref(), root, &[])?,
        commands: &commands,
        closed: Vec::new(),
    };
    app.progress.step("copying the worktree");
    let place = Workplace::open(&plan)?;
    let below = job.directory.strip_prefix(root).unwrap_or(Path::new(""));
    job.directory = place.root().join(below);
    job.sandbox.writable.retain(|path| path != root);
    job.sandbox.closed.clear();
    // The private folder of the caller lasts as long as the job.
    let private = job.private.take();
    place.confine(job);
    job.private = private.or(job.private.take());
    app.note(&format!("workplace: {} ({})", place.kind(), place.why()));
    Ok(Some(slot))
}

/// Says when a sandbox that was to be had is not in force.
pub(super) fn say_unconfined(state: SandboxState, missing: &[NotConfined], app: &App) {
    let how = match state {
        SandboxState::Enforced => return,
        SandboxState::Partial => "only partly",
        SandboxState::None => "not",
    };
    let what = match walls_in_words(missing) {
        words if words.is_empty() => words,
        words => format!("; not confined: {words}"),
    };
    app.note(&format!(
        "{}: the sandbox is {how} active{what}",
        Code::R211
    ));
}

/// Describes a run that did not pass, with the exit code.
pub(super) fn describe_failure(
    name: &str,
    diagnosis: Option<&Diagnosis>,
    outcome: &Outcome,
    job: &Job,
) -> AppError {
    let (code, what, exit) = match outcome.end {
        End::NotFound | End::NotExecutable => {
            let error = AppError::new(Code::R206, format!("`{name}`: {}", outcome.end));
            let hint = not_started(name, outcome.end == End::NotExecutable);
            return error.exit(Exit::Environment).hint(hint);
        }
        end @ End::Signal(_) => (Code::R201, format!("killed by {end}"), Exit::No),
        End::TimedOut => (
            Code::R203,
            "reached its time limit".to_owned(),
            Exit::TimedOut,
        ),
        End::OutputLimit => {
            let what = format!("was stopped after {} bytes of output", outcome.output.bytes);
            (Code::R201, what, Exit::No)
        }
        End::Interrupted => (Code::R208, "was interrupted".to_owned(), Exit::Interrupted),
        end if end.is_missing_command() && is_own(&job.command, diagnosis) => {
            (Code::R201, format!("failed with {end}"), Exit::Environment)
        }
        end => (Code::R201, format!("failed with {end}"), Exit::No),
    };
    let seconds = outcome.duration.as_secs_f64();
    let message = format!("`{name}` {what} after {seconds:.1} s");
    let mut error = AppError::new(code, message).exit(exit);
    let Some(diagnosis) = diagnosis else {
        return error;
    };
    let needs_person = exit == Exit::No && diagnosis.requires_user_action;
    // Listed tests and the tool's own remedy say it better, and an unknown kind says nothing.
    let says_nothing =
        diagnosis.remedy_source == RemedySource::Tool || diagnosis.kind == FailureKind::Unknown;
    if needs_person || diagnosis.tests.is_empty() && !says_nothing {
        let explanation = diagnosis.explanation.trim_end_matches('.');
        error = error.hint(format!("cause: {explanation} ({})", diagnosis.kind));
    }
    if needs_person {
        error = error.exit(Exit::PersonMustAct);
    }
    if needs_person || diagnosis.remedy_source == RemedySource::Tool {
        error = error.hint(diagnosis.suggested_fix.clone());
    }
    sandbox_hints(diagnosis, outcome, job).into_iter().fold(error, AppError::hint)
}

// Whether a program that was not found is in the command itself, and not in a script that it started.
fn is_own(command: &CommandLine, diagnosis: Option<&Diagnosis>) -> bool {
    let line = command.to_string();
    let mut evidence = diagnosis.iter().flat_map(|diagnosis| &diagnosis.evidence);
    let missing = evidence.find_map(|line| missing_program(&line.text));
    missing.is_none_or(|name| line.split_whitespace().any(|word| word == name))
}

/// Returns a hint for a command that never started.
pub(super) fn not_started(command: &str, is_there: bool) -> String {
    let program = command.split_whitespace().next().unwrap_or_default();
    let path = Path::new(program);
    if is_there {
        let is_python = path.extension() == Some("py".as_ref());
        let with = if is_python { "python3" } else { "sh" };
        format!(
            "run it with its interpreter: `mendit run {with} {command}`; or make it executable: `chmod +x {program}`"
        )
    } else if path.is_dir() {
        format!("`{program}` is a directory; pass a command, such as `mendit run pytest {program}`")
    } else if path.is_file() {
        format!("`{program}` is a file: run it as `mendit run ./{program}`")
    } else {
        "check the spelling, install it, or activate the environment that contains it; `mendit doctor` shows what is missing"
            .to_owned()
    }
}

// What the sandbox may have to do with the failure.
fn sandbox_hints(diagnosis: &Diagnosis, outcome: &Outcome, job: &Job) -> Vec<String> {
    let code = Code::R212;
    let is_confined = outcome.sandbox != SandboxState::None;
    let is_denied = diagnosis.kind == FailureKind::PermissionDenied && is_confined;
    if outcome.refused.is_empty() && is_denied {
        let what = if job.sandbox.no_network {
            "omit `--no-net` if it needs the network, including loopback"
        } else {
            "`--allow-write PATH` allows one path, `--sandbox off` all"
        };
        return vec![format!("{code}: it ran in the sandbox; {what}")];
    }
    let refused = outcome.refused.iter().map(|path| path.display());
    refused
        .map(|path| {
            format!("{code}: mendit's sandbox refused writing {path}; --allow-write {path}")
        })
        .collect()
}

/// The output of a command. When there is none, how it ended is all there is to go by.
pub(super) fn log_or_end(outcome: &Outcome, command: &str) -> String {
    let text = outcome.output.text();
    match outcome.end {
        End::NotFound => format!("{command}: command not found\n"),
        End::NotExecutable => format!("{command}: cannot execute: Permission denied\n"),
        end if text.trim().is_empty() => {
            format!("`{command}` printed nothing and ended with {end}\n")
        }
        _ => text,
    }
}

/// Writes what an agent needs of a failed command: the failures, candidate fixes, the culprit; where nothing is
/// understood, the end of the output.
pub(super) fn brief_text(summary: &RunSummary, end: &str, log: &str) -> String {
    let failures = kept_summary(summary, false, false);
    let (kind, explanation) = (summary.kind, &summary.explanation);
    let mut text = format!("{end}\n{kind}: {explanation}\n{failures}");
    if summary.failures.is_empty() || kind == FailureKind::Unknown {
        text.push_str("last lines of its output:\n");
        let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
        // Output without a diagnosis is shown shortened: its last lines, each up to a limit.
        let first = lines.len().saturating_sub(20);
        for line in lines.iter().skip(first) {
            text.extend(line.chars().take(160).chain(['\n']));
        }
    }
    text
}

/// Package managers by their lock files.
const MANAGERS: [(&str, &str); 3] = [
    ("pnpm-lock.yaml", "pnpm test"),
    ("yarn.lock", "yarn test"),
    ("bun.lock", "bun run test"),
];
/// Files, a text that they hold, and the line that runs the tests then; the first row that fits counts.
const ROWS: [(&str, &str, &str); 7] = [
    ("manage.py", "", "python3 manage.py test"),
    ("pytest.ini", "[pytest]", "pytest"),
    ("pyproject.toml", "[tool.pytest", "pytest"),
    ("tox.ini", "[pytest]", "pytest"),
    ("setup.cfg", "[tool:pytest]", "pytest"),
    ("tox.ini", "", "tox"),
    ("Makefile", "\ntest:", "make test"),
];

/// Finds the test command that a file of the current directory names. Nothing is run: that is for a person to agree
/// to.
pub fn find_test_command(app: &App) -> Option<(&'static str, &'static str)> {
    find_in(&|name| std::fs::read_to_string(app.directory().join(name)).ok())
}

fn find_in(read: &dyn Fn(&str) -> Option<String>) -> Option<(&'static str, &'static str)> {
    let manifest = read("package.json").unwrap_or_default();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap_or_default();
    let script = manifest["scripts"]["test"].as_str();
    if script.is_some_and(|script| !script.contains("no test specified")) {
        let manager = MANAGERS.iter().find(|(lock, _)| read(lock).is_some());
        let line = manager.map_or("npm test", |(_, line)| line);
        return Some((line, "package.json"));
    }
    let (file, _, line) = ROWS.iter().find(|(file, text, _)| {
        read(file).is_some_and(|content| format!("\n{content}").contains(text))
    })?;
    let with_uv = *line == "pytest" && read("uv.lock").is_some();
    Some((if with_uv { "uv run pytest" } else { line }, file))
}

#[cfg(test)]
mod tests {
    use super::{find_in, is_own};
    use crate::diagnose::{LogFacts, diagnose};
    use crate::exec::CommandLine;

    #[test]
    fn test_command_comes_from_manifest() {
        let npm = r#"{"scripts": {"test": "vitest run"}}"#;
        let none = "{\"scripts\": {\"test\": \"echo \\\"Error: no test specified\\\" && exit 1\"}}";
        for (files, expected) in [
            (&[("package.json", npm)][..], Some("npm test")),
            (
                &[("package.json", npm), ("pnpm-lock.yaml", "")],
                Some("pnpm test"),
            ),
            (&[("package.json", none)], None),
            (
                &[
                    ("package.json", none),
                    ("Makefile", "all:\ntest: all\n\tpytest\n"),
                ],
                Some("make test"),
            ),
            (&[("manage.py", "")], Some("python3 manage.py test")),
            (
                &[("pyproject.toml", "[tool.pytest.ini_options]\n")],
                Some("pytest"),
            ),
            (
                &[
                    ("pyproject.toml", "[tool.pytest.ini_options]\n"),
                    ("uv.lock", ""),
                ],
                Some("uv run pytest"),
            ),
            (&[("tox.ini", "[tox]\n")], Some("tox")),
            (&[("README.md", "")], None),
        ] {
            let found = find_in(&|name| {
                let mut files = files.iter();
                let file = files.find(|(other, _)| *other == name);
                file.map(|(_, text)| (*text).to_owned())
            });
            assert_eq!(found.map(|(line, _)| line), expected, "{files:?}");
        }
    }

    #[test]
    fn distinguishes_script_program_from_command() {
        let log = "> test\n> vitst run\n\nsh: 1: vitst: not found\n";
        let diagnosis = diagnose(log, &LogFacts::default(), None);
        for (line, own) in [
            ("npm test", false),
            ("vitst run", true),
            ("cd a && vitst", true),
        ] {
            let command = CommandLine::Shell(line.to_owned());
            assert_eq!(is_own(&command, Some(&diagnosis)), own, "{line}");
            assert!(is_own(&command, None));
        }
    }
}
