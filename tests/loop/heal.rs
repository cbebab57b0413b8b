//! What must answer before a repair can start: real processes and real connections.

#![cfg(feature = "mcp")]

use crate::support;
use crate::support::Repo;
use serde_json::{Value, json};

/// A server on standard input and output, in the shell: eight tools.
const SERVER: &str = r#"#!/bin/sh
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}}\n' "$id" ;;
    *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[' "$id"
      comma=
      for name in a b c d e f g h; do printf '%s{"name":"%s","inputSchema":{"type":"object"}}' "$comma" $name; comma=,; done
      printf ']}}\n' ;;
  esac
done
"#;

fn heal(repo: &Repo, arguments: &[&str]) -> (i32, Value) {
    let all = [&["heal", "--format", "json"], arguments].concat();
    let output = repo.mendit(&all);
    let document = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", support::stderr(&output)));
    let schema = mendit::documents::schema("healing").unwrap().schema();
    let valid = jsonschema::validator_for(&schema).unwrap();
    assert!(valid.is_valid(&document), "{document:#}");
    (output.status.code().unwrap(), document)
}

fn servers(repo: &Repo, entry: &Value) -> String {
    let text = serde_json::to_string_pretty(&json!({"mcpServers": {"web": entry}})).unwrap();
    repo.write("mcp.json", text);
    "mcp.json".to_owned()
}

pub(crate) fn heal_server(repo: &Repo, entry: &Value, more: &[&str]) -> (i32, Value) {
    let file = servers(repo, entry);
    heal(repo, &[&["--mcp", &file], more].concat())
}

pub(crate) fn with_server() -> Repo {
    let repo = Repo::with(&[]);
    executable(&repo, "server.sh", SERVER);
    repo
}

fn executable(repo: &Repo, path: &str, text: &str) {
    support::write_program(&repo.root().join(path), text);
}

#[test]
fn never_replaces_linked_file() {
    let repo = with_server();
    servers(&repo, &json!({"command": "./server.sh"}));
    let link = repo.root().join("linked.json");
    std::os::unix::fs::symlink("mcp.json", &link).unwrap();
    let output = repo.mendit(&["heal", "--mcp", "linked.json", "--auto"]);
    assert_eq!(output.status.code(), Some(2));
    let said = support::stderr(&output);
    assert!(
        said.contains("U303") && said.contains("is a symlink"),
        "{said}"
    );
    assert!(link.is_symlink());
}

pub(crate) fn kinds(document: &Value) -> Vec<&str> {
    let attempts = document["attempts"].as_array().unwrap();
    attempts.iter().map(|it| it["diagnosis"]["kind"].as_str().unwrap()).collect()
}

#[test]
fn answering_server_needs_no_repair() {
    let (exit, document) = heal_server(&with_server(), &json!({"command": "./server.sh"}), &[]);
    assert_eq!(exit, 0, "{document:#}");
    assert_eq!(document["fixed"], true);
    assert_eq!(
        document["probes"][0]["message"],
        "Connected. 8 tools available."
    );
    assert_eq!(
        document["probes"][0]["tools"],
        json!(["a", "b", "c", "d", "e", "f", "g", "h"])
    );
    assert_eq!(document["attempts"], json!([]));
    assert_eq!(document["userActionNeeded"], Value::Null);
}

#[test]
fn repairs_missing_command_with_installed_one() {
    let repo = Repo::with(&[]);
    executable(&repo, "node_modules/.bin/my-server", SERVER);
    let entry = json!({"command": "my-server", "args": ["--x"], "env": {"MY_TOKEN": "hidden"}});
    let (exit, document) = heal_server(&repo, &entry, &[]);
    assert_eq!(
        (exit, kinds(&document)),
        (0, vec!["command_not_found"]),
        "{document:#}"
    );
    let attempt = &document["attempts"][0];
    assert_eq!(attempt["attemptNumber"], 1);
    assert_eq!(attempt["result"], "Connected. 8 tools available.");
    let entry = &document["finalConfig"]["mcpServers"]["web"];
    assert_eq!(entry["command"], "node_modules/.bin/my-server");
    assert_eq!(entry["env"]["MY_TOKEN"], "[REDACTED]");
    let before = std::fs::read_to_string(repo.root().join("mcp.json")).unwrap();
    assert!(
        before.contains("\"my-server\""),
        "without --auto the file stays as it is"
    );

    let (exit, _) = heal_server(
        &repo,
        &json!({"command": "my-server", "env": {"MY_TOKEN": "hidden"}}),
        &["--auto"],
    );
    assert_eq!(exit, 0);
    let after: Value =
        serde_json::from_slice(&std::fs::read(repo.root().join("mcp.json")).unwrap()).unwrap();
    assert_eq!(
        after["mcpServers"]["web"]["command"],
        "node_modules/.bin/my-server"
    );
    assert_eq!(after["mcpServers"]["web"]["env"]["MY_TOKEN"], "hidden");
}

#[test]
fn doubles_timeout_once() {
    let repo = Repo::with(&[]);
    let entry = json!({"command": "sh", "args": ["-c", "sleep 60"]});
    let (exit, document) = heal_server(&repo, &entry, &["--timeout", "0.2"]);
    assert_eq!(exit, 3, "{document:#}");
    assert_eq!(kinds(&document), ["timeout", "timeout"]);
    assert_eq!(
        document["attempts"][0]["fixApplied"],
        "Allow it 0.4 seconds"
    );
    assert_eq!(document["attempts"][1]["fixApplied"], Value::Null);
}

#[test]
fn names_missing_variable_and_location() {
    let repo = Repo::with(&[
        (".env.example", "SERVICE_TOKEN=\n"),
        (".env", "SERVICE_TOKENS=hidden\n"),
    ]);
    let entry = json!({"command": "sh", "args": ["-c", "echo 'Error: SERVICE_TOKEN environment variable is not set' >&2; exit 1"]});
    for entry in [
        entry,
        json!({"command": "sh", "args": ["${SERVICE_TOKEN}"]}),
    ] {
        let (exit, document) = heal_server(&repo, &entry, &[]);
        assert_eq!(
            (exit, kinds(&document)),
            (4, vec!["missing_env_var"]),
            "{document:#}"
        );
        let action = document["userActionNeeded"].as_str().unwrap();
        assert!(
            action.contains("`SERVICE_TOKEN`") && action.contains(".env.example"),
            "{action}"
        );
        assert!(!document.to_string().contains("hidden"));
    }
}

#[test]
fn stops_after_max_attempts() {
    let repo = Repo::with(&[("package.json", "{\"devDependencies\": {\"srv\": \"1\"}}")]);
    executable(
        &repo,
        "node_modules/.bin/srv",
        "#!/bin/sh\nexec no-such-thing\n",
    );
    executable(&repo, ".venv/bin/srv", SERVER);
    for limit in ["0", "1"] {
        let (exit, document) = heal_server(
            &repo,
            &json!({"command": "srv"}),
            &["--max-attempts", limit],
        );
        assert_ne!(exit, 0, "{document:#}");
        let tried = document["attempts"].as_array().unwrap();
        assert!(tried.len() <= limit.parse().unwrap(), "{document:#}");
    }
}

#[test]
fn failing_test_command_counts_as_started() {
    let repo = Repo::with(&[]);
    let (exit, document) = heal(&repo, &["--test", "true"]);
    assert_eq!(
        (exit, &document["probes"][0]["message"]),
        (0, &json!("passed"))
    );
    let (exit, document) = heal(
        &repo,
        &[
            "--test",
            "echo \"a.ts(1,1): error TS2304: Cannot find name 'x'.\"; exit 2",
        ],
    );
    assert_eq!(exit, 0, "{document:#}");
    let message = document["probes"][0]["message"].as_str().unwrap();
    assert!(
        message.contains("ts_error") || message.contains("import_error"),
        "{message}"
    );
    let (exit, document) = heal(&repo, &["--test", "no-such-program --x"]);
    assert_eq!(
        (exit, kinds(&document)),
        (4, vec!["command_not_found"]),
        "{document:#}"
    );
    executable(&repo, ".venv/bin/no-such-program", "#!/bin/sh\nexit 0\n");
    let (exit, document) = heal(&repo, &["--test", "no-such-program --x"]);
    assert_eq!(exit, 0, "{document:#}");
    assert_eq!(
        document["finalConfig"]["test"]["command"],
        ".venv/bin/no-such-program --x"
    );
}

#[test]
fn rejects_wrong_arguments() {
    let repo = Repo::with(&[
        (
            "mcp.json",
            "{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}",
        ),
        ("no.json", "{}"),
    ]);
    for (arguments, code, word) in [
        (&["heal", "--mcp", "no.json"][..], "R301", "mcpServers"),
        (
            &["heal", "--mcp", "mcp.json", "--server", "b"],
            "R301",
            "names a",
        ),
        (&["heal", "--mcp", "gone.json"], "U302", "gone.json"),
    ] {
        let output = repo.mendit(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = support::stderr(&output);
        assert!(said.contains(code) && said.contains(word), "{said}");
    }
}

#[test]
fn confines_writes_of_probe() {
    let build = env!("CARGO_TARGET_TMPDIR");
    let outside = tempfile::tempdir_in(build).unwrap();
    let file = outside.path().join("x");
    let repo = Repo::with(&[]);
    let line = format!("echo y > {}", file.display());
    servers(&repo, &json!({ "command": "sh", "args": ["-c", line] }));
    for arguments in [&["--test", line.as_str()][..], &["--mcp", "mcp.json"]] {
        let all = [
            &["heal", "--timeout", "5", "--max-attempts", "0"],
            arguments,
        ]
        .concat();
        let said = support::stderr(&repo.mendit(&all));
        if said.contains("R211") {
            crate::support::skip("no sandbox");
            return;
        }
        assert!(!file.exists(), "{arguments:?}: {said}");
        // What lies in the system's temporary folder is not there at all for a probe.
        if support::builds_in_temporary() {
            continue;
        }
        let named = format!(
            "R212: {}",
            if arguments[0] == "--test" { "test" } else { "web" }
        );
        assert!(
            said.contains(&named) && said.contains("--allow-write"),
            "{said}"
        );
    }
    let open = outside.path().to_str().unwrap();
    let all = ["heal", "--test", &line, "--allow-write", open];
    assert!(repo.mendit(&all).status.success());
    assert!(file.exists());
}
