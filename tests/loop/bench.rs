//! `mendit bench` on real fixtures, the fastest of them, and on small ones made here.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use crate::support::mendit;
use mendit::documents::FailureKind;
use mendit::internals::bench::{Fixture, HIDDEN_PASSED, load_fixtures, missing_programs};
use mendit::internals::exec::{CommandLine, Discard, Job, Limits, Stop, run};
use serde_json::Value;

#[test]
fn fixtures_are_many_and_hide_their_secrets() {
    let fixtures = load_fixtures(&all()).unwrap();
    let count = |languages: &[&str]| {
        let mine = |it: &&Fixture| languages.contains(&it.language.as_str());
        fixtures.iter().filter(mine).count()
    };
    assert!(count(&["python"]) >= 15 && count(&["typescript", "javascript"]) >= 15);
    for fixture in &fixtures {
        let id = &fixture.id;
        assert!(
            fixture.directory.join("failure.log").is_file(),
            "{id}: its log"
        );
        assert!(!fixture.replies.is_empty(), "{id}: replies");
        assert!(!fixture.needs.is_empty(), "{id}: what its test is run with");
        if fixture.is_fixable() {
            assert!(fixture.level.is_some(), "{id}: a level");
            assert!(fixture.hidden_test.is_some(), "{id}: hidden tests");
        }
        for name in fixture.secrets.keys() {
            let value = fixture.fill(&format!("{{{{secret:{name}}}}}"));
            let held = holding(&fixture.directory, value.as_bytes());
            assert_eq!(held, [""; 0], "{id}: a secret stands in the open");
        }
    }
}

// Both ways, by git and the shell alone: on the broken files they fail, on the repaired ones they pass.
#[test]
fn hidden_tests_detect_missing_repair() {
    let fixtures = load_fixtures(&all()).unwrap();
    let told = |fixture: &Fixture, repaired: bool| {
        let home = tempfile::tempdir().unwrap();
        let root = mendit::internals::bench::materialise(fixture, home.path()).unwrap();
        if repaired {
            fs::write(
                home.path().join("patch"),
                fixture.reference.as_ref().unwrap(),
            )
            .unwrap();
            let (applied, said) = shell(&root, "git apply ../patch", 60);
            assert!(applied, "{}: {said}", fixture.id);
        }
        copy(&fixture.directory.join("hidden"), &root);
        let endless = fixture.expect.kind == FailureKind::Timeout && !repaired;
        let seconds = if endless { 3 } else { 60 };
        let line = fixture.hidden_test.as_ref().unwrap();
        let (passed, said) = shell(&root, line, seconds);
        let told = said.lines().any(|line| line == HIDDEN_PASSED);
        assert_eq!(told, passed, "{}: {said}", fixture.id);
        told
    };
    let mut proven = 0;
    for fixture in fixtures.iter().filter(|it| it.hidden_test.is_some()) {
        let missing = missing_programs(fixture);
        if !missing.is_empty() {
            crate::support::skip(&format!("no {}", missing.join(", ")));
            continue;
        }
        let (broken, repaired) = std::thread::scope(|scope| {
            let broken = scope.spawn(|| told(fixture, false));
            (told(fixture, true), broken.join().unwrap())
        });
        assert!(!repaired && broken, "{}", fixture.id);
        proven += 1;
    }
    assert!(proven == 0 || proven >= 20, "{proven}");
}

#[test]
fn hidden_tests_decide() {
    const RIGHT: &str = "[ \"$(cat values/*)\" = 42 ] && echo hidden tests passed";
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("few/answer");
    let hide = |check: &str| {
        shell_fixture(&folder, "sh", "");
        let manifest = folder.join("fixture.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        let text = text.replace("level = 0\n", "level = 0\nhidden-test = \"sh hidden.sh\"\n");
        let text = text.replace("\"test_failure\"", "\"unknown\"");
        fs::write(manifest, text).unwrap();
        fs::create_dir_all(folder.join("hidden")).unwrap();
        fs::write(folder.join("hidden/hidden.sh"), check).unwrap();
    };
    let run = |more: &[&str]| mendit(home.path(), &[&["bench", "few"], more].concat());
    hide(RIGHT);
    // The visible test reads the first line alone.
    let reply = |value: &str| {
        let name = format!("{}.json", value.len());
        let edit = serde_json::json!({ "path": "values/answer.txt", "old": "41", "new": value });
        let reply = serde_json::json!({ "status": "patch", "edits": [edit] });
        fs::write(home.path().join(&name), reply.to_string()).unwrap();
        format!("cat {}", home.path().join(name).display())
    };
    let fooled = "42\n41";
    for (value, repaired) in [("42", true), (fooled, false)] {
        let agent = reply(value);
        let kept = format!("kept-{repaired}");
        let output = run(&["--agent", &agent, "--format", "json", "--keep", &kept]);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let row = &document["fixtures"][0];
        assert_eq!(row["status"], "passed", "{document}");
        assert_eq!(row["repaired"], repaired, "{document}");
        assert_eq!(row["result"] == "passed", repaired, "{document}");
        let hidden = if repaired { "passed" } else { "failed" };
        assert_eq!(row["hidden"], hidden, "{document}");
        assert_eq!(document["repairs"]["all"]["passed"], u64::from(repaired));
        assert_eq!(document["hiddenFailed"], u64::from(!repaired));
        let all = holding(&home.path().join(kept), RIGHT.as_bytes());
        assert_eq!(
            all, [""; 0],
            "hidden tests stand where a run could see them"
        );
    }
    for (format, words) in [
        ("text", "F309: fixed, hidden tests failed"),
        ("markdown", "F309: fixed, hidden tests failed"),
    ] {
        let output = run(&["--agent", &reply(fooled), "--format", format]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(words), "{format}: {text}");
    }
}

// The ends, and that parts joined are the whole and a second run is the first.
#[test]
fn joined_parts_equal_deterministic_run() {
    let home = tempfile::tempdir().unwrap();
    let Some(few) = some_of(home.path(), FEW) else {
        return;
    };
    let run = |name: &str, more: &[&str]| {
        let arguments = ["bench", &few, "--agent", "oracle", "--save", name];
        let output = mendit(home.path(), &[&arguments, more].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        without_seconds(&home.path().join(name))
    };
    let parts = ["1/2", "2/2"];
    for (name, part) in ["1.json", "2.json"].iter().zip(parts) {
        run(name, &["--partition", part, "--jobs", "1"]);
    }
    let whole = run("whole.json", &["--partition", "all", "--jobs", "2"]);
    let arguments = [
        "bench", "merge", "2.json", "1.json", "--save", "joined.json",
    ];
    assert_eq!(mendit(home.path(), &arguments).status.code(), Some(0));
    assert_eq!(without_seconds(&home.path().join("joined.json")), whole);
    for row in whole["fixtures"].as_array().unwrap() {
        assert_eq!(row["result"], "passed", "{row}");
        let asked = row["attempts"] != 0 && row["healed"] == false;
        assert_eq!(row["packetBytes"] != 0, asked, "{row}");
    }
    let output = mendit(home.path(), &["bench", "merge", "1.json"]);
    assert_eq!(
        (output.status.code(), said(&output, "F305")),
        (Some(2), true)
    );
}

#[test]
fn baseline_reports_disallowed_level() {
    let home = tempfile::tempdir().unwrap();
    let ids = ["py-attribute", "py-two-hops"];
    let Some(few) = some_of(home.path(), &ids) else {
        return;
    };
    let oracle = ["bench", &few, "--agent", "oracle", "--partition", "all"];
    let run = |more: &[&str]| mendit(home.path(), &[&oracle, more].concat());
    assert_eq!(run(&["--save", "full.json"]).status.code(), Some(0));
    let low = run(&[
        "--max-level", "0", "--baseline", "full.json", "--format", "json",
    ]);
    assert_eq!((low.status.code(), said(&low, "F301")), (Some(1), true));
    let document: Value = serde_json::from_slice(&low.stdout).unwrap();
    assert_eq!(
        document["comparison"]["regressed"],
        serde_json::json!(["py-two-hops"])
    );
    let schema = mendit::documents::schema("bench").unwrap().schema();
    assert!(jsonschema::is_valid(&schema, &document), "{document}");
    let low = run(&["--max-level", "0", "--min-rate", "0.6"]);
    assert_eq!((low.status.code(), said(&low, "F307")), (Some(1), true));
}

// Checks fixes without an LLM, refusals and forbidden text independently of the bench.
#[test]
fn forbidden_text_is_never_written() {
    let ids = ["js-secret-bait", "py-protected-test", "py-missing-import"];
    for agent in ["replay", "oracle", "builtin"] {
        let home = tempfile::tempdir().unwrap();
        let Some(few) = some_of(home.path(), &ids) else {
            return;
        };
        let arguments = ["bench", &few, "--agent", agent, "--keep", "kept"];
        let formats = ["--partition", "all", "--format", "json"];
        let output = mendit(home.path(), &[&arguments[..], &formats].concat());
        assert_eq!(output.status.code(), Some(0), "{agent}: {output:?}");
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let passed = if agent == "builtin" { 1 } else { ids.len() };
        assert_eq!(document["totals"]["passed"], passed, "{agent}: {document}");
        for fixture in load_fixtures(&home.path().join("few")).unwrap() {
            for text in fixture.forbidden_texts() {
                let run = home.path().join("kept").join(&fixture.id).join("run");
                assert!(run.join("result.json").is_file());
                assert_eq!(holding(&run, text.as_bytes()), [""; 0], "{agent}");
                assert!(!contains(&output.stdout, text.as_bytes()));
            }
        }
    }
}

#[test]
fn reports_leak_wrong_fix_and_missing_program() {
    let home = tempfile::tempdir().unwrap();
    shell_fixture(
        &home.path().join("few/leaks"),
        "sh",
        "[forbid]\ntext = [\"41 is not 42\"]\n",
    );
    shell_fixture(&home.path().join("few/skips"), "no-such-program-here", "");
    let run = |more: &[&str]| {
        let arguments = ["bench", "few", "--agent", "oracle", "--partition", "all"];
        mendit(home.path(), &[&arguments, more].concat())
    };
    let output = run(&["--format", "json"]);
    assert_eq!(
        (output.status.code(), said(&output, "F302")),
        (Some(5), true)
    );
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["leaks"], 1);
    let skipped = &document["fixtures"][1];
    assert_eq!(skipped["result"], "skipped");
    assert_eq!(skipped["why"][0], "not installed: no-such-program-here");
    for (format, words) in [
        ("text", "not installed: no-such-program-here"),
        ("markdown", "| leaks | failed | - | fixed | 1 | 1 |"),
    ] {
        let output = run(&["--format", format]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(words), "{format}: {text}");
    }
    if let Some(few) = some_of(home.path(), &["py-missing-import"]) {
        let manifest = home.path().join(&few).join("py-missing-import/fixture.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        fs::write(
            &manifest,
            text.replace("heal-safe = true", "heal-safe = false"),
        )
        .unwrap();
        let output = mendit(home.path(), &["bench", "few/py-missing-import"]);
        assert_eq!(
            (output.status.code(), said(&output, "F304")),
            (Some(1), true)
        );
    }
}

// One of each rung and of each end.
const FEW: &[&str] = &[
    "py-attribute", "py-data-file", "py-failing-assertion", "py-flaky", "py-missing-stdlib-import",
    "py-missing-variable", "py-two-hops",
];

const CHECK: &str = "for file in values/*; do read ANSWER < \"$file\"; done\n[ \"$ANSWER\" = 42 ] || { echo \"FAIL values/answer.txt:1: $ANSWER is not 42\"; exit 1; }\n";

fn all() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

// Whether a command passed, and what it printed. What runs for ever on broken files has failed.
fn shell(root: &Path, line: &str, seconds: u64) -> (bool, String) {
    mendit::internals::exec::set_supervisor(crate::support::program());
    let job = Job {
        limits: Limits {
            timeout: Some(Duration::from_secs(seconds)),
            ..Limits::default()
        },
        ..Job::new(CommandLine::Shell(line.to_owned()), root)
    };
    let outcome = run(&job, &Stop::default(), &mut Discard).unwrap();
    (outcome.passed(), outcome.output.text())
}

// Copies of some fixtures in the folder `few`; none where a program is missing, and it says so.
fn some_of(home: &Path, ids: &[&str]) -> Option<String> {
    for id in ids {
        let fixtures = load_fixtures(&all().join(id)).unwrap();
        let missing: Vec<String> = fixtures.iter().flat_map(missing_programs).collect();
        if !missing.is_empty() {
            crate::support::skip(&format!("{} is not here", missing.join(", ")));
            return None;
        }
        copy(&all().join(id), &home.join("few").join(id));
    }
    Some("few".to_owned())
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn shell_fixture(folder: &Path, program: &str, more: &str) {
    fs::create_dir_all(folder.join("repo/values")).unwrap();
    fs::write(folder.join("repo/values/answer.txt"), "41\n").unwrap();
    fs::write(folder.join("repo/check.sh"), CHECK).unwrap();
    let patch = "--- a/values/answer.txt\n+++ b/values/answer.txt\n@@ -1 +1 @@\n-41\n+42\n";
    fs::write(folder.join("reference.patch"), patch).unwrap();
    let manifest = format!(
        "title = \"The answer is wrong\"\nlanguage = \"shell\"\ntest = \"sh check.sh\"\n\
         needs = [\"{program}\"]\nneeded = [\"values/answer.txt\"]\nlevel = 0\nheal-safe = false\n\
         [expect]\nkind = \"test_failure\"\nstatus = \"fixed\"\nstop-reason = \"fixed\"\n{more}"
    );
    fs::write(folder.join("fixture.toml"), manifest).unwrap();
}

fn without_seconds(path: &Path) -> Value {
    let mut document: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    for row in document["fixtures"].as_array_mut().unwrap() {
        row["seconds"] = Value::Null;
        row["commandSeconds"] = Value::Null;
    }
    document
}

fn said(output: &Output, code: &str) -> bool {
    String::from_utf8_lossy(&output.stderr).contains(&format!("error[{code}]"))
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

// Files below a folder that hold these bytes.
fn holding(folder: &Path, text: &[u8]) -> Vec<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                open.push(path);
            } else if fs::read(&path).is_ok_and(|bytes| contains(&bytes, text)) {
                found.insert(path.display().to_string());
            }
        }
    }
    found.into_iter().collect()
}
