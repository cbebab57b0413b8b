//! The workflows that `mendit init` writes, run step by step against services that are scripts on this machine.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{self, Repo, needs, stderr};
use serde_json::{Value, json};

// A failing test's summary, as a log of pytest ends.
fn failed(test: &str) -> String {
    format!(
        "=== FAILURES ===\n___ {test} ___\nE       assert 1 == 2\n\ntests/test_b.py:4: AssertionError\n\
         === short test summary info ===\nFAILED tests/test_b.py::{test} - assert 1 == 2\n=== 1 failed in 0.01s ===\n"
    )
}

// Answers with the file that is named like the address, and keeps what is written to it.
const GH: &str = r#"#!/bin/sh
set -eu
shift
verb=GET to= body= filter=
while [ $# -gt 0 ]; do
  case $1 in
    -X | --method) verb=$2; shift ;;
    --jq) filter=$2; shift ;;
    -F) body=${2#body=@}; [ "$verb" = GET ] && verb=POST; shift ;;
    --input) body=$2; verb=POST; shift ;;
    -f) shift ;;
    --attempt) shift ;;
    --paginate | --log-failed | view) ;;
    *) to=$1 ;;
  esac
  shift
done
printf '%s %s\n' "$verb" "$to" >> "$SERVICE/calls"
file=$SERVICE/$(printf %s "$to" | tr '/' '_')
if [ "$verb" != GET ]; then cp "$body" "$file.$verb"; exit; fi
[ -f "$file" ] || exit 1
if [ -n "$filter" ]; then jq -r "$filter" "$file"; else cat "$file"; fi
"#;

const CURL: &str = r#"#!/bin/sh
set -eu
verb=GET to= body=
while [ $# -gt 0 ]; do
  case $1 in
    --header) [ "$2" = "PRIVATE-TOKEN: t" ] || exit 22; shift ;;
    --request) verb=$2; shift ;;
    --data-urlencode) body=${2#*@}; shift ;;
    --get | -fsS) ;;
    *) to=$1 ;;
  esac
  shift
done
to=${to#https://gitlab.test/api/v4/projects/9/}
printf '%s %s\n' "$verb" "$to" >> "$SERVICE/calls"
file=$SERVICE/$(printf %s "${to%%\?*}" | tr '/' '_')
if [ "$verb" != GET ]; then cp "$body" "$file.$verb"; exit; fi
[ -f "$file" ] || exit 22
cat "$file"
"#;

struct Host {
    repo: Repo,
    variables: BTreeMap<String, String>,
}

impl Host {
    fn new(program: (&str, &str)) -> Self {
        let repo = Repo::with(&[("tests/test_b.py", "def test_b():\n    assert 1 == 2\n")]);
        let away = repo.outside();
        for folder in ["bin", "service", "temp"] {
            std::fs::create_dir_all(away.join(folder)).unwrap();
        }
        support::write_program(&away.join("bin").join(program.0), program.1);
        let path = support::path_with_program(&[]);
        let variables = [
            (
                "PATH",
                format!("{}:{}", away.join("bin").display(), path.display()),
            ),
            ("SERVICE", away.join("service").display().to_string()),
            ("RUNNER_TEMP", away.join("temp").display().to_string()),
            ("XDG_STATE_HOME", support::STATE.to_owned()),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value)).into();
        Self { repo, variables }
    }

    fn serve(&self, address: &str, content: impl AsRef<[u8]>) {
        let file = self.repo.outside().join("service").join(address.replace('/', "_"));
        std::fs::write(file, content).unwrap();
    }

    fn written(&self, address: &str) -> Option<String> {
        let file = self.repo.outside().join("service").join(address.replace('/', "_"));
        std::fs::read_to_string(file).ok()
    }

    fn workflow(&self, service: &str) -> Value {
        let output = self.repo.mendit(&["init", service, "--test", "false"]);
        assert!(output.status.success(), "{}", stderr(&output));
        let path = match service {
            "github" => ".github/workflows/mendit.yml",
            _ => ".gitlab/mendit.yml",
        };
        let text = std::fs::read_to_string(self.repo.root().join(path)).unwrap();
        // The program under test is on the search path.
        let install = text.lines().find(|line| line.contains("npm install")).unwrap();
        let text = text.replace(install.split_once('"').unwrap().1, "true\"");
        serde_yaml_ng::from_str(&text).unwrap_or_else(|error| panic!("{error} {text}"))
    }

    fn run(&self, shell: &str, line: &str, folder: &Path, more: &BTreeMap<String, String>) {
        let output = Command::new(shell)
            .args(["-e", "-c", line])
            .current_dir(folder)
            .stdin(Stdio::null())
            .envs(&self.variables)
            .envs(more)
            .output()
            .unwrap();
        assert!(output.status.success(), "{line}\n{}", stderr(&output));
    }
}

// One run of the workflow on an event, the artifact handed from job to job.
fn github(host: &Host, event: &BTreeMap<&str, &str>) {
    let workflow = host.workflow("github");
    let condition = workflow["jobs"]["diagnose"]["if"].as_str().unwrap();
    assert!(
        condition.contains("pull_requests[0].number &&"),
        "{condition}"
    );
    for (job, folder) in [("diagnose", "."), ("comment", "mendit-ci")] {
        for step in workflow["jobs"][job]["steps"].as_array().unwrap() {
            if let Some(action) = step["uses"].as_str() {
                let pin = action.rsplit('@').next().unwrap();
                assert_eq!(pin.len(), 40, "{action} is not pinned");
                continue;
            }
            let given = step["env"].as_object().into_iter().flatten();
            let given = given.map(|(name, value)| {
                let text = value.as_str().unwrap();
                let key = text.trim_start_matches("${{ ").trim_end_matches(" }}");
                (name.clone(), (*event.get(key).unwrap_or(&text)).to_owned())
            });
            let variables = given.collect();
            let line = step["run"].as_str().unwrap();
            host.run("bash", line, &host.repo.root().join(folder), &variables);
        }
    }
}

#[test]
fn github_gets_one_comment() {
    needs!("jq", "bash");
    let mut host = Host::new(("gh", GH));
    host.serve("7", failed("test_new"));
    let comments = "repos/o/n/issues/4/comments";
    host.serve(comments, r#"[{"id": 1, "body": "hello"}]"#);
    let fields = [
        ("id", "7"),
        ("run_attempt", "2"),
        ("head_sha", "abc"),
        ("pull_requests[0].base.sha", "0000"),
        ("pull_requests[0].number", "4"),
    ]
    .map(|(name, value)| (format!("github.event.workflow_run.{name}"), value));
    let mut event: BTreeMap<&str, &str> =
        fields.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    event.insert("github.token", "t");
    host.variables.insert("GITHUB_REPOSITORY".to_owned(), "o/n".to_owned());
    github(&host, &event);
    let comment = host.written(&format!("{comments}.POST")).unwrap();
    assert!(comment.starts_with("<!-- mendit -->\n"), "{comment}");
    assert!(comment.contains("test_new"), "{comment}");
    // The same once more replaces the comment.
    host.serve(comments, json!([{"id": 8, "body": comment}]).to_string());
    std::fs::remove_dir_all(host.repo.root().join("mendit-ci")).unwrap();
    std::fs::remove_dir_all(host.repo.root().join("mendit-run")).unwrap();
    std::fs::remove_dir_all(host.repo.root().join(".github")).unwrap();
    github(&host, &event);
    assert!(host.written("repos/o/n/issues/comments/8.PATCH").is_some());
}

#[test]
fn gitlab_reads_failed_jobs_and_writes_one_note() {
    needs!("jq");
    let mut host = Host::new(("curl", CURL));
    let jobs = |rows: &[(u32, &str, &str)]| {
        let rows = rows.iter().map(|(id, name, status)| {
            json!({"commit": {"id": "f00"}, "id": id, "name": name, "status": status, "user": {"id": 1, "name": "u"}})
        });
        rows.collect::<Value>().to_string()
    };
    host.serve(
        "pipelines/70/jobs",
        jobs(&[
            (1, "unit: [3.12, x]", "failed"),
            (2, "lint", "success"),
            (3, "e2e", "failed"),
        ]),
    );
    for (id, text) in [(1, failed("test_old")), (3, failed("test_new"))] {
        host.serve(&format!("jobs/{id}/trace"), text);
    }
    host.serve(
        "merge_requests/2/notes",
        r#"[{"id": 10, "type": null, "body": "hello"}]"#,
    );
    let given = [
        ("CI_API_V4_URL", "https://gitlab.test/api/v4"),
        ("CI_PROJECT_ID", "9"),
        ("CI_PIPELINE_ID", "70"),
        ("CI_MERGE_REQUEST_IID", "2"),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", "0000"),
        ("MENDIT_TOKEN", "t"),
        ("TEST", "false"),
    ];
    host.variables
        .extend(given.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let workflow = host.workflow("gitlab");
    let lines = |job: &str, part: &str| {
        let lines = workflow[job][part].as_array().unwrap().iter();
        let lines: Vec<&str> = lines.map(|line| line.as_str().unwrap()).collect();
        lines.join("\n")
    };
    // The job that runs the tests has no token.
    let tests = lines("mendit", "script");
    assert!(!tests.contains("TOKEN") && workflow["mendit"]["environment"].is_null());
    let with_token = |job| {
        format!(
            "{}\n{}",
            lines(".mendit", "before_script"),
            lines(job, "script")
        )
    };
    let script = [with_token("mendit logs"), tests, with_token("mendit note")].join("\n");
    host.run("sh", &script, &host.repo.root(), &BTreeMap::new());
    let note = host.written("merge_requests/2/notes.POST").unwrap();
    for test in ["test_old", "test_new"] {
        assert!(note.contains(test), "{note}");
    }

    host.serve(
        "merge_requests/2/notes",
        json!([{"id": 11, "type": null, "body": note}]).to_string(),
    );
    for folder in ["mendit-ci", "mendit-run"] {
        std::fs::remove_dir_all(host.repo.root().join(folder)).unwrap();
    }
    host.run("sh", &script, &host.repo.root(), &BTreeMap::new());
    assert!(host.written("merge_requests/2/notes/11.PUT").is_some());
}
