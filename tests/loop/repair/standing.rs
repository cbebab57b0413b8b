//! What a real project brings: slow suites, logs from elsewhere, agents without a login.

use serde_json::{Value, json};

use super::world::{FIX, World, builds_in_temporary, ended, has_program};

fn events(world: &World, name: &str) -> Vec<Value> {
    let events = world.text("events.jsonl");
    let parsed = events.lines().map(|it| serde_json::from_str(it).unwrap());
    parsed.filter(|it: &Value| it["event"] == name).collect()
}

#[test]
fn agent_trouble_comes_first() {
    // What the agent does, the end, calls, how the run is reported.
    for (does, exit, calls, kind, headline) in [
        (
            "echo 'reading' >&2; echo 'Invalid API key. Please run /login' >&2; exit 1",
            4,
            1,
            "login",
            "the agent's login failed: it ended with exit code 1: Invalid API key. Please run /login",
        ),
        (
            "echo 'Credit balance is too low'",
            4,
            1,
            "credit",
            "the agent's credit is used up: it ended with exit code 0: Credit balance is too low",
        ),
        (
            "echo 'HTTP 429 (Retry-After: 0.2)' >&2; exit 1",
            1,
            2,
            "rate_limit",
            "the agent's service refused the call for now (rate limit): it ended with exit code 1: \
             HTTP 429 (Retry-After: 0.2)",
        ),
        (
            "echo 'thread main panicked at x.rs' >&2; exit 101",
            1,
            2,
            "crash",
            "the agent ended with exit code 101: thread main panicked at x.rs",
        ),
    ] {
        let world = World::shell();
        let agent = world.script(&format!(
            "cat > /dev/null\necho call >> {}\n{does}\n",
            world.outside("agent-calls").display()
        ));
        let arguments = [
            "--test", "sh check.sh", "--sandbox", "off", "--agent", &agent,
        ];
        let output = world.repair(&arguments);
        ended(&output, exit);
        let result = world.json("result.json");
        assert_eq!(result["stopReason"], "agent_error", "{kind}");
        assert_eq!(result["message"], headline);
        assert_eq!(result["agentTrouble"]["kind"], kind);
        assert_eq!(result["category"], "tool_error", "{kind}");
        let said = std::fs::read_to_string(world.outside("agent-calls")).unwrap();
        assert_eq!(said.lines().count(), calls, "{kind}");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            printed.lines().next().unwrap().contains(headline),
            "{printed}"
        );
        let report = world.json("report.json");
        let blocked = report["blockedOn"].as_str().unwrap();
        let last = headline.rsplit(": ").next().unwrap();
        assert!(blocked.ends_with(last), "{blocked}");
    }
}

#[test]
fn slow_suite_asks_no_agent() {
    let world = World::shell();
    let agent = world.agent(&[FIX], "");
    let slow = ["--test", "sleep 30", "--agent", &agent];
    let output = world.repair(&[&slow[..], &["--test-timeout", "1"]].concat());
    ended(&output, 3);
    assert_eq!(world.calls(), 0);
    let result = world.json("result.json");
    assert_eq!(result["stopReason"], "command_timeout");
    let message = result["message"].as_str().unwrap();
    assert!(message.contains("no test had failed by then"), "{message}");
    assert!(message.contains("`--test-timeout 60 "), "{message}");
    assert!(world.text("report.txt").contains("--test-timeout"));

    // A person who knows better says so.
    std::fs::remove_dir_all(world.run_folder()).unwrap();
    let more = ["--timeout", "1", "--treat-as-code", "--max-attempts", "1"];
    ended(&world.repair(&[&slow[..], &more].concat()), 1);
    assert_eq!(world.calls(), 1);

    // One that failed before its time was up has something to repair.
    let failing = "echo 'FAILED t/test_a.py::one - AssertionError: 1 != 2'; sleep 30";
    std::fs::remove_dir_all(world.run_folder()).unwrap();
    let more = ["--timeout", "1", "--max-attempts", "1"];
    let test = ["--test", failing, "--agent", &agent];
    world.repair(&[&test[..], &more].concat());
    assert_eq!(world.calls(), 2);
}

#[test]
fn budget_bounds_runs() {
    let world = World::shell();
    let output = world.repair(&["--test", "sleep 300; false", "--budget-seconds", "1"]);
    ended(&output, 3);
    let result = world.json("result.json");
    assert_eq!(result["stopReason"], "command_timeout");
    assert_eq!(result["commandRuns"].as_array().unwrap().len(), 1);
    let message = result["message"].as_str().unwrap();
    assert!(message.contains("--budget-seconds 300`"), "{message}");

    // What is cut off says nothing of the change that it ran with.
    std::fs::remove_dir_all(world.run_folder()).unwrap();
    let agent = world.agent(&[FIX], "");
    let test = ["--test", "sh check.sh && sleep 300", "--agent", &agent];
    let output = world.repair(&[&test[..], &["--budget-seconds", "8"]].concat());
    ended(&output, 1);
    assert_eq!(world.calls(), 1);
    assert_eq!(world.attempts("stopReason"), ["budget_exhausted"]);
    assert_eq!(world.json("result.json")["stopReason"], "budget_exhausted");
}

#[test]
fn result_lists_sandbox_refusals() {
    let world = World::shell();
    // Temporary folders are open, so the place has to be elsewhere.
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let note = place.path().join("note");
    let test = format!("echo x > {}", note.display());
    let output = world.repair(&["--test", &test]);
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("R211") || builds_in_temporary() {
        crate::support::skip("nothing is confined here");
        return;
    }
    ended(&output, 4);
    let result = world.json("result.json");
    let refused = json!([{ "path": note.to_str().unwrap(), "agent": false }]);
    assert_eq!(result["workplace"]["refused"], refused);
    let first = result["suggestedActions"][0].as_str().unwrap();
    let flag = format!("`--allow-write {}`", note.display());
    assert!(first.contains(&flag), "{first}");
    assert!(world.text("report.txt").contains(&flag));
}

#[test]
fn names_required_user_action() {
    // The command, the state of the environment, and the text in the headline and the next steps.
    let variable = "python3 -c \"import os; os.environ['API_KEY_X']\"";
    let rows = [
        ("pytset -q", None, "pytset", "Install it"),
        (
            "python3 -c 'import nonexist_pkg'",
            None,
            "nonexist_pkg",
            "`python3 -m pip install nonexist_pkg`",
        ),
        (variable, None, "API_KEY_X", "`API_KEY_X` is not set"),
        (
            variable,
            Some("API_KEY_X"),
            "API_KEY_X",
            "mendit run --env API_KEY_X",
        ),
    ];
    for (command, set, named, next) in rows {
        if command.starts_with("python3") && !has_program("python3") {
            continue;
        }
        let world = World::shell();
        let mut words = world.command(&["repair", "--format", "json", "--test", command]);
        words.env_remove("API_KEY_X");
        if let Some(name) = set {
            words.env(name, "1");
        }
        let output = words.output().unwrap();
        ended(&output, 4);
        let result: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(
            result["message"].as_str().unwrap().contains(named),
            "{result}"
        );
        assert_eq!(result["category"], "tool_error");
        let actions = result["suggestedActions"].as_array().unwrap();
        let texts: Vec<&str> = actions.iter().map(|it| it.as_str().unwrap()).collect();
        assert!(texts[0].contains(next), "{texts:?}");
        let each: std::collections::BTreeSet<_> = texts.iter().collect();
        assert_eq!(each.len(), texts.len(), "{texts:?}");
        for foreign in ["context level", "remaining work"] {
            assert!(!texts.iter().any(|it| it.contains(foreign)), "{texts:?}");
        }
    }
}

#[test]
fn missing_agent_stops_first() {
    let world = World::shell();
    for agent in ["no-such-agent --now", "opencode"] {
        let mut words = world.command(&["repair", "--test", "sh check.sh", "--agent", agent]);
        // Nothing but a shell is found.
        let only = world.outside("only");
        std::fs::create_dir_all(&only).unwrap();
        let output = words.env("PATH", &only).output().unwrap();
        ended(&output, 2);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("U310"), "{said}");
        assert!(!said.contains("the commands fail"), "{said}");
    }
}

#[test]
fn first_run_limits_later_runs() {
    let world = World::shell();
    let agent = world.agent(&[FIX], "");
    ended(
        &world.repair(&[
            "--test", "sh check.sh", "--agent", &agent, "--budget-seconds", "400",
        ]),
        0,
    );
    let limits: Vec<Value> =
        events(&world, "command_started").iter().map(|it| it["limit"].clone()).collect();
    assert_eq!(limits, [json!(200.0), json!(120.0)]);
}

#[test]
fn environment_failure_can_be_treated_as_code() {
    let world = World::with(&[
        ("answer.sh", "ANSWER=41\n"),
        (
            "check.sh",
            ". ./answer.sh\n[ $ANSWER = 42 ] || { echo 'ConnectionRefusedError: [Errno 111] Connection refused'; exit 1; }\n",
        ),
    ]);
    let agent = world.agent(&[FIX], "");
    let arguments = ["--test", "sh check.sh", "--agent", &agent];
    let output = world.repair(&arguments);
    ended(&output, 4);
    assert_eq!(world.calls(), 0);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains("--treat-as-code"), "{printed}");
    assert_eq!(printed.matches("action required").count(), 1, "{printed}");
    std::fs::remove_dir_all(world.run_folder()).unwrap();
    ended(
        &world.repair(&[&arguments[..], &["--treat-as-code"]].concat()),
        0,
    );
}

#[test]
fn result_explains_each_run() {
    let world = World::shell();
    let agent = world.agent(&[FIX], "");
    let output = world.repair(&["--test", "sh check.sh", "--agent", &agent]);
    ended(&output, 0);
    let runs = world.json("result.json")["commandRuns"].clone();
    let whys: Vec<&str> =
        runs.as_array().unwrap().iter().map(|it| it["why"].as_str().unwrap()).collect();
    assert_eq!(whys[0], "to see what fails");
    assert!(whys.contains(&"with the change of attempt 1"), "{whys:?}");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let again = whys.iter().any(|it| it.starts_with("a failure of this kind"));
    assert_eq!(
        told.contains("running the tests again: a failure"),
        again,
        "{told}"
    );
}

#[test]
fn report_names_task_and_rest() {
    let world = World::with(&[
        ("a.sh", "A=0\n"),
        (
            "check.sh",
            ". ./a.sh\n[ $A = 1 ] || echo 'FAILED t.py::one - AssertionError: 0 != 1'\n\
             echo 'FAILED t.py::two - AssertionError: 0 != 2'\nexit 1\n",
        ),
    ]);
    let task = world.outside("task.md");
    std::fs::write(&task, "# Values\n\nIssue: #12\nTask: F-7\n").unwrap();
    let half = "```diff\n--- a/a.sh\n+++ b/a.sh\n@@ -1 +1 @@\n-A=0\n+A=1\n```\n";
    let agent = world.agent(&[half, "nothing more"], "");
    let arguments = [
        "--test",
        "sh check.sh",
        "--agent",
        &agent,
        "--task",
        task.to_str().unwrap(),
        "--max-attempts",
        "2",
    ];
    ended(&world.repair(&arguments), 1);
    for document in ["result.json", "report.json"] {
        let document = world.json(document);
        assert_eq!(document["taskId"], "F-7");
        assert_eq!(document["issue"], "12");
    }
    let report = world.json("report.json");
    assert_eq!(report["blockedOn"], "t.py::two");
    // What was done, to what, for how long, and what to do now.
    assert!(report["duration"].as_f64().unwrap() > 0.0, "{report}");
    assert!(
        !report["completedSteps"].as_array().unwrap().is_empty(),
        "{report}"
    );
    assert_eq!(
        report["filesModified"].as_array().unwrap().len(),
        1,
        "{report}"
    );
    assert!(
        report["suggestedActions"].as_array().unwrap().len() >= 2,
        "{report}"
    );
    assert_eq!(
        (&report["category"], &report["retryable"]),
        (&json!("partial"), &json!(true))
    );
    assert_eq!(
        world.json("result.json")["remaining"]["failingTests"],
        json!(["t.py::two"])
    );
}
