//! Agents: what `init` writes for them, what they are told of a run, and what that spares.
#![cfg(unix)]

use crate::support;
use std::process::Output;

use crate::support::{Repo, json as document, stderr};
use serde_json::{Value, json};

const RED: &str = "============================= test session starts =====\n\
    tests/test_a.py F                                                        [100%]\n\
    =================================== FAILURES ===================================\n\
    ____________________________________ test_a ____________________________________\n\n    \
    def test_a():\n>       assert add(1, 2) == 3\nE       assert -1 == 3\nE        +  where -1 = add(1, 2)\n\n\
    tests/test_a.py:4: AssertionError\n\
    =========================== short test summary info ============================\n\
    FAILED tests/test_a.py::test_a - assert -1 == 3\n\
    ============================== 1 failed in 0.01s ===============================\n";

fn repo() -> Repo {
    let repo = Repo::with(&[
        ("calc.py", "def add(a, b):\n    return a - b\n"),
        (
            "tests/test_a.py",
            "from calc import add\n\ndef test_a():\n    assert add(1, 2) == 3\n",
        ),
    ]);
    repo.write("red.log", RED);
    repo
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn hooked(repo: &Repo, payload: &Value) -> Output {
    let command = support::command(&repo.root(), &["hook"]);
    support::fed(command, payload.to_string().as_bytes())
}

fn used(event: &str, command: &str, output: &str) -> Value {
    json!({
        "hook_event_name": event,
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "tool_response": {"stdout": output, "stderr": ""},
    })
}

#[test]
fn a_brief_run_is_short_and_faithful() {
    let repo = repo();
    let noise = "for n in $(seq 900); do echo \"PASSED line $n of many that say nothing\"; done";
    let red = format!("{noise}; cat red.log; exit 1");
    let output = repo.mendit(&["run", "--brief", "sh", "-c", &red]);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    let text = said(&output);
    for part in [
        "failed with exit code 1",
        "test_failure",
        "tests/test_a.py::test_a",
        "assert -1 == 3",
        ">    4 |     assert add(1, 2) == 3",
        "whole log: ",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(text.len() < 3_500 && !text.contains("line 500"), "{text}");
    let log = text.split("whole log: ").nth(1).unwrap().trim();
    assert!(
        std::fs::read_to_string(log)
            .unwrap()
            .contains("line 500 of many")
    );
    let green = format!("{noise}; echo '== 900 passed in 3.1s =='");
    let output = repo.mendit(&["run", "--brief", "sh", "-c", &green]);
    assert_eq!(code(&output), 0);
    assert_eq!(said(&output).lines().count(), 1);
    assert!(said(&output).contains("900 passed"), "{}", said(&output));
    // What nothing is known of is shown, and never called a pass.
    let strange = "echo first; echo the widget is upside down; exit 3";
    let output = repo.mendit(&["run", "--brief", "sh", "-c", strange]);
    assert_eq!(code(&output), 1);
    assert!(said(&output).contains("the widget is upside down"));
    assert!(!said(&output).contains("pass"), "{}", said(&output));
    let gain = document(&repo.mendit(&["stats", "--spared", "--format", "json"]));
    let root = repo.root().canonicalize().unwrap();
    let rows = gain["repositories"].as_array().unwrap();
    let mine = rows
        .iter()
        .find(|it| it["root"] == root.to_str().unwrap())
        .unwrap();
    assert_eq!(mine["runs"], 3);
    let tokens = |name: &str| mine[name].as_u64().unwrap();
    assert!(tokens("logTokens") > 10 * tokens("toldTokens"), "{mine}");
}

#[test]
fn a_hook_tells_of_red_test_commands_alone() {
    let repo = repo();
    let red = hooked(&repo, &used("PostToolUseFailure", "pytest tests", RED));
    let answer = document(&red);
    let told = &answer["hookSpecificOutput"];
    assert_eq!(told["hookEventName"], "PostToolUseFailure");
    let text = told["additionalContext"].as_str().unwrap();
    assert!(
        text.contains("tests/test_a.py::test_a") && text.contains("> "),
        "{text}"
    );
    assert!(text.len() < 3_500, "{text}");
    // The log is the last run now.
    let diagnosis = document(&repo.mendit(&["diagnose", "--format", "json"]));
    assert_eq!(diagnosis["failingTests"][0], "tests/test_a.py::test_a");
    let told = document(&repo.mendit(&["report", "--format", "json"]));
    let schema = mendit::documents::schema("run").unwrap().schema();
    let valid = jsonschema::validator_for(&schema).unwrap();
    assert!(valid.is_valid(&told), "{told:#}");
    // A pipe hides the exit code; the log does not.
    let piped = hooked(&repo, &used("PostToolUse", "pytest | tail -20", RED));
    assert!(said(&piped).contains("additionalContext"));
    for quiet in [
        used("PostToolUse", "pytest", "===== 12 passed in 0.2s =====\n"),
        used("PostToolUse", "cat red.log", RED),
        used("PostToolUse", "ls", "a\nb\n"),
        used("PostToolUseFailure", "mendit run pytest", RED),
        json!({"hook_event_name": "Stop"}),
        json!("nonsense"),
    ] {
        let output = hooked(&repo, &quiet);
        assert_eq!(
            (code(&output), said(&output)),
            (0, String::new()),
            "{quiet}"
        );
    }
}

// What the agents hand over, as it was seen (Claude Code 2.1.197, Codex 0.169.0, Gemini CLI 0.61.0) or as
// Cursor's documentation tells it; opencode's comes of the plugin.
fn of_agent(agent: &str, command: &str, output: &str, exit: i32) -> Value {
    let (event, response) = match agent {
        "claude" => (
            "PostToolUse",
            json!({"stdout": output, "stderr": "", "interrupted": false}),
        ),
        "codex" => ("PostToolUse", json!(output)),
        "gemini" => {
            let said = if exit == 0 {
                String::new()
            } else {
                format!("\nExit Code: {exit}")
            };
            let read = format!("<untrusted_context>\nOutput: {output}{said}\n</untrusted_context>");
            (
                "AfterTool",
                json!({"llmContent": read, "returnDisplay": output}),
            )
        }
        "cursor" => ("postToolUse", Value::Null),
        _ => (
            "tool.execute.after",
            json!({"output": output, "exit_code": exit}),
        ),
    };
    let whole = json!({"exitCode": exit, "stdout": output}).to_string();
    let mut payload = json!({"hook_event_name": event, "tool_input": {"command": command}});
    match agent {
        "cursor" => payload["tool_output"] = whole.into(),
        _ => payload["tool_response"] = response,
    }
    payload
}

#[test]
fn every_agents_hook_is_answered_in_its_own_words() {
    let noise: String = (0..200)
        .map(|it| format!("tests/test_{it}.py .\n"))
        .collect();
    let (long_red, long_green) = (
        format!("{noise}{RED}"),
        format!("{noise}===== 200 passed in 1.5s =====\n"),
    );
    // Where words that are added stand, and where those that stand in a log's place.
    for (agent, adds, replaces) in [
        (
            "claude",
            "/hookSpecificOutput/additionalContext",
            "/hookSpecificOutput/updatedToolOutput/stdout",
        ),
        ("codex", "/hookSpecificOutput/additionalContext", "/reason"),
        ("gemini", "/hookSpecificOutput/additionalContext", "/reason"),
        ("cursor", "/additional_context", ""),
        ("opencode", "/added", "/output"),
    ] {
        let repo = repo();
        let asked = |command: &str, output: &str, exit: i32| {
            let output = hooked(&repo, &of_agent(agent, command, output, exit));
            assert_eq!(code(&output), 0, "{agent}");
            match said(&output).as_str() {
                "" => None,
                text => Some(serde_json::from_str::<Value>(text).unwrap()),
            }
        };
        let at = |answer: &Option<Value>, place: &str| -> String {
            let found = answer.as_ref().and_then(|it| it.pointer(place));
            let found = found.unwrap_or_else(|| panic!("{agent}: {place}: {answer:?}"));
            found.as_str().unwrap().to_owned()
        };
        let told = |text: &str| {
            for part in [
                "test_failure",
                "assert -1 == 3",
                ">    4 |     assert add(1, 2) == 3",
            ] {
                assert!(text.contains(part), "{agent}: {part}: {text}");
            }
            assert!(text.len() < 3_500, "{agent}: {text}");
        };
        // A short log stays, and so does one that is not of tests alone.
        told(&at(&asked("pytest", RED, 1), adds));
        told(&at(&asked("git diff; pytest", &long_red, 1), adds));
        assert_eq!(
            asked("pytest", "== 2 passed in 0.1s ==\n", 0),
            None,
            "{agent}"
        );
        assert_eq!(asked("git diff; pytest", &long_green, 0), None, "{agent}");
        if replaces.is_empty() {
            told(&at(&asked("pytest", &long_red, 1), adds));
            assert_eq!(asked("pytest", &long_green, 0), None, "{agent}");
            continue;
        }
        let red = at(&asked("pytest", &long_red, 1), replaces);
        told(&red);
        let log = red.trim().rsplit(": ").next().unwrap();
        assert_eq!(std::fs::read_to_string(log).unwrap(), long_red, "{agent}");
        let green = at(&asked("pytest", &long_green, 0), replaces);
        assert!(
            green.contains("200 passed in 1.5s") && green.lines().count() == 1,
            "{green}"
        );
        let log = green.trim().rsplit(": ").next().unwrap();
        assert_eq!(std::fs::read_to_string(log).unwrap(), long_green, "{agent}");
        // What does not say that it passed is never called so, whatever the exit code.
        assert_eq!(asked("pytest", &noise, 0), None, "{agent}");
        told(&at(&asked("pytest | tee log", &long_red, 0), replaces));
    }
}

#[test]
fn the_plugin_for_opencode_hands_over_and_takes() {
    let node = std::process::Command::new("node").arg("--version").output();
    if node.is_err() {
        crate::support::skip("no node");
        return;
    }
    let repo = repo();
    repo.mendit(&["init", "opencode"]);
    let bin = repo.outside().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink(support::program(), bin.join("mendit")).unwrap();
    std::fs::copy(
        repo.root().join(".opencode/plugins/mendit.js"),
        repo.outside().join("plugin.mjs"),
    )
    .unwrap();
    let script = "import { readFileSync } from 'node:fs'; import { Mendit } from './plugin.mjs';
        const after = (await Mendit({ directory: process.argv[1] }))['tool.execute.after'];
        for (const [command, exit] of [['pytest', 1], ['ls', 1]]) {
            const output = { output: readFileSync(process.argv[1] + '/red.log', 'utf8'), metadata: { exit } };
            await after({ tool: 'bash', args: { command } }, output);
            console.log(JSON.stringify(output.output));
        }";
    std::fs::write(
        repo.outside().join("try.mjs"),
        script.replace("argv[1]", "argv[2]"),
    )
    .unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let output = std::process::Command::new("node")
        .arg("try.mjs")
        .arg(repo.root())
        .current_dir(repo.outside())
        .env("PATH", path)
        .env("XDG_STATE_HOME", repo.outside().join("state"))
        .output()
        .unwrap();
    let lines: Vec<String> = said(&output)
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    let [told, plain] = lines.as_slice() else {
        panic!("{output:?}");
    };
    assert!(told.starts_with(RED) && told.contains(">    4 |"), "{told}");
    assert_eq!(plain, RED);
}

#[test]
fn setting_an_agent_up_adds_and_never_overwrites() {
    for name in ["claude", "codex", "cursor", "gemini", "opencode"] {
        let repo = repo();
        let first = repo.mendit(&["init", name]);
        assert_eq!(code(&first), 0, "{name}: {}", stderr(&first));
        let files = repo.git(&["status", "--porcelain", "-uall"]);
        let again = repo.mendit(&["init", name]);
        assert!(
            said(&again)
                .lines()
                .all(|it| it.ends_with("as it shall be")),
            "{}",
            said(&again)
        );
        assert_eq!(
            repo.git(&["status", "--porcelain", "-uall"]),
            files,
            "{name}"
        );
    }
    let repo = repo();
    let settings = "{\n  \"permissions\": {\"deny\": [\"Read(.env)\"]},\n  \"hooks\": {\n    \
                    \"PostToolUse\": [{\"matcher\": \"Edit\", \"hooks\": []}]\n  }\n}\n";
    repo.write(".claude/settings.json", settings);
    repo.write(".claude/commands/fix-tests.md", "ours\n");
    repo.write(".mcp.json", "{ \"ours\": }\n");
    let output = repo.mendit(&["init", "claude"]);
    assert_eq!(code(&output), 4, "{}", stderr(&output));
    let read = |path: &str| std::fs::read_to_string(repo.root().join(path)).unwrap();
    let merged: Value = serde_json::from_str(&read(".claude/settings.json")).unwrap();
    let before: Value = serde_json::from_str(settings).unwrap();
    assert_eq!(merged["permissions"], before["permissions"]);
    let hooks = merged["hooks"]["PostToolUse"].as_array().unwrap();
    assert!(hooks.contains(&before["hooks"]["PostToolUse"][0]) && hooks.len() == 2);
    assert_eq!(read(".claude/commands/fix-tests.md"), "ours\n");
    assert_eq!(read(".mcp.json"), "{ \"ours\": }\n");
    assert_eq!(
        said(&output).matches("left alone").count(),
        2,
        "{}",
        said(&output)
    );
    // Comments stay, in the file that is there.
    repo.write("opencode.jsonc", "{\n  // ours\n  \"model\": \"m\",\n}\n");
    assert_eq!(code(&repo.mendit(&["init", "opencode"])), 0);
    let text = read("opencode.jsonc");
    assert!(
        text.contains("  // ours\n  \"model\": \"m\",\n}\n"),
        "{text}"
    );
    assert!(text.contains("\"mcp\"") && !repo.root().join("opencode.json").exists());
    // A link leads nowhere else.
    let outside = repo.outside().join("victim");
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, repo.root().join(".cursor")).unwrap();
    assert_ne!(code(&repo.mendit(&["init", "cursor"])), 0);
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

// The shapes that were seen read: by `claude mcp list`, `codex mcp list`, `gemini mcp list`, and
// `opencode debug config`.
#[test]
fn servers_stand_where_each_agent_reads_them() {
    let server = json!({"command": "mendit", "args": ["mcp", "--run-last"]});
    let opencode =
        json!({"type": "local", "command": ["mendit", "mcp", "--run-last"], "enabled": true});
    for (name, file, at, expected) in [
        ("claude", ".mcp.json", "/mcpServers/mendit", &server),
        (
            "codex",
            ".codex/config.toml",
            "/mcp_servers/mendit",
            &server,
        ),
        ("cursor", ".cursor/mcp.json", "/mcpServers/mendit", &server),
        (
            "gemini",
            ".gemini/settings.json",
            "/mcpServers/mendit",
            &server,
        ),
        ("opencode", "opencode.json", "/mcp/mendit", &opencode),
    ] {
        let repo = repo();
        assert_eq!(code(&repo.mendit(&["init", name])), 0, "{name}");
        let text = std::fs::read_to_string(repo.root().join(file)).unwrap();
        let written: Value = if name == "codex" {
            toml::from_str(&text).unwrap()
        } else {
            serde_json::from_str(&text).unwrap()
        };
        assert_eq!(written.pointer(at), Some(expected), "{name}: {text}");
    }
    // A skill has a name that is that of its folder, and words that say when it is of use.
    let repo = repo();
    repo.mendit(&["init", "codex"]);
    let skill = repo.root().join(".agents/skills/mendit/SKILL.md");
    let skill = std::fs::read_to_string(skill).unwrap();
    let head = skill
        .strip_prefix("---\n")
        .and_then(|it| it.split_once("\n---\n"));
    let head = head.unwrap().0;
    assert!(
        head.contains("name: mendit\n") && head.contains("description: "),
        "{head}"
    );
    for (agent, file, at, matcher, command) in [
        (
            "codex",
            ".codex/hooks.json",
            "/hooks/PostToolUse/0",
            "Bash",
            "/hooks/0/command",
        ),
        (
            "gemini",
            ".gemini/settings.json",
            "/hooks/AfterTool/0",
            "run_shell_command",
            "/hooks/0/command",
        ),
        (
            "cursor",
            ".cursor/hooks.json",
            "/hooks/postToolUse/0",
            "Shell",
            "/command",
        ),
    ] {
        repo.mendit(&["init", agent]);
        let text = std::fs::read_to_string(repo.root().join(file)).unwrap();
        let hooks: Value = serde_json::from_str(&text).unwrap();
        let hook = hooks
            .pointer(at)
            .unwrap_or_else(|| panic!("{agent}: {text}"));
        assert_eq!(hook["matcher"], matcher, "{agent}");
        assert_eq!(
            hook.pointer(command),
            Some(&json!("mendit hook")),
            "{agent}: {text}"
        );
    }
    let hooks = repo.mendit(&["init", "claude"]);
    assert_eq!(code(&hooks), 0);
    let settings = std::fs::read_to_string(repo.root().join(".claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&settings).unwrap();
    for event in ["PostToolUse", "PostToolUseFailure"] {
        let hook = &settings["hooks"][event][0];
        assert_eq!(hook["matcher"], "Bash", "{event}");
        assert_eq!(hook["hooks"][0]["type"], "command", "{event}");
        assert_eq!(hook["hooks"][0]["command"], "mendit hook", "{event}");
    }
}

// An agent by name that is a script on the search path.
fn with_agent(repo: &Repo, name: &str, does: &str) -> String {
    let bin = repo.outside().join("bin");
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo '{name} 9.8.7'; exit; fi\ncat > /dev/null\n{does}\n"
    );
    support::write_program(&bin.join(name), &script);
    format!("{}:/usr/bin:/bin", bin.display())
}

fn checked(repo: &Repo, name: &str, path: &str) -> (i32, Value, String) {
    let mut command = support::command(&repo.root(), &["agent", "check", name, "--format", "json"]);
    command.env("PATH", path).env("ANTHROPIC_API_KEY", "k3y");
    command.env("XDG_STATE_HOME", repo.outside().join("state"));
    let output = command.output().unwrap();
    (
        code(&output),
        serde_json::from_slice(&output.stdout).unwrap(),
        stderr(&output),
    )
}

fn row<'a>(checkup: &'a Value, name: &str) -> &'a Value {
    let rows = checkup["rows"].as_array().unwrap();
    rows.iter()
        .find(|it| it["name"] == name)
        .unwrap_or(&Value::Null)
}

#[test]
fn an_agent_is_tried_before_a_repair_rests_on_it() {
    let repo = repo();
    let path = with_agent(
        &repo,
        "claude",
        "sed -i.old 's/41/42/' price.sh; rm price.sh.old; echo Done.",
    );
    let (exit, checkup, said) = checked(&repo, "claude", &path);
    assert_eq!(exit, 0, "{checkup} {said}");
    assert_eq!(row(&checkup, "version")["message"], "claude 9.8.7");
    assert_eq!(
        row(&checkup, "keys")["message"],
        "it gets ANTHROPIC_API_KEY"
    );
    for name in ["program", "answer", "edit"] {
        assert_eq!(row(&checkup, name)["state"], "good", "{name}: {checkup}");
    }
    // Where one stands nothing is touched, and nothing of the trial is kept.
    assert_eq!(
        std::fs::read_to_string(repo.root().join("calc.py")).unwrap(),
        "def add(a, b):\n    return a - b\n"
    );
    let kept = std::fs::read_dir(repo.outside().join("state/mendit/repositories"));
    assert_eq!(kept.map_or(0, Iterator::count), 0);
}

#[test]
fn what_an_agent_lacks_is_named() {
    let repo = repo();
    let (exit, checkup, _) = checked(&repo, "claude", "/usr/bin:/bin");
    assert_eq!(exit, 4);
    assert_eq!(
        row(&checkup, "program")["message"],
        "the agent `claude` is not installed"
    );
    let install = row(&checkup, "program")["command"].as_str().unwrap();
    assert!(
        install.contains("npm install -g @anthropic-ai/claude-code"),
        "{install}"
    );
    assert_eq!(row(&checkup, "answer"), &Value::Null);
    // What it does, the row that says so, and the words.
    for (does, name, words) in [
        (
            "echo '\x1b[31mPlease run /login\x1b[0m'; exit 1",
            "answer",
            "the agent's login failed: it ended with exit code 1: Please run /login",
        ),
        (
            "echo 'I have looked at it.'",
            "edit",
            "there is no patch in the reply",
        ),
        (
            "echo PRICE=43 > price.sh",
            "edit",
            "the commands fail as before",
        ),
    ] {
        let path = with_agent(&repo, "claude", does);
        let (exit, checkup, _) = checked(&repo, "claude", &path);
        assert_eq!(exit, 4, "{does}: {checkup}");
        let row = row(&checkup, name);
        assert_eq!(row["state"], "missing", "{does}: {checkup}");
        assert!(
            row["message"].as_str().unwrap().contains(words),
            "{does}: {row}"
        );
    }
}
