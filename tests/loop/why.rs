//! Which change made it fail: uncommitted, in a commit, deleted, of two parts, and none at all.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::{Repo, command, needs, stderr};
use serde_json::Value;

const LOANS: &str = "LIMIT = 14\n\n\ndef is_overdue(days):\n    return days > LIMIT\n\n\ndef fee(days):\n    \
                     if not is_overdue(days):\n        return 0\n    return (days - LIMIT) * 10\n\n\ndef \
                     label(name):\n    return name.strip().title()\n";
const TEST: &str = "import unittest\n\nfrom library.loans import fee, is_overdue, label\n\n\nclass \
                    TestLoans(unittest.TestCase):\n    def test_on_the_day(self):\n        \
                    self.assertFalse(is_overdue(14))\n\n    def test_fee(self):\n        \
                    self.assertEqual(fee(15), 10)\n\n    def test_label(self):\n        \
                    self.assertEqual(label(' ann '), 'Ann')\n";
const COMMAND: [&str; 4] = ["python3", "-m", "unittest", "-v"];

fn repo() -> Repo {
    Repo::with(&[
        ("library/__init__.py", ""),
        ("library/loans.py", LOANS),
        ("library/names.txt", "ann\n"),
        ("test_loans.py", TEST),
        ("README.md", "Loans\n"),
    ])
}

fn why(repo: &Repo, flags: &[&str]) -> (i32, Value) {
    let output = repo.mendit(&[&["why", "--format", "json"], flags, &COMMAND].concat());
    let document = serde_json::from_slice(&output.stdout);
    let document = document.unwrap_or_else(|_| panic!("{}", stderr(&output)));
    (output.status.code().unwrap(), document)
}

fn broken(text: &str) -> String {
    text.replace("days > LIMIT", "days >= LIMIT")
}

// Changes that break nothing, around the one that does.
fn innocent(text: &str) -> String {
    text.replace("return 0\n", "return 0  # nothing yet\n")
        .replace(".strip().title()", ".strip().title().strip()")
        .replace("LIMIT = 14\n", "# Days.\nLIMIT = 14\n")
}

#[test]
fn names_and_keeps_uncommitted_change() {
    needs!("python3");
    let repo = repo();
    let text = innocent(&broken(LOANS));
    repo.write("library/loans.py", &text);
    repo.write("README.md", "Loans, and fees\n");
    let (code, document) = why(&repo, &[]);
    assert_eq!(
        (code, &document["verdict"]),
        (0, &"caused".into()),
        "{document}"
    );
    let cause = document["cause"].as_array().unwrap();
    assert_eq!(cause.len(), 1, "{document}");
    assert_eq!(cause[0]["path"], "library/loans.py");
    assert_eq!(cause[0]["line"], 6);
    assert_eq!(cause[0]["commit"], Value::Null);
    // Before the search, and with the culprit reverted.
    assert_eq!(document["wholeRuns"], 2);
    assert!(document["runs"].as_u64().unwrap() <= 6, "{document}");
    let line = "your change at library/loans.py:6 (`>` became `>=`): reverting it makes the failing test pass";
    assert_eq!(document["message"], line);
    let now = std::fs::read_to_string(repo.root().join("library/loans.py")).unwrap();
    assert_eq!(now, text);

    // After a run it need not be run again as it is.
    repo.mendit(&[&["run"][..], &COMMAND].concat());
    let output = repo.mendit(&["why"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.starts_with(line), "{said}");
    assert!(said.contains("+    return days >= LIMIT\n"), "{said}");
    assert!(said.contains("runs of the whole command: 1,"), "{said}");
}

#[test]
fn names_culprit_of_several_commits() {
    needs!("python3");
    let repo = repo();
    let mut text = LOANS.to_owned();
    let mut commits = Vec::new();
    for step in 0..7 {
        text = format!("{text}\n\ndef step_{step}():\n    return {step}\n");
        if step == 3 {
            text = innocent(&broken(&text));
        }
        repo.write("library/loans.py", &text);
        repo.commit();
        commits.push(repo.git(&["rev-parse", "HEAD"]).trim().to_owned());
    }
    for flags in [&[][..], &["--since", "HEAD~6"]] {
        let (code, document) = why(&repo, flags);
        assert_eq!(
            (code, &document["verdict"]),
            (0, &"caused".into()),
            "{document}"
        );
        assert_eq!(document["cause"].as_array().unwrap().len(), 1, "{document}");
        assert_eq!(document["cause"][0]["commit"], commits[3].as_str());
        assert_eq!(document["cause"][0]["line"], 6);
        let message = document["message"].as_str().unwrap();
        assert!(
            message.starts_with("the change at library/loans.py:6 ("),
            "{message}"
        );
    }
    let (code, document) = why(&repo, &["--since", "HEAD~2"]);
    assert_eq!(
        (code, &document["verdict"]),
        (1, &"not_by_this_change".into()),
        "{document}"
    );
    assert_eq!(document["reason"], "fails_without");
}

#[test]
fn names_deleted_files_and_two_part_cause() {
    needs!("python3");
    let repo = repo();
    let reads = "import unittest\n\nclass TestNames(unittest.TestCase):\n    def test_names(self):\n        \
                 with open('library/names.txt') as file:\n            self.assertEqual(file.read(), 'ann\\n')\n";
    repo.write("test_names.py", reads);
    repo.commit();
    repo.write("library/loans.py", innocent(LOANS));
    std::fs::remove_file(repo.root().join("library/names.txt")).unwrap();
    let (_, document) = why(&repo, &[]);
    assert_eq!(document["cause"].as_array().unwrap().len(), 1, "{document}");
    assert_eq!(document["cause"][0]["path"], "library/names.txt");
    let message = document["message"].as_str().unwrap();
    assert!(message.contains("library/names.txt (deleted)"), "{message}");

    // Either of them alone keeps the test red.
    repo.write("library/names.txt", "ann\n");
    let two = "def test_label(self):\n        self.assertEqual(label(' ann '), 'Ann')\n        \
               self.assertEqual(fee(15), 10)\n";
    let test = TEST.replace(
        "def test_label(self):\n        self.assertEqual(label(' ann '), 'Ann')\n",
        two,
    );
    repo.write(
        "test_loans.py",
        test.replace(
            "    def test_fee(self):\n        self.assertEqual(fee(15), 10)\n\n",
            "",
        ),
    );
    repo.write("library/loans.py", LOANS);
    repo.commit();
    let text = LOANS.replace("* 10", "* 11").replace(".title()", ".upper()");
    repo.write("library/loans.py", &text);
    let (_, document) = why(&repo, &[]);
    let places: Vec<&Value> =
        document["cause"].as_array().unwrap().iter().map(|it| &it["line"]).collect();
    assert_eq!(places, [11, 15], "{document}");
    // Neither is said to suffice alone.
    let (_, document) = why(&repo, &["--max-runs", "3"]);
    let likely = "likely library/loans.py:11, library/loans.py:15 (the failing tests passed once with \
                  them reverted); not confirmed within";
    let message = document["message"].as_str().unwrap();
    assert!(message.starts_with(likely), "{document}");
}

#[test]
fn names_only_tried_changes() {
    needs!("python3");
    let repo = repo();
    let (code, document) = why(&repo, &[]);
    assert_eq!(
        (code, &document["reason"]),
        (0, &"passes".into()),
        "{document}"
    );
    // Always red: no commit to go back to.
    repo.write("test_loans.py", TEST.replace("'Ann'", "'Bob'"));
    repo.write("library/loans.py", innocent(LOANS));
    repo.commit();
    let (code, document) = why(&repo, &["--max-runs", "1"]);
    assert_eq!(
        (code, &document["reason"]),
        (3, &"budget".into()),
        "{document}"
    );
    assert_eq!(document["cause"], Value::Array(Vec::new()));
    let missing = repo.mendit(&[&["why", "--since", "nowhere"][..], &COMMAND].concat());
    assert_eq!(missing.status.code(), Some(2), "{}", stderr(&missing));
}

#[test]
fn runs_node_tests_alone() {
    needs!("node");
    let repo = Repo::with(&[
        ("package.json", "{\"type\": \"module\"}\n"),
        (
            "src/price.js",
            "export const net = (x) => x * 2;\n\nexport const gross = (x) => net(x) + 1;\n\nexport const tag = 'a';\n",
        ),
        (
            "test/price.test.js",
            "import { test } from 'node:test';\nimport assert from 'node:assert';\nimport { gross, net, tag } from '../src/price.js';\ntest('net', () => assert.equal(net(1), 2));\ntest('gross', () => assert.equal(gross(1), 3));\ntest('tag', () => assert.ok(tag));\n",
        ),
    ]);
    let text = "export const net = (x) => x * 2;\n\nexport const gross = (x) => net(x) - 1;\n\nexport const tag = 'b';\n";
    repo.write("src/price.js", text);
    let output = repo.mendit(&["why", "--format", "json", "node", "--test"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["verdict"], "caused", "{document}");
    assert_eq!(document["cause"][0]["line"], 3);
    assert_eq!(
        (&document["wholeRuns"], &document["tests"]),
        (&2.into(), &serde_json::json!(["gross"]))
    );
}

#[test]
fn ranks_lines_of_failing_test_first() {
    needs!("node");
    // No name leads from the test to the step that it runs.
    let steps = |change: &dyn Fn(usize) -> String| {
        let rows = (0..12).map(|at| format!("  () => {{\n    return {};\n  }},\n", change(at)));
        let rows: String = rows.collect();
        format!("const steps = [\n{rows}];\nexports.run = (at) => steps[at]();\n")
    };
    let tests: String = (0..12)
        .map(|at| format!("test('step {at} ends', () => assert.equal(run({at}), {at}));\n"))
        .collect();
    let tests = format!(
        "const test = require('node:test');\nconst assert = require('node:assert');\nconst {{ run }} = \
         require('../src/steps.js');\n{tests}"
    );
    let repo = Repo::with(&[
        ("src/steps.js", &steps(&|at| at.to_string())),
        ("test/steps.test.js", &tests),
    ]);
    let changed = |at: usize| match at {
        7 => "70".to_owned(),
        at => format!("{at} + 0"),
    };
    repo.write("src/steps.js", steps(&changed));
    let output = repo.mendit(&["why", "--format", "json", "node", "--test"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["cause"][0]["line"], 24, "{document}");
    let first = &document["suspects"][0];
    assert_eq!(first["line"], 24, "{document}");
    assert!(
        first["why"].as_str().unwrap().contains("it ran in"),
        "{first}"
    );
    assert_eq!(document["runs"], 3, "{document}");
}

#[test]
fn run_names_culprit_and_undo_reverts_it() {
    needs!("python3");
    let repo = repo();
    repo.write("library/loans.py", innocent(&broken(LOANS)));
    let output = repo.mendit(&[&["run"][..], &COMMAND].concat());
    let line = "your change at library/loans.py:6 (`>` became `>=`): reverting it makes the failing test pass";
    let said = stderr(&output);
    // Without overlays `run` tries nothing by itself.
    if said.contains("since the last commit") {
        return;
    }
    assert!(said.contains(line), "{said}");
    let prompt = repo.mendit(&["context", "--format", "markdown"]);
    let prompt = String::from_utf8_lossy(&prompt.stdout).into_owned();
    let (head, _) = prompt.split_once("## Log").unwrap();
    assert!(head.contains("+    return days >= LIMIT"), "{prompt}");
    let packet = repo.context(&[]);
    let files = packet["files"].as_array().unwrap();
    let why = "the culprit changed it";
    let told = |it: &Value| it["why"].as_str().is_some_and(|it| it.contains(why));
    let told: Vec<&Value> = files.iter().filter(|it| told(it)).collect();
    assert_eq!(told.len(), 1, "{packet}");
    assert_eq!(told[0]["path"], "library/loans.py");
    let notes = repo.mendit(&["diagnose", "--format", "github"]);
    let notes = String::from_utf8_lossy(&notes.stdout).into_owned();
    let told = format!("::warning file=library/loans.py,line=6,title=culprit::{line}");
    assert!(notes.contains(&told), "{notes}");

    let out = repo.outside().join("repair");
    let [test, out] = [COMMAND.join(" "), out.display().to_string()];
    let asked = ["repair", "--test", &test, "--agent", "true", "--out", &out];
    repo.mendit(&asked);
    for page in ["markdown", "html"] {
        let page = repo.mendit(&["report", &out, "--format", page]);
        let page = String::from_utf8_lossy(&page.stdout).into_owned();
        assert!(page.contains("your change at library/loans.py:6"), "{page}");
    }

    let path = repo.root().join("library/loans.py");
    let before = std::fs::read_to_string(&path).unwrap();
    let left = repo.mendit(&["fix"]);
    let told = String::from_utf8_lossy(&left.stdout).into_owned();
    assert!(
        told.contains("\ncause ") && told.contains(" your change"),
        "{told}"
    );
    assert!(told.contains("mendit fix --undo"), "{told}");
    let asked = repo.mendit(&["fix", "--undo"]);
    assert_eq!(asked.status.code(), Some(4), "{}", stderr(&asked));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
    let undone = repo.mendit(&["fix", "--undo", "--yes"]);
    assert_eq!(undone.status.code(), Some(0), "{}", stderr(&undone));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), innocent(LOANS));
    // The files are others now: what was shown is not said of them.
    let again = repo.mendit(&["fix", "--undo", "--yes"]);
    assert_eq!(again.status.code(), Some(2), "{}", stderr(&again));
    let said = stderr(&again);
    assert!(
        said.contains("run the tests on them first: `mendit run`"),
        "{said}"
    );
    let none = repo.mendit(&[&["run", "--no-why"][..], &COMMAND].concat());
    assert_eq!(none.status.code(), Some(0), "{}", stderr(&none));
    let said = stderr(&repo.mendit(&["fix", "--undo"]));
    assert!(said.contains("the last run passed"), "{said}");
}

#[test]
fn run_skips_search_when_disabled() {
    needs!("python3");
    let repo = repo();
    repo.write("library/loans.py", broken(LOANS));
    let output = repo.mendit(&[&["run", "--no-why"][..], &COMMAND].concat());
    let said = stderr(&output);
    assert!(
        said.contains("uncommitted changes: library/loans.py:5"),
        "{said}"
    );
    assert!(!said.contains("reverted"), "{said}");
    // No test fails and no import leads to it: a checker that prints nothing of the file.
    let checks = [
        "run",
        "--no-why",
        "python3",
        "-c",
        "raise SystemExit('a.py:1:1: E501 Line too long (90 > 88)')",
    ];
    let said = stderr(&repo.mendit(&checks));
    assert!(
        said.contains("uncommitted changes: library/loans.py:5"),
        "{said}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn killed_search_keeps_files() {
    needs!("python3");
    let repo = repo();
    let marker = format!("killed-{}", std::process::id());
    repo.write(
        "test_loans.py",
        format!("import time\n\ntime.sleep(0.3)  # {marker}\n{TEST}"),
    );
    repo.commit();
    repo.write("library/loans.py", innocent(&broken(LOANS)));
    let content = |path: &str| std::fs::read(repo.root().join(path)).unwrap();
    let before = ["library/loans.py", "test_loans.py", ".git/index"].map(content);
    let words = [&["why"][..], &COMMAND, &["test_loans"]].concat();
    let mut ended = 0;
    for at in (0..12).map(|step| Duration::from_millis(40 + step * 310)) {
        let mut child = command(&repo.root(), &words);
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(at);
        ended += u32::from(child.try_wait().unwrap().is_some());
        let _ = child.kill();
        child.wait().unwrap();
        let after = ["library/loans.py", "test_loans.py", ".git/index"].map(content);
        assert_eq!(after, before, "{at:?}");
    }
    assert!(ended < 12, "none was killed on its way");
    let (code, document) = why(&repo, &[]);
    assert_eq!(
        (code, &document["verdict"]),
        (0, &"caused".into()),
        "{document}"
    );
    assert_eq!(document["cause"][0]["path"], "library/loans.py");
    let root = repo.root().canonicalize().unwrap();
    let left = || {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let works = |it: std::fs::DirEntry| std::fs::read_link(it.path().join("cwd")).ok();
        all.filter_map(works).filter(|it| it.starts_with(&root)).count()
    };
    let until = Instant::now() + Duration::from_secs(20);
    while left() > 0 {
        assert!(Instant::now() < until, "{} processes are left", left());
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn unstartable_tests_have_own_outcome() {
    let repo = repo();
    repo.write("check.sh", "exit 0\n");
    repo.commit();
    repo.write("library/loans.py", broken(LOANS));
    let asked = |command: &[&str]| {
        let output = repo.mendit(&[&["why", "--format", "json"], command].concat());
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), document)
    };
    for (command, reason, said) in [
        (
            &["no-such-program", "-q"][..],
            "command_not_found",
            "`no-such-program`: check",
        ),
        (
            &["sh", "-c", "true && no-such-one"][..],
            "command_not_found",
            "`no-such-one`: ",
        ),
        (&["./check.sh"][..], "not_executable", "chmod +x ./check.sh"),
    ] {
        let (code, document) = asked(command);
        let of = |key: &str| document[key].clone();
        assert_eq!(
            (code, of("verdict"), of("reason")),
            (Some(2), "not_run".into(), reason.into()),
            "{document}"
        );
        assert_eq!(
            (of("suspects"), of("moreSuspects")),
            (Value::Array(Vec::new()), 0.into())
        );
        let around = document["around"][0]["problem"].as_str().unwrap();
        assert!(around.contains(said), "{around}");
    }
    // The same of a run before; and what a change made so is its change.
    assert_eq!(
        repo.mendit(&["run", "no-such-program"]).status.code(),
        Some(2)
    );
    assert_eq!(asked(&[]).1["verdict"], "not_run");
    repo.write("run.sh", "#!/bin/sh\nexit 0\n");
    std::fs::set_permissions(repo.root().join("run.sh"), Permissions::from_mode(0o755)).unwrap();
    repo.commit();
    for gone in [false, true] {
        let file = repo.root().join("run.sh");
        if gone {
            std::fs::remove_file(file).unwrap();
        } else {
            std::fs::set_permissions(file, Permissions::from_mode(0o644)).unwrap();
        }
        let (code, document) = asked(&["./run.sh"]);
        let cause = &document["cause"][0];
        assert_eq!(
            (code, &cause["path"]),
            (Some(0), &"run.sh".into()),
            "{document}"
        );
        if !gone {
            assert_eq!(cause["diff"], "-mode 100755\n+mode 100644\n");
        }
    }
}

#[test]
fn flaky_test_blames_no_change() {
    needs!("python3");
    let repo = repo();
    // Fails every other time, as the folder for temporary files has it.
    let seen = "import os, tempfile\n\nSEEN = os.path.join(tempfile.gettempdir(), 'seen-before')\n";
    let body = "if os.path.exists(SEEN):\n            os.remove(SEEN)\n        else:\n            open(SEEN, \
                'w').close()\n            self.fail('not yet')\n        self.assertFalse(is_overdue(14))";
    let test = TEST.replace("self.assertFalse(is_overdue(14))", body);
    repo.write("test_loans.py", format!("{seen}{test}"));
    repo.commit();
    repo.write("library/loans.py", innocent(LOANS));
    let (code, document) = why(&repo, &[]);
    let of = |key: &str| document[key].clone();
    assert_eq!(
        (code, of("verdict"), of("reason"), of("cause")),
        (
            1,
            "unknown".into(),
            "flaky".into(),
            Value::Array(Vec::new())
        ),
        "{document}"
    );
}

// A test that is skipped in the state without the change is no evidence about that state.
#[test]
fn ignores_tests_skipped_without_change() {
    needs!("pytest");
    let app = "import json\n\n\ndef load(text):\n    return json.loads(text)\n";
    let tests = "import pytest\n\nfrom app import load\n\n\ndef test_load():\n    assert load('[1]') == [1]\n\n\n\
                 def test_rare():\n    load('[]')\n    pytest.skip('no data here')\n";
    let repo = Repo::with(&[("app.py", app), ("conftest.py", ""), ("test_app.py", tests)]);
    repo.write("app.py", app.replace("import json", "import os"));
    let line = ["why", "--format", "json", "python3", "-m", "pytest", "-q"];
    let output = repo.mendit(&line);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["verdict"], "caused", "{document}");
    assert_eq!(
        document["tests"],
        serde_json::json!(["test_app.py::test_load"])
    );
    // The same skip proves nothing against a fix, and is counted.
    let skipped = serde_json::json!(["test_app.py::test_rare"]);
    assert_eq!(document["skipped"], skipped);
    let fixed = repo.mendit(&["fix", "--yes", "python3", "-m", "pytest", "-q"]);
    let said = String::from_utf8_lossy(&fixed.stdout).into_owned();
    assert!(
        said.contains("1 of 2 previously failing tests pass (1 skipped)"),
        "{said}"
    );
    assert_eq!(fixed.status.code(), Some(0), "{said}");
}

fn asked(repo: &Repo, words: &[&str]) -> Value {
    let output = repo.mendit(&[&["why", "--format", "json"], words].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)))
}

fn places(document: &Value) -> Vec<String> {
    let causes = document["cause"].as_array().unwrap().iter();
    causes
        .map(|cause| format!("{}:{}", cause["path"].as_str().unwrap(), cause["line"]))
        .collect()
}

#[test]
fn names_new_failure_beside_test_that_failed_before() {
    needs!("python3");
    let repo = repo();
    let known =
        "    def test_known(self):\n        self.fail('no service')\n\n    def test_on_the_day";
    repo.write(
        "test_loans.py",
        TEST.replace("    def test_on_the_day", known),
    );
    repo.commit();
    repo.write("library/loans.py", innocent(&broken(LOANS)));
    let document = asked(&repo, &COMMAND);
    assert_eq!(places(&document), ["library/loans.py:6"], "{document}");
    assert_eq!(
        document["failedBefore"],
        serde_json::json!(["test_loans.TestLoans.test_known"])
    );
    // Without the new failure nothing is blamed.
    repo.write("library/loans.py", innocent(LOANS));
    let document = asked(&repo, &COMMAND);
    assert_eq!(document["verdict"], "unknown", "{document}");
    assert_eq!(document["reason"], "new_test", "{document}");
}

#[test]
fn names_new_finding_of_a_checker_beside_an_old_one() {
    needs!("python3");
    let repo = repo();
    let check = "import pathlib, sys\nbad = 0\nfor path in sorted(pathlib.Path('library').glob('*.py')):\n    for \
                 number, line in enumerate(path.read_text().split('\\n'), 1):\n        if 'TODO' in line:\n            \
                 bad += 1\n            print(f'{path}:{number}:1: W001 {line.strip()}')\nprint(f'Found {bad} \
                 errors.')\nsys.exit(bad > 0)\n";
    repo.write("check.py", check);
    repo.write("library/old.py", "a = 1  # TODO old\n");
    repo.commit();
    repo.write("library/names.py", "b = 2\n");
    repo.write(
        "library/loans.py",
        LOANS.replace("return 0\n", "return 0  # TODO new\n"),
    );
    let document = asked(&repo, &["python3", "check.py"]);
    assert_eq!(places(&document), ["library/loans.py:10"], "{document}");
    // Without the new one, the old one was there before.
    repo.write("library/loans.py", LOANS);
    let document = asked(&repo, &["python3", "check.py"]);
    assert_ne!(document["reason"], "flaky", "{document}");
    assert_eq!(places(&document), [""; 0], "{document}");
    // Nothing that a passing check prints failed before.
    repo.write("library/old.py", "a = 1\n");
    repo.commit();
    repo.write(
        "library/loans.py",
        LOANS.replace("return 0\n", "return 0  # TODO new\n"),
    );
    let document = asked(&repo, &["python3", "check.py"]);
    assert_eq!(
        document["failedBefore"],
        serde_json::json!([]),
        "{document}"
    );
}

#[test]
fn names_test_support_that_a_commit_changed() {
    needs!("python3");
    let test = "import unittest\n\nfrom library.loans import fee\nfrom tests.helpers import days\n\n\nclass \
                TestFee(unittest.TestCase):\n    def test_fee(self):\n        self.assertEqual(fee(days()), 10)\n";
    let repo = repo();
    repo.write("tests/__init__.py", "");
    repo.write("tests/helpers.py", "def days():\n    return 15\n");
    repo.write("tests/test_fee.py", test);
    repo.commit();
    repo.write("tests/helpers.py", "def days():\n    return '15'\n");
    repo.commit();
    repo.write("README.md", "Fees\n");
    repo.commit();
    let document = asked(&repo, &["python3", "-m", "unittest", "tests.test_fee"]);
    assert_eq!(places(&document), ["tests/helpers.py:2"], "{document}");
}

#[test]
fn reruns_class_and_unloadable_file_whole() {
    needs!("python3");
    let store = "class Store:\n    def __init__(self, size=5):\n        self.size = size\n";
    let test = "import unittest\nfrom store import Store\n\n\nclass A(unittest.TestCase):\n    @classmethod\n    def \
                setUpClass(cls):\n        cls.store = Store(size=2)\n\n    def test_room(self):\n        \
                self.assertEqual(self.store.size, 2)\n\n\nclass B(unittest.TestCase):\n    def \
                test_small(self):\n        self.assertEqual(Store(size=1).size, 1)\n";
    let repo = Repo::with(&[("store.py", store), ("test_store.py", test)]);
    repo.write(
        "store.py",
        store.replace("size=5", "limit=5").replace("= size", "= limit"),
    );
    repo.commit();
    let document = asked(&repo, &["python3", "-m", "unittest"]);
    assert_eq!(places(&document), ["store.py:2"], "{document}");
    let repo = Repo::with(&[
        ("package.json", "{\"type\": \"module\"}\n"),
        ("lib/index.js", "export const one = 1;\n"),
        (
            "test/api.test.js",
            "import test from 'node:test';\nimport assert from 'node:assert';\nimport { one } from \
             '../lib/index.js';\ntest('one', () => assert.equal(one, 1));\n",
        ),
    ]);
    repo.write("lib/index.js", "export const two = 1;\n");
    let document = asked(&repo, &["node", "--test"]);
    assert_eq!(places(&document), ["lib/index.js:1"], "{document}");
}

// Reverting the rename alone makes the file load, and its tests fail.
#[test]
fn file_that_did_not_load_passes_only_with_its_tests() {
    needs!("python3");
    let repo = repo();
    let text = LOANS.replace("def fee", "def price").replace("* 10", "* 20");
    repo.write("library/loans.py", text);
    repo.commit();
    let document = asked(&repo, &COMMAND);
    assert_eq!(document["tests"][0], "test_loans", "{document}");
    let expected = ["library/loans.py:8", "library/loans.py:11"];
    assert_eq!(places(&document), expected, "{document}");
}

#[test]
fn run_names_committed_change_and_offers_undo() {
    needs!("python3");
    let repo = repo();
    repo.write("library/loans.py", broken(LOANS));
    repo.commit();
    let said = stderr(&repo.mendit(&[&["run"][..], &COMMAND].concat()));
    assert!(
        said.contains("culprit: the change at library/loans.py:5"),
        "{said}"
    );
    assert!(said.contains("next: mendit fix --undo"), "{said}");
    let shown = said.split("error[").nth(1).unwrap();
    assert!(shown.lines().count() <= 15, "{said}");
    // A later edit elsewhere in the file stays, and one of the same line is in the way.
    let later = |text: &str| text.replace("LIMIT = 14\n", "# Days.\nLIMIT = 14\n");
    repo.write("library/loans.py", later(&broken(LOANS)));
    repo.mendit(&[&["run"][..], &COMMAND].concat());
    let said = stderr(&repo.mendit(&["fix", "--undo"]));
    assert!(said.contains("`mendit fix --undo --yes`"), "{said}");
    let undone = repo.mendit(&["fix", "--undo", "--yes"]);
    assert_eq!(undone.status.code(), Some(0), "{}", stderr(&undone));
    let now = std::fs::read_to_string(repo.root().join("library/loans.py")).unwrap();
    assert_eq!(now, later(LOANS));
    let again = broken(LOANS).replace(">= LIMIT", ">= LIMIT  # days");
    repo.write("library/loans.py", again);
    let said = stderr(&repo.mendit(&[&["run"][..], &COMMAND].concat()));
    assert!(said.contains("next: mendit context"), "{said}");
    let said = stderr(&repo.mendit(&["fix", "--undo"]));
    assert!(said.contains("its lines changed again"), "{said}");
}

#[test]
fn run_offers_fix_before_undo_where_tests_follow_a_rename() {
    needs!("python3");
    let repo = repo();
    let caller = "from library.loans import label\n\n\ndef page(name):\n    return label(name)\n";
    repo.write("library/page.py", caller);
    let test = "import unittest\n\nfrom library.page import page\n\n\nclass TestPage(unittest.TestCase):\n    \
                def test_page(self):\n        self.assertEqual(page(' ann '), 'Ann')\n";
    repo.write("test_page.py", test);
    repo.commit();
    repo.write(
        "library/loans.py",
        LOANS.replace("def label", "def caption"),
    );
    repo.write(
        "test_loans.py",
        TEST.replace("label(", "caption(").replace("label\n", "caption\n"),
    );
    let said = stderr(&repo.mendit(&[&["run"][..], &COMMAND].concat()));
    assert!(said.contains("next: mendit fix  (tries"), "{said}");
    // Reverting the rename alone is said to break the tests that follow it.
    let document = asked(&repo, &COMMAND);
    assert_eq!(
        document["breaks"],
        serde_json::json!(["test_loans"]),
        "{document}"
    );
    let message = document["message"].as_str().unwrap();
    assert!(message.ends_with(", but breaks test_loans"), "{message}");
}

#[test]
fn early_stop_blames_no_revert() {
    needs!("python3");
    let repo = repo();
    let known = "import unittest\n\n\nclass TestZ(unittest.TestCase):\n    def test_z(self):\n        \
                 self.fail('no service')\n";
    repo.write("test_z.py", known);
    repo.commit();
    repo.write("library/loans.py", broken(LOANS));
    let document = asked(&repo, &[&COMMAND[..], &["-f"]].concat());
    assert_eq!(places(&document), ["library/loans.py:5"], "{document}");
    assert_eq!(document["breaks"], Value::Array(Vec::new()), "{document}");
}

#[test]
fn run_offers_fix_for_import_that_a_change_removed() {
    needs!("python3");
    let repo = repo();
    let body = "\n\ndef page(name):\n    return label(name)\n";
    let import = "from library.loans import label\n";
    repo.write("library/page.py", format!("{import}{body}"));
    let test = "import unittest\n\nfrom library.page import page\n\n\nclass TestPage(unittest.TestCase):\n    \
                def test_page(self):\n        self.assertEqual(page(' ann '), 'Ann')\n";
    repo.write("test_page.py", test);
    repo.commit();
    repo.write("library/page.py", body);
    let said = stderr(&repo.mendit(&[&["run"][..], &COMMAND].concat()));
    assert!(said.contains("next: mendit fix  ("), "{said}");
    assert!(!said.contains("to the test"), "{said}");
}

#[test]
fn searches_uncommitted_changes_beside_commits_since_a_revision() {
    needs!("python3");
    let repo = repo();
    repo.write("README.md", "Loans, and fees\n");
    repo.commit();
    repo.write("library/loans.py", innocent(&broken(LOANS)));
    for since in ["HEAD", "HEAD~1"] {
        let (_, document) = why(&repo, &["--since", since]);
        assert_eq!(document["verdict"], "caused", "{since}: {document}");
        assert_eq!(document["cause"][0]["line"], 6, "{since}: {document}");
    }
}

#[test]
fn new_tests_have_no_culprit() {
    needs!("python3");
    let repo = repo();
    let new = "import unittest\n\nfrom library import loans\n\n\nclass TestNew(unittest.TestCase):\n    def \
               test_new(self):\n        loans.renew()\n";
    repo.write("test_new.py", new);
    let of_file = why(&repo, &[]);
    repo.write("library/loans.py", innocent(LOANS));
    let beside_change = why(&repo, &[]);
    repo.write("library/loans.py", LOANS);
    std::fs::remove_file(repo.root().join("test_new.py")).unwrap();
    let method = "\n    def test_new(self):\n        self.fail('renew is missing')\n";
    repo.write("test_loans.py", format!("{TEST}{method}"));
    let of_method = why(&repo, &[]);
    repo.commit();
    let committed = why(&repo, &[]);
    repo.write("README.md", "Loans, fees and renewals\n");
    for (code, document) in [of_file, beside_change, of_method, committed] {
        let found = (code, &document["verdict"], &document["reason"]);
        assert_eq!(
            found,
            (1, &"unknown".into(), &"new_test".into()),
            "{document}"
        );
        assert_eq!(document["cause"], Value::Array(Vec::new()), "{document}");
    }
    let fix = repo.mendit(&[&["fix"][..], &COMMAND].concat());
    let printed = String::from_utf8_lossy(&fix.stdout).into_owned() + &stderr(&fix);
    assert!(printed.contains("mendit context  (shows"), "{printed}");
    assert!(!printed.contains("mendit why"), "{printed}");
    assert!(
        printed.contains("; the failing tests are new since"),
        "{printed}"
    );
}

#[test]
fn search_without_culprit_ends_in_context() {
    needs!("python3");
    let repo = repo();
    // Two commits on, the files are as they were.
    for text in ["Loans, fees\n", "Loans\n"] {
        repo.write("README.md", text);
        repo.commit();
    }
    let option = [&["run"][..], &COMMAND, &["--no-such-option"]].concat();
    repo.mendit(&option);
    let printed = |words: &[&str]| String::from_utf8_lossy(&repo.mendit(words).stdout).into_owned();
    let why = printed(&["why"]);
    assert!(!why.contains("are new"), "{why}");
    assert!(why.contains("`mendit doctor`"), "{why}");
    let doctor = printed(&["doctor"]);
    assert!(doctor.contains("failed: no culprit is known"), "{doctor}");
    assert!(
        doctor.contains("mendit context") && !doctor.contains("mendit why"),
        "{doctor}"
    );
}

#[test]
fn undo_names_what_the_file_still_lists() {
    needs!("python3");
    let repo = repo();
    let listed = format!("__all__ = [\"label\"]\n{LOANS}");
    repo.write("library/loans.py", &listed);
    repo.commit();
    let renamed = listed.replace("def label", "def caption").replace("[\"label", "[\"caption");
    repo.write("library/loans.py", renamed);
    repo.mendit(&[&["run"][..], &COMMAND].concat());
    let undone = stderr(&repo.mendit(&["fix", "--undo", "--yes"]));
    let note = "library/loans.py:1 still names `caption`, which the undo removes";
    assert!(undone.contains(note), "{undone}");
}

#[test]
fn fix_leaves_its_own_kept_change_alone() {
    needs!("python3");
    let repo = repo();
    let caller = "from library.loans import label\n\n\ndef page(name):\n    return label(name)\n";
    repo.write("library/page.py", caller);
    let test = "import unittest\n\nfrom library.page import page\n\n\nclass TestPage(unittest.TestCase):\n    \
                def test_page(self):\n        self.assertEqual(page(' ann '), 'Ann')\n";
    repo.write("test_page.py", test);
    repo.commit();
    repo.write(
        "library/loans.py",
        LOANS.replace("def label", "def caption"),
    );
    repo.commit();
    repo.write("NOTES.md", "A later commit.\n");
    repo.commit();
    let said = stderr(&repo.mendit(&[&["fix", "--yes"][..], &COMMAND].concat()));
    assert!(
        said.contains("trying: rename `label` to `caption`"),
        "{said}"
    );
    assert!(!said.contains("put back"), "{said}");
}

#[test]
fn run_counts_tests_of_one_name() {
    // The end of a log of vitest 3.
    let log = " FAIL  a.test.ts > same\nAssertionError: expected 1 to be +0\n\n FAIL  a.test.ts > same\nAssertionError: \
               expected 2 to be +0\n\n Test Files  1 failed (1)\n      Tests  2 failed (2)\n   Duration  639ms\n";
    let repo = Repo::with(&[("vitest.log", log)]);
    let said = stderr(&repo.mendit(&["run", "--no-why", "sh", "-c", "cat vitest.log; exit 1"]));
    assert!(said.contains("    and 1 more\n"), "{said}");
}

#[test]
fn missing_test_file_starts_no_search() {
    needs!("python3");
    let repo = repo();
    repo.write("library/loans.py", innocent(LOANS));
    let missing = ["why", "python3", "-m", "unittest", "test_gone.py"];
    let output = repo.mendit(&missing);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let expected = "`test_gone.py` exists neither now nor at the last commit";
    assert!(stderr(&output).contains(expected), "{}", stderr(&output));
}

#[test]
fn second_guilty_commit_is_found_next() {
    needs!("python3");
    let repo = repo();
    repo.write("library/loans.py", broken(LOANS));
    repo.commit();
    let output = repo.mendit(&[&["why"][..], &COMMAND].concat());
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let next = "next: revert with `mendit fix --undo`; if tests still fail, run `mendit why` again";
    assert!(printed.contains(next), "{printed}");
    let repo = self::repo();
    let first = LOANS.replace("* 10", "* 20");
    for text in [&first, &first.replace("if not is", "if is")] {
        repo.write("library/loans.py", text);
        repo.commit();
    }
    let document = asked(&repo, &COMMAND);
    let message = document["message"].as_str().unwrap();
    assert!(
        message.contains("reverting it alone is not enough; still failing: test_loans.TestLoans."),
        "{message}"
    );
    assert!(document["undo"].is_null(), "{document}");
}

#[test]
fn undo_reverts_one_of_two_culprits() {
    needs!("python3");
    let repo = repo();
    let first = broken(LOANS);
    for text in [&first, &first.replace(".title()", ".upper()")] {
        repo.write("library/loans.py", text);
        repo.commit();
    }
    let (_, document) = why(&repo, &["--since", "HEAD~2"]);
    let message = document["message"].as_str().unwrap();
    assert!(
        message
            .contains(": reverting it makes 1 of 2 failing tests pass; still failing: test_loans."),
        "{message}"
    );
    assert!(document["undo"].is_string(), "{document}");
}

#[test]
fn import_of_renamed_name_is_not_put_back() {
    needs!("python3");
    let repo = repo();
    let page = "from library.loans import label\n\n\ndef page(name):\n    return label(name)\n";
    repo.write("library/page.py", page);
    repo.write("library/desk.py", page);
    repo.write(
        "test_loans.py",
        "import library.desk\nimport library.page\n",
    );
    repo.commit();
    for (path, text) in [("library/loans.py", LOANS), ("library/page.py", page)] {
        repo.write(path, text.replace("label", "caption"));
    }
    let run = [&["run", "--no-why"][..], &COMMAND].concat();
    let said = stderr(&repo.mendit(&run));
    assert!(
        said.contains("perhaps: rename `label` to `caption` in library/desk.py"),
        "{said}"
    );
    assert!(!said.contains("put back"), "{said}");
}

#[test]
fn imports_put_back_are_named_with_their_files() {
    needs!("python3");
    let repo = repo();
    let names = [("desk", "re.escape"), ("page", "json.dumps")];
    let [desk, page] = names.map(|(name, call)| {
        let module = call.split('.').next().unwrap();
        format!("import abc\nimport {module}\nimport sys\n\n\ndef {name}(text):\n    return {call}(text)\n")
    });
    repo.write("library/desk.py", &desk);
    repo.write("library/page.py", &page);
    let test = TEST.replace("fee(15)", "desk('a') or fee(15)").replace("label(", "page(");
    let heads = "import unittest\n\nfrom library.desk import desk\nfrom library.page import page\n";
    repo.write("test_loans.py", test.replace("import unittest\n", heads));
    repo.commit();
    repo.write("library/desk.py", desk.replace("import re\n", ""));
    repo.write("library/page.py", page.replace("import json\n", ""));
    repo.mendit(&[&["run", "--no-why"][..], &COMMAND].concat());
    let hints = String::from_utf8_lossy(&repo.mendit(&["hint"]).stdout).into_owned();
    let line = "put back `import re` in library/desk.py, `import json` in library/page.py:";
    assert!(hints.contains(line), "{hints}");
}

#[test]
fn fix_points_to_the_import_of_a_test() {
    needs!("python3");
    let repo = repo();
    let new = "import unittest\n\n\nclass TestNew(unittest.TestCase):\n    def test_new(self):\n        is_overdue(1)\n";
    repo.write("test_new.py", new);
    let fix = repo.mendit(&["fix", "--test", "python3 -m unittest test_new"]);
    let printed = String::from_utf8_lossy(&fix.stdout).into_owned() + &stderr(&fix);
    let step = "mendit hint --apply  (adds the import; fix edits no tests)";
    assert!(printed.contains(step), "{printed}");
}

#[test]
fn checker_that_cannot_start_is_not_flaky() {
    needs!("sh");
    let repo = repo();
    let lines = [
        "INTERNALERROR>   File \"plugin.py\", line 306, in pytest_configure",
        "INTERNALERROR>     warnings.warn(PluginWarning(UNSET))",
        "INTERNALERROR> plugin.PluginWarning: The option \"loop_scope\" is unset.",
    ];
    let check = format!("cat <<'END'\n{}\nEND\nexit 3\n", lines.join("\n"));
    repo.write("check.sh", check);
    repo.commit();
    repo.write("README.md", "Loans, and fees\n");
    let output = repo.mendit(&["why", "--format", "json", "sh", "check.sh"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let expected = (&"not_by_this_change".into(), &"fails_without".into());
    assert_eq!(
        (&document["verdict"], &document["reason"]),
        expected,
        "{document}"
    );
}

#[test]
fn passing_commit_beside_the_line_blames_no_innocent_commit() {
    needs!("python3");
    let repo = repo();
    repo.git(&["checkout", "-q", "-b", "topic"]);
    repo.write("README.md", "Loans of the topic\n");
    repo.commit();
    repo.mendit(&[&["run"][..], &COMMAND].concat());
    repo.git(&["checkout", "-q", "-b", "base", "HEAD~1"]);
    repo.write("library/loans.py", broken(LOANS));
    repo.commit();
    let guilty = repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
    repo.write("library/names.txt", "ann\nbob\n");
    repo.commit();
    repo.git(&["checkout", "-q", "topic"]);
    repo.git(&["rebase", "-q", "base"]);
    let (_, document) = why(&repo, &[]);
    assert_eq!(document["cause"][0]["commit"], guilty, "{document}");
}

#[test]
fn new_test_of_runner_without_list_has_no_culprit() {
    needs!("node");
    let test = "const test = require('node:test');\nconst assert = require('node:assert');\ntest('one', () => \
                assert.ok(true));\n";
    let repo = Repo::with(&[("one.test.js", test), ("one.js", "")]);
    repo.write(
        "one.test.js",
        format!("{test}test('two', () => assert.ok(false));\n"),
    );
    let output = repo.mendit(&["why", "--format", "json", "node", "--test"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["cause"], Value::Array(Vec::new()), "{document}");
}

#[test]
fn tests_that_fail_alone_are_rerun_with_the_others() {
    needs!("python3");
    // The first module makes the second importable.
    let first = "import sys\n\nsys.path.insert(0, 'hidden')\nimport unittest\n\n\nclass TestFirst(unittest.TestCase):\n    \
                 def test_first(self):\n        pass\n";
    let second = "import unittest\n\nfrom amount import AMOUNT\n\n\nclass TestSecond(unittest.TestCase):\n    def \
                  test_second(self):\n        self.assertEqual(AMOUNT, 1)\n";
    let repo = Repo::with(&[
        ("hidden/amount.py", "AMOUNT = 1\n"),
        ("test_a.py", first),
        ("test_b.py", second),
    ]);
    repo.write("hidden/amount.py", "AMOUNT = 2\n");
    let (_, document) = why(&repo, &[]);
    assert_eq!(
        document["cause"][0]["path"], "hidden/amount.py",
        "{document}"
    );
}
