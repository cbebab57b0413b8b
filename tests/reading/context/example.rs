//! The embedded example of the README, as a user sees it.

use std::path::Path;

use crate::support::{Repo, texts};

fn example() -> (Repo, String) {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/f1-missing-import");
    let read = |path: &str| std::fs::read_to_string(fixture.join("repo").join(path)).unwrap();
    let files = [
        "package.json", "tsconfig.json", "src/invoice.ts", "src/money.ts", "src/report.ts",
        "src/types.ts", "tests/report.test.ts",
    ]
    .map(|path| (path, read(path)));
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let log = fixture.join("failure.log").to_str().unwrap().to_owned();
    (Repo::with(&files), log)
}

#[test]
fn prints_text() {
    let (repo, log) = example();
    let output = repo.mendit(&["context", "--log", &log]);
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap());
}

#[test]
fn level_1_holds_what_level_0_lacks() {
    let (repo, log) = example();
    let at = |level: &str| {
        texts(
            &repo.context(&["--log", &log, "--level", level])["filesIncluded"],
            None,
        )
    };
    let needed = "src/money.ts".to_owned();
    assert!(!at("0").contains(&needed));
    assert!(at("1").contains(&needed));
    assert_eq!(
        texts(&repo.context(&["--log", &log])["filesIncluded"], None),
        at("1")
    );
}

#[test]
fn prints_json() {
    let (repo, log) = example();
    let mut context = repo.context(&["--log", &log]);
    // Commit dates differ, content does not; the digests of content stay.
    context["inputSha256"] = "…".into();
    context["packetSha256"] = "…".into();
    insta::assert_snapshot!(serde_json::to_string_pretty(&context).unwrap());
}

#[test]
fn help_and_explain() {
    let repo = Repo::with(&[]);
    let text = |arguments: &[&str]| String::from_utf8(repo.mendit(arguments).stdout).unwrap();
    insta::assert_snapshot!("help", text(&["--help"]));
    insta::assert_snapshot!("help_context", text(&["context", "--help"]));
    insta::assert_snapshot!("explain_c101", text(&["explain", "c101"]));
}
