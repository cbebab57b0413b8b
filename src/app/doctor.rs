//! The tasks of `mendit doctor`: without a probe it checks what is installed and runs nothing of the repository, since
//! nobody named a command; with `--test CMD` or `--mcp` it starts probes and corrects their configuration.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, json};

use super::agents::is_installed;
use super::command::{confined, say_unconfined};
use super::files::write_file;
use super::flags::{request, word};
use super::hint::in_words;
use super::open::{environment, list_values, listen};
use super::runs::{KeptRun, RunStore};
use super::why::open_facts;
use super::{App, AppError, Result};
use crate::agent::PRESETS;
use crate::config::Seconds;
use crate::exec::{self, CommandLine, Discard, Outcome, SandboxState, Stop};
use crate::heal::{Healed, Options, Probe, ServerConfig, Target, heal, masked};
use crate::inventory::{Project, explain_failure, find_problems};
use crate::model::CheckupState::{self, Good, Missing, Weak};
use crate::model::{AtPath as _, CheckupRow, Code, Exit, FailureKind, HealingResult, SandboxMode};
use crate::patch::is_interrupted;
use crate::policy::Redactor;
use crate::workspace::Workspace;

/// Looks at repository, packages, sandbox, agents and the last run. Nothing of the repository is
/// run.
///
/// # Errors
/// A repository that cannot be read.
pub fn check_up(app: &App) -> Result<HealingResult> {
    let workspace = app.worktree()?;
    let store = RunStore::open(app)?;
    let mut rows = vec![repository(&workspace)];
    let state = store.state.directory();
    if is_interrupted(state) {
        let message = "an apply was interrupted: files may be half changed";
        let command = Some("mendit apply --recover");
        rows.push(row("apply", Missing, message, command));
    }
    rows.push(row("runs", Good, state.display().to_string(), None));
    rows.push(check_sandbox(app)?);
    let last = store.last_command();
    let works = last.as_ref().is_some_and(KeptRun::found_its_packages);
    rows.extend(check_packages(app, &workspace, works)?);
    let line = last.as_ref().and_then(KeptRun::line);
    let line = line.unwrap_or_else(|| "a command with a secret".to_owned());
    let lacks = last.as_ref().and_then(KeptRun::summary).unwrap_or_default().remedies;
    let searched = open_facts(app, &workspace).and_then(|facts| facts.unexplained(&line));
    // A missing package manager comes first, and has a row of its own.
    let other = lacks.iter().find(|lack| rows.iter().all(|row| row.message != lack.problem));
    let (lack, next) = match other.or(lacks.last()) {
        Some(lack) => (format!(": {}", lack.problem), lack.command.as_deref()),
        None if searched.is_some() => (": no culprit is known".to_owned(), Some("mendit context")),
        None => (String::new(), Some("mendit why")),
    };
    let (state, message, command) = match &last {
        Some(last) if last.passed() => (Good, format!("`{line}` passed"), None),
        Some(_) => (Weak, format!("`{line}` failed{lack}"), next),
        None => (
            Weak,
            "nothing was run here yet".to_owned(),
            Some("mendit run CMD"),
        ),
    };
    rows.push(row("last run", state, message, command));
    let found = PRESETS.iter().filter(|preset| is_installed(&preset.command));
    let found: Vec<&str> = found.map(|preset| preset.name.as_str()).collect();
    let names = found.join(", ");
    let none = "no agent is installed; fixes without an LLM still work";
    rows.push(match names.as_str() {
        "" => row("agents", Weak, none, None),
        _ => row("agents", Good, names, None),
    });
    Ok(HealingResult::from_rows(rows))
}

// What was looked at, its state, and the command that fixes it.
fn row(
    name: &'static str,
    state: CheckupState,
    message: impl Into<String>,
    command: Option<&str>,
) -> CheckupRow {
    CheckupRow {
        name,
        state,
        message: message.into(),
        command: command.map(str::to_owned),
    }
}

fn repository(workspace: &Workspace) -> CheckupRow {
    let files = workspace.source.listing().entries().len();
    let bare = "bare: patches can be validated, but no command can run";
    let none = format!("not a git repository: all {files} files below this folder are read");
    match (&workspace.git, &workspace.root) {
        (Some(_), Some(root)) => {
            let own = format!("{} ({files} files)", root.display());
            row("repository", Good, own, None)
        }
        (Some(_), None) => row("repository", Weak, bare, None),
        (None, _) => row("repository", Weak, none, Some("git init")),
    }
}

// What the project declares and is not present.
fn check_packages(app: &App, workspace: &Workspace, works: bool) -> Result<Vec<CheckupRow>> {
    let versions = [tool_version(app, "python3")?, tool_version(app, "node")?];
    let rows = find_problems(&Project::open(workspace), versions).into_iter().map(|remedy| {
        let (problem, command) = (remedy.problem, remedy.command.as_deref());
        let passed = format!("{problem}; the last run ran without it");
        let (state, message) = if works { (Weak, passed) } else { (Missing, problem) };
        row("packages", state, message, command)
    });
    Ok(rows.collect())
}

// The version of an interpreter that commands find, which a version manager may not have.
fn tool_version(app: &App, program: &str) -> Result<Option<String>> {
    if !is_installed(program) {
        return Ok(None);
    }
    let command = CommandLine::Program(vec![program.into(), "--version".into()]);
    let outcome = run_confined(app, command)?;
    let text = outcome.output.text();
    let version = text.split_whitespace().last().filter(|_| outcome.passed());
    Ok(Some(version.unwrap_or("none").to_owned()))
}

// How far a command is confined, found out with one that does nothing.
fn check_sandbox(app: &App) -> Result<CheckupRow> {
    let command = CommandLine::Shell("exit 0".to_owned());
    let (state, message) = match run_confined(app, command)?.sandbox {
        SandboxState::Enforced => (Good, "commands write only where allowed"),
        SandboxState::Partial => (Weak, "only partly supported by this kernel"),
        SandboxState::None => (Weak, "not available here: commands may write anywhere"),
    };
    Ok(row("sandbox", state, message, None))
}

fn run_confined(app: &App, command: CommandLine) -> Result<Outcome> {
    let (mut job, _private) = confined(app, command)?;
    job.sandbox.mode = SandboxMode::Auto;
    Ok(exec::run(&job, &listen()?, &mut Discard)?)
}

request! {
/// Start what must answer before a repair can begin, and fix its configuration.
#[derive(Default)]
HealRequest {
    /// A command that must start; it may fail for a reason in the code
    #[arg(long, value_name = "CMD")] test: Option<String>;
    /// A file with `mcpServers`; all of them must respond
    #[arg(long, value_name = "FILE")] mcp: Option<PathBuf>;
    /// Only this server of the file; repeatable
    #[arg(long = "server", value_name = "NAME", requires = "mcp")] servers: Vec<String>;
    /// Write the configuration that works back to the file
    #[arg(long)] auto: bool;
    /// Fixes to try for each probe [default: 3]
    #[arg(long, value_name = "N")] max_attempts: Option<u32>;
    /// Seconds for a probe to respond; 30 by default [setting: limits.timeout]
    #[arg(long, value_name = "S")] timeout: Option<Seconds> => set limits.timeout;
    /// Confine what probes write to the worktree, a private temporary folder and caches
    /// [default: auto] [setting: sandbox.mode]
    #[arg(long, value_name = "auto|require|off", value_parser = word::<SandboxMode>)] sandbox: Option<SandboxMode> => set sandbox.mode;
    /// Allow a confined probe to write to this path [setting: sandbox.allow-write]
    #[arg(long, value_name = "PATH")] allow_write: Vec<PathBuf> => add sandbox.allow_write;
    /// Pass an environment variable to the command (NAME) or set it (NAME=VALUE) [setting: test.env]
    #[arg(long, value_name = "NAME")] env: Vec<String> => add test.env;
}
}

/// Starts each probe and fixes what can be fixed.
///
/// # Errors
/// Nothing to probe, a file that is no configuration, or nothing that can be started at all.
pub fn heal_probes(app: &App, request: &HealRequest) -> Result<(HealingResult, Exit)> {
    let file = request.mcp.as_ref();
    let mut servers = file.map(|file| read_servers(file, request.auto)).transpose()?;
    let settings = app.settings();
    // The limit for a probe without a setting.
    let timeout = settings.limits.timeout.map_or(Duration::from_secs(30), |limit| limit.0);
    let probes = probes(request, timeout, servers.as_ref())?;
    if probes.is_empty() {
        return Err(AppError::usage("nothing to probe")
            .hint("pass a command with `--test CMD`, or servers with `--mcp FILE`"));
    }
    let workspace = app.worktree()?;
    let project = Project::open(&workspace);
    let given = servers.iter().flat_map(ServerConfig::variables);
    let named = list_values(&settings.test.env);
    let redactor = Redactor::new(environment().chain(given).chain(named));
    let (job, _private) = confined(app, CommandLine::Program(Vec::new()))?;
    let stop = app.progress.stop()?;
    let options = Options {
        job: &job,
        directory: app.directory().to_owned(),
        // Attempts where nothing is set.
        max_attempts: request.max_attempts.unwrap_or(3),
        environment: &settings.test.env,
        redactor: &redactor,
        listing: Some(workspace.source.listing()),
        stop: &stop,
    };
    let mut reports = Vec::new();
    let mut attempts = Vec::new();
    let mut last = Map::new();
    for probe in probes {
        let mut healed = heal(probe, &options)?;
        name_user_action(&project, &mut healed);
        report_sandbox(app, &healed, job.sandbox.mode);
        let probe = &healed.probe;
        match (&probe.target, &mut servers) {
            (Target::Command(line), _) => {
                let seconds = probe.timeout.as_secs_f64();
                let test = json!({"command": line, "timeoutSeconds": seconds});
                last.insert("test".to_owned(), test);
            }
            (Target::Server(_), Some(servers)) if healed.report.changed => servers.replace(probe),
            _ => {}
        }
        reports.push(healed.report);
        attempts.extend(healed.attempts);
        if stop.requested() {
            break;
        }
    }
    if let Some(servers) = &servers {
        last.extend(servers.document());
    }
    let result = HealingResult::new(reports, attempts, masked(&last, &redactor));
    if let Some(servers) = &servers {
        write_back(servers, request, &result, app)?;
    }
    let exit = exit_code(&result, &stop);
    Ok((result, exit))
}

// What the project lacks explains a failed probe better than the rules that tried to correct it.
fn name_user_action(project: &Project<'_>, healed: &mut Healed) {
    let line = healed.probe.program().unwrap_or_default();
    let report = &mut healed.report;
    let Some(one) = report.diagnosis.as_ref().or(healed.in_code.as_ref()) else {
        return;
    };
    let remedies = explain_failure(project, one, "", line);
    // What fails in the code for want of a package does so until it is installed.
    report.fixed &= remedies.is_empty();
    let is_variable = one.kind == FailureKind::MissingEnvVar;
    let actions = remedies.into_iter();
    let actions = actions.map(|one| if is_variable { one.problem } else { in_words(&one) });
    let action = actions.reduce(|all, one| format!("{all}\n{one}"));
    report.user_action_needed = action.or(report.user_action_needed.take());
}

fn report_sandbox(app: &App, healed: &Healed, mode: SandboxMode) {
    if mode == SandboxMode::Auto
        && let Some(sandbox) = healed.sandbox
    {
        say_unconfined(sandbox, &[], app);
    }
    for path in healed.refused.iter().map(|path| path.display()) {
        let (code, name) = (Code::R212, &healed.probe.name);
        app.note(&format!(
            "{code}: {name}: mendit's sandbox refused writing {path}; --allow-write {path}"
        ));
    }
}

fn read_servers(file: &Path, auto: bool) -> Result<ServerConfig> {
    let name = file.display().to_string();
    if auto && file.is_symlink() {
        let message = format!("`{name}` is a symlink, and `--auto` would replace it with a file");
        return Err(AppError::new(Code::U303, message).hint("pass the file it points to"));
    }
    Ok(ServerConfig::parse(&name, &std::fs::read(file).at(file)?)?)
}

fn probes(
    request: &HealRequest,
    timeout: Duration,
    servers: Option<&ServerConfig>,
) -> Result<Vec<Probe>> {
    let line = request.test.iter().filter(|line| !line.trim().is_empty());
    let mut probes: Vec<Probe> = line
        .map(|line| Probe {
            name: "test".to_owned(),
            target: Target::Command(line.clone()),
            timeout,
        })
        .collect();
    if let Some(servers) = servers {
        let mut wanted = request.servers.clone();
        if wanted.is_empty() {
            wanted.extend(servers.names().map(str::to_owned));
        }
        for name in wanted {
            probes.push(servers.probe(&name, timeout)?);
        }
    }
    Ok(probes)
}

fn write_back(
    servers: &ServerConfig,
    request: &HealRequest,
    result: &HealingResult,
    app: &App,
) -> Result<()> {
    let mut probes = result.probes.iter();
    let is_better = probes.any(|probe| probe.changed && probe.fixed);
    let Some(file) = request.mcp.as_ref().filter(|_| is_better) else {
        return Ok(());
    };
    if request.auto {
        write_file(file, servers.text())?;
        app.note(&format!("wrote {}", file.display()));
    } else {
        app.note("another configuration works; `--auto` writes it to the file");
    }
    Ok(())
}

fn exit_code(result: &HealingResult, stop: &Stop) -> Exit {
    if stop.requested() {
        return Exit::Interrupted;
    }
    let worst = result.probes.iter().find(|probe| !probe.fixed);
    match worst.and_then(|probe| probe.diagnosis.as_ref()) {
        _ if result.fixed => Exit::Yes,
        Some(diagnosis) => match diagnosis.kind {
            FailureKind::Timeout => Exit::TimedOut,
            FailureKind::Unknown => Exit::No,
            _ => Exit::PersonMustAct,
        },
        None => Exit::No,
    }
}
