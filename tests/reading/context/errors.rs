//! Bad input gives one clear error with a hint, the right exit code, and writes nothing.

use crate::support::{Repo, stderr};

fn repo() -> Repo {
    Repo::with(&[("src/user.ts", "export const user = 1;\n")])
}

// Runs and gives exit code and message; nothing may be on stdout or in the worktree.
fn fails(repo: &Repo, arguments: &[&str]) -> (i32, String) {
    let output = repo.mendit(arguments);
    assert!(output.stdout.is_empty(), "{arguments:?} printed data");
    assert!(!repo.root().join("out").exists() && !repo.root().join(".mendit").exists());
    (output.status.code().unwrap(), stderr(&output))
}

#[test]
fn each_mistake_has_its_message() {
    let repo = repo();
    repo.write("empty.log", "");
    repo.write("blank.log", "\x1b[0m\n \n");
    repo.write("bad.json", "{");
    repo.write("list.json", "{}");
    let rows: &[(&[&str], &str, &str)] = &[
        (&["src/usr.ts"], "C311", "did you mean `src/user.ts`?"),
        (&["../elsewhere.ts"], "C311", "outside the repository"),
        (&["--log", "empty.log"], "C320", "2>&1"),
        (&["--log", "blank.log"], "C320", "2>&1"),
        (&["--log", "gone.log"], "U302", "gone.log"),
        (&["--log", "src"], "U302", "src"),
        (&["--request", "bad.json"], "U101", "not JSON"),
        (&["--request", "list.json"], "U101", "requestedFiles"),
        (&["--previous", "list.json"], "U101", "level"),
        (&["--rev", "nowhere", "src/user.ts"], "U201", "nowhere"),
        (&["--deny", "[", "src/user.ts"], "U101", "["),
        (&["-C", "gone", "src/user.ts"], "U302", "gone"),
    ];
    for (arguments, code, text) in rows {
        let all = [&["context", "--out", "out"], *arguments].concat();
        let (exit, said) = fails(&repo, &all);
        assert_eq!(exit, 2, "{arguments:?}: {said}");
        assert!(
            said.contains(code) && said.contains(text),
            "{arguments:?}: {said}"
        );
    }
}

#[test]
fn usage_errors_exit_2_and_help_exits_0() {
    let repo = repo();
    for arguments in [
        &["context", "--level", "5"][..],
        &["context", "--stop-reason", "bored"],
        &["context", "--no-such-flag"],
        &["--threads", "0", "context"],
        &["nonsense"],
        &[],
    ] {
        assert_eq!(
            repo.mendit(arguments).status.code(),
            Some(2),
            "{arguments:?}"
        );
    }
    for arguments in [&["--help"][..], &["context", "--help"], &["--version"]] {
        let output = repo.mendit(arguments);
        assert!(output.status.success() && !output.stdout.is_empty());
    }
}

#[test]
fn wrong_configuration_stops_first() {
    let repo = repo();
    repo.write("mendit.toml", "[context]\nmax-flies = 1\n");
    let (exit, said) = fails(&repo, &["context", "src/user.ts"]);
    assert_eq!(exit, 2);
    assert!(
        said.contains("U103") && said.contains("did you mean `context.max-files`?"),
        "{said}"
    );
}

#[test]
fn names_unwritable_directory() {
    let repo = repo();
    repo.write("taken", "a file");
    let output = repo.mendit(&["context", "src/user.ts", "--out", "taken/deeper"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("U303"), "{}", stderr(&output));
    assert_eq!(
        std::fs::read_to_string(repo.root().join("taken")).unwrap(),
        "a file"
    );
}

#[test]
fn writes_packet_to_named_folder() {
    let repo = repo();
    let output = repo.mendit(&["context", "src/user.ts", "--out", "packet"]);
    assert!(output.status.success(), "{}", stderr(&output));
    for (name, document) in [
        ("context.json", "context"),
        ("failure-packet.json", "failure-packet"),
    ] {
        let text = std::fs::read_to_string(repo.root().join("packet").join(name)).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["document"], document);
        assert_eq!(value["schemaVersion"], 1);
    }
    // Without --out nothing is written.
    assert!(repo.mendit(&["context", "src/user.ts"]).status.success());
    assert!(!repo.root().join(".mendit").exists());
}
