//! `mendit run`: what it prints, writes and exits with.

use crate::support::{Repo, stderr};

fn repo() -> Repo {
    Repo::with(&[
        ("src/app.py", "def f():\n    return 1\n"),
        ("tests/test_app.py", "from src.app import f\n"),
    ])
}

fn code(output: &std::process::Output) -> i32 {
    output.status.code().unwrap()
}

fn read(path: &std::path::Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

const FAILING: &str = "echo working; \
    printf 'Traceback (most recent call last):\\n  File \"src/app.py\", line 2, in f\\n\
    NameError: name \\047g\\047 is not defined\\n' >&2; exit 1";

#[test]
fn passing_run_writes_nothing() {
    let repo = repo();
    let output = repo.mendit(&["run", "--", "sh", "-c", "echo out; echo err >&2"]);
    assert_eq!(code(&output), 0);
    assert_eq!(output.stdout, b"out\n");
    assert!(stderr(&output).starts_with("err\n"));
    assert!(!repo.root().join(".mendit").exists());
}

#[test]
fn reports_failure_hidden_by_pipe() {
    let repo = repo();
    for (counted, told) in [("1 failed, 2 passed", true), ("3 passed", false)] {
        let closing = format!("===== {counted} in 0.02s =====");
        let text = format!("#!/bin/sh\necho '{closing}'\nexit 1\n");
        crate::support::write_program(&repo.root().join("pytest"), &text);
        let output = repo.mendit(&["run", "--", "sh", "-c", "./pytest | cat"]);
        assert_eq!(code(&output), 0, "the command's own end stays");
        let said = stderr(&output);
        assert_eq!(said.contains("R213"), told, "{said}");
        assert_eq!(said.contains("pytest reports 1 failed"), told, "{said}");
        let brief = repo.mendit(&["run", "--brief", "--", "sh", "-c", "./pytest | cat"]);
        let brief = String::from_utf8(brief.stdout).unwrap();
        assert_eq!(brief.contains("R213"), told, "{brief}");
    }
}

#[test]
fn failing_run_writes_packet() {
    let repo = repo();
    let output = repo.mendit(&["run", "--out", "packet", "--", "sh", "-c", FAILING]);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert_eq!(output.stdout, b"working\n");
    assert!(stderr(&output).contains("R201") && stderr(&output).contains("import_error"));
    let at = repo.root().join("packet");
    assert_eq!(read(&at.join("diagnosis.json"))["undefinedNames"][0], "g");
    assert_eq!(
        read(&at.join("context.json"))["filesIncluded"][0],
        "src/app.py"
    );
    let packet = read(&at.join("failure-packet.json"));
    assert!(packet["logs"]["text"].as_str().unwrap().contains("NameError"));
    let record = read(&at.join("run.json"));
    assert_eq!(record["status"], "failed");
    assert_eq!(record["testResult"]["exit"], 1);
    assert!(at.join("test.log").is_file());
    // Without a name the folder is one that git does not see.
    let output = repo.mendit(&["run", "--", "sh", "-c", FAILING]);
    assert_eq!(code(&output), 1);
    assert_eq!(
        std::fs::read_dir(repo.root().join(".mendit/runs")).unwrap().count(),
        1
    );
    assert!(!repo.git(&["status", "--porcelain"]).contains(".mendit"));
}

#[test]
fn exit_code_follows_failure_kind() {
    let repo = repo();
    for (arguments, exit, page) in [
        (&["--", "no-such-program"][..], 2, "R206"),
        (&["--", "./src/app.py"], 2, "R206"),
        (&["--", "no-such-program with words"], 2, "R201"),
        (&["--timeout", "0.3", "--", "sleep", "60"], 3, "R203"),
        (&["--max-output", "64K", "--", "yes"], 1, "R201"),
        (&["--", "sh", "-c", "kill -SEGV $$"], 1, "R201"),
        (
            &[
                "--",
                "sh",
                "-c",
                "echo 'KeyError: environment variable API_URL is not set'; exit 1",
            ],
            4,
            "R201",
        ),
        (&["--timeout", "0", "--", "true"], 2, "seconds"),
        (&["--"], 2, "no command after"),
    ] {
        let all = [&["run", "--out", "packet"], arguments].concat();
        let output = repo.mendit(&all);
        assert_eq!(code(&output), exit, "{arguments:?}: {}", stderr(&output));
        assert!(
            stderr(&output).contains(page),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn names_withheld_variable() {
    let repo = repo();
    let line = "test -n \"$MY_SERVICE_URL\" || { echo 'Error: environment variable MY_SERVICE_URL \
                is not set'; exit 1; }";
    let run = |arguments: &[&str]| {
        let all = [
            &["run", "--out", "packet"],
            arguments,
            &["--", "sh", "-c", line],
        ]
        .concat();
        crate::support::command(&repo.root(), &all)
            .env("MY_SERVICE_URL", "http://localhost")
            .output()
            .unwrap()
    };
    let output = run(&[]);
    assert_eq!(code(&output), 4, "{}", stderr(&output));
    assert!(
        stderr(&output).contains("mendit run --env MY_SERVICE_URL sh -c"),
        "{}",
        stderr(&output)
    );
    assert_eq!(code(&run(&["--env", "MY_SERVICE_URL"])), 0);
}
