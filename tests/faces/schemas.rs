//! The schemas of the documents: checked in, and true of what the program prints.

use crate::support;
use std::path::{Path, PathBuf};

use crate::support::Repo;
use mendit::documents::{DOCUMENTS, schema};
use serde_json::{Value, json};

/// `MENDIT_WRITE_SCHEMAS=1 cargo test --test schemas` writes them anew.
#[test]
fn checked_in_schemas_are_fresh() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas");
    let write = std::env::var_os("MENDIT_WRITE_SCHEMAS").is_some();
    let mut expected = Vec::new();
    for document in DOCUMENTS {
        let file = directory.join(format!("{}.json", document.name));
        let text = serde_json::to_string_pretty(&document.schema()).unwrap() + "\n";
        if write {
            std::fs::write(&file, &text).unwrap();
        }
        let stands = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(stands == text, "{} is not fresh", file.display());
        expected.push(file);
    }
    let mut files: Vec<PathBuf> = std::fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    expected.sort();
    assert_eq!(files, expected, "a file for each document, and no other");
}

#[test]
fn printed_documents_are_valid() {
    let (repo, log) = example();
    let packets = repo.outside().join("packets");
    let out = packets.to_str().unwrap();
    for level in ["0", "1", "2"] {
        let context = repo.context(&["--log", &log, "--level", level, "--out", out]);
        valid("context", &context);
        let packet = std::fs::read(packets.join("failure-packet.json")).unwrap();
        valid("failure-packet", &serde_json::from_slice(&packet).unwrap());
    }
    let asked = [
        "--log", &log, "--request-path", "../x", "--diff", "HEAD", "--stop-reason", "tests_failed",
    ];
    valid("context", &repo.context(&asked));
    valid("diagnosis", &printed(&repo, &["diagnose", &log]));
    valid("healing", &printed(&repo, &["doctor"]));
    for command in [
        "true",
        "echo \"NameError: name 'x' is not defined\"; exit 1",
    ] {
        let output = repo.mendit(&["run", "--format", "json", "--", "sh", "-c", command]);
        valid("run", &serde_json::from_slice(&output.stdout).unwrap());
    }
    for more in [&["--graph"][..], &["src/report.ts", "--symbols"]] {
        valid("imports", &printed(&repo, &[&["imports"], more].concat()));
    }
    let good = "--- a/src/types.ts\n+++ b/src/types.ts\n@@ -1,0 +1 @@\n+// x\n";
    let stale = "--- a/src/types.ts\n+++ b/src/types.ts\n@@ -1 +1 @@\n-nothing\n+// x\n";
    for patch in [
        good,
        stale,
        "--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n",
        "x",
    ] {
        let file = repo.outside().join("x.diff");
        std::fs::write(&file, patch).unwrap();
        valid(
            "patch-verdict",
            &printed(&repo, &["check", file.to_str().unwrap()]),
        );
    }
}

#[test]
fn reply_needs_only_status() {
    valid("repair-packet", &json!({"status": "give_up"}));
    valid(
        "repair-packet",
        &json!({"status": "patch", "edits": [{"path": "a", "old": "b", "new": "c"}]}),
    );
    assert!(!is_valid("repair-packet", &json!({"status": "solved"})));
}

#[test]
fn rejects_document_of_other_kind() {
    let (repo, log) = example();
    let context = repo.context(&["--log", &log]);
    for document in DOCUMENTS.iter().filter(|it| !["context", "repair-packet"].contains(&it.name)) {
        assert!(!is_valid(document.name, &context), "{}", document.name);
    }
}

#[test]
fn schema_prints_and_lists() {
    let (repo, _) = example();
    let output = repo.mendit(&["schema", "diagnosis"]);
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed, schema("diagnosis").unwrap().schema());
    let list = String::from_utf8(repo.mendit(&["schema"]).stdout).unwrap();
    for document in DOCUMENTS {
        assert!(list.lines().any(|line| line.starts_with(document.name)));
    }
    let output = repo.mendit(&["schema", "contxt"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(support::stderr(&output).contains("context"));
}

fn example() -> (Repo, String) {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/f1-missing-import");
    let mut files = Vec::new();
    let mut open = vec![fixture.join("repo")];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let below = path.strip_prefix(fixture.join("repo")).unwrap().to_str().unwrap();
                files.push((below.to_owned(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let log = fixture.join("failure.log").to_str().unwrap().to_owned();
    (Repo::with(&files), log)
}

fn printed(repo: &Repo, arguments: &[&str]) -> Value {
    let output = repo.mendit(&[arguments, &["--format", "json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap()
}

fn validator(name: &str) -> jsonschema::Validator {
    jsonschema::validator_for(&schema(name).unwrap().schema()).unwrap()
}

fn is_valid(name: &str, document: &Value) -> bool {
    validator(name).is_valid(document)
}

fn valid(name: &str, document: &Value) {
    let wrong: Vec<String> = validator(name)
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{name}: {wrong:#?}");
}
