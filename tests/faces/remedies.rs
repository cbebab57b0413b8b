//! One list of fixes for a failure: the first screen, `hint`, MCP and `fix` print and try the same ones.
#![cfg(target_os = "linux")]

use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{Repo, command, fed, needs};

const STATES: &str = include_str!("remedies.toml");

#[derive(Deserialize)]
struct Table {
    state: Vec<State>,
}

#[derive(Deserialize)]
struct State {
    says: String,
    command: String,
    /// The files as they were committed; what is broken in them goes on top.
    files: std::collections::BTreeMap<String, String>,
    #[serde(default)]
    broken: std::collections::BTreeMap<String, String>,
    #[serde(default)]
    gone: Vec<String>,
    /// What is tried first; nothing where a person has to do it.
    tried: Option<String>,
    /// What is to be typed.
    typed: Option<String>,
}

fn stdout(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn lines(of: &Value) -> Vec<String> {
    let all = of.as_array().unwrap().iter();
    all.map(|it| it.as_str().unwrap().to_owned()).collect()
}

fn typed(of: &Value) -> Vec<Value> {
    let all = of.as_array().unwrap().iter();
    all.map(|it| it["command"].clone()).collect()
}

// What the MCP server answers to a call of `find_import` about the last run.
fn asked(repo: &Repo) -> Value {
    let start = json!({"protocolVersion": "2025-06-18", "capabilities": {},
                       "clientInfo": {"name": "t", "version": "1"}});
    let calls = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
               "params": {"name": "find_import", "arguments": {}}}),
    ];
    let given: String = calls.iter().map(|it| format!("{it}\n")).collect();
    let output = fed(command(&repo.root(), &["mcp"]), given.as_bytes());
    let answers = stdout(&output);
    let mut answers = answers.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
    let answer = answers.find(|it| it["id"] == 2).unwrap();
    answer["result"]["structuredContent"].clone()
}

#[test]
fn run_hint_mcp_and_fix_have_one_list() {
    needs!("python3", "node");
    let table: Table = toml::from_str(STATES).unwrap();
    assert!(table.state.len() >= 8);
    for state in table.state {
        agree(&state);
    }
}

fn agree(state: &State) {
    let said = &state.says;
    let files = state.files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    let repo = Repo::with(&files.collect::<Vec<_>>());
    for (path, text) in &state.broken {
        repo.write(path, text);
    }
    for path in &state.gone {
        std::fs::remove_file(repo.root().join(path)).unwrap();
    }
    let line = state.command.as_str();
    let ran = repo.mendit(&["run", "--no-why", "--format", "json", line]);
    let ran: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let summary = &ran["summary"];
    let hint = repo.mendit(&["hint", "--format", "json"]);
    let hint: Value = serde_json::from_slice(&hint.stdout).unwrap();
    let mcp = asked(&repo);
    let tried = lines(&hint["tried"]);
    let first = tried.first().map_or("", String::as_str);
    match &state.tried {
        Some(expected) => assert!(first.contains(expected), "{said}: {tried:?}"),
        None => assert!(tried.is_empty(), "{said}: {tried:?}"),
    }
    let by_hand = typed(&hint["remedies"]);
    let expected: Vec<Value> = state.typed.iter().map(|it| json!(it)).collect();
    assert_eq!(by_hand, expected, "{said}");
    for other in [summary, &mcp] {
        assert_eq!(lines(&other["tried"]), tried, "{said}: {other}");
        assert_eq!(typed(&other["remedies"]), by_hand, "{said}: {other}");
    }
    // What an agent reads of it.
    let brief = stdout(&repo.mendit(&["run", "--no-why", "--brief", line]));
    for what in &tried {
        let is_told = |it: &str| !it.trim().is_empty() && what.contains(it.trim());
        let mut told = brief.lines().filter_map(|it| it.split_once(": "));
        assert!(told.any(|(_, it)| is_told(it)), "{said}: {what}: {brief}");
    }
    // What is tried until the tests pass is the list from its start.
    let out = repo.outside().join("out");
    let fix = ["repair", "--test", line, "--out", out.to_str().unwrap()];
    repo.mendit(&fix);
    let events = std::fs::read_to_string(out.join("events.jsonl")).unwrap();
    let events = events.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
    let events = events.filter(|it| it["event"] == "heal_started");
    let done: Vec<String> = events.map(|it| it["what"].as_str().unwrap().to_owned()).collect();
    assert_eq!(tried.get(..done.len()), Some(&done[..]), "{said}");
    assert_eq!(done.is_empty(), tried.is_empty(), "{said}: {tried:?}");
    let result = std::fs::read(out.join("result.json")).unwrap();
    let result: Value = serde_json::from_slice(&result).unwrap();
    assert_eq!(
        result["status"] == "fixed",
        state.tried.is_some(),
        "{said}: {result}"
    );
}
