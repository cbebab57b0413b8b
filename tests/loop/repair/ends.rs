use serde_json::json;

use super::world::{FIX, World, ended, needs, read};

#[test]
fn restores_python_import_without_agent() {
    needs!("python3");
    let world = World::with(&[
        ("shop/__init__.py", ""),
        (
            "shop/money.py",
            "def pounds(pence):\n    return pence / 100\n",
        ),
        (
            "shop/cart.py",
            "def total(items):\n    return pounds(sum(items))\n",
        ),
        (
            "tests/test_cart.py",
            "import unittest\n\nfrom shop.cart import total\n\n\nclass CartTest(unittest.TestCase):\n    \
             def test_total(self):\n        self.assertEqual(total([150, 50]), 2)\n",
        ),
        ("tests/__init__.py", ""),
    ]);
    let before = world.repo.git(&["status", "--porcelain"]);
    ended(
        &world.repair(&["--test", "python3 -m unittest", "--apply"]),
        0,
    );
    let result = world.json("result.json");
    assert_eq!(result["status"], "fixed");
    assert_eq!(result["agentCalls"], 0);
    assert_eq!(result["filesModified"], json!(["shop/cart.py"]));
    let cart = read(&world.repo.root().join("shop/cart.py"));
    assert!(cart.contains("import pounds\n"), "{cart}");
    assert_eq!(before, "");
    assert_eq!(
        world.repo.git(&["diff", "--cached"]),
        "",
        "the index was moved"
    );
}

// Files of TypeScript, run by node with a loader that takes them as they are.
#[test]
fn restores_typescript_import_without_agent() {
    needs!("node");
    let world = World::with(&[
        (
            "package.json",
            "{\"type\": \"module\", \"private\": true}\n",
        ),
        (
            "tsconfig.json",
            "{\"compilerOptions\": {\"allowImportingTsExtensions\": true}}\n",
        ),
        (
            "loader.mjs",
            "export async function load(url, context, next) {\n  \
             if (!url.endsWith('.ts')) return next(url, context)\n  \
             return next(url, { ...context, format: 'module' })\n}\n",
        ),
        (
            "src/money.ts",
            "export const pounds = (pence) => pence / 100\n",
        ),
        (
            "src/tax.ts",
            "import { pounds } from './money.ts'\n\nexport const tax = (pence) => pounds(pence) / 5\n",
        ),
        (
            "src/cart.ts",
            "import { tax } from './tax.ts'\n\nexport const total = (pence) => pounds(pence) + tax(pence)\n",
        ),
        (
            "test/cart.test.ts",
            "import assert from 'node:assert'\nimport { total } from '../src/cart.ts'\n\n\
             assert.equal(total(100), 1.2)\n",
        ),
    ]);
    let test = "node --no-warnings --loader ./loader.mjs test/cart.test.ts";
    ended(&world.repair(&["--test", test, "--apply"]), 0);
    let result = world.json("result.json");
    assert_eq!(result["agentCalls"], 0);
    let cart = read(&world.repo.root().join("src/cart.ts"));
    assert!(
        cart.contains("import { pounds } from './money.ts'\n"),
        "{cart}"
    );
}

#[test]
fn bad_patch_and_request_raise_level() {
    let world = World::shell();
    let bad =
        "```diff\n--- a/answer.sh\n+++ b/answer.sh\n@@ -1 +1 @@\n-ANSWER=40\n+ANSWER=42\n```\n";
    let request = r#"{"status": "request_files", "requestedFiles": ["other.sh"]}"#;
    let agent = world.agent(&[bad, request, FIX], "");
    // A type error starts at level 1.
    let error = "answer.sh(1,1): error TS2322: Type 'number' is not assignable to type 'string'.";
    let test = format!("sh check.sh || {{ echo \"{error}\"; exit 1; }}");
    let output = world.repair(&["--test", &test, "--agent", &agent]);
    ended(&output, 0);
    assert_eq!(
        world.attempts("stopReason"),
        ["apply_failed", "requested_files", "fixed"]
    );
    let levels: Vec<i64> =
        world.attempts("level").iter().map(|level| level.as_i64().unwrap()).collect();
    assert_eq!(levels, [1, 2, 3]);
    for name in [
        "context.json", "failure-packet.json", "prompt.md", "agent.stdout", "result.json",
    ] {
        for number in 1..=3 {
            assert!(
                world.has(&format!("attempts/{number:02}/{name}")),
                "{number} {name}"
            );
        }
    }
    for name in ["patch.diff", "preflight.json"] {
        assert!(
            world.has(&format!("attempts/01/{name}")) && world.has(&format!("attempts/03/{name}"))
        );
    }
    assert!(world.has("attempts/03/test.log") && !world.has("attempts/01/test.log"));
    for name in [
        "run.json", "events.jsonl", "diagnosis.json", "final.patch", "result.json",
    ] {
        assert!(world.has(name), "{name}");
    }
    // The packet has the outcome of the first patch and the requested files.
    let second = world.json("attempts/02/failure-packet.json");
    assert_eq!(second["previous"]["stopReason"], "apply_failed");
    assert_eq!(
        second["previous"]["preflight"]["verdict"],
        "context_not_found"
    );
    let third = world.json("attempts/03/failure-packet.json");
    assert_eq!(third["requestedFiles"], json!(["other.sh"]));
    assert_eq!(world.json("result.json")["level"], 3);
    // Nothing of it is in the worktree.
    assert_eq!(world.repo.git(&["status", "--porcelain"]), "");
    ended(
        &world
            .command(&[
                "check",
                world.run_folder().join("final.patch").to_str().unwrap(),
            ])
            .output()
            .unwrap(),
        0,
    );
}

#[test]
fn contradictory_task_ends_first() {
    let world = World::shell();
    let task = world.outside("task.md");
    std::fs::write(&task, "# Answer\n\n- `ANSWER` is 41\n- `ANSWER` is 42\n").unwrap();
    let reply = r#"{"status": "invalid_task", "notes": "41 and 42 cannot both be meant"}"#;
    let agent = world.agent(&[reply], "");
    let task = task.to_str().unwrap();
    let output = world.repair(&["--test", "sh check.sh", "--agent", &agent, "--task", task]);
    ended(&output, 4);
    let result = world.json("result.json");
    assert_eq!(result["status"], "invalid_task");
    assert_eq!(result["category"], "invalid_task");
    assert_eq!(world.calls(), 1);
    assert!(world.text("report.txt").contains("Retryable: No"));
    assert!(world.text("report.txt").contains("41 and 42 cannot both be meant"));
}

#[test]
fn leaves_passing_commands_alone() {
    let world = World::shell();
    let agent = world.agent(&[FIX], "");
    ended(&world.repair(&["--test", "true", "--agent", &agent]), 0);
    assert_eq!(world.calls(), 0);
    assert_eq!(world.json("result.json")["attempts"], 0);
}

#[test]
fn reports_flaky_test() {
    let world = World::shell();
    let mark = world.outside("mark");
    let test = format!(
        "[ -e {mark} ] || {{ touch {mark}; echo 'AssertionError: 1 != 2'; exit 1; }}",
        mark = mark.display()
    );
    let agent = world.agent(&[FIX], "");
    ended(
        &world.repair(&["--sandbox", "off", "--test", &test, "--agent", &agent]),
        1,
    );
    assert_eq!(world.json("result.json")["stopReason"], "flaky");
    assert_eq!(world.calls(), 0);
}

#[test]
fn repeated_patch_ends_run() {
    let world = World::shell();
    let wrong = FIX.replace("=42", "=43");
    let agent = world.agent(&[&wrong], "");
    ended(
        &world.repair(&["--test", "sh check.sh", "--agent", &agent]),
        1,
    );
    assert_eq!(world.json("result.json")["stopReason"], "no_progress");
    assert_eq!(world.calls(), 2);
}

#[test]
fn tests_may_not_be_weakened() {
    let world = World::with(&[
        ("answer.sh", "ANSWER=41\n"),
        (
            "tests/check.sh",
            "# expects\n. ./answer.sh\n[ $ANSWER = 42 ] || { echo 'AssertionError: 41 != 42'; exit 1; }\n",
        ),
    ]);
    let weak = "```diff\n--- a/tests/check.sh\n+++ b/tests/check.sh\n@@ -1,3 +1,1 @@\n # expects\n\
        -. ./answer.sh\n-[ $ANSWER = 42 ] || { echo 'AssertionError: 41 != 42'; exit 1; }\n```\n";
    let agent = world.agent(&[weak], "");
    let output = world.repair(&[
        "--test", "sh tests/check.sh", "--agent", &agent, "--max-attempts", "1",
    ]);
    assert_ne!(output.status.code(), Some(0));
    assert_eq!(world.attempts("stopReason"), ["policy_rejected"]);
    assert!(!world.has("attempts/01/test.log"));
    // It says which file, and what to type.
    let result = world.json("result.json");
    let message = result["message"].as_str().unwrap();
    assert!(message.contains("`tests/check.sh`: "), "{message}");
    let next = result["suggestedActions"][0].as_str().unwrap();
    assert!(next.starts_with("If `tests/check.sh` should"), "{next}");
    assert!(
        next.contains(" `--allow-protected tests/check.sh`;"),
        "{next}"
    );
}
