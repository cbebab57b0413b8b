//! Commands that hang: where they are is asked before they are ended, and what hangs in the code is repaired.
#![cfg(target_os = "linux")]

use crate::support::{Repo, has_program, stderr};
use serde_json::Value;

const DRAIN: &str = "def drain(items):\n    count = 0\n    while len(items) >= 0:\n        count += 1\n    \
                     return count\n";

#[test]
fn a_python_that_hangs_says_where_and_an_agent_is_asked() {
    if !has_program("python3") {
        return;
    }
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
        let ran = repo.mendit(&["run", "--timeout", "2", "--no-why", command]);
        assert_eq!(ran.status.code(), Some(3), "{}", stderr(&ran));
        let said = stderr(&ran);
        let near = [hangs, hangs + 1].map(|line| format!("lib/work.py:{line}"));
        assert!(near.iter().any(|it| said.contains(it.as_str())), "{said}");
        let diagnosis = repo.mendit(&["diagnose", "--format", "json"]);
        let diagnosis: Value = serde_json::from_slice(&diagnosis.stdout).unwrap();
        assert_eq!(
            (&diagnosis["kind"], &diagnosis["files"][0]["path"]),
            (&"timeout".into(), &"lib/work.py".into())
        );
        if hangs != 3 {
            continue;
        }
        let agent = "printf 'def drain(items):\\n    return len(items)\\n' > lib/work.py";
        let fixed = repo.mendit(&[
            "repair",
            "--test",
            command,
            "--test-timeout",
            "2",
            "--agent",
            agent,
            "--agent-protocol",
            "edit",
            "--format",
            "json",
        ]);
        let fixed: Value = serde_json::from_slice(&fixed.stdout).unwrap();
        assert_eq!(fixed["status"], "fixed", "{fixed}");
    }
}
