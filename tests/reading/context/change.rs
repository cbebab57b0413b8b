//! The change under test: `--diff BASE`.

use crate::support;
use crate::support::{Repo, texts};

fn changed() -> Repo {
    let repo = Repo::with(&[
        ("src/a.ts", "one\ntwo\n"),
        ("src/gone.ts", "old\n"),
        ("src/same.ts", "same\n"),
        ("src/z.ts", "export const z = 1;\n"),
        ("tests/t.test.ts", "x\n"),
        (".env", "A=1\n"),
    ]);
    repo.write("src/a.ts", "one\n2\n");
    repo.write("src/z.ts", "export const z = 2;\n");
    repo.write("src/new.ts", "new\n");
    repo.write(".env", "A=2\n");
    std::fs::remove_file(repo.root().join("src/gone.ts")).unwrap();
    repo
}

#[test]
fn files_and_diff_between_base_and_worktree() {
    let repo = changed();
    let context = repo.context(&["tests/t.test.ts", "--diff", "HEAD", "--level", "2"]);
    let change = &context["change"];
    assert_eq!(change["base"], "HEAD");
    assert_eq!(
        texts(&change["files"], None),
        [".env", "src/a.ts", "src/gone.ts", "src/new.ts", "src/z.ts"]
    );
    assert_eq!(
        change["diff"].as_str().unwrap(),
        "The content of .env is not shown.\n\
         diff --git a/src/a.ts b/src/a.ts\n--- a/src/a.ts\n+++ b/src/a.ts\n\
         @@ -1,2 +1,2 @@\n one\n-two\n+2\n\
         diff --git a/src/gone.ts b/src/gone.ts\n--- a/src/gone.ts\n+++ /dev/null\n\
         @@ -1,1 +0,0 @@\n-old\n\
         diff --git a/src/new.ts b/src/new.ts\n--- /dev/null\n+++ b/src/new.ts\n\
         @@ -0,0 +1,1 @@\n+new\n\
         diff --git a/src/z.ts b/src/z.ts\n--- a/src/z.ts\n+++ b/src/z.ts\n\
         @@ -1,1 +1,1 @@\n-export const z = 1;\n+export const z = 2;\n"
    );
}

#[test]
fn changed_files_come_first() {
    let repo = changed();
    let order = |extra: &[&str]| {
        let arguments = [&["tests/t.test.ts", "--level", "2"], extra].concat();
        texts(&repo.context(&arguments)["filesIncluded"], None)
    };
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "-m", "all"]);
    repo.write("src/z.ts", "export const z = 3;\n");
    // Nothing else speaks for any file.
    assert_eq!(order(&[]), ["tests/t.test.ts"]);
    assert_eq!(order(&["--diff", "HEAD"])[1], "src/z.ts");
}

#[test]
fn compares_commits_without_removed_secrets() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let repo = Repo::with(&[("src/a.py", &format!("k = \"{token}\"\n"))]);
    repo.write("src/a.py", "k = 1\n");
    repo.commit();
    let arguments = ["src/a.py", "--rev", "HEAD", "--diff", "HEAD~1"];
    let context = repo.context(&arguments);
    assert!(!context.to_string().contains(&token));
    let diff = context["change"]["diff"].as_str().unwrap();
    assert!(diff.contains("-k = ") && diff.contains("REDACTED") && diff.contains("+k = 1"));
}

#[test]
fn missing_base_is_error() {
    let repo = changed();
    let output = repo.mendit(&["context", "src/a.ts", "--diff", "nowhere"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(support::stderr(&output).contains("U201"));
}
