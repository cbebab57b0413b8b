//! Real set-ups of projects: what runs must be what was changed. In each a right patch ends fixed,
//! a wrong one does not, and the worktree is byte for byte as before; in an overlay, in a copy, and
//! where the system refuses namespaces.

#![cfg(target_os = "linux")]

mod by_hand;
mod repaired;

use crate::support::Repo;
use by_hand::SET_UPS;
use repaired::problems;

#[test]
fn changed_copy_runs_in_each_setup() {
    let wrong: Vec<String> = SET_UPS.iter().flat_map(problems).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn agent_may_swap_files_and_folders() {
    for workplace in ["overlay", "copy"] {
        let repo = Repo::with(&[
            ("conf", "1\n"),
            ("data/x", "x\n"),
            ("test.sh", "test -f conf/a && test -f data\n"),
        ]);
        let agent = "rm -r conf data; mkdir conf; echo 2 > conf/a; echo 2 > data";
        let mut words = vec!["repair", "--no-heal", "--max-attempts", "1"];
        words.extend(["--workplace", workplace, "--test", "sh test.sh"]);
        words.extend(["--agent", agent, "--agent-protocol", "edit"]);
        let output = repo.mendit(&words);
        let said = String::from_utf8_lossy(&output.stderr);
        if said.contains("`--workplace overlay` is not available") {
            crate::support::skip("no overlay");
            continue;
        }
        assert_eq!(output.status.code(), Some(0), "{workplace}: {said}");
    }
}

#[test]
fn failed_setup_ends_run_with_output() {
    let repo = Repo::with(&[("a.sh", "exit 1\n")]);
    let words = [
        "repair", "--test", "sh a.sh", "--setup", "echo no such package; exit 7",
    ];
    let output = repo.mendit(&words);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("L105") && said.contains("no such package"),
        "{said}"
    );
    let output = repo.mendit(&["repair", "--test", "sh a.sh", "--share", "gone"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no `gone`"));
}
