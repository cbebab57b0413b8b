//! What a try teaches the next one.

use serde_json::json;

use super::world::{FIX, World, ended, has_program, needs};

// The founding case: one test that uses several names nobody imported.
fn two_names() -> World {
    World::with(&[
        ("desk/__init__.py", ""),
        (
            "desk/staff.py",
            "def chief_of_staff(name):\n    return f\"chief {name}\"\n",
        ),
        (
            "desk/letters.py",
            "class LetterPress:\n    def press(self, text):\n        return text.upper()\n",
        ),
        (
            "desk/office.py",
            "def address(name):\n    press = LetterPress()\n    return press.press(chief_of_staff(name))\n",
        ),
        ("tests/__init__.py", ""),
        (
            "tests/test_office.py",
            "import unittest\n\nfrom desk.office import address\n\n\nclass OfficeTest(unittest.TestCase):\n    \
             def test_address(self):\n        self.assertEqual(address(\"a\"), \"CHIEF A\")\n",
        ),
    ])
}

const UNITTEST: [&str; 2] = ["--test", "python3 -m unittest"];

#[test]
fn fixes_several_missing_names() {
    needs!("python3");
    let world = two_names();
    ended(&world.repair(&UNITTEST), 0);
    let result = world.json("result.json");
    assert_eq!(result["status"], "fixed");
    assert_eq!(result["agentCalls"], 0);
    assert_eq!(world.attempts("kept"), [json!(true), json!(true)]);
    let patch = world.text("final.patch");
    assert!(patch.contains("import LetterPress\n"), "{patch}");
    assert!(patch.contains("import chief_of_staff\n"), "{patch}");
}

#[test]
fn fixes_script_named_by_command() {
    let pythons = ["python3", "/usr/bin/python3"];
    for python in pythons.into_iter().filter(|it| has_program(it)) {
        let world = World::with(&[
            ("rows.py", "class Row:\n    pass\n"),
            ("other.py", "from rows import Row\n\nRow()\n"),
            ("plot.py", "print(Row())\n"),
        ]);
        let command = format!("{python} plot.py");
        ended(&world.repair(&["--test", &command]), 0);
        assert_eq!(world.json("result.json")["status"], "passed", "{python}");
    }
}

// Two typos in two files: each fix brings the tests further, and the proof covers both.
#[test]
fn keeps_helpful_rename() {
    needs!("python3");
    let test = |name: &str, module: &str| {
        format!(
            "import unittest\n\nimport {module}\n\n\nclass T(unittest.TestCase):\n    def test_{name}(self):\n        self.assertEqual({module}.{name}(' a '), 'a')\n"
        )
    };
    let world = World::with(&[
        ("one.py", "def clean(text):\n    return txet.strip()\n"),
        ("two.py", "def short(words):\n    return wrods.strip()\n"),
        ("test_one.py", &test("clean", "one")),
        ("test_two.py", &test("short", "two")),
    ]);
    ended(&world.repair(&["--test", "python3 -m unittest -v"]), 0);
    assert_eq!(world.json("result.json")["status"], "fixed");
    assert_eq!(world.attempts("kept"), [json!(true), json!(true)]);
}

#[test]
fn tries_the_name_that_python_proposes() {
    needs!("python3");
    let log = "  File \"uses.py\", line 3, in <module>\n    agg.total([])\nAttributeError: module 'agg' \
               has no attribute 'total'. Did you mean: 'totals'?\n";
    let world = World::with(&[
        ("agg.py", "def totals(rows):\n    return rows\n"),
        ("uses.py", "import agg\n\nagg.total([])\n"),
        (
            "fail.py",
            "import sys, agg\nif not hasattr(agg, 'total'):\n    sys.stderr.write(open('log').read())\n    sys.exit(1)\n",
        ),
        ("log", log),
    ]);
    world.repair(&["--test", "python3 fail.py"]);
    assert_eq!(world.attempts("kept").len(), 1);
}

#[test]
fn keeps_and_reports_first_import() {
    needs!("python3");
    let world = two_names();
    let import = |line: &str, after: &str| {
        let edit =
            json!([{ "path": "desk/office.py", "old": after, "new": format!("{line}\n{after}") }]);
        json!({ "status": "patch", "edits": edit }).to_string()
    };
    let replies = [
        import("from desk.letters import LetterPress", "def address"),
        import("from desk.staff import chief_of_staff", "def address"),
    ];
    let agent = world.agent(&[&replies[0], &replies[1]], "");
    ended(
        &world.repair(&[&UNITTEST[..], &["--agent", &agent, "--no-heal"]].concat()),
        0,
    );
    assert_eq!(world.attempts("kept"), [json!(true), json!(true)]);
    let packet = world.json("attempts/02/failure-packet.json");
    assert_eq!(packet["previous"]["kept"], true);
    assert_eq!(packet["kept"][0]["files"], json!(["desk/office.py"]));
    assert!(packet["logs"]["text"].as_str().unwrap().contains("chief_of_staff"));
    let prompt = world.text("attempts/02/prompt.md");
    assert!(
        prompt.contains("This change helped and is kept"),
        "{prompt}"
    );
    assert!(prompt.contains("Done so far"), "{prompt}");
    // Both outcomes of the test are shown side by side.
    let without = prompt.split("output-without-it").nth(1).unwrap();
    assert!(without.contains("name 'LetterPress' is not defined"));
    assert!(!world.text("attempts/01/prompt.md").contains("is kept"));
}

#[test]
fn reverts_regressing_change() {
    needs!("python3");
    let world = two_names();
    // The name is made up: that it is missing is the change's own doing.
    let edit = json!([{ "path": "desk/office.py", "old": "LetterPress()", "new": "StampPress()" }]);
    let reply = json!({ "status": "patch", "edits": edit }).to_string();
    let agent = world.agent(&[&reply], "");
    let more = ["--agent", &agent, "--no-heal", "--max-attempts", "1"];
    ended(&world.repair(&[&UNITTEST[..], &more].concat()), 1);
    assert_eq!(world.attempts("kept"), [json!(false)]);
    assert!(!world.has("final.patch"));
}

// The test reports a fault in any value, but only once it runs.
const TALKATIVE: &str = "\
. ./answer.sh
[ \"$ANSWER\" = 42 ] && exit 0
[ \"$ANSWER\" = 41 ] && { echo 'check.sh:3: AssertionError: 41 is not it'; exit 1; }
echo \"check.sh:4: AssertionError: $ANSWER is off; put ANSWER=$((ANSWER * 6)) there\"
exit 1
";

#[test]
fn copied_feedback_applies_on_retry() {
    for protocol in ["prompt", "json"] {
        let world = World::with(&[("answer.sh", "ANSWER=41\n"), ("check.sh", TALKATIVE)]);
        let agent = world.script(
            "told=$(cat)\n\
             value=$(printf '%s' \"$told\" | grep -o 'put ANSWER=[0-9][0-9]*' | head -1 | sed 's/.*=//')\n\
             printf -- '```diff\\n--- a/answer.sh\\n+++ b/answer.sh\\n@@ -1 +1 @@\\n-ANSWER=41\\n+ANSWER=%s\\n```\\n' \
             \"${value:-7}\"\n",
        );
        let arguments = [
            "--test", "sh ./check.sh", "--agent", &agent, "--agent-protocol", protocol,
        ];
        ended(&world.repair(&arguments), 0);
        assert_eq!(
            world.attempts("stopReason").last().unwrap(),
            "fixed",
            "{protocol}"
        );
        assert_eq!(world.attempts("attempt").len(), 2, "{protocol}");
    }
}

#[test]
fn first_prompt_has_no_history() {
    let world = World::of_engine();
    let agent = world.agent(&["I give up.", "I still give up."], "");
    let test = "echo 'pkg/two.py:1:1: F821 Undefined name `Engine`'; exit 1";
    let more = ["--no-heal", "--max-attempts", "2"];
    world.repair(&[&["--test", test, "--agent", &agent], &more[..]].concat());
    let first = world.text("attempts/01/prompt.md");
    let packet = world.text("attempts/01/failure-packet.json");
    for word in [
        "Previous Attempt", "attempt before", "Recovery Context", "reverted", "again",
    ] {
        assert!(!first.contains(word), "{word}: {first}");
        assert!(!packet.contains(word), "{word}: {packet}");
    }
    assert!(first.contains("from pkg.core import Engine"), "{first}");
    let second = world.text("attempts/02/prompt.md");
    assert!(second.contains("Previous Attempt Failed"), "{second}");
    assert!(second.contains("had no readable patch"), "{second}");
}

#[test]
fn refusal_shows_code_and_file_lines() {
    let world = World::with(&[
        ("answer.sh", "# one\n# two\nANSWER=41\n# four\n"),
        ("check.sh", super::world::CHECK),
    ]);
    let stale = "```diff\n--- a/answer.sh\n+++ b/answer.sh\n@@ -2,3 +2,3 @@\n # two\n-ANSWER=40\n\
                 +ANSWER=42\n # four\n```\n";
    let right = stale.replace("=40", "=41");
    let agent = world.agent(&[stale, &right], "");
    ended(
        &world.repair(&["--test", "sh check.sh", "--agent", &agent]),
        0,
    );
    let prompt = world.text("attempts/02/prompt.md");
    let before = prompt.split("The previous attempt").nth(1).unwrap();
    assert!(
        before.contains("was not tried: the reply was refused"),
        "{before}"
    );
    for told in ["error=\"P4", "    3 | ANSWER=41", "answer.sh now has"] {
        assert!(before.contains(told), "{told}: {before}");
    }
}

#[test]
fn failed_replies_raise_level_to_the_end() {
    let world = World::shell();
    let with = |value: &str| FIX.replace("=42", value);
    let refused = "```diff\n--- /dev/null\n+++ b/.github/workflows/x.yml\n@@ -0,0 +1 @@\n+x\n```\n";
    let stale = FIX.replace("=41", "=40");
    let replies = [
        refused.to_owned(),
        stale.clone(),
        "no idea".to_owned(),
        with("=1"),
        with("=2"),
        stale.replace("=40", "=39"),
        with("=3"),
        FIX.to_owned(),
    ];
    let replies: Vec<&str> = replies.iter().map(String::as_str).collect();
    let agent = world.agent(&replies, "");
    let more = ["--max-attempts", "8"];
    let arguments = [&["--test", "sh check.sh", "--agent", &agent][..], &more].concat();
    ended(&world.repair(&arguments), 0);
    let reasons = world.attempts("stopReason");
    assert_eq!(
        reasons,
        [
            "policy_rejected", "apply_failed", "no_patch", "tests_failed", "tests_failed",
            "apply_failed", "tests_failed", "fixed"
        ]
    );
    assert_eq!(world.attempts("level")[..3], [1, 2, 2]);
    let second = world.json("attempts/02/context.json");
    let why = second["escalationReason"].as_str().unwrap();
    assert!(why.contains("policy_rejected"), "{why}");

    let short = World::shell();
    let agent = short.agent(&replies, "");
    let more = ["--max-attempts", "3"];
    let arguments = [&["--test", "sh check.sh", "--agent", &agent][..], &more].concat();
    ended(&short.repair(&arguments), 1);
    let result = short.json("result.json");
    assert_eq!(result["stopReason"], "budget_exhausted");
    assert_eq!(result["message"], "attempts used up: 3");
}

#[test]
fn prompt_lists_protected_files_and_reply_form() {
    for (protocol, told, not_told) in [
        ("prompt", "Reply with one patch", "do not reply with a diff"),
        ("edit", "do not reply with a diff", "Reply with one patch"),
    ] {
        let world = World::shell();
        let lock = world.repo.root().join("package-lock.json");
        std::fs::write(lock, "{}\n").unwrap();
        world.repo.git(&["add", "-A"]);
        let agent = world.script("cat > /dev/null\necho no\n");
        let arguments = [
            "--test", "sh check.sh", "--agent-protocol", protocol, "--agent", &agent,
            "--max-attempts", "2",
        ];
        ended(&world.repair(&arguments), 1);
        for attempt in ["01", "02"] {
            let prompt = world.text(&format!("attempts/{attempt}/prompt.md"));
            assert!(prompt.contains("weakening tests"), "{prompt}");
            assert!(prompt.contains("\npackage-lock.json\n"), "{prompt}");
            assert!(
                prompt.contains(told) && !prompt.contains(not_told),
                "{prompt}"
            );
        }
    }
}

#[test]
fn accepts_diff_from_edit_agent() {
    let world = World::shell();
    let agent = world.agent(&[FIX], "");
    let arguments = [
        "--test", "sh check.sh", "--agent-protocol", "edit", "--agent", &agent,
    ];
    ended(&world.repair(&arguments), 0);
    assert_eq!(world.calls(), 1);
}

// The name is there while the tests put it there: without that the next run begins where this one did.
#[test]
fn test_edits_are_no_progress() {
    needs!("python3");
    let world = World::with(&[
        ("desk/__init__.py", ""),
        (
            "desk/letters.py",
            "def pressed(text):\n    return text.upper()\n",
        ),
        (
            "desk/office.py",
            "def address(name):\n    return pressed(chief(name))\n",
        ),
        ("tests/__init__.py", ""),
        ("tests/names.py", "NAMES = [\"a\"]\n"),
        (
            "tests/test_office.py",
            "import unittest\n\nfrom desk.office import address\nfrom tests.names import NAMES\n\n\n\
             class OfficeTest(unittest.TestCase):\n    def test_address(self):\n        \
             self.assertEqual(address(NAMES[0]), \"CHIEF A\")\n",
        ),
    ]);
    let edit = json!([{
        "path": "tests/names.py",
        "old": "NAMES",
        "new": "import desk.office\n\nvars(desk.office)[\"pressed\"] = str.upper\nNAMES",
    }]);
    let reply = json!({ "status": "patch", "edits": edit }).to_string();
    let agent = world.agent(&[&reply], "");
    let more = ["--agent", &agent, "--no-heal", "--max-attempts", "1"];
    ended(&world.repair(&[&UNITTEST[..], &more].concat()), 1);
    assert_eq!(world.attempts("stopReason"), ["tests_changed"]);
    assert_eq!(world.attempts("kept"), [json!(false)]);
    assert!(!world.has("final.patch"));
}
