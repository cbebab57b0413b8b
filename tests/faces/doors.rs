//! The command line and the MCP server give the same document for the same request.
#![cfg(all(feature = "mcp", unix))]

use crate::support;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use crate::support::Repo;
use serde_json::{Value, json};

const ALIAS: &str = "src/a.ts(1,19): error TS2307: Cannot find module '@shared/money' or its \
                     corresponding type declarations.\n";
const MOVED: &str = "Traceback (most recent call last):\n  File \"app.py\", line 1, in <module>\n    \
                     from pkg.old_utils import slugify\nModuleNotFoundError: No module named \
                     'pkg.old_utils'\n";
const PATCH: &str = "--- a/src/b.ts\n+++ b/src/b.ts\n@@ -1 +1 @@\n-export const b = 1;\n+export \
                     const b = 7;\n";

fn repo() -> Repo {
    let repo = Repo::with(&[
        (
            "tsconfig.json",
            r#"{"compilerOptions":{"paths":{"@shared/*":["./lost/*"]}}}"#,
        ),
        ("package.json", "{}"),
        ("mendit.toml", "[context]\nmax-tokens = 100000\n"),
        ("src/a.ts", "import { m } from \"@shared/money\";\n"),
        ("src/b.ts", "export const b = 0;\n"),
        (
            "src/c.ts",
            "import { b } from './b';\nexport const c = b;\n",
        ),
        ("src/c.test.ts", "import { c } from './c';\nc;\n"),
        ("pkg/__init__.py", ""),
        ("pkg/new_utils.py", "def slugify(text):\n    return text\n"),
        ("app.py", "from pkg.old_utils import slugify\n"),
    ]);
    repo.write("src/b.ts", "export const b = 1;\n");
    repo.commit();
    repo
}

// A token in the log, to see that no door shows it.
fn with_token(log: &str) -> String {
    format!(
        "{log}url=https://x.example/?access_token=ghp_{}\n",
        "a1B2".repeat(9)
    )
}

struct Door {
    tool: &'static str,
    arguments: Value,
    line: Vec<&'static str>,
}

fn doors() -> Vec<Door> {
    let alias = with_token(ALIAS);
    let moved = with_token(MOVED);
    vec![
        Door {
            tool: "diagnose",
            arguments: json!({"log": alias, "exitCode": 2, "command": "tsc"}),
            line: vec![
                "diagnose", "../alias.log", "--exit-code", "2", "--command", "tsc",
            ],
        },
        Door {
            tool: "find_import",
            arguments: json!({"log": moved, "fix": true}),
            line: vec!["hint", "--log", "../moved.log", "--fix"],
        },
        Door {
            tool: "imports",
            arguments: json!({"files": ["src/c.ts"], "symbols": true}),
            line: vec!["imports", "src/c.ts", "--symbols"],
        },
        Door {
            tool: "imports",
            arguments: json!({"changed": "HEAD~1", "tests": true}),
            line: vec!["imports", "--changed", "HEAD~1", "--tests"],
        },
        Door {
            tool: "check_patch",
            arguments: json!({"patch": PATCH}),
            line: vec!["check", "../b.patch"],
        },
        Door {
            tool: "apply_patch",
            arguments: json!({"patch": PATCH}),
            line: vec!["apply", "../b.patch"],
        },
    ]
}

#[test]
fn server_answers_as_command_line() {
    for door in doors() {
        let repo = repo();
        std::fs::write(repo.outside().join("alias.log"), with_token(ALIAS)).unwrap();
        std::fs::write(repo.outside().join("moved.log"), with_token(MOVED)).unwrap();
        std::fs::write(repo.outside().join("b.patch"), PATCH).unwrap();
        let again = |answer: Value| {
            repo.git(&["checkout", "-q", "--", "."]);
            answer
        };
        let by_line = again(by_line(&repo, &door));
        let by_tool = again(by_tool(&repo, &door));
        assert_eq!(by_line, by_tool, "{}", door.tool);
        let shown = by_line.to_string();
        assert!(!shown.contains("ghp_a1B2"), "{}: {shown}", door.tool);
    }
}

#[test]
fn fix_diagnoses_as_diagnose_does() {
    let repo = repo();
    std::fs::write(repo.outside().join("alias.log"), ALIAS).unwrap();
    let test = "cat ../alias.log; exit 2";
    let log = repo.outside().join("alias.log");
    let test = test.replace("../alias.log", log.to_str().unwrap());
    let out = repo.outside().join("run");
    let repaired = repo.mendit(&["repair", "--test", &test, "--out", out.to_str().unwrap()]);
    assert_eq!(
        repaired.status.code(),
        Some(1),
        "{}",
        support::stderr(&repaired)
    );
    let written = std::fs::read(out.join("diagnosis.json")).unwrap();
    let written: Value = serde_json::from_slice(&written).unwrap();
    let asked = support::json(&repo.mendit(&[
        "diagnose", "../alias.log", "--exit-code", "2", "--command", &test, "--format", "json",
    ]));
    assert_eq!(written, asked);
    assert_eq!(asked["subkind"], "missing_module");
}

fn by_line(repo: &Repo, door: &Door) -> Value {
    let output = repo.mendit(&[&door.line[..], &["--format", "json"]].concat());
    let said = support::stderr(&output);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}: {said}", door.tool))
}

// What the server answers to one question.
fn ask_server(repo: &Repo, flags: &[&str], method: &str, params: &Value) -> Value {
    let mut command = support::command(&repo.root(), &[&["mcp", "--allow-write"], flags].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = command.spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut output = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut ask = |message: Value| writeln!(input, "{message}").unwrap();
    ask(json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }));
    output.next().unwrap().unwrap();
    ask(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    ask(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
    let answer = output
        .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap())
        .find(|answer| answer["id"] == 1)
        .unwrap();
    drop(input);
    server.wait().unwrap();
    answer["result"].clone()
}

fn by_tool(repo: &Repo, door: &Door) -> Value {
    let params = json!({"name": door.tool, "arguments": door.arguments});
    let answer = ask_server(repo, &[], "tools/call", &params);
    answer["structuredContent"].clone()
}

// Tools that run commands: their documents hold times, so tests/mcp.rs asks for what is in them.
const RUNNERS: [&str; 3] = ["find_cause", "fix_tests", "run_tests"];

#[test]
fn every_tool_is_compared() {
    let answer = ask_server(&repo(), &["--run", "true"], "tools/list", &json!({}));
    let tools = answer["tools"].as_array().unwrap();
    let offered: BTreeSet<&str> = tools.iter().map(|it| it["name"].as_str().unwrap()).collect();
    let doors = doors();
    let asked = doors.iter().map(|it| it.tool).chain(RUNNERS);
    // Its answer is the prompt, which tests/mcp.rs asks for.
    let asked = asked.chain(["build_context"]);
    assert_eq!(offered, asked.collect());
}
