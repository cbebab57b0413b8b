//! What `-v` and `-vv` print, and where.

use crate::support::{Repo, command, stderr};

const PATCH: &str = "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n";

fn repository() -> Repo {
    Repo::with(&[("src/a.py", "x = 1\n"), ("change.diff", PATCH)])
}

#[test]
fn check_logs_git_and_hunks() {
    let repo = repository();
    let plain = repo.mendit(&["check", "change.diff", "--format", "json"]);
    let logged = repo.mendit(&["-vv", "check", "change.diff", "--format", "json"]);
    assert_eq!(plain.stdout, logged.stdout);
    assert_eq!(stderr(&plain), "");
    let log = stderr(&logged);
    for border in [
        "DEBUG mendit::git::repository: opened ",
        "INFO mendit::workspace::open: reading ",
        "read a patch format=",
        "hunk placed at line 1 by git's rules",
    ] {
        assert!(log.contains(border), "{border}: {log}");
    }
    let again = repo.mendit(&["-vv", "check", "change.diff", "--format", "json"]);
    assert_eq!(stderr(&again), log, "no times in the log");
}

#[test]
fn refused_hunk_logs_its_code() {
    let repo = repository();
    repo.write("src/a.py", "y = 1\n");
    let logged = repo.mendit(&["-vv", "check", "change.diff"]);
    let log = stderr(&logged);
    assert!(log.contains("hunk refused, P401: "), "{log}");
}

#[test]
fn run_logs_the_command_and_its_end() {
    let repo = repository();
    repo.commit();
    let logged = repo.mendit(&["-vv", "run", "--no-why", "echo out; exit 3"]);
    let log = stderr(&logged);
    for border in [
        "starting `echo out; exit 3`",
        "`echo out; exit 3` ended: Exit(3)",
    ] {
        assert!(log.contains(border), "{border}: {log}");
    }
}

#[test]
fn log_masks_secrets() {
    let repo = repository();
    let line = "true s3cr3t-Zq8rT2vX9mK4";
    let mut command = command(&repo.root(), &["-vv", "run", "--no-why", line]);
    let output = command.env("API_TOKEN", "s3cr3t-Zq8rT2vX9mK4").output();
    let log = stderr(&output.unwrap());
    assert!(log.contains("starting `true [REDACTED"), "{log}");
    assert!(!log.contains("Zq8rT2vX9mK4"), "{log}");
}
