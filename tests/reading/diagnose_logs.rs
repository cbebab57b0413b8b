//! What genuine logs of current tools say, plain and behind the prefixes of services.

use std::collections::HashSet;
use std::path::Path;

use mendit::documents::{Diagnosis, FailureKind};
use mendit::{LogOptions, diagnose_log};
use serde::Deserialize;

#[derive(Deserialize)]
struct Expected {
    log: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    file: String,
    kind: String,
    subkind: Option<String>,
    tool: Option<String>,
    #[serde(default)]
    tests: Vec<String>,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    modules: Vec<String>,
    #[serde(default)]
    exports: Vec<String>,
    /// File and line of the first failing test.
    place: Option<String>,
}

fn folder() -> &'static Path {
    Path::new("tests/logs")
}

fn expected() -> Vec<Row> {
    let text = std::fs::read_to_string(folder().join("expected.toml")).unwrap();
    toml::from_str::<Expected>(&text).unwrap().log
}

fn read(file: &str) -> String {
    std::fs::read_to_string(folder().join(file)).unwrap()
}

fn of(log: &str) -> Diagnosis {
    diagnose_log(log, &LogOptions::default())
}

#[test]
fn diagnose_matches_genuine_logs() {
    let mut wrong = Vec::new();
    for row in expected() {
        let found = of(&read(&row.file));
        let place = found
            .tests
            .iter()
            .find(|test| test.path.is_some())
            .and_then(|test| Some(format!("{}:{}", test.path.as_ref()?, test.line?)));
        let same = found.kind.to_string() == row.kind
            && found.subkind.as_ref().map(ToString::to_string) == row.subkind
            && found.tool == row.tool
            && found.failing_tests == row.tests
            && found.undefined_names == row.names
            && found.missing_modules == row.modules
            && found.missing_exports == row.exports
            && (row.place.is_none() || place == row.place);
        if !same {
            wrong.push(format!("{}: {found:#?}", row.file));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn logs_and_answers_match() {
    let named: HashSet<String> = expected().into_iter().map(|row| row.file).collect();
    let kept: HashSet<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "log"))
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(named, kept);
    assert!(kept.len() >= 120);
}

// Behind whatever a green log says, any of these keeps it from being called green.
#[test]
fn failure_after_green_summary_is_red() {
    const WORDS: &[&str] = &[
        "Error: x",
        "ERROR: Job failed: exit code 1",
        "Job failed: exit code 1",
        "ERROR: Job failed (system failure): prepare environment",
        "##[error]Process completed with exit code 1.",
        "Process completed with exit code 2.",
        "Error: Process completed with exit code 1.",
        "The command \"npm test\" exited with 1.",
        "Done. Your build exited with 1.",
        "Exited with code exit status 1",
        "script returned exit code 1",
        "Finished: FAILURE",
        "FAILED (failures=1)",
        "1 failed",
        "  1 failing",
        "ValueError: bad",
        "Traceback (most recent call last):",
        "fatal: not a git repository",
        "Segmentation fault (core dumped)",
        "Killed",
        "Aborted",
        "make: *** [Makefile:2: test] Error 1",
        "npm error Lifecycle script `test` failed with error:",
        "npm ERR! Test failed.  See above for more details.",
        " ELIFECYCLE  Test failed. See above for more details.",
        "error Command failed with exit code 1.",
        "Jest: Coverage for functions (33.33%) does not meet \"global\" threshold (100%)",
        "Jest: \"global\" coverage threshold for lines (90%) not met: 80%",
        "ERROR: Coverage for lines (50%) does not meet global threshold (90%)",
        "FAIL Required test coverage of 100% not reached. Total coverage: 99.19%",
        "Coverage failure: total of 99 is less than fail-under=100",
        "sh: 1: nyc: not found",
        "error TS2304: Cannot find name 'x'.",
    ];
    const BEHIND: &[&str] = &[
        "",
        "section_end:1700000000:step_script\r\u{1b}[0K",
        "\u{1b}[0Ksection_end:1700000000:upload_artifacts_on_success\r\u{1b}[0K\u{1b}[31;1m",
        "2026-11-21T02:38:34.123456Z 01O section_end:1700000000:after_script\r\u{1b}[0K",
    ];
    let mut wrong = Vec::new();
    let green: Vec<Row> = expected().into_iter().filter(|row| row.kind == "none").collect();
    assert!(green.len() >= 12, "{}", green.len());
    for row in green {
        let log = read(&row.file);
        let log = log.trim_end();
        for word in WORDS {
            for behind in BEHIND {
                let found = of(&format!("{log}\n{behind}{word}\n"));
                if found.kind == FailureKind::None {
                    wrong.push(format!("{}: {behind:?} {word}", row.file));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

// The line that says what went wrong, not the heading above its traceback.
#[test]
fn unittest_error_is_evidence() {
    for (file, said) in [
        ("unittest-assert.log", "AssertionError"),
        ("unittest-error.log", "Error: "),
        ("django-test.log", "Error"),
    ] {
        let found = of(&read(file));
        let first = &found.evidence[0].text;
        assert!(
            first.contains(said) && !first.starts_with("ERROR: "),
            "{file}: {first}"
        );
        assert!(!first.starts_with("FAIL: "), "{file}: {first}");
    }
}

// What the other stream of a terminal puts between a heading and its error is not the error.
#[test]
fn skips_passed_file_before_error() {
    let found = of(
        " FAIL  packages/money/test/a.test.ts > money > loses no cent\n\
         \u{1b}[32m ✓ \u{1b}[39mpackages/cart/test/cart.test.ts (4 tests) 78ms\n\
         TypeError: allocate is not a function\n ❯ packages/money/test/a.test.ts:5:10\n\n \
         Test Files  1 failed | 1 passed (2)\n      Tests  1 failed | 4 passed (5)\n",
    );
    assert_eq!(
        found.tests[0].message.as_deref(),
        Some("TypeError: allocate is not a function")
    );
}

type Dress = fn(usize, &str) -> String;

const PREFIXES: &[(&str, Dress)] = &[
    ("GitHub Actions", |_, line| {
        format!("2026-11-21T02:38:34.1234567Z {line}")
    }),
    ("GitLab", |_, line| {
        format!("2026-11-21T02:38:34.123456Z 01O {line}")
    }),
    ("docker compose", |_, line| format!("tests-1  | {line}")),
    ("kubectl", |_, line| format!("[pod/ci-7d9f/test] {line}")),
    ("gh run view --log", |_, line| {
        format!("test\tRun tests\t2026-11-21T02:38:34.1234567Z {line}")
    }),
    ("BuildKit", |at, line| {
        format!("#12 {}.{:03} {line}", 3 + at / 50, at % 1000)
    }),
    ("ANSI", |_, line| format!("\u{1b}[0m{line}\u{1b}[0m")),
    ("CRLF", |_, line| format!("{line}\r")),
    ("act", |_, line| format!("[CI/test]   | {line}")),
    ("Azure", |_, line| {
        format!("2026-11-21T02:38:34.1234567Z {line}")
    }),
    ("Buildkite", |at, line| {
        format!("\u{1b}_bk;t={}\u{7}{line}", 1_700_000_000_000_usize + at)
    }),
    ("Jenkins", |_, line| {
        format!("[2026-11-21T02:38:34.123Z] {line}")
    }),
    ("Jenkins, short", |_, line| format!("02:38:34  {line}")),
    ("docker compose, timed", |_, line| {
        format!("service-1  | 2026-11-21T02:38:34.123456789Z {line}")
    }),
    ("tab", |_, line| format!("2026-11-21T02:38:34.123Z\t{line}")),
    ("Cloud Build", |_, line| {
        format!("Step #1 - \"test\": {line}")
    }),
    ("TeamCity", |at, line| {
        let severity = if at % 4 == 0 { 'W' } else { ' ' };
        format!("[02:38:34]{severity}:\t [Step 1/3] {line}")
    }),
    ("yarn", |_, line| format!("➤ YN0000: {line}")),
    ("BuildKit in GitHub Actions", |_, line| {
        format!("2026-11-21T02:38:34.1234567Z #12 3.456 {line}")
    }),
    ("tput sgr0", |_, line| {
        format!("\u{1b}(B\u{1b}[m{line}\u{1b}(B\u{1b}[m")
    }),
];

#[test]
fn prefix_changes_no_diagnosis() {
    let long = |row: &Row| read(&row.file).lines().count() > 4;
    let rows: Vec<Row> = expected()
        .into_iter()
        .filter(long)
        .enumerate()
        .filter_map(|(at, row)| (at % 5 == 0).then_some(row))
        .collect();
    assert!(rows.len() >= 26);
    let mut wrong = Vec::new();
    for row in &rows {
        let log = read(&row.file);
        let plain = of(&log);
        for (service, dress) in PREFIXES {
            let dressed: String =
                log.lines().enumerate().map(|(at, line)| dress(at, line) + "\n").collect();
            let found = of(&dressed);
            if (
                found.kind, &found.subkind, &found.failing_tests, &found.missing_modules,
            ) != (
                plain.kind, &plain.subkind, &plain.failing_tests, &plain.missing_modules,
            ) {
                wrong.push(format!(
                    "{} behind {service}: {} {:?}",
                    row.file, found.kind, found.failing_tests
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

// What a job prints before and after the step that fails.
const BEFORE: &str = "##[group]Run actions/checkout@v4\nwith:\n  token: ***\n##[endgroup]\nfatal: No names found, cannot describe anything.\n##[group]Run ./setup.sh\n./setup.sh || true\n##[endgroup]\nbash: line 3: sw_vers: command not found\ngrep: ./.git/hooks/pre-commit: No such file or directory\npsql: error: connection to server at \"localhost\" failed: Connection refused\n##[group]Run npm test\nnpm test\n##[endgroup]\n  ✓ should fail with Error: ENOSPC: no space left on device (3ms)\ntests/a.py::test_x[command not found: foo] PASSED\ntest_b (x.T) ... skipped 'FOO_KEY is not set'\n##[group]Run the thing\nthe thing\necho \"ModuleNotFoundError: No module named 'x'\"\nshell: /usr/bin/bash -e {0}\n##[endgroup]\n";
const AFTER: &str = "##[error]Process completed with exit code 1.\nPost job cleanup.\nfatal: not a git repository (or any of the parent directories): .git\nCleaning up orphan processes\n";

#[test]
fn job_setup_changes_no_diagnosis() {
    let mut wrong = Vec::new();
    for row in expected().iter().filter(|row| row.kind != "none" && row.kind != "unknown") {
        let log = read(&row.file);
        let plain = of(&log);
        let found = of(&format!("{BEFORE}{log}\n{AFTER}"));
        if (found.kind, &found.failing_tests) != (plain.kind, &plain.failing_tests) {
            wrong.push(format!(
                "{}: {} {:?}",
                row.file,
                found.kind,
                found.evidence.first()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn passed_job_is_no_failure() {
    let passed = AFTER.split_once('\n').unwrap().1;
    for log in [
        format!("{BEFORE}all is well\n{passed}"),
        "$ rake\nError: no\nThe command \"rake\" exited with 0.\n\nDone. Your build exited with 0.\n"
            .to_owned(),
        "+ make\nconnection refused, trying again\nFinished: SUCCESS\n".to_owned(),
    ] {
        let found = of(&log);
        assert_eq!(found.kind, FailureKind::None, "{log}");
        assert!(found.failing_tests.is_empty() && found.failures.is_empty());
    }
}

// As of https://github.com/labri-progress/cidiff, data/breakages/cv_45/fail.log.
#[test]
fn truncated_failing_job_is_failure() {
    let passed = AFTER.split_once('\n').unwrap().1;
    let log = format!(
        "{BEFORE}fatal: unsafe repository ('/w' is owned by someone else)\nTo add an exception for this directory, call:\n{passed}"
    );
    assert_eq!(of(&log).kind, FailureKind::PermissionDenied);
}

#[test]
fn quotes_output_of_unloadable_node_file() {
    let found = of(&read("node-test-20-syntax.log"));
    let said = found.tests[0].message.as_deref();
    assert_eq!(said, Some("SyntaxError: missing ) after argument list"));
    assert!(found.evidence[0].text.contains("missing ) after"));
}
