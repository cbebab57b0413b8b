use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::support::{git, mendit, repository, write};

const TEN: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

// What one run leaves and says.
#[derive(Debug, PartialEq, Eq)]
struct Ran {
    exit: Option<i32>,
    stdout: String,
    stderr: String,
    files: BTreeMap<String, Vec<u8>>,
    index: String,
}

fn ran(root: &Path, output: &std::process::Output) -> Ran {
    let mut files = BTreeMap::new();
    collect(root, root, &mut files);
    Ran {
        exit: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        files,
        index: String::from_utf8_lossy(&git(root, &["ls-files", "-s"]).stdout).into_owned(),
    }
}

fn collect(root: &Path, directory: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = path.strip_prefix(root).expect("below").to_string_lossy();
        let metadata = path.symlink_metadata().expect("metadata");
        if name == ".git" {
            continue;
        }
        if metadata.is_dir() {
            collect(root, &path, files);
        } else if metadata.is_symlink() {
            let target = fs::read_link(&path).expect("a link");
            let target = format!("-> {}", target.display());
            files.insert(name.into_owned(), target.into_bytes());
        } else {
            files.insert(name.into_owned(), fs::read(&path).expect("a file"));
        }
    }
}

// Runs git and the program with the same arguments in equal repositories.
fn both(files: &[(&str, &[u8])], patch: &[u8], arguments: &[&str]) -> (Ran, Ran) {
    let one = |program: &str| {
        let root = repository(files);
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), patch).expect("the patch");
        let name = file.path().to_str().expect("a name");
        let mut all = vec![program];
        all.extend(arguments);
        all.push(name);
        let output = match program {
            "apply" => git(root.path(), &all),
            _ => mendit(root.path(), &all, b""),
        };
        let mut ran = ran(root.path(), &output);
        ran.stderr = ran.stderr.replace(name, "PATCH");
        ran
    };
    (one("apply"), one("git-apply"))
}

#[track_caller]
fn agree(files: &[(&str, &str)], patch: &str, arguments: &[&str]) {
    let files: Vec<(&str, &[u8])> = files.iter().map(|(p, t)| (*p, t.as_bytes())).collect();
    let (theirs, ours) = both(&files, patch.as_bytes(), arguments);
    assert_eq!(ours, theirs, "{arguments:?}\n{patch}");
}

const CHANGE: &str = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -4,3 +4,3 @@\n 4\n-5\n+five \n 6\n";

#[test]
fn white_space_option_warns_fixes_or_refuses() {
    for flag in ["warn", "nowarn", "fix", "error", "error-all"] {
        agree(&[("f", TEN)], CHANGE, &[&format!("--whitespace={flag}")]);
    }
    agree(&[("f", TEN)], CHANGE, &["--check"]);
    let blank = "--- a/f\n+++ b/f\n@@ -9,2 +9,4 @@\n 9\n 10\n+\n+\n";
    agree(&[("f", TEN)], blank, &["--whitespace=fix"]);
    agree(
        &[("f", "9\t\n10\n")],
        &blank.replace("-9,2 +9,4", "-1,2 +1,4"),
        &["--ignore-whitespace"],
    );
}

#[test]
fn refuses_unplaceable_hunks() {
    let patch = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n@@ -7,3 +7,3 @@\n 7\n-x\n+y\n 9\n";
    agree(&[("f", TEN)], patch, &[]);
}

#[test]
fn context_shrinks_only_when_asked() {
    let patch = "--- a/f\n+++ b/f\n@@ -3,5 +3,5 @@\n x\n 4\n-5\n+five\n 6\n x\n";
    agree(&[("f", TEN)], patch, &[]);
    agree(&[("f", TEN)], patch, &["-C1"]);
    agree(&[("f", TEN)], patch, &["-C1", "--unidiff-zero", "-v"]);
    let shifted = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n 4\n-5\n+five\n 6\n";
    agree(&[("f", TEN)], shifted, &[]);
    let near = shifted.replace("-1,3 +1,3", "-2,3 +2,3");
    agree(&[("f", TEN)], &near, &["-v"]);
}

#[test]
fn reports_damage_as_git() {
    for patch in [
        "",
        "no patch\n",
        "@@ -1 +1 @@\n-a\n+b\n",
        "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n 1\n-2\n",
        "--- a/f\n+++ b/f\n@@ -1 +1 @@\n 1\n",
        "diff --git a/f b/g\nindex 1..2\n--- a/f\n@@ -1 +1 @@\n-1\n+x\n",
        "diff --git a/f b/f\nnew file mode 100644\ndeleted file mode 100644\n",
        "diff --git a/../f b/../f\nnew file mode 100644\n--- /dev/null\n+++ b/../f\n@@ -0,0 +1 @@\n+x\n",
        "diff --git a/.git/f b/.git/f\nnew file mode 100644\n--- /dev/null\n+++ b/.git/f\n@@ -0,0 +1 @@\n+x\n",
        "diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n",
        "--- a/none\n+++ b/none\n@@ -1 +1 @@\n-x\n+y\n",
        "diff --git a/f b/f\nGIT binary patch\nliteral 3\nKcmZ\n\n",
    ] {
        agree(&[("f", TEN)], patch, &[]);
    }
    agree(&[("f", TEN)], "", &["--allow-empty"]);
}

#[test]
fn changes_types_without_following_links() {
    let link = "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+d\n\\ No newline at end of file\n";
    let through = "diff --git a/l/x b/l/x\nnew file mode 100644\n--- /dev/null\n+++ b/l/x\n@@ -0,0 +1 @@\n+x\n";
    agree(&[("d/f", TEN)], &format!("{link}{through}"), &[]);
    agree(&[("d/f", TEN)], link, &["--index"]);
    let moved = "diff --git a/f b/f/g\nsimilarity index 100%\nrename from f\nrename to f/g\n";
    agree(&[("f", TEN)], moved, &["--index"]);
    let back = "diff --git a/f/g b/f\nsimilarity index 100%\nrename from f/g\nrename to f\n";
    agree(&[("f/g", TEN)], back, &["--index"]);
}

#[test]
fn locked_index_stops_write() {
    for arguments in [&["--index"][..], &["--cached"]] {
        let root = repository(&[("f", TEN.as_bytes())]);
        fs::write(root.path().join(".git/index.lock"), "").expect("a lock");
        let words = [&["git-apply"][..], arguments].concat();
        let before = ran(root.path(), &git(root.path(), &["status"])).files;
        let ours = ran(root.path(), &mendit(root.path(), &words, CHANGE.as_bytes()));
        assert_eq!(ours.exit, Some(128), "{arguments:?}");
        assert!(ours.stderr.contains("index.lock"), "{}", ours.stderr);
        assert_eq!(ours.files, before, "{arguments:?}");
    }
}

#[test]
fn prints_summary_and_rejects() {
    let moved = "diff --git a/d/f b/d/g\nsimilarity index 90%\nrename from d/f\nrename to d/g\n--- a/d/f\n+++ b/d/g\n@@ -4,3 +4,4 @@\n 4\n-5\n+five\n+more\n 6\n";
    for flags in [
        &["--stat", "--summary"][..],
        &["--numstat", "-z"],
        &["-R", "--stat"],
    ] {
        agree(&[("d/f", TEN)], moved, flags);
    }
    agree(&[("d/f", TEN)], moved, &["--index", "--stat", "--apply"]);
    let half = format!("{CHANGE}@@ -8,2 +8,2 @@\n 8\n-x\n+y\n");
    agree(&[("f", TEN)], &half, &["--reject"]);
    agree(&[("f", &TEN.replace('7', "seven"))], CHANGE, &["--3way"]);
}

#[test]
fn matches_prefix_of_unterminated_line() {
    let patch = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-aa\n+a\n\\ No newline at end of file\n";
    for content in [&b"a\na"[..], b"a \na", b"ab\na"] {
        let flags = ["-R", "--unidiff-zero"];
        let (theirs, ours) = both(&[("f", content)], patch.as_bytes(), &flags);
        assert_eq!(ours, theirs, "{}", String::from_utf8_lossy(content));
    }
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        6 => "[ab]{1,2}",
        1 => Just(" a ".to_owned()),
        1 => Just("\ta".to_owned()),
        1 => Just(String::new()),
    ];
    (prop::collection::vec(line, 1..24), any::<bool>()).prop_map(|(lines, newline)| {
        let mut text = lines.join("\n");
        text.push_str(if newline { "\n" } else { "" });
        text.into_bytes()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_git_on_foreign_patches(
        old in text(),
        new in text(),
        now in text(),
        flags in prop::sample::subsequence(
            vec!["-C1", "--whitespace=fix", "--ignore-whitespace", "-R", "-v", "--unidiff-zero", "--recount"],
            0..3,
        ),
        zero in any::<bool>(),
    ) {
        let root = repository(&[("f", &old)]);
        write(root.path(), "f", &new);
        let context = if zero { "-U0" } else { "-U2" };
        let patch = git(root.path(), &["diff", "--no-color", context]).stdout;
        prop_assume!(!patch.is_empty());
        for content in [&old, &now] {
            let (theirs, ours) = both(&[("f", content)], &patch, &flags);
            prop_assert_eq!(&ours, &theirs, "{:?}\n{}", flags, String::from_utf8_lossy(&patch));
        }
    }
}
