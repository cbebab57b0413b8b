//! The first ten minutes: run, fix, and every command that takes the last run when none is named.

use crate::support;
use std::process::Output;

use crate::support::{Repo, json, kept, needs, stderr};

// A class that is used and not imported; unittest says so.
fn repo() -> Repo {
    Repo::with(&[
        ("shop/__init__.py", ""),
        ("shop/shape.py", "class Square:\n    side = 2\n"),
        (
            "shop/area.py",
            "def area():\n    return Square.side * Square.side\n",
        ),
        (
            "test_area.py",
            "import unittest\n\nfrom shop.area import area\n\n\nclass TestArea(unittest.TestCase):\n    \
             def test_area(self):\n        self.assertEqual(area(), 4)\n",
        ),
    ])
}

const TEST: [&str; 4] = ["python3", "-m", "unittest", "-v"];

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn run(repo: &Repo, flags: &[&str]) -> Output {
    repo.mendit(&[&["run"], flags, &TEST].concat())
}

#[test]
fn failing_run_prints_cause_and_next_step() {
    needs!("python3");
    let repo = repo();
    let output = run(&repo, &[]);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    let said = stderr(&output);
    for part in [
        "✗ test_area.TestArea.test_area",
        "NameError: name 'Square' is not defined",
        "shop/area.py:2",
        "✓ certain: from shop.shape import Square",
        "next: mendit fix  (applies the certain fixes)",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    let other = repo.mendit(&["run", "--keep-exit-code", "sh", "-c", "exit 7"]);
    assert_eq!(code(&other), 7, "{}", stderr(&other));
    let record = run(&repo, &["--format", "json"]);
    let record: serde_json::Value = serde_json::from_slice(&record.stdout).unwrap();
    let summary = &record["summary"];
    assert_eq!(
        summary["certain"][0]["statement"],
        "from shop.shape import Square"
    );
    assert_eq!(summary["failures"][0]["path"], "shop/area.py");
}

#[test]
fn log_commands_default_to_last_run() {
    needs!("python3");
    let repo = repo();
    for command in ["diagnose", "hint", "report"] {
        let output = repo.mendit(&[command]);
        assert_eq!(code(&output), 2, "{command}");
        let said = stderr(&output);
        assert!(
            said.contains("U306") && said.contains("nothing was run here yet"),
            "{said}"
        );
    }
    run(&repo, &[]);
    let diagnosis = json(&repo.mendit(&["diagnose", "--format", "json"]));
    assert_eq!(diagnosis["undefinedNames"][0], "Square");
    let hint = repo.mendit(&["hint"]);
    assert!(stdout(&hint).contains("from shop.shape import Square"));
    assert!(stderr(&hint).contains("the last run, `python3 -m unittest -v`"));
    let context = repo.context(&[]);
    let files = support::texts(&context["filesIncluded"], None);
    assert!(files.iter().any(|it| it == "shop/area.py"), "{files:?}");
    let report = repo.mendit(&["report"]);
    assert!(stdout(&report).contains("✓ certain: from shop.shape import Square"));
    // What is named goes first.
    repo.write(
        "other.log",
        "src/a.ts(1,1): error TS2304: Cannot find name 'cents'.\n",
    );
    let named = json(&repo.mendit(&["diagnose", "--format", "json", "other.log"]));
    assert_eq!(named["undefinedNames"][0], "cents");
}

#[cfg(target_os = "linux")]
#[test]
fn unreadable_pass_is_no_pass() {
    let repo = Repo::with(&[("a.txt", "")]);
    for (line, expected) in [("echo told", 2), ("true", 0), ("echo told; exit 3", 1)] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = support::command(&repo.root(), &["run", line]);
        let output = command.stdout(full).output().unwrap();
        assert_eq!(code(&output), expected, "{line}: {}", stderr(&output));
    }
}

// Columns are as wide as their widest cell.
fn single_spaced(text: &str) -> String {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().map(|line| words(line) + "\n").collect()
}

#[test]
fn writes_fix_only_on_request() {
    needs!("python3");
    let repo = repo();
    let file = repo.root().join("shop/area.py");
    let before = std::fs::read_to_string(&file).unwrap();
    run(&repo, &[]);
    let shown = repo.mendit(&["fix"]);
    assert_eq!(code(&shown), 4, "{}", stderr(&shown));
    let said = single_spaced(&stdout(&shown));
    for part in [
        "+from shop.shape import Square",
        "\nfound, not written: ",
        "\nchanges shop/area.py",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(stderr(&shown).contains("U311"), "{}", stderr(&shown));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    let written = repo.mendit(&["fix", "--yes"]);
    assert_eq!(code(&written), 0, "{}", stderr(&written));
    assert!(
        std::fs::read_to_string(&file)
            .unwrap()
            .contains("from shop.shape import Square")
    );
    let report = stdout(&repo.mendit(&["report"]));
    assert!(report.contains("\nchanged"), "{report}");
    // The last command again, and then nothing is left.
    assert_eq!(code(&repo.mendit(&["run"])), 0);
    let nothing = repo.mendit(&["fix"]);
    assert_eq!(code(&nothing), 4);
    assert!(
        stderr(&nothing).contains("the last run passed"),
        "{}",
        stderr(&nothing)
    );
}

#[test]
fn writes_certain_import_beside_other_failure() {
    needs!("python3");
    let repo = repo();
    repo.write("shop/double.py", "def double(x):\n    return x * 3\n");
    repo.write(
        "test_double.py",
        "import unittest\n\nfrom shop.double import double\n\n\nclass TestDouble(unittest.TestCase):\n    \
         def test_double(self):\n        self.assertEqual(double(2), 4)\n",
    );
    run(&repo, &[]);
    let fix = repo.mendit(&["fix", "--yes"]);
    let said = single_spaced(&stdout(&fix));
    assert_eq!(code(&fix), 1, "{said}{}", stderr(&fix));
    for part in [
        "fixed in part: ", "\nstill failing test_double.", "\nchanged shop/area.py +",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let file = std::fs::read_to_string(repo.root().join("shop/area.py")).unwrap();
    assert!(file.contains("from shop.shape import Square"), "{file}");
    let again = run(&repo, &[]);
    assert!(
        !stderr(&again).contains("✗ test_area"),
        "{}",
        stderr(&again)
    );
}

#[test]
fn never_writes_masked_secret() {
    needs!("python3");
    let repo = repo();
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let file = repo.root().join("shop/area.py");
    let before = std::fs::read_to_string(&file).unwrap();
    let before = format!("KEY = '{token}'\n{before}");
    std::fs::write(&file, &before).unwrap();
    run(&repo, &[]);
    let fix = repo.mendit(&["fix", "--yes"]);
    assert_eq!(code(&fix), 2, "{}", stderr(&fix));
    assert!(stderr(&fix).contains("U303") && !stdout(&fix).contains(&token));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    let test = "python3 -m unittest";
    let repair = repo.mendit(&["repair", "--apply", "--test", test]);
    assert_eq!(code(&repair), 0, "{}", stderr(&repair));
    let after = std::fs::read_to_string(&file).unwrap();
    assert!(
        after.contains("from shop.shape import Square") && after.contains(&token),
        "{after}"
    );
}

#[test]
fn similar_name_is_a_guess() {
    needs!("python3");
    let repo = repo();
    repo.write(
        "shop/area.py",
        "from shop.shape import Sqare\n\n\ndef area():\n    return Sqare(2).area()\n",
    );
    let said = stderr(&run(&repo, &[]));
    assert!(
        said.contains("? perhaps: from shop.shape import Square"),
        "{said}"
    );
    assert!(!said.contains("certain"), "{said}");
}

// What a stranger types first, and what each answer says to do about it.
#[test]
fn usage_errors_suggest_working_command() {
    let repo = Repo::with(&[("a.py", "x = 1\n"), ("old.log", "1 passed\n")]);
    for (line, code_, words) in [
        ("run pytst", 2, "check the spelling"),
        ("run ./a.py", 2, "`mendit run python3 ./a.py`"),
        ("fix old.log", 2, "`mendit fix CMD` runs a command"),
        ("hint old.log", 2, "`mendit hint --log old.log`"),
        ("hint x a.py", 2, "`mendit hint x --file a.py`"),
        ("diagnose nowhere.log", 2, "path is relative"),
        ("check nowhere.patch", 2, "path is relative"),
        ("-C nowhere doctor", 2, "must exist"),
        ("context old.log", 0, "`mendit context --log old.log`"),
        ("bench a.py", 2, "a folder is expected"),
        ("report .", 2, "pass the folder of one run"),
        ("redact", 2, "mendit redact <FILE>"),
    ] {
        let words_: Vec<&str> = line.split(' ').collect();
        let output = repo.mendit(&words_);
        let said = stderr(&output);
        assert_eq!(code(&output), code_, "{line}: {said}");
        assert!(said.contains(words), "{line}: {said}");
        assert!(!said.contains("for an agent"), "{line}: {said}");
    }
    let task = repo.mendit(&["fix", "--test", "false", "--task", "mend the tests"]);
    assert!(stderr(&task).contains("`-` reads"), "{}", stderr(&task));
    // A name from a glob need not be UTF-8.
    let odd = std::os::unix::ffi::OsStrExt::from_bytes(b"a\xff.py");
    for command in ["check", "diagnose", "explain", "imports"] {
        let mut program = support::command(&repo.root(), &[command]);
        let output = program.arg::<&std::ffi::OsStr>(odd).output().unwrap();
        assert_eq!(code(&output), 2, "{command}: {}", stderr(&output));
    }
    let both = stdout(&repo.mendit(&["explain", "P402", "P403"]));
    assert!(both.contains("P402: ") && both.contains("P403: "), "{both}");
}

#[test]
fn reports_missing_commits_and_unreadable_files() {
    let repo = Repo::with(&[("a.py", "f()\n")]);
    let fresh = repo.outside().join("fresh");
    std::fs::create_dir_all(&fresh).unwrap();
    std::fs::write(fresh.join("a.py"), "x = 1\n").unwrap();
    let git = std::process::Command::new("git").arg("init").arg("-q").arg(&fresh).status();
    assert!(git.unwrap().success());
    for line in [
        "context --rev HEAD a.py", "context --diff HEAD a.py", "imports --changed HEAD",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let output = support::command(&fresh, &words).output().unwrap();
        assert_eq!(code(&output), 2, "{line}");
        assert!(
            stderr(&output).contains("no commit yet"),
            "{line}: {}",
            stderr(&output)
        );
    }
    let closed = repo.root().join("a.py");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o000);
    std::fs::set_permissions(&closed, mode).unwrap();
    // Nothing is closed to root.
    if std::fs::read(&closed).is_err() {
        let output = repo.mendit(&["hint", "f", "--file", "a.py"]);
        assert_eq!(code(&output), 2, "{}", stderr(&output));
        assert!(
            stderr(&output).contains("cannot read"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn hint_reports_no_missing_import() {
    let repo = Repo::with(&[("a.py", "assert 1 == 2\n")]);
    repo.write(
        "test.log",
        "a.py:1: in f\nE   AssertionError: assert 1 == 2\n",
    );
    let output = repo.mendit(&["hint", "--log", "test.log"]);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert!(
        stdout(&output).contains("is missing an import"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn fix_works_from_other_folder() {
    needs!("python3");
    let repo = repo();
    run(&repo, &[]);
    let below = support::mendit(&repo.root().join("shop"), &["fix", "--yes"]);
    assert_eq!(code(&below), 0, "{}", stderr(&below));
    let repo = self::repo();
    let named = repo.mendit(&[&["fix", "--yes", "--format", "json"][..], &TEST].concat());
    assert_eq!(code(&named), 0, "{}", stderr(&named));
    let result: serde_json::Value = serde_json::from_slice(&named.stdout).unwrap();
    assert_eq!(
        (&result["status"], &result["applied"]),
        (&"fixed".into(), &true.into())
    );
}

#[test]
fn repository_file_names_no_command() {
    let repo = Repo::with(&[("a.py", "")]);
    for folder in [".mendit/runs/20990101T000000.000-1", "runs"] {
        for (name, text) in [
            (
                "command.json",
                "{\"words\":[\"touch\",\"forged\"],\"prefix\":\"\",\"env\":[]}",
            ),
            (
                "run.json",
                "{\"document\":\"run\",\"status\":\"failed\",\"runId\":\"20990101T000000.000-1\"}",
            ),
            ("test.log", "NameError: name 'x' is not defined\n"),
        ] {
            repo.write(&format!("{folder}/{name}"), text);
        }
    }
    for command in [&["fix", "--yes"][..], &["run"], &["diagnose"], &["report"]] {
        let output = repo.mendit(command);
        assert_eq!(code(&output), 2, "{command:?}: {}", stderr(&output));
    }
    assert!(!repo.root().join("forged").exists());
}

#[test]
fn never_stores_command_with_secret() {
    let repo = Repo::with(&[("a.py", "")]);
    let token = ["ghp_x7Kq29ZpLmN4vRt8", "sWy3BcDfGhJk5QaUeOi1"].concat();
    let line = format!("echo https://x.example/?access_token={token}; exit 1");
    assert_eq!(code(&repo.mendit(&["run", "sh", "-c", &line])), 1);
    let again = repo.mendit(&["run"]);
    assert_eq!(code(&again), 2);
    assert!(
        stderr(&again).contains("it contains a secret"),
        "{}",
        stderr(&again)
    );
    let mut open = vec![kept(&repo.root()).unwrap()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
            } else {
                let bytes = std::fs::read(entry.path()).unwrap();
                assert!(
                    !String::from_utf8_lossy(&bytes).contains(&token),
                    "{entry:?}"
                );
            }
        }
    }
}

// As in `mendit ... | head -1`: what nobody reads any more changes neither the end nor the words.
#[test]
fn closed_pipe_is_no_error() {
    let repo = repo();
    repo.write("red.log", "a.py:1: NameError: name 'gone' is not defined\n");
    repo.write("junk.diff", "no patch\n");
    repo.write(
        "task.json",
        "{\"title\": \"t\", \"criteria\": [\"a\", \"b\"]}",
    );
    for line in [
        "--help",
        "context --log red.log",
        "context --log red.log --format json",
        "imports --graph --format json",
        "check junk.diff --format json",
        "git-apply --check junk.diff",
        "diagnose red.log",
        "hint gone",
        "redact red.log",
        "run seq 100000",
        "run --brief false",
        "run --format json true",
        "heal --test false",
        "report",
        "explain",
        "schema context",
        "schema nothing",
        "init",
        "config show",
        "completions bash",
        "doctor",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let (read, write) = std::os::unix::net::UnixStream::pair().unwrap();
        drop(read);
        let unread = support::command(&repo.root(), &words)
            .stdin(std::process::Stdio::null())
            .stdout(std::os::fd::OwnedFd::from(write))
            .output()
            .unwrap();
        let whole = support::command(&repo.root(), &words)
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        assert_eq!(code(&unread), code(&whole), "{line}: {}", stderr(&unread));
        let said = |output: &Output| {
            let text = stderr(output);
            text.replace(|it: char| it.is_ascii_digit(), "")
        };
        assert_eq!(said(&unread), said(&whole), "{line}");
    }
}

#[test]
fn doctor_prints_command_for_environment() {
    let repo = Repo::with(&[
        ("package.json", "{\"devDependencies\": {\"vitest\": \"1\"}}"),
        ("package-lock.json", "{}"),
        ("a.ts", "export const a = 1;\n"),
    ]);
    let line = "echo 'sh: 1: vitest: not found' >&2; exit 127";
    let output = repo.mendit(&["run", "sh", "-c", line]);
    assert!(stderr(&output).contains("npm ci"), "{}", stderr(&output));
    // The program that is missing is another one than the command's, whose name is a part of its own.
    let probe = repo.mendit(&[
        "doctor",
        "--test",
        "sh -c \"echo 'sh: 1: shx: not found' >&2; exit 127\"",
    ]);
    let said = stdout(&probe);
    assert!(!said.contains("`sh` is not installed"), "{said}");
    let checkup = repo.mendit(&["doctor", "--format", "json"]);
    assert_eq!(code(&checkup), 4, "{}", stderr(&checkup));
    let rows: serde_json::Value = serde_json::from_slice(&checkup.stdout).unwrap();
    let packages = rows["rows"].as_array().unwrap().iter();
    let packages: Vec<_> = packages.filter(|it| it["name"] == "packages").collect();
    assert_eq!(packages[0]["command"], "npm ci");
    // What a run lacked is named, though no manifest asks for it.
    let log = "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    import acmeclient\nModuleNotFoundError: No module named 'acmeclient'\n";
    repo.write("a.py", "import acmeclient\n");
    repo.write("log", log);
    repo.mendit(&["run", "--no-why", "sh", "-c", "cat log; exit 1"]);
    let said = stdout(&repo.mendit(&["doctor"]));
    assert!(
        said.contains("failed: `acmeclient` is neither installed"),
        "{said}"
    );
    // What passes without them does not need them.
    assert_eq!(code(&repo.mendit(&["run", "true"])), 0);
    let said = stderr(&repo.mendit(&["context"]));
    assert!(said.contains("the last run passed"), "{said}");
    let checkup = repo.mendit(&["doctor"]);
    assert_eq!(code(&checkup), 0, "{}", stderr(&checkup));
    let said = String::from_utf8_lossy(&checkup.stdout);
    assert!(said.contains("! packages"), "{said}");
    // The old name of the command that starts what must answer.
    assert_eq!(code(&repo.mendit(&["heal", "--test", "true"])), 0);
}

#[test]
fn reports_current_directory() {
    let empty = tempfile::tempdir().unwrap();
    std::fs::write(empty.path().join("a.py"), "import os\n").unwrap();
    let output = support::mendit(empty.path(), &["imports", "a.py"]);
    assert!(
        stderr(&output).contains("this is not a git repository"),
        "{}",
        stderr(&output)
    );
    let bare = support::mendit(empty.path(), &[]);
    assert_eq!(code(&bare), 2);
    for command in ["mendit run", "mendit why", "mendit fix", "mendit check"] {
        assert!(stderr(&bare).contains(command));
    }
    let typo = support::mendit(empty.path(), &["diagnos", "x.log"]);
    assert!(stderr(&typo).contains("'diagnose'"), "{}", stderr(&typo));
}
