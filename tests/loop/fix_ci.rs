//! `fix-ci`: the logs of a run's jobs, each failure once, whose it is, and a patch.
#![cfg(unix)]

use crate::support;
use std::io::{Cursor, Write};
use std::process::Output;

use crate::support::{Repo, needs, stderr};
use serde_json::Value;

const NAME: &str = "2026-01-01T00:00:00.0000000Z Traceback (most recent call last):\n\
    2026-01-01T00:00:00.0000000Z   File \"/home/runner/work/r/r/shop/area.py\", line 2, in area\n\
    2026-01-01T00:00:00.0000000Z     return Square.side\n\
    2026-01-01T00:00:00.0000000Z NameError: name 'Square' is not defined\n\
    2026-01-01T00:00:01.0000000Z ##[error]Process completed with exit code 1.\n";
const NETWORK: &str = "npm error code ENOTFOUND\nnpm error network request to \
    https://registry.npmjs.org/x failed, reason: getaddrinfo ENOTFOUND registry.npmjs.org\n";
const TEST: &str = "=================================== FAILURES ===================================\n\
    ____________________________________ test_b ____________________________________\n\
    E       assert 1 == 2\n\ntests/test_b.py:4: AssertionError\n\
    =========================== short test summary info ============================\n\
    FAILED tests/test_b.py::test_b - assert 1 == 2\n\
    ============================== 1 failed in 0.01s ===============================\n";
const TRIPPED: &str = "E   NameError: name 'Square' is not defined\n\nshop/area.py:2: NameError\n\
    =========================== short test summary info ============================\n\
    FAILED test_area.py::TestArea::test_area - NameError: name 'Square' is not defined\n\
    ============================== 1 failed in 0.01s ===============================\n";
const GREEN: &str = "============================= test session starts ====\n\
    ============================== 12 passed in 0.21s ==============================\n";

fn repo() -> Repo {
    let repo = Repo::with(&[
        ("shop/__init__.py", ""),
        ("shop/shape.py", "class Square:\n    side = 2\n"),
        ("shop/area.py", "def area():\n    return Square.side\n"),
        (
            "test_area.py",
            "import unittest\n\nfrom shop.area import area\n\n\nclass TestArea(unittest.TestCase):\n    \
             def test_area(self):\n        self.assertEqual(area(), 2)\n",
        ),
    ]);
    for (path, text) in [
        ("logs/1_linux.txt", NAME),
        ("logs/2_mac.txt", NAME),
        ("logs/3_install.txt", NETWORK),
        ("logs/4_unit.txt", TEST),
        ("logs/5_green.txt", GREEN),
        ("logs/6_pytest.txt", TRIPPED),
        // What stands in folders is the same again.
        ("logs/linux/2_Run tests.txt", NAME),
        ("base/unit.txt", TEST),
        ("again/linux.txt", GREEN),
    ] {
        repo.write(path, text);
    }
    repo
}

fn report(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(output)))
}

fn rows(report: &Value) -> Vec<(String, String, Vec<String>)> {
    let rows = report["failures"].as_array().unwrap().iter();
    rows.map(|it| {
        let word = |value: &Value| value.as_str().unwrap().to_owned();
        let jobs = support::texts(&it["jobs"], None);
        (word(&it["summary"]["kind"]), word(&it["cause"]), jobs)
    })
    .collect()
}

#[test]
fn each_failure_is_told_once_and_whose_it_is() {
    let repo = repo();
    let output = repo.mendit(&["fix-ci", "logs", "--base", "base", "--format", "json"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let all = report(&output);
    let rows = rows(&all);
    let row = |kind: &str, cause: &str, jobs: &[&str]| {
        let jobs = jobs.iter().map(|it| (*it).to_owned()).collect();
        (kind.to_owned(), cause.to_owned(), jobs)
    };
    for expected in [
        row("import_error", "regression", &["linux", "mac", "pytest"]),
        row("test_failure", "broken_on_base", &["unit"]),
        row("network_error", "infrastructure", &["install"]),
    ] {
        assert!(rows.contains(&expected), "{expected:?}: {rows:?}");
    }
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert_eq!(all["passed"], serde_json::json!(["green"]));
    assert!(
        all["patch"]
            .as_str()
            .unwrap()
            .contains("+from shop.shape import Square")
    );
    assert_eq!(all["verified"], Value::Null);
    let flaky = [
        "fix-ci",
        "logs/1_linux.txt",
        "--again",
        "again",
        "--format",
        "json",
    ];
    assert_eq!(self::rows(&report(&repo.mendit(&flaky)))[0].1, "flaky");
    let told = repo.mendit(&["fix-ci", "logs/1_linux.txt"]);
    let text = String::from_utf8_lossy(&told.stdout);
    assert!(
        text.contains("certain: from shop.shape import Square")
            && text.contains("no logs of the base")
            && !text.contains("mendit fix"),
        "{text}"
    );
    let green = repo.mendit(&["fix-ci", "logs/5_green.txt"]);
    assert_eq!(green.status.code(), Some(0), "{}", stderr(&green));
    repo.write("logs.zip", b"PK\x03\x04rest");
    let archive = repo.mendit(&["fix-ci", "logs.zip"]);
    assert_eq!(archive.status.code(), Some(2));
    assert!(
        stderr(&archive).contains("unpack it"),
        "{}",
        stderr(&archive)
    );
}

#[test]
fn an_archive_is_read_as_its_folder_is() {
    let repo = repo();
    let told = |what: &str| {
        let output = repo.mendit(&["fix-ci", what, "--base", "base", "--format", "json"]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        report(&output)
    };
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    for entry in std::fs::read_dir(repo.root().join("logs")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        archive.start_file(name, options).unwrap();
        archive.write_all(&std::fs::read(&path).unwrap()).unwrap();
        // GitHub's archive has the steps of each job in a folder besides.
        archive.start_file(format!("job/{name}"), options).unwrap();
        archive.write_all(b"Error: not to be read\n").unwrap();
    }
    repo.write("cut.log.gz", [0x1f, 0x8b, 8, 0]);
    let cut = repo.mendit(&["fix-ci", "cut.log.gz"]);
    assert_eq!(cut.status.code(), Some(2));
    assert!(stderr(&cut).contains("`cut.log.gz`"), "{}", stderr(&cut));
    repo.write("logs.zip", archive.finish().unwrap().get_ref());
    assert_eq!(told("logs.zip"), told("logs"));
}

#[test]
fn a_log_is_read_packed_and_an_empty_one_is_said_to_be() {
    let repo = repo();
    repo.write("empty.log", "\n");
    let empty = repo.mendit(&["fix-ci", "empty.log"]);
    assert_eq!(empty.status.code(), Some(2), "{}", stderr(&empty));
    for part in [
        "the log `empty` is empty",
        "nothing in it",
        "give what the job wrote",
    ] {
        assert!(stderr(&empty).contains(part), "{}", stderr(&empty));
    }
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed
        .write_all(b"NameError: name 'x' is not defined\n")
        .unwrap();
    repo.write("job.log.gz", packed.finish().unwrap());
    let read = repo.mendit(&["diagnose", "job.log.gz"]);
    let said = String::from_utf8_lossy(&read.stdout);
    assert!(said.starts_with("import_error (undefined_name)"), "{said}");
    repo.write("logs.zip", b"PK\x03\x04rest");
    let archive = repo.mendit(&["diagnose", "logs.zip"]);
    assert_eq!(archive.status.code(), Some(2));
    assert!(
        stderr(&archive).contains("mendit fix-ci"),
        "{}",
        stderr(&archive)
    );
}

#[test]
fn a_patch_is_tried_and_told_in_one_comment() {
    needs!("python3");
    let repo = repo();
    let before = repo.git(&["status", "--porcelain", "-uall"]);
    let test = "python3 -m unittest -v";
    let out = repo.outside().join("ci");
    let out = out.to_str().unwrap();
    let output = repo.mendit(&["fix-ci", "logs/1_linux.txt", "--test", test, "--out", out]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let read = |name: &str| std::fs::read_to_string(format!("{out}/{name}")).unwrap();
    let comment = read("comment.md");
    assert!(
        comment.starts_with("<!-- mendit: fix-ci -->\n"),
        "{comment}"
    );
    assert!(comment.contains("the tests pass with it"), "{comment}");
    assert!(read("fix.patch").contains("+from shop.shape import Square"));
    let review: Value = serde_json::from_str(&read("review.json")).unwrap();
    let body = review["comments"][0]["body"].as_str().unwrap();
    assert!(body.starts_with("```suggestion\n"), "{body}");
    assert!(body.contains("from shop.shape import Square\n"), "{body}");
    assert_eq!(repo.git(&["status", "--porcelain", "-uall"]), before);
}

#[test]
fn what_passes_here_is_said_to_pass() {
    let repo = repo();
    let out = repo.outside().join("ci");
    let out = out.to_str().unwrap();
    let output = repo.mendit(&["fix-ci", "logs/1_linux.txt", "--test", "true", "--out", out]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("the command passes here"), "{told}");
    let read = |name: &str| std::fs::read_to_string(format!("{out}/{name}")).unwrap();
    let all: Value = serde_json::from_str(&read("report.json")).unwrap();
    assert_eq!(
        (&all["passesHere"], &all["verified"]),
        (&true.into(), &Value::Null)
    );
    let comment = read("comment.md");
    assert!(
        comment.contains("the tests pass where they were run again"),
        "{comment}"
    );
}

// Another failure than the first job's is the one that the command shows here.
#[test]
fn each_failure_gets_a_repair_until_the_command_passes() {
    needs!("python3");
    let repo = repo();
    repo.write("logs/2_mac.txt", NAME.replace("'Square'", "'Absent'"));
    let output = repo.mendit(&[
        "fix-ci",
        "logs/1_linux.txt",
        "logs/2_mac.txt",
        "--test",
        "python3 -m unittest -v",
        "--format",
        "json",
    ]);
    let all = report(&output);
    assert_eq!(all["verified"], true, "{}", stderr(&output));
    assert_eq!(all["left"], serde_json::json!(["mac"]), "{all:#}");
    assert!(
        all["patch"]
            .as_str()
            .unwrap()
            .contains("+from shop.shape import Square")
    );
}

#[test]
fn workflows_are_written_once_and_quote_what_they_are_given() {
    let repo = Repo::with(&[("a.py", "")]);
    for (service, path) in [
        ("github", ".github/workflows/mendit.yml"),
        ("gitlab", ".gitlab/mendit.yml"),
    ] {
        let line = "npm test -- --grep \"a: b\" # c";
        let install = "install 'it'";
        let words = ["ci", service, "--test", line, "--install", install];
        let write = || repo.mendit(&words);
        assert_eq!(write().status.code(), Some(0));
        let text = std::fs::read_to_string(repo.root().join(path)).unwrap();
        assert!(
            text.contains(r#"TEST: "npm test -- --grep \"a: b\" # c""#),
            "{text}"
        );
        assert!(
            !text.contains("@TEST@") && !text.contains("@INSTALL@"),
            "{text}"
        );
        let again = write();
        assert_eq!(again.status.code(), Some(2));
        assert!(stderr(&again).contains("U105"));
    }
    #[cfg(unix)]
    {
        let away = repo.outside().join("away");
        std::fs::create_dir(&away).unwrap();
        std::fs::remove_dir_all(repo.root().join(".github")).unwrap();
        std::os::unix::fs::symlink(&away, repo.root().join(".github")).unwrap();
        let refused = repo.mendit(&["ci", "github", "--test", "true", "--install", "true"]);
        assert!(stderr(&refused).contains("goes through a link"));
        assert_eq!(std::fs::read_dir(&away).unwrap().count(), 0);
    }
}

#[test]
fn a_workflow_installs_a_release_or_a_program_and_asks_no_registry() {
    let repo = Repo::with(&[("a.py", "")]);
    let written = |service: &str, flags: &[&str]| {
        let words = ["ci", service, "--test", "true", "--stdout"];
        repo.mendit(&[&words[..], flags].concat())
    };
    let release = concat!("releases/download/v", env!("CARGO_PKG_VERSION"));
    for (service, flags, expected) in [
        (
            "github",
            ["--release", "o/n"],
            format!(
                "curl -fsSL https://github.com/o/n/{release}/install.sh -o /tmp/install-mendit.sh && MENDIT_RELEASES=https://github.com/o/n/{release} sh /tmp/install-mendit.sh && echo"
            ),
        ),
        (
            "gitlab",
            ["--program", "tools/men dit"],
            "install -D -m 755 'tools/men dit'".to_owned(),
        ),
        ("github", ["--install", "get it"], "\"get it\"".to_owned()),
    ] {
        let output = written(service, &flags);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(text.contains(&expected), "{text}");
        assert!(!text.contains("cargo install"), "{text}");
    }
    assert_eq!(
        written("github", &["--release", "o/n; true"]).status.code(),
        Some(2)
    );
    if env!("CARGO_PKG_REPOSITORY").is_empty() {
        let refused = written("github", &[]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(
            stderr(&refused).contains("--release OWNER/NAME"),
            "{}",
            stderr(&refused)
        );
    }
}

#[test]
fn two_jobs_that_lack_names_in_one_file_give_one_patch_that_fits() {
    let repo = repo();
    repo.write(
        "shop/area.py",
        "def area():\n    return Square.side\n\n\ndef edge():\n    return Path(\".\")\n",
    );
    let other = NAME
        .replace("line 2, in area", "line 6, in edge")
        .replace("return Square.side", "return Path(\".\")")
        .replace("'Square'", "'Path'");
    repo.write("logs/2_mac.txt", other);
    let output = repo.mendit(&[
        "fix-ci",
        "logs/1_linux.txt",
        "logs/2_mac.txt",
        "--format",
        "json",
    ]);
    let all = report(&output);
    repo.write("both.patch", all["patch"].as_str().unwrap());
    repo.git(&["apply", "both.patch"]);
    let text = std::fs::read_to_string(repo.root().join("shop/area.py")).unwrap();
    assert!(text.contains("import Square"), "{text}");
    assert!(text.contains("from pathlib import Path"), "{text}");
}
