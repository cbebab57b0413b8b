use super::world::{FIX, World, ended};

/// Two tests in two files, each red.
fn values() -> World {
    World::with(&[
        ("first/value.sh", "FIRST=0\n"),
        ("second/value.sh", "SECOND=0\n"),
        (
            "check.sh",
            ". ./first/value.sh; . ./second/value.sh\nfailed=0\n\
             [ $FIRST = 1 ] || { echo 'FAILED first/value.sh::first - AssertionError: 0 != 1'; failed=1; }\n\
             [ $SECOND = 1 ] || { echo 'FAILED second/value.sh::second - AssertionError: 0 != 1'; failed=1; }\n\
             exit $failed\n",
        ),
    ])
}

#[test]
fn splits_task_of_hanging_agent() {
    let world = values();
    let task = world.outside("task.json");
    std::fs::write(
        &task,
        r#"{"id": "F-7", "issue": "12", "title": "Values", "description": "Both values are one.",
            "criteria": ["FIRST in first/value.sh is 1", "SECOND in second/value.sh is 1"],
            "targets": ["first/value.sh", "second/value.sh"]}"#,
    )
    .unwrap();
    // Given all of it, it hangs; given a part, it does that part.
    let patch = |name: &str, variable: &str| {
        format!(
            "printf -- '--- a/{name}/value.sh\\n+++ b/{name}/value.sh\\n@@ -1 +1 @@\\n\
             -{variable}=0\\n+{variable}=1\\n'"
        )
    };
    let agent = world.script(&format!(
        "task=$(sed 's/.*\"task\"://')\ncase \"$task\" in\n\
         *'FIRST in'*'SECOND in'*) sleep 600;;\n*'FIRST in'*) {};;\n*'SECOND in'*) {};;\nesac\n",
        patch("first", "FIRST"),
        patch("second", "SECOND")
    ));
    let task = task.to_str().unwrap();
    let arguments = [
        "--test", "sh check.sh", "--agent", &agent, "--task", task, "--agent-timeout", "3",
    ];
    let output = world.repair(&arguments);
    ended(&output, 0);
    let result = world.json("result.json");
    assert_eq!(result["status"], "passed");
    assert_eq!(result["children"].as_array().unwrap().len(), 2);
    let parts = result["parts"].as_array().unwrap();
    let numbers: Vec<_> = parts.iter().map(|it| it["number"].clone()).collect();
    assert_eq!(numbers, ["1", "2"]);
    assert!(parts.iter().all(|it| it["status"] == "fixed"), "{parts:?}");
    assert_eq!(world.attempts("stopReason")[0], "agent_timeout");
    let events = world.text("events.jsonl");
    for event in [
        r#""level":"warning","event":"coder_timeout_detected""#,
        r#""level":"info","event":"timeout_auto_split_started""#,
        r#""level":"info","event":"timeout_auto_split_success""#,
    ] {
        assert!(events.contains(event), "{event}: {events}");
    }

    let named: Vec<serde_json::Value> = events
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .filter(|it: &serde_json::Value| {
            let name = it["event"].as_str().unwrap();
            name == "coder_timeout_detected" || name.starts_with("timeout_auto_split")
        })
        .collect();
    assert_eq!(named[0]["timeout_seconds"], 3.0);
    assert_eq!(named.last().unwrap()["sub_issues_count"], 2);
    for event in &named {
        assert_eq!(event["feature_id"], "F-7", "{event}");
        assert_eq!(event["issue_number"], "12", "{event}");
    }

    // With `--no-auto-split`, it ends with the timeout.
    std::fs::remove_dir_all(world.run_folder()).unwrap();
    let output = world.repair(&[&arguments[..], &["--no-auto-split"]].concat());
    assert_ne!(output.status.code(), Some(0));
    assert_eq!(world.json("result.json")["stopReason"], "agent_timeout");
    assert!(world.text("report.txt").contains("Category: timeout"));
}

#[test]
fn failed_split_names_task_and_reason() {
    let world = World::shell();
    let task = world.outside("task.json");
    let text = r#"{"id": "F-7", "issue": "12", "title": "One thing"}"#;
    std::fs::write(&task, text).unwrap();
    let hangs = world.script("cat > /dev/null\nsleep 600\n");
    let arguments = ["--test", "sh check.sh", "--agent", &hangs, "--task"];
    let more = [task.to_str().unwrap(), "--agent-timeout", "1"];
    ended(&world.repair(&[&arguments[..], &more].concat()), 3);
    let events = world.text("events.jsonl");
    let rows = events.lines().map(|it| serde_json::from_str(it).unwrap());
    let failed: Vec<serde_json::Value> = rows
        .filter(|it: &serde_json::Value| it["event"] == "timeout_auto_split_failed")
        .collect();
    assert_eq!(failed.len(), 1, "{events}");
    for (field, value) in [
        ("level", "error"),
        ("feature_id", "F-7"),
        ("issue_number", "12"),
    ] {
        assert_eq!(failed[0][field], value, "{events}");
    }
    let why = failed[0]["error"].as_str().unwrap();
    let message = world.json("result.json")["message"].clone();
    assert_eq!(
        message.as_str().unwrap(),
        format!("Issue timed out and auto-split failed: {why}. Manual intervention required.")
    );
}

#[test]
fn parts_share_budget() {
    let world = values();
    let hangs = world.script("cat > /dev/null\nsleep 600\n");
    let arguments = ["--test", "sh check.sh", "--agent", &hangs];
    let arguments = [&arguments[..], &["--agent-timeout", "1", "--max-attempts"]].concat();
    // Calls that are allowed, parts that are begun with them.
    for (allowed, parts) in [("1", 0), ("2", 1), ("3", 2)] {
        let output = world.repair(&[&arguments[..], &[allowed]].concat());
        ended(&output, 3);
        let result = world.json("result.json");
        assert_eq!(result["agentCalls"].to_string(), allowed);
        assert_eq!(result["children"].as_array().unwrap().len(), parts);
        let message = result["message"].as_str().unwrap();
        let says = message.contains("1 more not started (attempts used up: 2)");
        assert_eq!(says, parts == 1, "{message}");
        std::fs::remove_dir_all(world.run_folder()).unwrap();
    }

    // A call that hangs reports no cost, the next one uses up the budget.
    let asked = world.outside("asked");
    let dear = world.script(&format!(
        "cat > /dev/null\n[ -e {0} ] || {{ touch {0}; sleep 600; }}\n\
         echo '{{\"status\": \"give_up\", \"usage\": {{\"costUsd\": 1.0}}}}'\n",
        asked.display()
    ));
    let arguments = ["--test", "sh check.sh", "--agent", &dear];
    let budget = ["--agent-timeout", "2", "--budget-usd", "1"];
    ended(&world.repair(&[&arguments[..], &budget].concat()), 1);
    let result = world.json("result.json");
    assert_eq!(result["usage"]["costUsd"], 1.0);
    assert_eq!(result["agentCalls"], 2);
    let message = result["message"].as_str().unwrap();
    assert!(message.contains("money used up: 1.00 USD"), "{message}");
}

#[test]
fn tries_unsplittable_task() {
    let world = World::shell();
    let task = world.outside("task.json");
    let methods: Vec<String> = (0..11).map(|at| format!("\"m{at}()\"")).collect();
    let text = format!(r#"{{"title": "big", "methods": [{}]}}"#, methods.join(", "));
    std::fs::write(&task, text).unwrap();
    let agent = world.agent(&[FIX], "");
    let arguments = ["--test", "sh check.sh", "--agent", &agent, "--task"];
    ended(
        &world.repair(&[&arguments[..], &[task.to_str().unwrap()]].concat()),
        0,
    );
    assert_eq!(world.calls(), 1);
    let events = world.text("events.jsonl");
    assert!(
        events.contains(r#""event":"complexity_split_failed""#),
        "{events}"
    );
    assert!(!events.contains("timeout_auto_split"), "{events}");
}

#[test]
fn estimates_and_splits_task() {
    let world = World::with(&[("a.py", "def a(): pass\n"), ("b.py", "from a import a\n")]);
    let task = world.outside("task.json");
    std::fs::write(
        &task,
        r#"{"title": "T", "criteria": ["`a.py` does it", "`b.py` does it"], "targets": ["a.py", "b.py"]}"#,
    )
    .unwrap();
    let task = task.to_str().unwrap();
    let split = |task: &str| {
        let line = ["fix", "--split-only", "--format", "json", "--task", task];
        world.command(&line).output().unwrap()
    };
    let empty = world.outside("empty.md");
    std::fs::write(&empty, " \n").unwrap();
    ended(&split(empty.to_str().unwrap()), 2);
    let output = split(task);
    ended(&output, 0);
    let plan: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(plan["parts"].as_array().unwrap().len(), 2, "{plan}");
    // What is imported comes first.
    assert_eq!(plan["parts"][0]["targets"][0], "a.py", "{plan}");
}
