use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;

use super::support::{fed, git, mendit, repository, write};

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
    // A blank line that is last and has no newline is none at the end.
    let open = "--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n 9\n+ \t\n\\ No newline at end of file\n";
    agree(&[("f", "9\n")], open, &["--whitespace=fix"]);
    // A removed blank line without its newline is no line once it is fixed; a lost carriage return is not counted.
    for (last, new, lines) in [
        ("  \r", "+ \r\n", 2),
        (" \t", "+a\n", 2),
        ("8", "+a\r\n+b \r\n", 3),
    ] {
        let header = format!("--- a/f\n+++ b/f\n@@ -1,2 +1,{lines} @@\n");
        let patch = format!("{header} 9\n-{last}\n\\ No newline at end of file\n{new}");
        let text = format!("9 \n{last}");
        let files = [("f", text.as_bytes())];
        let (mut theirs, ours) = both(&files, patch.as_bytes(), &["--whitespace=fix"]);
        theirs.stderr = theirs.stderr.replace('\r', "?");
        assert_eq!(ours, theirs, "{patch}");
    }
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
    agree(&[("f", TEN)], "", &["--allow-empty", "--stat", "--summary"]);
    agree(&[("f", TEN)], "", &["--allow-empty"]);
}

const HUNK: &str = "@@ -4,3 +4,3 @@\n 4\n-5\n+five\n 6\n";

// Headers that git reads, each of another file. `$` is the hunk above.
const HEADERS: &[&str] = &[
    "diff --git a/f1 b/f1\nold mode 100644\nnew mode 100755\n",
    "diff --git a/f2 b/f2\nold mode 100664\nnew mode 0100755 x\nindex 1234567..89abcde\n--- a/f2\n+++ b/f2\n$",
    "diff --git a/f3 b/g3\nsimilarity index 90%\nrename from f3\nrename to g3\nindex 1234567..89abcde 100644\n--- a/f3\tnow\n+++ b/g3\tnow\n$",
    "diff --git a/f4 b/g4\nsimilarity index 101%\nrename old f4\nrename new g4\n",
    "diff --git a/f5 b/d/g5\nsimilarity index 100%\ncopy from f5\ncopy to d/g5\n",
    "diff --git a/f6 b/f6\ndissimilarity index 7%\nindex 1..2 100644\n--- a/f6\t2020-01-01\n+++ b/f6\tnow\n$",
    "diff --git a/n1 b/n1\nnew file mode 100755\nindex 0000000..e69de29\n",
    "diff --git a/n2 b/n2\nnew file mode 100644\n--- /dev/null\n+++ b/n2\n@@ -0,0 +1 @@\n+n\n",
    "diff --git a/x b/x\ndeleted file mode 100644\nindex d00491f..0000000\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n",
    "diff --git a/e b/e\ndeleted file mode 100644\nindex e69de29..0000000\n",
    "diff --git a/a b b/a b\nold mode 100644\nnew mode 100755\n",
    "diff --git a/a b b/a b\n--- a/a b\n+++ b/a b\n$",
    "diff --git \"a/t\\tb\" \"b/t\\tb\"\nold mode 100644\nnew mode 100755\n",
    "diff --git \"a/t\\tb\" \"b/t\\tb\"\n--- \"a/t\\tb\"\n+++ \"b/t\\011b\"\tnow\n$",
    "diff --git a/f7 \"b/\\1467\"\nold mode 100644\nnew mode 100755\n",
    "diff --git a/f7 b/f7\nindex abc\n--- a/f7\n+++ b/f7\n$",
    "--- a/f8\t2020-01-01 10:00:00.000000000 +0000\n+++ b/f8\t2020-01-01 10:00:01 +01:00\n$",
    "--- a/f9.orig  2020-01-01 10:00:00\n+++ b/f9  20-01-01 10:00:00\n$",
    "--- a/f10\twords\n+++ b/f10.new\n$",
    "--- a/x\n+++ b/f11\n$",
    "--- \"a/f12\"\t2020-01-01 10:00:00\n+++ \"b/f12\"\t2020-01-01 10:00:00\n$",
    "--- a/n3\t1970-01-01 01:00:00.000000000 +0100\n+++ b/n3\n@@ -0,0 +1 @@\n+n\n",
    "--- a/y\n+++ b/y\t1969-12-31 18:30:00 -05:30\n@@ -1 +0,0 @@\n-1\n",
    "--- /dev/null\n+++ b/n4\n@@ -0,0 +1 @@\n+n\n",
    "--- a/z\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n",
    "--- a/n5\n+++ b/n5\n@@ -0,0 +1 @@\n+n\n",
    "--- a/v\n+++ b/v\n@@ -1 +0,0 @@\n-1\n",
    "--- a/w\t1970-01-01 00:00:01 +0000\n+++ b/w\n@@ -1 +1 @@\n-1\n+2\n",
];

// Folder, flag, and headers that git refuses or that each need a run.
const RARE_HEADERS: &[&str] = &[
    "||diff --git a/f1 b/f2\nold mode 100644\nnew mode 100755\n",
    "||diff --git f1 f1\nold mode 100644\nnew mode 100755\n",
    "||diff --git a/f1 b/f2\nsome words\n",
    "||diff --git a/f1 b/f1\nold mode 100644x\nnew mode 100755\n",
    "||diff --git a/f1 b/f1\nold mode \nnew mode 100755\n",
    "||diff --git a/f1 b/f2\nrename from f1\n",
    "||diff --git a/f1 b/f2\nrename to f2\n",
    "||diff --git a/f1 b/f1\n--- a/f2\n+++ b/f1\n$",
    "||diff --git a/f1 b/f1\nold mode 100644\nnew mode 100755\n--- a/f1\n+++ b/f2\n$",
    "||diff --git a/f1 b/f2\nrename from f1\nrename to f2\n--- a/f2\n+++ b/f2\n$",
    "||diff --git a/f1 b/f2\nrename from f1\nrename to f2\n--- a/f1\n+++ b/f1\n$",
    "||diff --git a/n b/n\nnew file mode 100644\n--- a/n\n+++ b/n\n@@ -0,0 +1 @@\n+n\n",
    "||diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ b/x\n@@ -1 +0,0 @@\n-1\n",
    "||diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n$",
    "||diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n$",
    "||diff --git a/n b/n\nnew file mode 100644\nrename from f1\nrename to n\n",
    "||diff --git a/f1 b/n\nrename from f1\ncopy to n\n",
    "||diff --git a/f1 b/f1\ndeleted file mode 100644\nnew file mode 100644\n",
    "||diff --git a/f1 b/f1\nnew file mode 100644\nindex 0000000..e69de29\n",
    "||diff --git a/f1 b/f1\nindex 1234567..89abcde 100755\n--- a/f1\n+++ b/f1\n$",
    "||diff --git a/f1 b/f1\nindex 1234567..89abcde 100x\n--- a/f1\n+++ b/f1\n$",
    "||diff --git a/f1 b/f1\nsimilarity index 50%\n",
    "||--- f1\n+++ /dev/null/f1\n$",
    "||--- /dev/null\n+++ a\n@@ -0,0 +1 @@\n+n\n",
    "||--- a/n\t1970-01-01 00:00:00 +0000\n+++ b/n\n$",
    "||--- a/f1\n+++ b/f1\t1970-01-01 00:00:00 +0000\n$",
    "||--- a/f1\t1970-01-01 00:00:00 +0000\r\n+++ b/f1\n$",
    "|-p2|diff --git a/f1 b/f2\nold mode 100644\nnew mode 100755\n",
    "|-p2|diff --git a/v/f1 b/v/f1\nold mode 100644\nnew mode 100755\n",
    "|-p2|diff --git a/v/f1 b/v/g1\nrename from v/f1\nrename to v/g1\n",
    "|-p0|diff --git f1 f1\nold mode 100644\nnew mode 100755\n--- f1\n+++ f1\n$",
    "|--directory=d|diff --git a/f b/f\nold mode 100644\nnew mode 100755\n--- a//f\n+++ b/f\n$",
    "|--directory=d|--- a/\n+++ b/e/f\n$",
    "||--- a/\n+++ b/f1\n$",
    "||--- f1\n+++ f1\n$--- a/f2\n+++ b/f2\n$",
    "||diff --git a/f1 b/f1\nold mode 100644\nnew mode 100755",
    "||--- a/f1\n+++ b/f1\n$diff --git a/f1 b/f2\n",
    "||diff --git a/f1 b/f1\nold mode 100644\nnew mode 120000\n",
    "||diff --git a/f1 b/f1\nindex ID..ID 100x\n--- a/f1\n+++ b/f1\n$",
    "||diff --git a/f1 b/f1\nindex ID..1ID 100x\n--- a/f1\n+++ b/f1\n$",
    "d||diff --git a/d/f b/d/f\n--- a/d/f\n+++ b/d/f\n$",
    "d||--- d/f\n+++ d/f\n$--- v/d/lib/f\n+++ v/d/lib/f\n$",
    "d||--- v/d/f\n+++ v/d/f\n$",
    "d||--- v/f\n+++ v/f\n$",
    "d||--- f\n+++ f\n$",
    "d||--- /dev/null\n+++ d/n\n@@ -0,0 +1 @@\n+n\n",
    "d/lib||--- v/d/lib/f\n+++ v/d/lib/f\n$",
    "d/lib||--- d/lib/f\n+++ d/lib/f\n$",
];

// Compares what git and the program print of patches, in one repository that neither changes.
#[test]
fn reads_headers_as_git() {
    let mut files: Vec<(String, &[u8])> =
        (1..13).map(|number| (format!("f{number}"), TEN.as_bytes())).collect();
    files.extend(["a b", "t\tb", "d/f", "d/lib/f"].map(|name| (name.to_owned(), TEN.as_bytes())));
    files.extend(["v", "w", "x", "y", "z"].map(|name| (name.to_owned(), &b"1\n"[..])));
    files.push(("e".to_owned(), b""));
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (&**name, *text)).collect();
    let root = repository(&files);
    let all = HEADERS.concat();
    let all = [format!("||{all}"), format!("|-R|{all}")];
    for row in all.iter().map(String::as_str).chain(RARE_HEADERS.iter().copied()) {
        let [directory, flag, patch] = row.splitn(3, '|').collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        let patch = patch.replace('$', HUNK).replace("ID", &"1".repeat(40));
        let read = |output: std::process::Output| {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            // git counts lines of a header in another way.
            let said = said.split(" line ").next().unwrap_or_default().to_owned();
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            (output.status.code(), printed, said)
        };
        let place = root.path().join(directory);
        let arguments = |name| {
            let all = [name, "--check", "--numstat", "--summary", "-v", flag];
            all.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>()
        };
        let mut git = Command::new("git");
        git.args(arguments("apply"))
            .current_dir(&place)
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        let ours = read(mendit(&place, &arguments("git-apply"), patch.as_bytes()));
        let is_refused = flag == "-R" || !row.ends_with(HEADERS[HEADERS.len() - 1]);
        assert!(is_refused || ours.0 == Some(0), "{ours:?}");
        assert_eq!(
            ours,
            read(fed(git, patch.as_bytes())),
            "{flag} in `{directory}`:\n{patch}"
        );
    }
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
