//! What a log is read as.

use std::collections::BTreeMap;

use mendit::documents::{DiagnosisDocument, FailureKind};
use mendit::{LogOptions, diagnose_log};
use serde_json::Value;

#[derive(serde::Deserialize)]
struct Table {
    row: Vec<Row>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    says: String,
    log: String,
    exit_code: Option<i32>,
    command: Option<String>,
    #[serde(default)]
    timed_out: bool,
    #[serde(default)]
    files: Vec<String>,
    want: BTreeMap<String, Value>,
}

#[test]
fn diagnose_reads_every_row() {
    let table: Table = toml::from_str(include_str!("diagnoses.toml")).unwrap();
    let mut wrong = Vec::new();
    for row in table.row {
        let options = LogOptions {
            exit_code: row.exit_code,
            command: row.command,
            timed_out: row.timed_out,
            files: row.files,
        };
        let found = diagnose_log(&row.log, &options);
        let document = serde_json::to_value(DiagnosisDocument::new(&found)).unwrap();
        for (path, want) in row.want {
            let parts: Vec<&str> = path.split('/').collect();
            let found = value_at(&document, &parts);
            if found != want {
                wrong.push(format!(
                    "{}: {path} is {found}, not {want}\n{}",
                    row.says, row.log
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

// The value at a path; `*` collects that of every item of a list, without nulls.
fn value_at(value: &Value, path: &[&str]) -> Value {
    match path {
        [] => value.clone(),
        ["*", rest @ ..] => {
            let items = value.as_array().into_iter().flatten();
            let found = items.map(|item| value_at(item, rest));
            found.filter(|item| !item.is_null()).collect()
        }
        [key, rest @ ..] => {
            let index = key.parse::<usize>().ok();
            let inner = index.map_or_else(|| value.get(key), |index| value.get(index));
            inner.map_or(Value::Null, |inner| value_at(inner, rest))
        }
    }
}

#[test]
fn diagnose_prefers_collection_error_to_many_failures() {
    let mut log = String::from(
        "____ ERROR collecting tests/test_m.py ____\ntests/test_m.py:1: in <module>\n    from app.models import Usr\nE   ImportError: cannot import name 'Usr' from 'app.models' (/__w/app/app/app/models.py)\n",
    );
    for index in 0..200 {
        log.push_str(&format!(
            "____ test_{index} ____\nE       assert 1 == 2\ntests/test_a.py:{index}: AssertionError\n"
        ));
    }
    let diagnosis = diagnose_log(&log, &LogOptions::default());
    assert_eq!(diagnosis.kind, FailureKind::ImportError);
    assert_eq!(diagnosis.missing_exports, ["Usr"]);
    assert_eq!(diagnosis.evidence[0].line, 4);
    assert_eq!(diagnosis.alternatives[0].kind, FailureKind::TestFailure);
}

#[test]
fn diagnose_bounds_hostile_logs() {
    for log in [
        "\u{1b}[".repeat(50_000),
        "a/".repeat(200_000),
        "Error: ".repeat(100_000),
        "(".repeat(300_000),
        "not ok 1 - x\n".repeat(50_000),
        "\u{0}\u{feff}\r\r\r\n".repeat(1000),
        "Traceback (most recent call last):\n".repeat(100_000),
        "1) a\n b\n".repeat(50_000),
    ] {
        let diagnosis = diagnose_log(&log, &LogOptions::default());
        assert!(diagnosis.evidence.len() <= 20 && diagnosis.files.len() <= 50);
    }
}
