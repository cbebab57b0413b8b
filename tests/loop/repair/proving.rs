//! The proof behind `fixed`. Tricks that only turn the exit code green are rows of `tests/loop/tricks`.

use serde_json::Value;

use super::world::{World, ended};
use crate::support::needs;

const APP: &str = "def f():\n    return 1\n\n\ndef g():\n    return 3\n";
const TESTS: &str = "import unittest\n\nfrom app import f, g\n\n\nclass T(unittest.TestCase):\n    def test_f(self):\n        \
                     self.assertEqual(f(), 2)\n\n    def test_g(self):\n        self.assertEqual(g(), 3)\n";
const SCRIPT: &str = "exports.f = () => 1\nexports.g = () => 3\n";
const SCRIPT_TESTS: &str = "const app = require('../app')\nconst test = require('node:test')\n\
    const assert = require('node:assert')\n\ntest('f gives 2', () => assert.equal(app.f(), 2))\n\
    test('g gives 3', () => assert.equal(app.g(), 3))\n";

fn python() -> World {
    World::with(&[
        ("app.py", APP),
        ("tests/__init__.py", ""),
        ("tests/test_app.py", TESTS),
    ])
}

fn node() -> World {
    World::with(&[("app.js", SCRIPT), ("tests/app.test.js", SCRIPT_TESTS)])
}

// A reply that makes the whole file anew.
fn whole(path: &str, content: &str) -> String {
    serde_json::json!({ "status": "patch", "files": [{ "path": path, "content": content }] })
        .to_string()
}

/// One reply of an agent to one failure; the result.
fn tried(world: &World, test: &str, reply: &str, more: &[&str]) -> Value {
    let agent = world.agent(&[reply], "");
    let arguments = [
        "--no-heal", "--max-attempts", "1", "--test", test, "--agent", &agent,
    ];
    let output = world.repair(&[&arguments, more].concat());
    let mut result = world.json("result.json");
    result["printed"] = String::from_utf8_lossy(&output.stdout).into();
    result["last"] = world.attempts("stopReason").pop().unwrap_or_default();
    result
}

// Whether it ended with 0 and was not believed; the rest left it red or was refused as a patch.
#[track_caller]
fn refused(result: &Value, what: &str) -> bool {
    let status = result["status"].as_str().unwrap();
    assert_ne!(status, "fixed", "{what}: {result:#}");
    assert_ne!(result["applied"], true);
    let missing = result["proof"]["missing"].as_array();
    assert_eq!(
        status == "unproven",
        missing.is_some_and(|it| !it.is_empty()),
        "{what}"
    );
    status == "unproven" || result["last"] == "policy_rejected"
}

#[track_caller]
fn proven(result: &Value, runner: &str, source: &str) {
    assert_eq!(result["status"], "fixed", "{result:#}");
    let proof = &result["proof"];
    assert_eq!(proof["proven"], true);
    assert_eq!(proof["runner"], runner, "{proof:#}");
    assert_eq!(proof["source"], source, "{proof:#}");
    assert!(proof["redRuns"].as_u64() >= Some(1));
    assert!(proof["greenRuns"].as_u64() >= Some(1));
}

#[test]
fn unittest_fix_is_proven_by_its_text() {
    needs!("python3");
    let command = "python3 -m unittest";
    let true_fix = APP.replace("return 1", "return 2");
    let result = tried(&python(), command, &whole("app.py", &true_fix), &[]);
    proven(&result, "unittest", "text");
    assert_eq!(result["proof"]["before"]["failed"], 1);
    assert_eq!(result["proof"]["after"]["passed"], 2);
    assert_eq!(result["proof"]["greenRuns"], 1);
    assert_eq!(result["proof"]["restsOn"], serde_json::json!([]));
    // Its dots name no test: the run of the failing one alone does.
    assert_eq!(result["proof"]["tests"][0]["ended"], "passed");
}

#[test]
fn new_test_fixes_coverage_threshold() {
    needs!("python3");
    let fixed = APP.replace("return 1", "return 2");
    let tests = TESTS.replace("from app import f, g", "from app import f");
    let tests = tests.split("\n    def test_g").next().unwrap();
    let measure = "grep -rq 'g()' tests || {\n  echo 'Coverage failure: total of 50 is less than \
                   fail-under=100'\n  exit 2\n}\n";
    let world = World::with(&[
        ("app.py", &fixed),
        ("tests/__init__.py", ""),
        ("tests/test_app.py", tests),
        ("measure.sh", measure),
    ]);
    let more = "import unittest\n\nfrom app import g\n\n\nclass G(unittest.TestCase):\n    def test_g(self):\n        \
                self.assertEqual(g(), 3)\n";
    let command = "python3 -m unittest && sh measure.sh";
    let result = tried(&world, command, &whole("tests/test_g.py", more), &[]);
    proven(&result, "unittest", "text");
    assert_eq!(result["proof"]["redRuns"], 1);
}

#[test]
fn node_fix_is_proven_in_every_reporter() {
    needs!("node");
    let fix = SCRIPT.replace("=> 1", "=> 2");
    for command in [
        "node --test tests/",
        "node --test --test-reporter=spec tests/",
        "node --test --test-reporter=tap tests/",
    ] {
        let result = tried(&node(), command, &whole("app.js", &fix), &[]);
        proven(&result, "node:test", "text");
        assert_eq!(result["proof"]["tests"][0]["id"], "f gives 2");
        assert_eq!(result["proof"]["tests"][0]["ended"], "passed");
    }
}

const PYTEST: &str = "python3 -m pytest -q -p no:cacheprovider";

// pytest is asked for a report, whose place no command knows before it runs.
#[test]
fn pytest_proves_by_its_report() {
    needs!("pytest");
    let command = PYTEST;
    let true_fix = APP.replace("return 1", "return 2");
    let result = tried(&python(), command, &whole("app.py", &true_fix), &[]);
    proven(&result, "pytest", "report");
    let test = &result["proof"]["tests"][0];
    assert_eq!(test["id"], "tests/test_app.py::T::test_f");
    assert_eq!(test["ended"], "passed");
    // Where its report is switched off, its text is read.
    let plain = format!("{command} -p no:junitxml");
    proven(
        &tried(&python(), &plain, &whole("app.py", &true_fix), &[]),
        "pytest",
        "text",
    );
    for trick in [
        "import os\nos._exit(0)\n",
        "print('=== 2 passed in 0.01s ===', flush=True)\nimport os\nos._exit(0)\n",
        "import unittest\nraise unittest.SkipTest('later')\n",
        "import pytest\npytest.skip('later', allow_module_level=True)\n",
        "import atexit, os\natexit.register(os._exit, 0)\n",
        "import _pytest.python as p\np.Function.runtest = lambda self: p.skip('later')\n",
        "import _pytest.main as m\nm.Session.perform_collect = lambda self, *a, **k: []\n",
    ] {
        let app = whole("app.py", &format!("{trick}\n{APP}"));
        refused(&tried(&python(), command, &app, &[]), trick);
    }
}

// Two files do not load; the fix has one of them skipped.
#[test]
fn skip_from_product_code_is_no_fix() {
    needs!("python3");
    let other = "import unittest\nimport opt\n";
    let world = World::with(&[
        ("app.py", "def f(:\n"),
        ("opt.py", "def g(:\n"),
        ("tests/__init__.py", ""),
        ("tests/test_app.py", TESTS),
        ("tests/test_optional.py", other),
    ]);
    let fixed = APP.replace("return 1", "return 2");
    let skip = "import unittest\nraise unittest.SkipTest('later')\n";
    let files = [("app.py", &*fixed), ("opt.py", skip)];
    let files = files.map(|(path, text)| serde_json::json!({ "path": path, "content": text }));
    let reply = serde_json::json!({ "status": "patch", "files": files }).to_string();
    let result = tried(&world, "python3 -m unittest", &reply, &[]);
    assert!(refused(&result, skip));
}

// A test that the last commit skips may be skipped by a fix; one that ran there may not.
#[test]
fn skip_is_compared_with_last_commit() {
    needs!("pytest");
    let app = "import json\n\n\ndef load(text):\n    return json.loads(text)\n\n\ndef rare():\n    return load('DATA')\n";
    let tests = "import pytest\n\nfrom app import load, rare\n\n\ndef test_load():\n    assert load('[1]') == [1]\n";
    let rare = "\n\ndef test_rare():\n    if not rare():\n        pytest.skip('no data')\n";
    let skips = app.replace("DATA", "[]");
    for (committed, status) in [("[]", "fixed"), ("[1]", "unproven")] {
        let before = app.replace("DATA", committed);
        let world = World::with(&[("app.py", &before), ("tests/test_app.py", tests)]);
        world.repo.write("app.py", before.replace("json\n", "os\n"));
        world.repo.write("tests/test_app.py", format!("{tests}{rare}"));
        let command = "PYTHONPATH=. python3 -m pytest -q -p no:cacheprovider";
        let result = tried(&world, command, &whole("app.py", &skips), &[]);
        assert_eq!(result["status"], status, "{result:#}");
        assert_eq!(
            result["proof"]["tests"][1]["ended"], "skipped",
            "{result:#}"
        );
    }
}

// An edit of a test that the fix does not need is left out; a new file of tests stays.
#[test]
fn drops_edits_of_tests_that_fix_can_spare() {
    needs!("python3");
    let fixed = APP.replace("return 1", "return 2");
    let edited = format!("{TESTS}\n\n# Edited.\n");
    let more = TESTS.replace("f(), 2", "g(), 3");
    let files = [
        ("app.py", &fixed),
        ("tests/test_app.py", &edited),
        ("tests/test_more.py", &more),
    ];
    let files = files.map(|(path, text)| serde_json::json!({ "path": path, "content": text }));
    let reply = serde_json::json!({ "status": "patch", "files": files }).to_string();
    let result = tried(&python(), "python3 -m unittest", &reply, &[]);
    proven(&result, "unittest", "text");
    let kept = serde_json::json!(["app.py", "tests/test_more.py"]);
    assert_eq!(result["filesModified"], kept);
}

// The only file that does not load is skipped now, and a new file makes up for the count.
#[test]
fn skip_of_uncounted_file_is_no_fix() {
    needs!("python3");
    let tests = "import unittest\n\nfrom app import f\n\n\nclass T(unittest.TestCase):\n    def test_f(self):\n        f()\n";
    let world = World::with(&[
        ("app.py", "def f(:\n"),
        ("tests/__init__.py", ""),
        ("tests/test_app.py", tests),
    ]);
    let skip = "from unittest import SkipTest as S\nraise S('later')\n";
    let more = tests.replace("from app import f\n", "").replace("f()", "pass");
    let files = [("app.py", skip), ("tests/test_more.py", &*more)];
    let files = files.map(|(path, text)| serde_json::json!({ "path": path, "content": text }));
    let reply = serde_json::json!({ "status": "patch", "files": files }).to_string();
    let result = tried(
        &world,
        "python3 -m unittest",
        &reply,
        &["--no-counter-proof"],
    );
    let missing = "the number of skipped tests rose from 0 to 1, and none is named";
    assert_eq!(result["proof"]["missing"], serde_json::json!([missing]));
}

#[test]
fn unproven_run_lists_missing_and_writes_nothing() {
    needs!("python3");
    let world = python();
    let reply = whole("app.py", &format!("import os\nos._exit(0)\n{APP}"));
    let agent = world.agent(&[&reply], "");
    let arguments = [
        "--no-heal", "--apply", "--test", "python3 -m unittest", "--agent", &agent,
    ];
    let output = world.repair(&arguments);
    let result = world.json("result.json");
    if result["stopReason"] == "policy_rejected" {
        ended(&output, 5);
        return;
    }
    ended(&output, 1);
    assert_eq!(result["status"], "unproven");
    assert_eq!(result["filesModified"], serde_json::json!([]));
    assert_eq!(
        result["proof"]["missing"],
        serde_json::json!(["unittest did not print its closing summary"])
    );
    assert_eq!(world.repo.git(&["status", "--porcelain"]), "");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("unproven: ") && said.contains("missing"),
        "{said}"
    );
    assert!(world.text("report.txt").contains("closing summary"));
    assert!(world.text("events.jsonl").contains("\"unproven\""));
}

#[test]
fn reports_exit_code_of_changed_file() {
    needs!("python3");
    let broken = "import other\n\n\ndef f():\n    return 1\n\n\nprint(g())\n";
    let world = World::with(&[("main.py", broken), ("other.py", "N = 1\n")]);
    let files = [
        ("main.py", &*broken.replace("g()", "f()")),
        ("other.py", "N = 2\n"),
    ];
    let files = files.map(|(path, text)| serde_json::json!({ "path": path, "content": text }));
    let fix = serde_json::json!({ "status": "patch", "files": files }).to_string();
    let result = tried(&world, "python3 main.py", &fix, &[]);
    assert_eq!(result["status"], "passed", "{result:#}");
    assert_eq!(result["proof"]["level"], "exit_code");
    let proof = &result["proof"];
    assert_eq!(proof["source"], "exit-code");
    assert_eq!(proof["runner"], Value::Null);
    assert_eq!(proof["restsOn"], serde_json::json!(["main.py"]));
}

// A baseline that does not end alike twice asks for a second green run.
#[test]
fn flaky_failure_needs_second_pass() {
    // The second run with the fix passes, then fails.
    for (failing_run, exit) in [(0, 0), (4, 1)] {
        let world = World::shell();
        let mark = world.outside("mark");
        let shaky = format!(
            "echo x >> {mark}; at=$(wc -l < {mark}); \
             if [ $at != {failing_run} ] && sh check.sh > out 2>&1; then exit 0; fi; \
             if [ $at = 1 ]; then echo 'AssertionError: 1 != 2'; else \
             echo \"NameError: name 'x' is not defined\"; fi; exit 1",
            mark = mark.display()
        );
        let agent = world.agent(&[super::world::FIX], "");
        let arguments = [
            "--sandbox", "off", "--max-attempts", "1", "--test", &shaky, "--agent", &agent,
        ];
        ended(&world.repair(&arguments), exit);
        let result = world.json("result.json");
        let proof = &result["proof"];
        assert_eq!(proof["redRuns"], 2);
        assert_eq!(proof["greenRuns"], 2 - exit, "{proof:#}");
        assert_eq!(proof["proven"], exit == 0, "{proof:#}");
    }
}

#[test]
fn passing_commands_are_not_fixed() {
    let world = World::shell();
    ended(&world.repair(&["--test", "true"]), 0);
    let result = world.json("result.json");
    assert_eq!(result["stopReason"], "nothing_to_repair");
    assert_eq!(result["proof"], Value::Null);
    assert_eq!(result["message"], "the test command passes");

    // Nor is a red run whose exit code a pipe hides.
    let script = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_f(self):\n        \
                  self.assertEqual(1, 2)\n";
    needs!("python3");
    let piped = "python3 -m unittest 2>&1 | cat";
    for command in [piped, "python3 -m unittest || true"] {
        let world = World::with(&[("test_app.py", script)]);
        ended(&world.repair(&["--test", command]), 4);
        let result = world.json("result.json");
        assert_eq!(result["status"], "user_action_required");
        let message = result["message"].as_str().unwrap();
        assert!(message.contains("unittest reports 1 failed"), "{message}");
        assert!(message.contains("such as a pipe"), "{message}");
    }
    let green = World::with(&[("test_app.py", &script.replace("1, 2", "1, 1"))]);
    ended(&green.repair(&["--test", piped]), 0);
}

#[test]
fn names_installed_copy() {
    needs!("python3");
    let wrong = "def f():\n    return None + 1\n";
    let test = "import unittest\n\nfrom pk.core import f\n\n\nclass T(unittest.TestCase):\n    \
                def test_f(self):\n        self.assertEqual(f(), 2)\n";
    let world = World::with(&[
        ("src/pk/__init__.py", ""),
        ("src/pk/core.py", wrong),
        ("tests/test_c.py", test),
    ]);
    let site = world.outside("site");
    std::fs::create_dir_all(site.join("pk")).unwrap();
    std::fs::write(site.join("pk/__init__.py"), "").unwrap();
    std::fs::write(site.join("pk/core.py"), wrong).unwrap();
    let right = "```diff\n--- a/src/pk/core.py\n+++ b/src/pk/core.py\n@@ -1,2 +1,2 @@\n def f():\n\
                 -    return None + 1\n+    return 2\n```\n";
    let agent = world.agent(&[right], "");
    let command = format!(
        "PYTHONPATH={} python3 -m unittest discover -s tests",
        site.display()
    );
    ended(&world.repair(&["--test", &command, "--agent", &agent]), 4);
    let result = world.json("result.json");
    assert_eq!(result["stopReason"], "workplace_unused");
    assert_eq!(result["category"], "tool_error");
    assert_eq!(world.calls(), 1);
    let message = result["message"].as_str().unwrap();
    let copy = site.join("pk/core.py");
    assert!(message.contains(copy.to_str().unwrap()), "{message}");
    assert!(message.contains("`pip install -e .`"), "{message}");
    let first = result["suggestedActions"][0].as_str().unwrap();
    assert!(first.contains("editable"), "{first}");
}

#[test]
fn test_edits_are_no_fix() {
    needs!("python3");
    let command = "python3 -m unittest discover -s tests -t .";
    let patched = "unittest.TestCase.assertEqual = lambda *given, **named: None\n";
    let after_import = |more: &str| TESTS.replace("\n\n\nclass", &format!("\n\n{more}\n\nclass"));
    for (path, content) in [
        ("tests/test_app.py", after_import(patched)),
        (
            "tests/test_app.py",
            after_import("\ndef f():\n    return 2\n"),
        ),
        (
            "tests/test_app.py",
            TESTS.replace(
                "    def test_f",
                "    def assertEqual(self, *given):\n        pass\n\n    def test_f",
            ),
        ),
        (
            "tests/test_app.py",
            TESTS.replace(
                "        self.assertEqual(f(), 2)",
                "        f = lambda: 2\n        self.assertEqual(f(), 2)",
            ),
        ),
        (
            "tests/__init__.py",
            format!("\"\"; import unittest; {patched}"),
        ),
        ("tests/app.py", APP.replace("return 1", "return 2")),
    ] {
        let world = python();
        let command = if path == "tests/app.py" {
            "python3 -m unittest discover -s tests"
        } else {
            command
        };
        let result = tried(&world, command, &whole(path, &content), &[]);
        assert!(refused(&result, &content), "{content}: {result:#}");
    }
    // A wrong repair beside the edited test does not pass with the test as it was.
    let wrong = serde_json::json!({ "status": "patch", "files": [
        { "path": "app.py", "content": APP.replace("return 1", "return 5") },
        { "path": "tests/test_app.py", "content": after_import("\ndef f():\n    return 2\n") },
    ] });
    let result = tried(&python(), command, &wrong.to_string(), &[]);
    assert_eq!(result["status"], "unproven", "{result:#}");
    // With a repair beside it, a test may grow; and one that somebody lets pass may say it all.
    let world = python();
    let both = serde_json::json!({ "status": "patch", "files": [
        { "path": "app.py", "content": APP.replace("return 1", "return 2") },
        { "path": "tests/test_app.py", "content":
          format!("{TESTS}\n    def test_more(self):\n        self.assertEqual(f(), 2)\n") },
    ] });
    let result = tried(&world, command, &both.to_string(), &[]);
    proven(&result, "unittest", "text");
    let own = after_import("\ndef f():\n    return 2\n");
    let let_pass = ["--allow-protected", "tests/test_app.py"];
    let result = tried(
        &python(),
        command,
        &whole("tests/test_app.py", &own),
        &let_pass,
    );
    proven(&result, "unittest", "text");
}

#[test]
fn recognizes_tests_by_any_name() {
    needs!("python3");
    for name in ["tests.py", "checks.py"] {
        let path = format!("polls/{name}");
        let command = format!("python3 -m unittest discover -t . -p {name}");
        let with = |old: &str, new: &str| {
            let world = World::with(&[("app.py", APP), ("polls/__init__.py", ""), (&path, TESTS)]);
            let text = if old.is_empty() { APP } else { TESTS };
            let old = if old.is_empty() { "return 1" } else { old };
            let to = if text == APP { "app.py" } else { path.as_str() };
            tried(&world, &command, &whole(to, &text.replace(old, new)), &[])
        };
        for (old, new) in [
            ("f(), 2", "f(), 1"),
            ("\n\n\nclass", "\n\ndef f():\n    return 2\n\n\nclass"),
        ] {
            let result = with(old, new);
            assert!(refused(&result, new), "{name} {new}: {result:#}");
        }
        proven(&with("", "return 2"), "unittest", "text");
    }
}

#[test]
fn fixes_failure_in_test() {
    needs!("python3");
    let world = World::with(&[
        ("app.py", APP),
        ("tests/__init__.py", ""),
        (
            "tests/test_app.py",
            &TESTS
                .replace("from app import f, g", "from app import f, gee as g")
                .replace("f(), 2", "f(), 1"),
        ),
    ]);
    let right = TESTS.replace("f(), 2", "f(), 1");
    let command = "python3 -m unittest discover -s tests -t .";
    let result = tried(&world, command, &whole("tests/test_app.py", &right), &[]);
    assert_eq!(result["status"], "fixed", "{result:#}");
}

// Each passes the tests, also in the runner's report: only mutated expected values distinguish it from a
// repair.
#[test]
fn mutation_check_refutes_vacuous_tests() {
    needs!("python3");
    let command = "python3 -m unittest";
    let fix = APP.replace("return 1", "return 2");
    let result = tried(&python(), command, &whole("app.py", &fix), &[]);
    proven(&result, "unittest", "text");
    let proof = &result["proof"];
    assert_eq!(proof["level"], "mutation", "{proof:#}");
    let negated = &proof["mutation"]["negated"][0];
    assert_eq!(negated["path"], "tests/test_app.py");
    assert_eq!(
        (&negated["was"], &negated["outcome"]),
        (&"2".into(), &"failed".into())
    );
    assert!(proof["mutation"]["runs"].as_u64() <= Some(2), "{proof:#}");
    let printed = |result: &Value| result["printed"].as_str().unwrap().to_owned();
    assert!(printed(&result).contains("mutation check: the tests fail for 1 of 1"));
    for trick in [
        "return type('N', (int,), {'__eq__': lambda s, o: not s != s, '__ne__': lambda s, o: False})()",
        "import re; return int(re.search(r'f\\(\\), (\\d+)', open('tests/test_app.py').read())[1])",
    ] {
        let world = python();
        let app = APP.replace("return 1", trick);
        let result = tried(&world, command, &whole("app.py", &app), &[]);
        assert_eq!(result["status"], "unproven", "{trick}: {result:#}");
    }
    let off = ["--no-counter-proof"];
    // Without the check nothing clears a suspicious line.
    let equal = "return type('N', (int,), {'__eq__': lambda s, o: True})()";
    let app = APP.replace("return 1", equal);
    let result = tried(&python(), command, &whole("app.py", &app), &off);
    assert_eq!(result["status"], "unproven", "{result:#}");
    let off = tried(&python(), command, &whole("app.py", &fix), &off);
    proven(&off, "unittest", "text");
    assert_eq!(off["proof"]["level"], "tests");
    assert!(printed(&off).contains("the test runner reports success"));
}

// A sign that stood before is none, one that a check rules out is reported, one for a person leaves the fix open.
#[test]
fn signs_are_cleared_by_mutation_or_permission() {
    needs!("python3");
    let before = format!("import unittest\n{APP}");
    let equal = "\n\nclass Any:\n    def __eq__(self, other):\n        return True\n";
    let asks = "\n\ndef h():\n    import os\n    return os.environ.get('PYTEST_CURRENT_TEST')\n";
    let allowed = ["--no-counter-proof", "--allow-protected", "app.py"];
    for (added, flags, status, signs) in [
        (equal, &[][..], "fixed", 1),
        (equal, &allowed, "fixed", 0),
        (asks, &[], "unproven", 1),
    ] {
        let world = World::with(&[
            ("app.py", &before),
            ("tests/__init__.py", ""),
            ("tests/test_app.py", TESTS),
        ]);
        let fixed = before.replace("return 1", "return 2") + added;
        let result = tried(
            &world,
            "python3 -m unittest",
            &whole("app.py", &fixed),
            flags,
        );
        assert_eq!(result["status"], status, "{result:#}");
        let found = result["proof"]["suspicions"].as_array().unwrap();
        assert_eq!(found.len(), signs, "{found:?}");
    }
}

#[test]
fn vacuous_node_test_proves_nothing() {
    needs!("node");
    let command = "node --test tests/";
    let fix = SCRIPT.replace("=> 1", "=> 2");
    let result = tried(&node(), command, &whole("app.js", &fix), &[]);
    proven(&result, "node:test", "text");
    assert_eq!(result["proof"]["level"], "mutation", "{result:#}");
    let trick = "=> Number(/f\\(\\), (\\d+)/.exec(require('fs').readFileSync('tests/app.test.js', 'utf8'))[1])";
    let app = SCRIPT.replace("=> 1", trick);
    let result = tried(&node(), command, &whole("app.js", &app), &[]);
    assert_eq!(result["status"], "unproven", "{trick}: {result:#}");
}

// What runners load before the tests, and what tests inherit from, is test code wherever it lies.
#[test]
fn refuses_code_loaded_before_tests() {
    needs!("python3");
    let tests = TESTS
        .replace(
            "import unittest\n\nfrom app import f, g",
            "from app import f, g\nfrom support import Case",
        )
        .replace("unittest.TestCase", "Case");
    let support = "import unittest\n\n\nclass Case(unittest.TestCase):\n    pass\n";
    let world = World::with(&[
        ("app.py", APP),
        ("support.py", support),
        ("tests/__init__.py", ""),
        ("tests/test_app.py", &tests),
    ]);
    let lie = support.replace(
        "    pass",
        "    def setUp(self):\n        import tests.test_app as t\n        t.f = lambda: 2",
    );
    let result = tried(
        &world,
        "python3 -m unittest",
        &whole("support.py", &lie),
        &[],
    );
    assert_eq!(result["status"], "unproven", "{result:#}");
}

#[test]
fn reports_hard_coded_test_values() {
    needs!("python3");
    let app = "def add(a, b):\n    return a - b\n";
    let tests = "import unittest\n\nfrom app import add\n\n\nclass T(unittest.TestCase):\n    def test_add(self):\n        \
                 self.assertEqual(add(17, 25), 42)\n";
    let one = World::with(&[
        ("app.py", app),
        ("tests/__init__.py", ""),
        ("tests/test_app.py", tests),
    ]);
    let command = "python3 -m unittest";
    let known = app.replace("return a - b", "return {(17, 25): 42}.get((a, b), a - b)");
    let result = tried(&one, command, &whole("app.py", &known), &[]);
    proven(&result, "unittest", "text");
    assert_eq!(
        result["proof"]["ownValues"],
        serde_json::json!(["tests/test_app.py:8"])
    );
    assert!(result["printed"].as_str().unwrap().contains("the test's own values"));
}
