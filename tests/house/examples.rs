//! The example agents and the generated types, run for real.
#![cfg(unix)]
#![expect(clippy::print_stderr, reason = "a test says what it skips")]

use crate::support;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::Repo;

const SHOP: &str = "def total(items):\n    result = sum(items)\n    return resutl\n";
const TEST: &str = "import shop\nassert shop.total([1, 2]) == 3\n";

#[test]
fn the_example_agents_repair_a_repository() {
    // Older ones propose no spelling.
    if !python("import sys; sys.exit(sys.version_info < (3, 10))") {
        return;
    }
    for (agent, protocol) in [
        (format!("python3 '{}'", script("examples/agent.py")), "json"),
        (format!("sh '{}'", script("examples/agent.sh")), "edit"),
    ] {
        let repo = Repo::with(&[("shop.py", SHOP), ("test_shop.py", TEST)]);
        let run = repo.outside().join("run");
        let mut repair = support::command(
            &repo.root(),
            &["repair", "--no-heal", "--test", "python3 test_shop.py"],
        );
        repair
            .args(["--agent", &agent, "--agent-protocol", protocol, "--apply"])
            .arg("--out")
            .arg(&run)
            .env("XDG_CACHE_HOME", repo.outside().join("cache"));
        let output = repair.output().unwrap();
        assert!(
            output.status.success(),
            "{protocol}: {}",
            support::stderr(&output)
        );
        let mended = std::fs::read_to_string(repo.root().join("shop.py")).unwrap();
        assert_eq!(mended, SHOP.replace("resutl", "result"), "{protocol}");
        assert_eq!(repo.git(&["status", "--porcelain"]), " M shop.py\n");
    }
}

#[test]
fn an_example_agent_without_an_answer_says_so() {
    if !python("") {
        return;
    }
    let repo = Repo::with(&[("test_shop.py", "assert 1 == 2\n")]);
    let agent = format!("python3 '{}'", script("examples/agent.py"));
    let test = ["repair", "--test", "python3 test_shop.py"];
    let mut repair = support::command(&repo.root(), &test);
    repair
        .args(["--agent", &agent, "--format", "json"])
        .env("XDG_CACHE_HOME", repo.outside().join("cache"));
    let output = repair.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["stopReason"], "no_patch");
}

// Whether Python runs this without an error.
fn python(text: &str) -> bool {
    let Ok(output) = Command::new("python3").args(["-B", "-c", text]).output() else {
        eprintln!("skipped: there is no python3");
        return false;
    };
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        eprintln!("python3 says no to `{text}`: {said}");
    }
    output.status.success()
}

fn script(name: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("scripts")
        .join(name);
    path.into_os_string().into_string().unwrap()
}
