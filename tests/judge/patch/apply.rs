use std::fs;
use std::path::Path;

use super::support::{git, mendit, repository, write};

const PATCH: &[u8] = b"--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n--- /dev/null\n+++ b/d/new\n@@ -0,0 +1 @@\n+new\n";

#[test]
fn reports_patch_applied_twice() {
    let repository = repository(&[("f", b"a\nb\nc\n")]);
    let root = repository.path();
    let first = mendit(root, &["apply", "-"], PATCH);
    assert_eq!(
        first.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&first.stderr)
    );
    assert_eq!(fs::read(root.join("f")).unwrap(), b"a\nB\nc\n");
    assert_eq!(fs::read(root.join("d/new")).unwrap(), b"new\n");
    let stamp = fs::metadata(root.join("f")).unwrap().modified().unwrap();
    let second = mendit(root, &["apply", "--format", "json", "-"], PATCH);
    assert_eq!(second.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&second.stdout).contains("\"already_applied\""));
    assert_eq!(
        fs::metadata(root.join("f")).unwrap().modified().unwrap(),
        stamp
    );
    let back = mendit(root, &["git-apply", "-R", "-"], PATCH);
    assert_eq!(
        back.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&back.stdout)
    );
    assert_eq!(fs::read(root.join("f")).unwrap(), b"a\nb\nc\n");
    assert!(!root.join("d").exists());
}

#[test]
fn reverses_diffs_alone() {
    let repository = repository(&[("f", b"a\nb\nc\n"), ("gone", b"1\n")]);
    let root = repository.path();
    fs::rename(root.join("gone"), root.join("moved")).unwrap();
    write(root, "f", b"a\nB\nc\n");
    write(root, "new", b"new\n");
    git(root, &["add", "-A"]);
    let diff = git(root, &["diff", "--cached", "-M"]).stdout;
    let back = mendit(root, &["apply", "-R", "-"], &diff);
    assert_eq!(back.status.code(), Some(0), "{back:?}");
    git(root, &["add", "-A"]);
    let status = git(root, &["diff", "--cached", "HEAD", "--stat"]).stdout;
    assert_eq!(String::from_utf8_lossy(&status), "");
    assert!(!root.join("new").exists());
    let block = b"f\n<<<<<<< SEARCH\nb\n=======\nB\n>>>>>>> REPLACE\n";
    let refused = mendit(root, &["check", "-R", "-"], block);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stdout).contains("`-R` reverses only diffs"));
}

#[test]
fn merges_from_blobs_when_diff_fails() {
    let lines = |words: &[(usize, &str)]| -> Vec<u8> {
        let line = |row| words.iter().find(|(at, _)| *at == row).map(|(_, word)| *word);
        let lines = (1..20).map(|row| format!("{}\n", line(row).unwrap_or(&row.to_string())));
        lines.collect::<String>().into_bytes()
    };
    let repository = repository(&[("f", &lines(&[]))]);
    let root = repository.path();
    write(root, "f", &lines(&[(9, "nine")]));
    let diff = git(root, &["diff"]).stdout;
    for (now, exit, then) in [
        (vec![(7, "seven")], 0, vec![(7, "seven"), (9, "nine")]),
        (vec![(9, "neun")], 1, vec![(9, "neun")]),
        (
            vec![(7, "7!"), (9, "nine")],
            0,
            vec![(7, "7!"), (9, "nine")],
        ),
    ] {
        write(root, "f", &lines(&now));
        let plain = mendit(root, &["apply", "-"], &diff);
        assert_eq!(plain.status.code(), Some(1));
        let merged = mendit(root, &["apply", "--three-way", "-"], &diff);
        assert_eq!(merged.status.code(), Some(exit), "{merged:?}");
        assert_eq!(fs::read(root.join("f")).unwrap(), lines(&then));
    }
}

#[test]
fn works_without_git() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), "f", b"a\nb\nc\n");
    let applied = mendit(directory.path(), &["apply", "-"], PATCH);
    assert_eq!(
        applied.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&applied.stderr)
    );
    assert_eq!(fs::read(directory.path().join("f")).unwrap(), b"a\nB\nc\n");
}

#[test]
fn writes_index_alone_and_with_worktree() {
    let repository = repository(&[("f", b"a\nb\nc\n")]);
    let root = repository.path();
    let cached = mendit(root, &["apply", "--cached", "-"], PATCH);
    assert_eq!(
        cached.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&cached.stderr)
    );
    let staged = git(root, &["show", ":f"]).stdout;
    assert_eq!(staged, b"a\nB\nc\n");
    assert_eq!(
        fs::read(root.join("f")).unwrap(),
        b"a\nb\nc\n",
        "the worktree is left alone"
    );
    git(root, &["reset", "-q", "--hard"]);
    let both = mendit(root, &["apply", "--index", "-"], PATCH);
    assert_eq!(
        both.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&both.stderr)
    );
    let status = git(root, &["status", "--porcelain"]).stdout;
    assert_eq!(String::from_utf8_lossy(&status), "A  d/new\nM  f\n");
    assert!(git(root, &["fsck", "--strict"]).status.success());
}

#[test]
fn git_accepts_canonical_patch() {
    let repository = repository(&[("f", b"a\nb\nc\n"), ("g h", b"1\n2\n3")]);
    let root = repository.path();
    let out = root.join("out.patch");
    let fine = b"--- f\n+++ f\n@@\n a\n-b\n+B\n c\n";
    let checked = mendit(
        root,
        &["check", "--output", out.to_str().unwrap(), "-"],
        fine,
    );
    assert_eq!(
        checked.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&checked.stdout)
    );
    let taken = git(root, &["apply", "--check", "--index", "out.patch"]);
    assert!(
        taken.status.success(),
        "{}",
        String::from_utf8_lossy(&taken.stderr)
    );
}

#[test]
fn killed_apply_is_finished_or_undone() {
    let names: Vec<String> = (0..150).map(|index| format!("d{}/f{index}", index % 7)).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"v\n"[..])).collect();
    let repository = repository(&files);
    let root = repository.path();
    let mut patch = String::new();
    for name in &names {
        patch.push_str(&format!(
            "--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-v\n+w\n"
        ));
    }
    for delay in [2, 5, 9, 14, 20, 30, 45] {
        git(root, &["checkout", "-q", "--", "."]);
        let mut child = super::support::command(root, &["apply", "-"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), patch.as_bytes()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(delay));
        child.kill().unwrap();
        child.wait().unwrap();
        let recovered = mendit(root, &["apply", "--recover"], b"");
        assert_eq!(
            recovered.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&recovered.stderr)
        );
        let new = names.iter().filter(|name| fs::read(root.join(name)).unwrap() == b"w\n").count();
        assert!(
            new == 0 || new == names.len(),
            "{new} of {} files are new",
            names.len()
        );
    }
}

#[test]
fn every_command_reports_interrupted_apply() {
    let repository = repository(&[("a", b"v\n")]);
    let root = repository.path();
    let patch = b"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-v\n+w\n";
    let rows = |output: &std::process::Output| -> serde_json::Value {
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["rows"].clone()
    };
    let row = |rows: &serde_json::Value, name: &str| {
        let mut rows = rows.as_array().unwrap().iter();
        rows.find(|it| it["name"] == name).cloned()
    };
    let before = rows(&mendit(root, &["doctor", "--format", "json"], b""));
    assert_eq!(row(&before, "apply"), None);
    let kept = row(&before, "runs").unwrap();
    // As one that was killed leaves it before the first file.
    let journal = Path::new(kept["message"].as_str().unwrap()).join("apply");
    fs::create_dir(&journal).unwrap();
    fs::write(journal.join("plan.json"), "[]").unwrap();
    let said = |arguments: &[&str], exit: i32| {
        let output = mendit(root, arguments, patch);
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        assert_eq!(output.status.code(), Some(exit), "{arguments:?} {said}");
        assert!(
            said.contains("mendit apply --recover"),
            "{arguments:?} {said}"
        );
    };
    said(&["check", "-"], 0);
    said(&["run", "true"], 0);
    said(&["repair", "--test", "false"], 2);
    said(&["apply", "-"], 2);
    let now = rows(&mendit(root, &["doctor", "--format", "json"], b""));
    let apply = row(&now, "apply").unwrap();
    assert_eq!(
        (&apply["state"], &apply["command"]),
        (&"missing".into(), &"mendit apply --recover".into())
    );
    assert_eq!(
        mendit(root, &["apply", "--recover"], b"").status.code(),
        Some(0)
    );
    assert_eq!(mendit(root, &["apply", "-"], patch).status.code(), Some(0));
}

#[test]
fn file_replaces_directory() {
    let repository = repository(&[("p/q", b"old\n")]);
    let root = repository.path();
    let patch = b"diff --git a/p b/p\nnew file mode 100644\n--- /dev/null\n+++ b/p\n@@ -0,0 +1 @@\n+new\ndiff --git a/p/q b/p/q\ndeleted file mode 100644\n--- a/p/q\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n";
    let applied = mendit(root, &["apply", "-"], patch);
    assert_eq!(
        applied.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&applied.stdout)
    );
    assert_eq!(fs::read(root.join("p")).unwrap(), b"new\n");
}

#[test]
fn files_and_index_change_together() {
    let repository = repository(&[("f", b"a\nb\nc\n")]);
    let root = repository.path();
    write(root, ".git/index.lock", b"");
    let refused = mendit(root, &["apply", "--index", "-"], PATCH);
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("locked") && !said.contains("fsck"), "{said}");
    assert_eq!(fs::read(root.join("f")).unwrap(), b"a\nb\nc\n");
    assert!(!root.join("d").exists());
    fs::remove_file(root.join(".git/index.lock")).unwrap();
    let done = mendit(root, &["apply", "--index", "-"], PATCH);
    assert!(done.status.success());
    let status = git(root, &["status", "--porcelain"]).stdout;
    assert_eq!(String::from_utf8_lossy(&status), "A  d/new\nM  f\n");
}

#[test]
fn refuses_link_out_of_worktree() {
    let repository = repository(&[("a", b"x\n")]);
    let root = repository.path();
    std::os::unix::fs::symlink("a", root.join("l")).expect("a link");
    git(root, &["add", "l"]);
    git(root, &["commit", "-q", "-m", "link"]);
    let end = "\\ No newline at end of file";
    let turned = |target: &str| {
        let patch = format!(
            "diff --git a/l b/l\n--- a/l\n+++ b/l\n@@ -1 +1 @@\n-a\n{end}\n+{target}\n{end}\n"
        );
        mendit(root, &["check", "-"], patch.as_bytes()).status.code()
    };
    for target in ["/etc/passwd", "../../x", ".git/config"] {
        assert_eq!(turned(target), Some(5), "{target}");
    }
    assert_eq!(turned("b"), Some(0));
}
