//! Commands that hang: where they are is asked before they are ended, and what hangs in the code is repaired.
#![cfg(target_os = "linux")]

use crate::support::{Repo, needs, stderr};
use serde_json::Value;

const DRAIN: &str = "def drain(items):\n    count = 0\n    while len(items) >= 0:\n        count += 1\n    \
                     return count\n";

#[test]
fn hanging_python_test_asks_agent() {
    needs!("python3");
    let unit = "import unittest\nfrom lib.work import drain\n\n\nclass T(unittest.TestCase):\n    def \
                test_drain(self):\n        self.assertEqual(drain([]), 0)\n";
    for (text, hangs) in [
        (DRAIN, 3),
        (
            "import threading\n\n\ndef drain(items):\n    threading.Event().wait()\n    return 0\n",
            5,
        ),
        (
            "import time\n\n\ndef drain(items):\n    time.sleep(3600)\n    return 0\n",
            5,
        ),
        (
            "import threading\n\n\ndef drain(items):\n    lock = threading.Lock()\n    lock.acquire()\n    lock.acquire()\n    return 0\n",
            7,
        ),
    ] {
        let repo = Repo::with(&[
            ("lib/__init__.py", ""),
            ("lib/work.py", text),
            ("test_work.py", unit),
        ]);
        let command = "python3 -m unittest";
        hangs_at(&repo, command, "2", ("lib/work.py", hangs));
        if hangs == 3 {
            let agent = "printf 'def drain(items):\\n    return len(items)\\n' > lib/work.py";
            is_repaired(&repo, command, "2", agent);
        }
    }
}

// Under a time limit the command ends with the place where it hangs, or the line after it.
fn hangs_at(repo: &Repo, command: &str, limit: &str, (path, line): (&str, u64)) {
    let ran = repo.mendit(&["run", "--timeout", limit, "--no-why", command]);
    assert_eq!(ran.status.code(), Some(3), "{}", stderr(&ran));
    let said = stderr(&ran);
    let near = [line, line + 1].map(|line| format!("{path}:{line}"));
    assert!(near.iter().any(|it| said.contains(it.as_str())), "{said}");
    let diagnosis = repo.mendit(&["diagnose", "--format", "json"]);
    let diagnosis: Value = serde_json::from_slice(&diagnosis.stdout).unwrap();
    assert_eq!(
        (&diagnosis["kind"], &diagnosis["files"][0]["path"]),
        (&"timeout".into(), &path.into()),
        "{diagnosis}"
    );
}

fn is_repaired(repo: &Repo, command: &str, limit: &str, agent: &str) {
    let fixed = repo.mendit(&[
        "repair", "--test", command, "--test-timeout", limit, "--agent", agent, "--agent-protocol",
        "edit", "--format", "json",
    ]);
    let fixed: Value = serde_json::from_slice(&fixed.stdout).unwrap();
    assert_eq!(fixed["status"], "fixed", "{fixed}");
}

const LOOPS: &str = "exports.drain = function drain(items) {\n  let count = 0;\n  while (items.length >= 0) {\n    \
                     count += 1;\n  }\n  return count;\n};\n";

// Node is not asked where it hangs: the log names the test that began last, if the runner prints it.
#[test]
fn hanging_node_test_is_a_timeout() {
    needs!("node");
    let test = "const { test } = require('node:test');\nconst assert = require('node:assert');\nconst { drain } = \
                require('../lib/work.js');\ntest('drains', () => assert.equal(drain([]), 0));\n";
    let repo = Repo::with(&[("lib/work.js", LOOPS), ("test/work.test.js", test)]);
    let ran = repo.mendit(&["run", "--timeout", "2", "--no-why", "node --test"]);
    assert_eq!(ran.status.code(), Some(3), "{}", stderr(&ran));
    let diagnosis = repo.mendit(&["diagnose", "--format", "json"]);
    let diagnosis: Value = serde_json::from_slice(&diagnosis.stdout).unwrap();
    assert_eq!(diagnosis["kind"], "timeout", "{diagnosis}");
}
