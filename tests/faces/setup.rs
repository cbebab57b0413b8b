//! What `init` writes for agents, and what `run --brief` prints for them.

use std::process::Output;

use crate::support::{Repo, stderr};
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

#[test]
fn brief_run_is_short_and_faithful() {
    let repo = repo();
    let noise = "for n in $(seq 900); do echo \"PASSED line $n of many that say nothing\"; done";
    let red = format!("{noise}; cat red.log; exit 1");
    let output = repo.mendit(&["run", "--brief", "sh", "-c", &red]);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    let text = said(&output);
    for part in [
        "failed with exit code 1", "test_failure", "tests/test_a.py::test_a", "assert -1 == 3",
        "tests/test_a.py:4", "whole log: ",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(text.len() < 3_500 && !text.contains("line 500"), "{text}");
    let log = text.split("whole log: ").nth(1).unwrap().trim();
    assert!(std::fs::read_to_string(log).unwrap().contains("line 500 of many"));
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
}

const NAMES: [&str; 11] = [
    "aider", "claude", "codex", "copilot", "cursor", "gemini", "github", "gitlab", "opencode",
    "pre-commit", "qwen",
];

#[test]
fn init_without_name_lists_names() {
    let output = repo().mendit(&["init"]);
    assert_eq!(said(&output).lines().collect::<Vec<_>>(), NAMES);
    let unknown = repo().mendit(&["init", "emacs"]);
    assert_eq!(code(&unknown), 2);
    assert!(
        stderr(&unknown).contains("supported are aider, claude"),
        "{}",
        stderr(&unknown)
    );
}

#[test]
fn init_writes_once_and_remove_restores() {
    for name in NAMES {
        let repo = repo();
        let status = || repo.git(&["status", "--porcelain", "-uall"]);
        let before = status();
        let init = |more: &[&str]| {
            let output = repo.mendit(&[&["init", name, "--test", "true"], more].concat());
            assert_eq!(
                code(&output),
                0,
                "{name} {more:?}: {} {}",
                said(&output),
                stderr(&output)
            );
            said(&output)
        };
        let shown = init(&["--dry-run"]);
        assert!(shown.contains("--- /dev/null\n+++ b/"), "{name}: {shown}");
        assert_eq!(status(), before, "{name}");
        init(&[]);
        let files = status();
        assert_ne!(files, before, "{name}");
        let again = init(&[]);
        assert!(
            again.lines().all(|line| line.ends_with("unchanged")),
            "{name}: {again}"
        );
        assert_eq!(status(), files, "{name}");
        init(&["--remove"]);
        assert_eq!(status(), before, "{name}");
    }
}

#[test]
fn init_extends_files_and_never_overwrites() {
    let repo = repo();
    let read = |path: &str| std::fs::read_to_string(repo.root().join(path)).unwrap();
    repo.write(".claude/commands/fix-tests.md", "ours\n");
    repo.write(".mcp.json", "{ \"ours\": }\n");
    let output = repo.mendit(&["init", "claude"]);
    assert_eq!(code(&output), 4, "{}", stderr(&output));
    assert_eq!(read(".claude/commands/fix-tests.md"), "ours\n");
    assert_eq!(read(".mcp.json"), "{ \"ours\": }\n");
    assert_eq!(
        said(&output).matches("left unchanged").count(),
        2,
        "{}",
        said(&output)
    );
    repo.write("AGENTS.md", "# Ours\n");
    assert_eq!(code(&repo.mendit(&["init", "opencode"])), 0);
    assert!(read("AGENTS.md").starts_with("# Ours\n\n<!-- mendit: begin -->"));
    assert_eq!(code(&repo.mendit(&["init", "opencode", "--remove"])), 0);
    assert_eq!(read("AGENTS.md").trim(), "# Ours");
    // Settings of other servers keep every byte.
    let other = "{\n  // Ours.\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}\n  }\n}\n";
    repo.write(".cursor/mcp.json", other);
    assert_eq!(code(&repo.mendit(&["init", "cursor"])), 0);
    let added = "{\n    \"mendit\": {\"args\":[\"mcp\",\"--run-last\"],\"command\":\"mendit\"},\n    \"other\"";
    assert!(
        read(".cursor/mcp.json").contains(added),
        "{}",
        read(".cursor/mcp.json")
    );
    assert_eq!(code(&repo.mendit(&["init", "cursor", "--remove"])), 0);
    assert_eq!(read(".cursor/mcp.json"), other);
    repo.write("opencode.json", "{}");
    assert_eq!(code(&repo.mendit(&["init", "opencode"])), 0);
    assert!(read("opencode.json").starts_with("{\n  \"mcp\": {\n    \"mendit\""));
    std::fs::remove_dir_all(repo.root().join(".cursor")).unwrap();
    // A link leads nowhere else.
    let outside = repo.outside().join("victim");
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, repo.root().join(".cursor")).unwrap();
    assert_ne!(code(&repo.mendit(&["init", "cursor"])), 0);
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

// The shapes that were read back: by `claude mcp list`, `codex mcp list`, `gemini mcp list`, and
// `opencode debug config`; those of Copilot and Qwen are documented.
#[test]
fn init_writes_servers_where_each_agent_reads_them() {
    let server = json!({"command": "mendit", "args": ["mcp", "--run-last"]});
    let typed = json!({"type": "stdio", "command": "mendit", "args": ["mcp", "--run-last"]});
    let opencode =
        json!({"type": "local", "command": ["mendit", "mcp", "--run-last"], "enabled": true});
    for (name, file, at, expected) in [
        ("claude", ".mcp.json", "/mcpServers/mendit", &server),
        (
            "codex", ".codex/config.toml", "/mcp_servers/mendit", &server,
        ),
        ("cursor", ".cursor/mcp.json", "/mcpServers/mendit", &server),
        (
            "gemini", ".gemini/settings.json", "/mcpServers/mendit", &server,
        ),
        ("qwen", ".qwen/settings.json", "/mcpServers/mendit", &server),
        ("copilot", ".vscode/mcp.json", "/servers/mendit", &typed),
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
    // A skill's name is that of its folder, and its description says when it is of use.
    let repo = repo();
    repo.mendit(&["init", "codex"]);
    let skill = repo.root().join(".agents/skills/mendit/SKILL.md");
    let skill = std::fs::read_to_string(skill).unwrap();
    let head = skill.strip_prefix("---\n").and_then(|text| text.split_once("\n---\n"));
    let head = head.unwrap().0;
    assert!(
        head.contains("name: mendit\n") && head.contains("description: "),
        "{head}"
    );
}

#[test]
fn workflows_quote_the_test_command() {
    let repo = repo();
    let line = "npm test -- --grep \"a: b\" # $x";
    for (name, path) in [
        ("github", ".github/workflows/mendit.yml"),
        ("gitlab", ".gitlab/mendit.yml"),
    ] {
        let without = repo.mendit(&["init", name]);
        assert_eq!(code(&without), 2, "{}", stderr(&without));
        assert_eq!(code(&repo.mendit(&["init", name, "--test", line])), 0);
        let text = std::fs::read_to_string(repo.root().join(path)).unwrap();
        let read: Value = serde_yaml_ng::from_str(&text).unwrap();
        let written = match name {
            "github" => {
                let steps = read["jobs"]["diagnose"]["steps"].as_array().unwrap();
                &steps.last_chunk::<2>().unwrap()[0]["env"]["TEST"]
            }
            _ => &read["mendit"]["variables"]["TEST"],
        };
        assert_eq!(written, line, "{text}");
    }
}
