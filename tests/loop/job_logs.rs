//! `diagnose` of the logs of a CI run: each failure once, with its jobs, new or known against the base.
#![cfg(unix)]

use crate::support;
use std::io::{Cursor, Write};

use crate::support::{Repo, stderr};
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
    ] {
        repo.write(path, text);
    }
    repo
}

fn diagnose(repo: &Repo, arguments: &[&str]) -> Value {
    let output = repo.mendit(&[&["diagnose", "--format", "json"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn rows(document: &Value) -> Vec<(String, Value, Vec<String>)> {
    let rows = document["jobs"].as_array().unwrap().iter();
    rows.map(|row| {
        let kind = row["diagnosis"]["kind"].as_str().unwrap().to_owned();
        (
            kind,
            row["isNew"].clone(),
            support::texts(&row["jobs"], None),
        )
    })
    .collect()
}

#[test]
fn folder_of_logs_joins_jobs_and_compares_with_base() {
    let repo = repo();
    let document = diagnose(&repo, &["logs", "--base", "base"]);
    let row = |kind: &str, new: bool, jobs: &[&str]| {
        let jobs = jobs.iter().map(|job| (*job).to_owned()).collect();
        (kind.to_owned(), Value::from(new), jobs)
    };
    assert_eq!(
        rows(&document),
        [
            row("network_error", true, &["install"]),
            row("import_error", true, &["linux", "mac", "pytest"]),
            row("test_failure", false, &["unit"]),
        ]
    );
    assert_eq!(document["kind"], "network_error");
    let text = repo.mendit(&["diagnose", "logs", "--base", "base"]);
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(
        text.contains("in unit (also on the base)\ntest_failure"),
        "{text}"
    );
    // Nobody said how the base does.
    let document = diagnose(&repo, &["logs"]);
    assert!(
        rows(&document).iter().all(|row| row.1.is_null()),
        "{document}"
    );
    // A job that passes is no failure.
    repo.write("green/unit.txt", GREEN);
    let document = diagnose(&repo, &["green"]);
    assert_eq!(
        (&document["kind"], document.get("jobs")),
        (&"none".into(), None)
    );
}

#[test]
fn archive_is_read_like_its_folder() {
    let repo = repo();
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
    repo.write("logs.zip", archive.finish().unwrap().get_ref());
    let told = |what: &str| diagnose(&repo, &[what, "--base", "base"]);
    assert_eq!(told("logs.zip"), told("logs"));
    repo.write("broken.zip", b"PK\x03\x04rest");
    let archive = repo.mendit(&["diagnose", "broken.zip"]);
    assert_eq!(archive.status.code(), Some(2));
    assert!(
        stderr(&archive).contains("unpack it"),
        "{}",
        stderr(&archive)
    );
    repo.write("cut.log.gz", [0x1f, 0x8b, 8, 0]);
    let cut = repo.mendit(&["diagnose", "cut.log.gz"]);
    assert_eq!(cut.status.code(), Some(2));
    assert!(stderr(&cut).contains("`cut.log.gz`"), "{}", stderr(&cut));
}

#[test]
fn packed_log_is_read_and_empty_folder_is_refused() {
    let repo = repo();
    repo.write("empty/empty.log", "\n");
    let empty = repo.mendit(&["diagnose", "empty"]);
    assert_eq!(empty.status.code(), Some(2), "{}", stderr(&empty));
    for part in [
        "the log `empty` is empty",
        "nothing in it",
        "name a folder of logs",
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
}
