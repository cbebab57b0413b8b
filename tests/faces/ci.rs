//! What CI systems are given: the action and the hook as they read them, the script as they run
//! it, and reports in the shapes that their formats prescribe.
#![cfg(unix)]

use crate::support;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::Repo;
use regex::Regex;
use serde_json::Value;

#[test]
fn action_runs_steps_with_inputs() {
    let action = yaml("action.yml");
    assert_eq!(action["runs"]["using"], "composite");
    let steps = action["runs"]["steps"].as_array().unwrap();
    for step in steps {
        // A composite step either names its shell or uses another action.
        assert_ne!(step["run"].is_string(), step["uses"].is_string(), "{step}");
        assert_eq!(step["run"].is_string(), step["shell"].is_string(), "{step}");
        // An expression in a script would be read as part of it.
        assert!(!step["run"].as_str().unwrap_or_default().contains("${{"));
    }
    let text = read("action.yml");
    let declared: BTreeSet<&str> = keys(&action["inputs"]);
    let pattern = Regex::new(r"inputs\.([a-z-]+)").unwrap();
    let used: BTreeSet<&str> = pattern
        .captures_iter(&text)
        .map(|found| found.get(1).unwrap().as_str())
        .collect();
    assert_eq!(used, declared);
    let ids: Vec<&str> = steps.iter().filter_map(|it| it["id"].as_str()).collect();
    let outputs = Regex::new(r"steps\.([a-z]+)\.outputs\.([a-z-]+)").unwrap();
    let script = read("scripts/ci/mendit.sh");
    for found in outputs.captures_iter(&text) {
        assert!(ids.contains(&&found[1]), "{}", &found[0]);
        assert!(
            script.contains(&format!("{}=%s", &found[2])),
            "{}",
            &found[0]
        );
    }
    // What the script reads is what the step hands over.
    let run = steps.iter().find(|it| it["id"] == "run").unwrap();
    let read = Regex::new("INPUT_[A-Z_]+").unwrap();
    let read: BTreeSet<&str> = read.find_iter(&script).map(|found| found.as_str()).collect();
    assert_eq!(read, keys(&run["env"]));
}

#[test]
fn action_installs_own_release() {
    let repo = broken();
    let at = |name: &str| repo.outside().join(name).to_str().unwrap().to_owned();
    // A release, as `scripts/release/channels.py` leaves it; a `curl` that reads folders.
    let write = |name: &str, text: &str| support::write_program(&repo.outside().join(name), text);
    write(
        "releases/v9.9.9/install.sh",
        "mkdir -p $MENDIT_INSTALL_DIR && echo \"$MENDIT_RELEASES\" > $MENDIT_INSTALL_DIR/mendit\n",
    );
    write("tools/curl", "#!/bin/sh\nexec cp \"$2\" \"$4\"\n");
    write(
        "tools/cargo",
        "#!/bin/sh\necho \"$*\" > \"$FOLDER/built\"\n",
    );
    let step = |reference: &str, folder: &str, more: &str| {
        let output = Command::new("sh")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/ci/install.sh"))
            .env("PATH", format!("{}{more}:/usr/bin:/bin", at("tools")))
            .env("RELEASES", at("releases"))
            .env("REF", reference)
            .env("FOLDER", at(folder))
            .env("GITHUB_PATH", at("github-path"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        std::fs::read_to_string(at("github-path")).unwrap_or_default()
    };
    let program = support::program();
    let program = program.parent().unwrap();
    assert_eq!(
        step("v9.9.9", "none", &format!(":{}", program.display())),
        ""
    );
    assert_eq!(step("v9.9.9", "released", ""), at("released") + "\n");
    assert_eq!(read(&at("released/mendit")).trim(), at("releases/v9.9.9"));
    // A release that is not there, and a branch: built from sources.
    for (reference, folder) in [("v1.1.1", "one"), ("main", "two")] {
        let told = step(reference, folder, "");
        assert!(told.ends_with(&format!("{}/bin\n", at(folder))), "{told}");
        assert!(read(&at(&format!("{folder}/built"))).contains("install --locked"));
    }
}

#[test]
fn action_steps_report_failure() {
    let repo = broken();
    let (output, told) = act(&repo, &[("test", "sh check.sh")]);
    assert_eq!(
        output.status.code(),
        Some(1),
        "{}",
        support::stderr(&output)
    );
    assert!(
        told.contains("status=failed\n") && told.contains("exit-code=1\n"),
        "{told}"
    );
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("::error "), "{shown}");
    let summary = std::fs::read_to_string(repo.outside().join("summary")).unwrap();
    assert!(summary.starts_with("## mendit: failed\n") && summary.contains("41 != 42"));
    let folder = told.lines().find_map(|it| it.strip_prefix("folder=")).unwrap();
    for file in [
        "failure-packet.json", "context.json", "test.log", "summary.md",
    ] {
        assert!(Path::new(folder).join(file).is_file(), "{file}");
    }
}

#[test]
fn action_steps_offer_patch_and_fail() {
    let repo = broken();
    let patch = repo.outside().join("fix.diff");
    std::fs::write(
        &patch,
        "--- a/a.sh\n+++ b/a.sh\n@@ -1 +1 @@\n-A=41\n+A=42\n",
    )
    .unwrap();
    let agent = format!("cat '{}'", patch.display());
    let inputs = [
        ("test", "sh check.sh"),
        ("repair", "true"),
        ("agent", &agent),
        ("agent-protocol", "prompt"),
    ];
    let (output, told) = act(&repo, &inputs);
    assert_eq!(
        output.status.code(),
        Some(1),
        "{}",
        support::stderr(&output)
    );
    assert!(told.contains("status=fixed\n"), "{told}");
    let summary = std::fs::read_to_string(repo.outside().join("summary")).unwrap();
    assert!(summary.contains("+A=42"), "{summary}");
}

#[test]
fn action_steps_ignore_pass() {
    let repo = broken();
    let (output, told) = act(&repo, &[("test", "test -n \"$SEEN\""), ("env", "SEEN")]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        support::stderr(&output)
    );
    assert_eq!(told, "status=passed\nfolder=\nexit-code=0\n");
    assert!(output.stdout.is_empty() && !repo.outside().join("summary").exists());
}

#[test]
fn hook_validates_every_patch() {
    let hooks = yaml(".pre-commit-hooks.yaml");
    let hook = &hooks[0];
    assert_eq!(hook["id"], "mendit-check");
    assert_eq!(hook["language"], "rust");
    let files = Regex::new(hook["files"].as_str().unwrap()).unwrap();
    assert!(files.is_match("patches/a b.patch") && !files.is_match("a.patch.txt"));
    let repo = broken();
    repo.write(
        "good one.patch",
        "--- a/a.sh\n+++ b/a.sh\n@@ -1 +1 @@\n-A=41\n+A=42\n",
    );
    repo.write(
        "stale.patch",
        "--- a/a.sh\n+++ b/a.sh\n@@ -1 +1 @@\n-B=1\n+B=2\n",
    );
    let entry = hook["entry"].as_str().unwrap();
    for (files, code) in [
        ("'good one.patch'", 0),
        ("stale.patch 'good one.patch'", 1),
        ("'good one.patch' stale.patch", 1),
    ] {
        let output = shell(&repo, &format!("{entry} {files}"), &[]);
        assert_eq!(output.status.code(), Some(code), "{files}");
    }
}

#[test]
fn snippets_of_page_are_yaml() {
    let page = read("docs/ci.md");
    let mut found = 0;
    for block in page.split("```yaml\n").skip(1) {
        let text = block.split("```").next().unwrap();
        let value: Value = serde_yaml_ng::from_str(text).unwrap();
        found += 1;
        // A step shown alone hands over only what the action takes.
        let step = value.get(0).or_else(|| value["jobs"]["test"]["steps"].get(1));
        if let Some(step) = step {
            let inputs = yaml("action.yml")["inputs"].clone();
            assert!(keys(&step["with"]).is_subset(&keys(&inputs)), "{text}");
        }
    }
    assert_eq!(found, 4);
}

#[test]
fn sarif_has_what_its_schema_requires() {
    let validator = jsonschema::validator_for(&sarif_schema()).unwrap();
    let repo = Repo::with(&[("src/a b.ts", "export const a = 1;\n")]);
    repo.write("good.diff", "--- a/src/a b.ts\n+++ b/src/a b.ts\n@@ -1 +1 @@\n-export const a = 1;\n+export const a = ;\n");
    repo.write(
        "stale.diff",
        "--- a/src/a b.ts\n+++ b/src/a b.ts\n@@ -1 +1 @@\n-nothing\n+else\n",
    );
    repo.write("none.diff", "no patch at all\n");
    repo.write(
        "outside.diff",
        "--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n",
    );
    repo.write(
        "ts.log",
        "src/a b.ts(1,14): error TS2304: Cannot find name 'x'.\n",
    );
    repo.write("dull.log", "all is well\n");
    let mut results = 0;
    for arguments in [
        ["check", "good.diff"],
        ["check", "stale.diff"],
        ["check", "none.diff"],
        ["check", "outside.diff"],
        ["check", "-"],
        ["diagnose", "ts.log"],
        ["diagnose", "dull.log"],
    ] {
        let output = repo.mendit(&[&arguments[..], &["--format", "sarif"]].concat());
        let log: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{arguments:?}: {}", support::stderr(&output)));
        let errors: Vec<String> = validator
            .iter_errors(&log)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{arguments:?}: {errors:?}");
        let run = &log["runs"][0];
        let rules = support::texts(&run["tool"]["driver"]["rules"], Some("id"));
        let unique: BTreeSet<&String> = rules.iter().collect();
        assert_eq!(unique.len(), rules.len(), "{arguments:?}");
        for rule in support::texts(&run["results"], Some("ruleId")) {
            assert!(rules.contains(&rule), "{arguments:?}: {rule}");
            results += 1;
        }
    }
    assert!(results >= 5, "{results} results");
}

#[test]
fn annotates_each_failure_at_its_line() {
    let repo = Repo::with(&[("src/a.py", "x\n"), ("tests/test_a.py", "x\n")]);
    let mut log = String::from("==== FAILURES ====\n");
    for at in 0..8 {
        log += &format!(
            "____ test_{at} ____\n\ntests/test_a.py:{}: \n_ _ _\nE   KeyError: 'k{at}'\n\n\
             src/a.py:{}: KeyError\n",
            at + 20,
            at + 3
        );
    }
    repo.write("log", &log);
    let output = repo.mendit(&["diagnose", "log", "--format", "github"]);
    let notes = String::from_utf8(output.stdout).unwrap();
    let output = repo.mendit(&["diagnose", "log", "--format", "sarif"]);
    let sarif: Value = serde_json::from_slice(&output.stdout).unwrap();
    let validator = jsonschema::validator_for(&sarif_schema()).unwrap();
    assert!(validator.is_valid(&sarif), "{sarif:#}");
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!((notes.lines().count(), results.len()), (8, 8), "{notes}");
    for (at, (note, result)) in notes.lines().zip(results).enumerate() {
        let said = format!("test_{at}: KeyError: 'k{at}'");
        let place = format!("::error file=src/a.py,line={},title=", at + 3);
        assert!(note.starts_with(&place) && note.contains(&said), "{note}");
        let text = result["message"]["text"].as_str().unwrap();
        assert!(text.starts_with(&said), "{result}");
        let region = |places: &Value| places[0]["physicalLocation"]["region"]["startLine"].clone();
        assert_eq!(region(&result["locations"]), at + 3);
        assert!(
            text.contains(&format!("tests/test_a.py:{}", at + 20)),
            "{text}"
        );
    }
}

fn sarif_schema() -> Value {
    serde_json::from_str(include_str!("sarif.json")).unwrap()
}

fn broken() -> Repo {
    Repo::with(&[
        ("a.sh", "A=41\n"),
        (
            "check.sh",
            ". ./a.sh; [ \"$A\" = 42 ] || { echo \"AssertionError: $A != 42\"; exit 1; }\n",
        ),
    ])
}

// Runs the shell steps of the action as a runner does; returns what they wrote to the runner's file.
fn act(repo: &Repo, inputs: &[(&str, &str)]) -> (Output, String) {
    let action = yaml("action.yml");
    let outside = repo.outside().to_str().unwrap();
    let filled = |text: &str| {
        let pattern = Regex::new(r"\$\{\{ ([a-z.-]+) \}\}").unwrap();
        pattern
            .replace_all(text, |found: &regex::Captures<'_>| {
                match found[1].strip_prefix("inputs.") {
                    Some(name) => inputs
                        .iter()
                        .find(|(given, _)| *given == name)
                        .map(|(_, value)| (*value).to_owned())
                        .or_else(|| {
                            let input = &action["inputs"][name]["default"];
                            input.as_str().map(str::to_owned)
                        })
                        .unwrap(),
                    None => outside.to_owned(),
                }
            })
            .into_owned()
    };
    let mut last = None;
    for step in action["runs"]["steps"].as_array().unwrap() {
        let Some(run) = step["run"].as_str() else {
            continue;
        };
        let mut variables = vec![
            ("GITHUB_ACTIONS".to_owned(), "true".to_owned()),
            ("SEEN".to_owned(), "1".to_owned()),
            (
                "GITHUB_ACTION_PATH".to_owned(),
                env!("CARGO_MANIFEST_DIR").to_owned(),
            ),
            ("GITHUB_OUTPUT".to_owned(), format!("{outside}/output")),
            (
                "GITHUB_STEP_SUMMARY".to_owned(),
                format!("{outside}/summary"),
            ),
        ];
        for (name, value) in step["env"].as_object().into_iter().flatten() {
            variables.push((name.clone(), filled(value.as_str().unwrap())));
        }
        let output = shell(repo, run, &variables);
        let ended = !output.status.success();
        last = Some(output);
        if ended {
            break;
        }
    }
    let told = std::fs::read_to_string(repo.outside().join("output")).unwrap_or_default();
    (last.unwrap(), told)
}

fn shell(repo: &Repo, line: &str, variables: &[(String, String)]) -> Output {
    Command::new("sh")
        .args(["-e", "-c", line])
        .current_dir(repo.root())
        .stdin(Stdio::null())
        .env("PATH", support::path_with_program(&[]))
        .env("XDG_STATE_HOME", support::STATE)
        .envs(variables.iter().cloned())
        .output()
        .unwrap()
}

fn keys(value: &Value) -> BTreeSet<&str> {
    let object = value.as_object().into_iter().flatten();
    object.map(|(key, _)| key.as_str()).collect()
}

fn yaml(file: &str) -> Value {
    serde_yaml_ng::from_str(&read(file)).unwrap()
}

fn read(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}
