//! The lines that the failing tests run: traced in a separate run, used for ranking, reported, and off on request.

use serde_json::Value;

use crate::support::{Repo, needs, stderr};

const TEST: &str = "import subprocess\nimport sys\nimport unittest\n\nfrom library.loans import label\n\n\nclass \
                    TestLoans(unittest.TestCase):\n    def test_label(self):\n        \
                    self.assertEqual(label(' ann '), 'Ann')\n\n    def test_other(self):\n        \
                    self.assertEqual(label('Bo'), 'Bo')\n";
const LOANS: &str = "from library.names import cleaned\n\n\ndef label(name):\n    if name[0] != ' ':\n        \
                     return name\n    return cleaned(name)\n\n\ndef fee(days):\n    return days * 10\n";
const NAMES: &str =
    "def cleaned(name):\n    return name.strip()\n\n\ndef short(name):\n    return name[:1]\n";
const COMMAND: [&str; 3] = ["python3", "-m", "unittest"];

fn repo() -> Repo {
    Repo::with(&[
        ("library/__init__.py", ""),
        ("library/loans.py", LOANS),
        ("library/names.py", NAMES),
        ("test_loans.py", TEST),
    ])
}

fn context(repo: &Repo, flags: &[&str]) -> Value {
    let output = repo.mendit(&[&["context", "--format", "json"], flags].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)))
}

fn seen(context: &Value, path: &str) -> bool {
    let files = context["files"].as_array().unwrap().iter();
    let mut files = files.filter(|file| file["path"] == path);
    files.any(|file| file["scores"]["trace"].as_u64() > Some(0))
}

#[test]
#[cfg(target_os = "linux")]
fn packet_follows_traced_lines() {
    // A run is looked at again in an overlay.
    needs!("python3");
    let repo = repo();
    let run = |flags: &[&str]| repo.mendit(&[&["run", "--no-why"], flags, &COMMAND].concat());
    run(&[]);
    assert!(!seen(&context(&repo, &[]), "library/names.py"));
    // The lines that ran are looked at where a packet is asked for.
    let out = repo.outside().join("packet").display().to_string();
    run(&["--out", &out]);
    let now = context(&repo, &[]);
    assert!(seen(&now, "library/names.py"), "{now}");
    assert!(!seen(&context(&repo, &["--no-trace"]), "library/names.py"));
    // Of other files nothing was seen.
    repo.write("library/names.py", NAMES.replace("short", "first"));
    assert!(!seen(&context(&repo, &[]), "library/names.py"));
}

#[test]
fn result_reports_traced_lines() {
    needs!("python3");
    let repo = repo();
    let result = |flags: &[&str]| -> Value {
        let words = [
            "repair", "--test", "python3 -m unittest", "--agent", "cat", "--max-attempts", "1",
            "--format", "json",
        ];
        let output = repo.mendit(&[&words[..], flags].concat());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)))
    };
    let told = result(&[]);
    let trace = &told["trace"];
    assert_eq!(trace["failing"], 1, "{trace}");
    assert_eq!(trace["passing"], 0, "{trace}");
    assert_eq!(result(&["--no-trace"])["trace"], Value::Null);
}
