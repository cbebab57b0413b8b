use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use super::support::{git, repository, write};

const NEW: &str = "diff --git a/d/big b/d/big\nnew file mode 100644\n--- /dev/null\n+++ b/d/big\n";
const CHANGE: &str = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n";
const DELETION: &str =
    "diff --git a/z b/z\ndeleted file mode 100644\n--- a/z\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n";

// A change, a deletion, and a new file of about so many bytes.
fn patch(bytes: usize) -> String {
    let lines = bytes / 100;
    let body = format!("+{}\n", "x".repeat(99)).repeat(lines);
    format!("{CHANGE}{NEW}@@ -0,0 +1,{lines} @@\n{body}{DELETION}")
}

fn shell(script: &str, directory: &Path, more: &[&str]) -> Output {
    let (program, first): (&str, &[&str]) = match more {
        [program, first @ ..] => (program, first),
        [] => ("sh", &[]),
    };
    Command::new(program)
        .args(first)
        .args(["-c", script])
        .arg(super::support::program())
        .current_dir(directory)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .expect("a shell")
}

fn status(root: &Path) -> String {
    let output = git(root, &["status", "--porcelain", "-uall"]);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn file_size_limit_restores_files() {
    let repository = repository(&[("a", b"one\n"), ("z", b"old\n")]);
    let root = repository.path();
    fs::write(root.join(".git/p"), patch(1_000_000)).expect("the patch");
    // Without the signal, a write beyond the limit fails half-way.
    let limited = shell(
        "trap '' XFSZ; ulimit -f 64; exec \"$0\" apply .git/p",
        root,
        &[],
    );
    let said = String::from_utf8_lossy(&limited.stderr).into_owned();
    assert!(!limited.status.success() && said.contains("P901"), "{said}");
    assert_eq!(status(root), "");
    assert!(!root.join("d").exists() && !root.join(".git/mendit/apply").exists());
    // A process that dies of the signal leaves all old too.
    let killed = shell("ulimit -f 64; exec \"$0\" apply .git/p", root, &[]);
    assert!(!killed.status.success());
    assert_eq!(status(root), "");
    let whole = shell("exec \"$0\" apply .git/p", root, &[]);
    assert!(whole.status.success());
    assert_eq!(status(root), " M a\n D z\n?? d/big\n");
}

// The journal has room and the files have not: what was written is undone.
#[test]
fn full_disk_restores_files() {
    let outside = tempfile::tempdir().expect("a directory");
    let root = outside.path();
    write(root, "p", patch(400_000).as_bytes());
    let script = r#"
        mkdir small && mount -t tmpfs -o size=128k none small || exit 99
        cd small && git init -q --separate-git-dir ../git . || exit 98
        echo one > a && echo old > z && git add -A
        "$0" apply ../p && exit 97
        "$0" apply --recover && test "$(cat a z)" = "$(printf 'one\nold')" || exit 96
        test "$(ls -A)" = "$(printf '.git\na\nz')" || exit 95
        git diff --quiet
    "#;
    let ran = shell(script, root, &["unshare", "-rm", "sh"]);
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    if matches!(ran.status.code(), Some(99 | 1)) && !said.contains("error[") {
        crate::support::skip(&format!(
            "no file system of its own can be mounted here: {said}"
        ));
        return;
    }
    assert_eq!(ran.status.code(), Some(0), "{said}");
    assert!(said.contains("P904"), "{said}");
}
