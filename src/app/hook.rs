use serde_json::{Value, json};

use super::brief::brief;
use super::files::{to_json, write_file};
use super::last_run::{self, Again};
use super::run_summary::told;
use super::{App, AppError, Silent, runs};
use crate::diagnose::{Log, LogFacts, Scene, diagnose_masked};
use crate::model::{FailureKind, SCHEMA_VERSION, file_name};
use crate::policy::{CommandFiles, is_test_program};
use crate::source::Memory;
use crate::state::RunId;
use crate::workspace::At;

/// Answers a coding agent that ran a command: `payload` is what its hook hands over, as Claude Code
/// writes it. When a test command failed, the answer adds what broke, where and the code there;
/// the log is kept as the last run. `None` for everything else.
///
/// # Errors
/// A repository that cannot be read.
pub fn answer_hook(app: &App, payload: &Value) -> Result<Option<Value>, AppError> {
    let Some(told) = Told::of(payload) else {
        return Ok(None);
    };
    // What mendit ran is told by mendit.
    if !is_test(&told.command) || told.command.contains("mendit ") {
        return Ok(None);
    }
    let workspace = app.workspace(At::Worktree, &Silent)?;
    let masked = app.clean(told.output.as_bytes());
    let log = Log::from(masked.clone());
    let facts = LogFacts {
        exit_code: told.exit_code,
        command: Some(told.command.clone()),
        timed_out: false,
        rules: app.rules(),
    };
    let scene = Scene {
        source: Some(workspace.source.as_ref()),
        directory: &workspace.prefix,
    };
    let diagnosis = diagnose_masked(&log, &facts, scene, &[], app.redactor());
    let quiet = matches!(diagnosis.kind, FailureKind::None | FailureKind::Unknown);
    // A command of which nobody says that it failed must say so itself, beyond doubt.
    if !told.failed && (quiet || diagnosis.confidence < 0.8) {
        return Ok(None);
    }
    let command = app.redactor().redact(&told.command).text.into_owned();
    let mut summary = told_with_certain(app, &diagnosis, &log, &workspace);
    summary.packet = None;
    let end = format!("`{command}` failed");
    let mut text = brief(app, &workspace, &summary, &end, &masked);
    let folder = runs::here(app)?.runs().start(&RunId::now())?;
    text.push_str(&format!(
        "`mendit fix` mends what is certain; `mendit context --format markdown` shows the code; the \
         whole log: {}\n",
        folder.join("test.log").display()
    ));
    write_file(&folder.join("test.log"), &masked)?;
    let document = json!({
        "schemaVersion": SCHEMA_VERSION,
        "document": "run",
        "command": command,
        "status": "failed",
        "testResult": {"end": "told by an agent's hook", "exit": told.exit_code},
        "diagnosis": diagnosis,
        "summary": summary,
    });
    write_file(&folder.join("run.json"), to_json(&document)?)?;
    let again = Again::of(app, &[told.command.into()], &workspace.prefix);
    last_run::keep(&folder, &again)?;
    last_run::forget_old(app)?;
    Ok(Some(json!({
        "hookSpecificOutput": {
            "hookEventName": told.event,
            "additionalContext": text,
        }
    })))
}

fn told_with_certain(
    app: &App,
    diagnosis: &crate::model::Diagnosis,
    log: &Log,
    workspace: &crate::workspace::Workspace,
) -> crate::model::RunSummary {
    let (certain, perhaps) = super::run_summary::imports(app, diagnosis, log);
    crate::model::RunSummary {
        certain,
        perhaps,
        ..told(diagnosis, workspace.source.as_ref())
    }
}

// What a hook says of a command that ran.
struct Told {
    event: String,
    command: String,
    output: String,
    failed: bool,
    exit_code: Option<i32>,
}

impl Told {
    fn of(payload: &Value) -> Option<Self> {
        let event = payload["hook_event_name"].as_str()?.to_owned();
        let command = payload["tool_input"]["command"].as_str()?.to_owned();
        let response = &payload["tool_response"];
        let parts = [
            &response["stdout"],
            &response["stderr"],
            &response["output"],
            &payload["error"],
        ];
        let parts = parts.iter().filter_map(|it| it.as_str());
        let output: Vec<&str> = match response.as_str() {
            Some(text) => vec![text],
            None => parts.filter(|it| !it.is_empty()).collect(),
        };
        let exit_code = ["exit_code", "exitCode", "code"]
            .iter()
            .find_map(|name| i32::try_from(response[*name].as_i64()?).ok());
        Some(Self {
            failed: event.ends_with("Failure") || exit_code.is_some_and(|it| it != 0),
            event,
            command,
            output: output.join("\n"),
            exit_code,
        })
    }
}

// Whether the line starts a test runner, a compiler or a linter; a hook sees every command.
fn is_test(line: &str) -> bool {
    let run = CommandFiles::of(&[line.to_owned()], "", &Memory::new([]));
    run.commands().iter().any(|words| {
        let mut words = words.iter();
        let tool = words.next().map_or("", |it| file_name(it));
        let script = words.find(|it| !matches!(it.as_str(), "run" | "-s" | "--silent"));
        let script = script.map_or("", String::as_str);
        is_test_program(tool)
            || RUN_SCRIPTS.contains(&tool)
                && ["test", "check", "lint"]
                    .iter()
                    .any(|it| script.contains(it))
    })
}

const RUN_SCRIPTS: &[&str] = &[
    "npm", "pnpm", "yarn", "bun", "deno", "make", "just", "cargo", "go",
];

#[cfg(test)]
mod tests {
    use super::is_test;

    #[test]
    fn test_commands_are_known_among_all_others() {
        for (line, expected) in [
            ("pytest -x", true),
            ("cd a && python3 -m pytest tests", true),
            (".venv/bin/python -m unittest", true),
            ("npx vitest run", true),
            ("npm test", true),
            ("pnpm run test:unit", true),
            ("make check", true),
            ("ls -la tests", false),
            ("git commit -m 'add tests'", false),
            ("npm install", false),
            ("cat pytest.ini", false),
            ("timeout 5 sh -c 'cd a; mypy .'", true),
            ("echo 'then; pytest'", false),
            ("grep -rn pytest docs", false),
        ] {
            assert_eq!(is_test(line), expected, "{line}");
        }
    }
}
