use serde_json::{Value, json};

use super::brief::brief;
use super::files::{to_json, write_file};
use super::last_run::{self, Again};
use super::run_record::last_words;
use super::run_summary::full_summary;
use super::stats::count;
use super::{App, AppError, Silent, runs};
use crate::diagnose::{Log, LogFacts, Scene, diagnose_masked};
use crate::model::{CommandAttempt, CommandRecord, CommandStatus, FailureKind, file_name};
use crate::policy::{CommandFiles, is_test_program};
use crate::repair::in_utc;
use crate::source::Memory;
use crate::state::RunId;
use crate::workspace::At;

/// Answers a coding agent that ran a command: `payload` is what its hook hands over, as Claude Code,
/// Codex, Gemini CLI, Cursor or the plugin for opencode writes it. When a test command failed, the
/// answer adds what broke, where and the code there. A log of more than 1,000 tokens gives way to it,
/// and to one line when the tests passed, where the agent lets a hook do so and the command did
/// nothing but test. The log is kept as the last run. `None` for everything else.
///
/// # Errors
/// A repository that cannot be read.
pub fn answer_hook(app: &App, payload: &Value) -> Result<Option<Value>, AppError> {
    let Some(call) = HookCall::of(payload) else {
        return Ok(None);
    };
    // What mendit ran is told by mendit.
    let tests = tests_of(&call.command);
    if tests == Tests::None || call.command.contains("mendit ") {
        return Ok(None);
    }
    let workspace = app.workspace(At::Worktree, &Silent)?;
    let masked = app.clean(call.output.as_bytes());
    let log = Log::from(masked.clone());
    let facts = LogFacts {
        // A pipe ends as its last command does: that it ended well says nothing of the tests.
        exit_code: call.exit_code.filter(|it| *it != 0),
        command: Some(call.command.clone()),
        timed_out: false,
        rules: app.rules(),
    };
    let scene = Scene {
        source: Some(workspace.source.as_ref()),
        directory: &workspace.prefix,
    };
    let diagnosis = diagnose_masked(&log, &facts, scene, &[], app.redactor());
    let sure = diagnosis.confidence >= 0.8;
    let passed = !call.failed && sure && diagnosis.kind == FailureKind::None;
    let quiet = matches!(diagnosis.kind, FailureKind::None | FailureKind::Unknown);
    let gives_way = tests == Tests::Alone && masked.len() > MOST_LOG && call.agent.may_replace();
    // A command of which nobody says that it failed must say so itself, beyond doubt.
    let red = call.failed || !quiet && sure;
    let green = passed && gives_way;
    if !(red || green) {
        return Ok(None);
    }
    let command = app.redactor().redact(&call.command).text.into_owned();
    let id = RunId::now();
    let folder = runs::here(app)?.runs().start(&id)?;
    let kept = folder.join("test.log");
    let kept = kept.display();
    let mut summary = None;
    let text = if red {
        let mut details = full_summary(app, &workspace, (&diagnosis, &log), "");
        details.packet = None;
        let end = format!("`{command}` failed");
        let head = brief(app, &workspace, &details, &end, &masked);
        summary = Some(details);
        format!(
            "{head}`mendit fix` mends what is certain; `mendit context --format markdown` shows the \
             code; the log as it was handed over: {kept}\n"
        )
    } else {
        format!(
            "`{command}` passes: {}; its log: {kept}\n",
            last_words(&masked)
        )
    };
    write_file(&folder.join("test.log"), &masked)?;
    let record = CommandRecord {
        run_id: Some(id.to_string()),
        diagnosis: Some(diagnosis),
        summary,
        ..call.record(command, red)
    };
    write_file(&folder.join("run.json"), to_json(&record)?)?;
    let again = Again::of(app, &[call.command.clone().into()], &workspace.prefix);
    let again = again.with_files(&workspace);
    last_run::keep(&folder, &again)?;
    last_run::forget_old(app)?;
    if gives_way {
        // What cannot be counted is not.
        let _ = count(app, masked.len(), text.len());
    }
    Ok(Some(call.answer(&text, gives_way, payload)))
}

// A log of a thousand tokens, two for every seven bytes; no answer is longer.
const MOST_LOG: usize = 3_500;

// What a hook says of a command that ran.
struct HookCall {
    agent: HookAgent,
    event: String,
    command: String,
    output: String,
    failed: bool,
    exit_code: Option<i32>,
}

// Whose hook it is, by the shape of what it hands over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HookAgent {
    Claude,
    // Claude's events of a failure, where its output stays.
    ClaudeFailure,
    Codex,
    Gemini,
    Cursor,
    Opencode,
}

impl HookAgent {
    fn may_replace(self) -> bool {
        !matches!(self, Self::ClaudeFailure | Self::Cursor)
    }
}

impl HookCall {
    fn of(payload: &Value) -> Option<Self> {
        let event = payload["hook_event_name"].as_str()?.to_owned();
        let command = payload["tool_input"]["command"].as_str()?.to_owned();
        // Cursor hands a document over as a text.
        let inner = payload["tool_output"].as_str();
        let inner: Option<Value> = inner.and_then(|it| serde_json::from_str(it).ok());
        let response = inner.as_ref().unwrap_or(&payload["tool_response"]);
        let agent = match event.as_str() {
            "AfterTool" => HookAgent::Gemini,
            "postToolUse" => HookAgent::Cursor,
            "tool.execute.after" => HookAgent::Opencode,
            "PostToolUse" if response.is_string() => HookAgent::Codex,
            "PostToolUse" => HookAgent::Claude,
            _ => HookAgent::ClaudeFailure,
        };
        let parts = [
            &response["stdout"],
            &response["stderr"],
            &response["output"],
            &response["returnDisplay"],
            &payload["error"],
        ];
        let parts = parts.iter().filter_map(|it| it.as_str());
        let output: Vec<&str> = match response.as_str() {
            Some(text) => vec![text],
            None => parts.filter(|it| !it.is_empty()).collect(),
        };
        let number = |name: &&str| i32::try_from(response[*name].as_i64()?).ok();
        // Gemini tells it in what the model reads alone.
        let shown = response["llmContent"].as_str().unwrap_or_default();
        let shown = shown.lines().rev();
        let mut shown = shown.filter_map(|it| it.strip_prefix("Exit Code: ")?.trim().parse().ok());
        let mut names = ["exit_code", "exitCode", "code"].iter();
        let exit_code = names.find_map(number).or_else(|| shown.next());
        Some(Self {
            failed: event.ends_with("Failure") || exit_code.is_some_and(|it| it != 0),
            agent,
            event,
            command,
            output: output.join("\n"),
            exit_code,
        })
    }

    // The run as it is kept.
    fn record(&self, command: String, red: bool) -> CommandRecord {
        let end = CommandAttempt {
            end: "told by an agent's hook".to_owned(),
            exit: self.exit_code,
            output_bytes: self.output.len() as u64,
            ..CommandAttempt::default()
        };
        let status = if red {
            CommandStatus::Failed
        } else {
            CommandStatus::Passed
        };
        CommandRecord {
            ended_at: Some(in_utc(jiff::Timestamp::now())),
            test_result: Some(end.clone()),
            attempts: vec![end],
            ..CommandRecord::new(command, status, "none".to_owned())
        }
    }

    // The answer as that agent reads it.
    fn answer(&self, text: &str, in_its_place: bool, payload: &Value) -> Value {
        match (self.agent, in_its_place) {
            (HookAgent::Codex, true) => json!({"decision": "block", "reason": text}),
            (HookAgent::Gemini, true) => json!({"decision": "deny", "reason": text}),
            (HookAgent::Cursor, _) => json!({"additional_context": text}),
            (HookAgent::Opencode, true) => json!({"output": text}),
            (HookAgent::Opencode, false) => json!({"added": text}),
            (HookAgent::Claude, true) => {
                let mut output = payload["tool_response"].clone();
                output["stdout"] = text.into();
                output["stderr"] = "".into();
                json!({"hookSpecificOutput": {
                    "hookEventName": self.event,
                    "updatedToolOutput": output,
                }})
            }
            _ => json!({"hookSpecificOutput": {
                "hookEventName": self.event,
                "additionalContext": text,
            }}),
        }
    }
}

// What of a command line tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tests {
    None,
    // Other commands of it write something, too.
    Amid,
    Alone,
}

// Whether the line starts a test runner, a compiler or a linter; a hook sees every command.
fn tests_of(line: &str) -> Tests {
    let run = CommandFiles::find(&[line.to_owned()], "", &Memory::new([]));
    let (mut tests, mut others) = (false, false);
    // `timeout 5 npx jest` comes with what it starts behind it.
    let lines: Vec<String> = run.commands().iter().map(|it| it.join(" ")).collect();
    let mut test = "";
    for (at, (command, line)) in run.commands().iter().zip(&lines).enumerate() {
        if test.contains(line.as_str()) {
            continue;
        }
        let mut words = command.iter();
        let tool = words.next().map_or("", |it| file_name(it));
        let script = words.find(|it| !matches!(it.as_str(), "run" | "-s" | "--silent"));
        let script = script.map_or("", String::as_str);
        let is_test = is_test_program(tool)
            || RUN_SCRIPTS.contains(&tool)
                && ["test", "check", "lint"]
                    .iter()
                    .any(|it| script.contains(it));
        let inner = lines.get(at + 1);
        let starts = inner.is_some_and(|it| it.len() < line.len() && line.contains(it.as_str()));
        if is_test {
            test = line;
        }
        tests |= is_test;
        others |= !is_test && !starts && !SILENT.contains(&tool);
    }
    match (tests, others) {
        (false, _) => Tests::None,
        (true, true) => Tests::Amid,
        (true, false) => Tests::Alone,
    }
}

// Programs beside a test that write nothing of their own.
const SILENT: &[&str] = &[
    "cd", "export", "set", "source", ".", "true", "tail", "head", "tee",
];

const RUN_SCRIPTS: &[&str] = &[
    "npm", "pnpm", "yarn", "bun", "deno", "make", "just", "cargo", "go",
];

#[cfg(test)]
mod tests {
    use super::{Tests, tests_of};

    #[test]
    fn test_commands_are_known_among_all_others() {
        for (line, expected) in [
            ("pytest -x", Tests::Alone),
            ("cd a && python3 -m pytest tests", Tests::Alone),
            (".venv/bin/python -m unittest", Tests::Alone),
            ("npx vitest run", Tests::Alone),
            ("npm test", Tests::Alone),
            ("pnpm run test:unit", Tests::Alone),
            ("make check", Tests::Alone),
            ("pytest 2>&1 | tail -5", Tests::Alone),
            ("git diff; pytest", Tests::Amid),
            ("sh -c 'git diff; pytest'", Tests::Amid),
            ("CI=1 timeout 60 npx jest a", Tests::Alone),
            ("cat setup.py && npm test", Tests::Amid),
            ("ls -la tests", Tests::None),
            ("git commit -m 'add tests'", Tests::None),
            ("npm install", Tests::None),
            ("cat pytest.ini", Tests::None),
            ("timeout 5 sh -c 'cd a; mypy .'", Tests::Alone),
            ("echo 'then; pytest'", Tests::None),
            ("grep -rn pytest docs", Tests::None),
        ] {
            assert_eq!(tests_of(line), expected, "{line}");
        }
    }
}
