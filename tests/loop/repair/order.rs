use super::world::{World, ended, has_program, needs};

const PRODUCT: &str =
    "def due(days):\n    return days + 1\n\n\ndef fee(days):\n    return days * 2\n";

// What each start of a command leaves beside the repository: its own words.
const NOTE: &str =
    "import os, sys\nopen(os.environ['STARTS'], 'a').write(' '.join(sys.argv) + '\\n')\n";
const NOTE_JS: &str = "fs.appendFileSync(process.env.STARTS, process.argv.join(' ') + '\\n');\n";

fn python() -> Vec<(&'static str, String)> {
    let test = |name: &str, expected: &str| {
        let one = |at: usize| {
            format!("    def test_{name}_{at}(self):\n        self.assertEqual({name}({at}), {expected})\n\n")
                .replace("AT", &at.to_string())
        };
        let count = if name == "due" { 3 } else { 9 };
        (0..count).map(one).collect::<String>()
    };
    let (due, fee) = (test("due", "AT"), test("fee", "AT * 2"));
    let tests = format!(
        "import unittest\nfrom loans import due, fee\n\n\nclass T(unittest.TestCase):\n{due}{fee}"
    );
    vec![
        ("loans.py", PRODUCT.to_owned()),
        ("tests/__init__.py", NOTE.to_owned()),
        ("tests/test_loans.py", tests),
    ]
}

fn node(head: &str, product: &'static str, tests: &'static str) -> Vec<(&'static str, String)> {
    let due: String = (0..3)
        .map(|at| format!("  it('due {at}', () => equal(due({at}), {at}));\n"))
        .collect();
    let fee: String = (0..9)
        .map(|at| format!("  it('fee {at}', () => equal(fee({at}), {at} * 2));\n"))
        .collect();
    let export = if std::path::Path::new(product).extension().is_some_and(|it| it == "mjs") {
        "export { due, fee };\n"
    } else {
        "module.exports = { due, fee };\n"
    };
    let product_text =
        format!("const due = (days) =>\n  days + 1;\nconst fee = (days) => days * 2;\n{export}");
    let text = format!(
        "{head}{NOTE_JS}const equal = (a, b) => {{ if (a !== b) throw new Error(`${{a}} is not ${{b}}`); }};\n\
         describe('loans', () => {{\n{due}{fee}}});\n"
    );
    vec![
        ("package.json", "{}".to_owned()),
        (product, product_text),
        (tests, text),
    ]
}

const PLAIN: &str = "const fs = require('fs');\nconst { due, fee } = require('../loans.js');\n";
const OWN: &str = "const { describe, it } = require('node:test');\n";
const MODULE: &str = "import fs from 'fs';\nimport { due, fee } from '../loans.mjs';\n";

// Three of twelve fail, and the first edit is right.
#[test]
fn right_patch_takes_two_full_runs() {
    let own = format!("{OWN}{PLAIN}");
    let js = |head: &str| node(head, "loans.js", "test/loans.test.js");
    for (program, line, files) in [
        ("python3", "python3 -m unittest", python()),
        ("pytest", "pytest -q", python()),
        ("node", "node --test", js(&own)),
        ("mocha", "mocha", js(PLAIN)),
        ("jest", "jest --rootDir .", js(PLAIN)),
        (
            "vitest",
            "vitest run --globals",
            node(MODULE, "loans.mjs", "test/loans.test.mjs"),
        ),
    ] {
        if !has_program(program) {
            continue;
        }
        let files: Vec<(&str, &str)> = files.iter().map(|it| (it.0, it.1.as_str())).collect();
        let world = World::with(&files);
        let starts = world.outside("starts");
        let line = format!("STARTS={} {line}", starts.display());
        let agent = world.script("sed -i 's/days + 1/days/' loans.*\necho done\n");
        let edits = ["--agent-protocol", "edit", "--sandbox", "off"];
        let words = ["--test", &line, "--agent", &agent];
        ended(&world.repair(&[&words[..], &edits].concat()), 0);
        let result = world.json("result.json");
        assert_eq!(result["wholeRuns"], 2, "{line}: {result:#}");
        let count = |name: &str| usize::try_from(result[name].as_u64().unwrap()).unwrap();
        let all = std::fs::read_to_string(&starts).unwrap().lines().count();
        // A module that does not load may end a run before its tests are reached.
        let told = count("wholeRuns") + count("chosenRuns");
        assert!(all == told || all + 1 == told, "{line}: {all} of {told}");
        // A suite of node's own counts as one that failed, too.
        let tests = result["proof"]["tests"].as_array();
        let tests = tests.unwrap_or_else(|| panic!("{line}: {result:#}"));
        let all_seen = tests.iter().all(|it| it["ended"] == "passed");
        assert!(all_seen && tests.len() >= 3, "{line}: {result:#}");
    }
}

// What fails alone again is not run with all the others; what passes alone and breaks others is no repair.
#[test]
fn wrong_patch_is_refuted_by_failing_tests() {
    needs!("python3");
    let files = python();
    let files: Vec<(&str, &str)> = files.iter().map(|it| (it.0, it.1.as_str())).collect();
    for (edit, whole, reason) in [
        ("s/days + 1/days + 2/", 1, "tests_failed"),
        // Fixes one and breaks the other.
        (
            "s/days + 1/days/; s/days \\* 2/days * 3/",
            2,
            "tests_changed",
        ),
    ] {
        let world = World::with(&files);
        let starts = world.outside("starts");
        let line = format!("STARTS={} python3 -m unittest", starts.display());
        let agent = world.script(&format!("sed -i '{edit}' loans.py\necho done\n"));
        let edits = ["--agent-protocol", "edit", "--sandbox", "off"];
        let words = ["--test", &line, "--agent", &agent, "--max-attempts", "1"];
        ended(&world.repair(&[&words[..], &edits].concat()), 1);
        let result = world.json("result.json");
        assert_eq!(result["wholeRuns"], whole, "{result:#}");
        assert_eq!(world.attempts("stopReason")[0], reason, "{result:#}");
        let starts = std::fs::read_to_string(&starts).unwrap();
        let named = starts.lines().filter(|it| it.contains("test_due"));
        assert_eq!(result["chosenRuns"], named.count(), "{starts}");
    }
}

// A test that needs another before it fails among all and passes alone: the whole command decides.
#[test]
fn reruns_tests_with_others() {
    needs!("python3");
    let world = World::with(&[
        ("main.py", "STATE = []\n\n\ndef limit():\n    return 0\n"),
        (
            "test_main.py",
            "import unittest\nimport main\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        \
             main.STATE.append(1)\n\n    def test_b(self):\n        \
             self.assertLessEqual(len(main.STATE), main.limit())\n\n    def test_c(self):\n        pass\n",
        ),
    ]);
    let agent = world.script("sed -i 's/return 0/return 1/' main.py\necho done\n");
    let words = [
        "--test", "python3 -m unittest", "--no-counter-proof", "--no-trace", "--agent", &agent,
    ];
    let edits = ["--agent-protocol", "edit"];
    ended(&world.repair(&[&words[..], &edits].concat()), 0);
    let result = world.json("result.json");
    assert_eq!(result["chosenRuns"], 1, "{result:#}");
    assert_eq!(result["proof"]["redRuns"], 2, "{result:#}");
}

// What an agent left lying, what it did to tests beside the repair, and files nobody names.
#[test]
fn minimizes_patch() {
    needs!("python3");
    let test = "import unittest\n\nfrom app import f\n\n\nclass T(unittest.TestCase):\n    def test_f(self):\n        \
                self.assertEqual(f(), 2)\n";
    let files = [
        ("app.py", "def f():\n    return 1\n"),
        ("test_app.py", test),
    ];
    let world = World::with(&files);
    let reply = serde_json::json!({ "status": "patch", "files": [
        { "path": "app.py", "content": "def f():\n    return 2\n" },
        { "path": "scratch.py", "content": "import app\n" },
    ] });
    let agent = world.agent(&[&reply.to_string()], "");
    world.repair(&[
        "--no-heal", "--test", "python3 -m unittest", "--agent", &agent,
    ]);
    let result = world.json("result.json");
    assert_eq!(result["status"], "fixed", "{result:#}");
    assert_eq!(result["filesModified"], serde_json::json!(["app.py"]));
    let patch = world.text("final.patch");
    assert!(
        patch.contains("+    return 2") && !patch.contains("scratch"),
        "{patch}"
    );
    // A file whose name is computed is needed all the same.
    let world = World::with(&files);
    let load = "def f():\n    return __import__('scr' + 'atch').TWO\n";
    let reply = serde_json::json!({ "status": "patch", "files": [
        { "path": "app.py", "content": load },
        { "path": "scratch.py", "content": "TWO = 2\n" },
    ] });
    let agent = world.agent(&[&reply.to_string()], "");
    world.repair(&[
        "--no-heal", "--test", "python3 -m unittest", "--agent", &agent,
    ]);
    let result = world.json("result.json");
    assert_eq!(result["status"], "fixed", "{result:#}");
    assert_eq!(
        result["filesModified"],
        serde_json::json!(["app.py", "scratch.py"])
    );
    // What a folder is read for needs no name.
    let mut read = files.to_vec();
    read.push(("steps/step_one.py", "ONE = 1\n"));
    let world = World::with(&read);
    let reply = serde_json::json!({ "status": "patch", "files": [
        { "path": "app.py", "content": "def f():\n    return 2\n" },
        { "path": "steps/step_two.py", "content": "TWO = 2\n" },
    ] });
    let agent = world.agent(&[&reply.to_string()], "");
    world.repair(&[
        "--no-heal", "--test", "python3 -m unittest", "--agent", &agent,
    ]);
    let result = world.json("result.json");
    assert_eq!(
        result["filesModified"],
        serde_json::json!(["app.py", "steps/step_two.py"]),
        "{result:#}"
    );
    // A file that is needed stays, whatever else is dropped.
    let world = World::with(&files);
    let reply = serde_json::json!({ "status": "patch", "files": [
        { "path": "app.py", "content": "from two import TWO\n\n\ndef f():\n    return TWO\n" },
        { "path": "two.py", "content": "TWO = 2\n" },
    ] });
    let agent = world.agent(&[&reply.to_string()], "");
    world.repair(&[
        "--no-heal", "--test", "python3 -m unittest", "--agent", &agent,
    ]);
    let result = world.json("result.json");
    assert_eq!(
        result["filesModified"],
        serde_json::json!(["app.py", "two.py"]),
        "{result:#}"
    );
}
