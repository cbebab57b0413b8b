//! Agents: what `init` writes for them, what they are told of a run, and what that spares.
#![cfg(unix)]

mod support;

use std::io::Write as _;
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use support::{Repo, json as document, stderr};

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
    let mut child = support::command(&repo.root(), &["hook"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(payload.to_string().as_bytes()).unwrap();
    drop(stdin);
    child.wait_with_output().unwrap()
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
    let gain = document(&repo.mendit(&["gain", "--format", "json"]));
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
    repo.write(".mcp.json", "{ // ours\n}\n");
    let output = repo.mendit(&["init", "claude"]);
    assert_eq!(code(&output), 4, "{}", stderr(&output));
    let read = |path: &str| std::fs::read_to_string(repo.root().join(path)).unwrap();
    let merged: Value = serde_json::from_str(&read(".claude/settings.json")).unwrap();
    let before: Value = serde_json::from_str(settings).unwrap();
    assert_eq!(merged["permissions"], before["permissions"]);
    let hooks = merged["hooks"]["PostToolUse"].as_array().unwrap();
    assert!(hooks.contains(&before["hooks"]["PostToolUse"][0]) && hooks.len() == 2);
    assert_eq!(read(".claude/commands/fix-tests.md"), "ours\n");
    assert_eq!(read(".mcp.json"), "{ // ours\n}\n");
    assert_eq!(
        said(&output).matches("left alone").count(),
        2,
        "{}",
        said(&output)
    );
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
    let server = json!({"command": "mendit", "args": ["mcp"]});
    let opencode = json!({"type": "local", "command": ["mendit", "mcp"], "enabled": true});
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
    use std::os::unix::fs::PermissionsExt as _;
    let bin = repo.outside().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let path = bin.join(name);
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo '{name} 9.8.7'; exit; fi\ncat > /dev/null\n{does}\n"
    );
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
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
