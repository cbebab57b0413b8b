use serde_json::Value;

use super::world::{FIX, World, ended, needs};

fn report(world: &World, arguments: &[&str]) -> String {
    let output = world.command(&[&["report"], arguments].concat()).output().unwrap();
    ended(&output, 0);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn failed_run_round_trips_report() {
    let world = World::shell();
    let evil = "<script>alert(1)</script> ``` | @all";
    let reply = format!(r#"{{"status": "give_up", "notes": "{evil}"}}"#);
    let agent = world.agent(&[&reply], "");
    ended(
        &world.repair(&[
            "--test", "sh check.sh", "--agent", &agent, "--max-attempts", "1",
        ]),
        1,
    );
    let folder = world.run_folder();
    let folder = folder.to_str().unwrap();
    let told = report(&world, &[folder, "--format", "summary"]);
    assert!(
        told.starts_with("not fixed: ") || told.starts_with("blocked: "),
        "{told}"
    );
    let text = report(&world, &[folder]);
    assert_eq!(text, world.text("report.txt"));
    assert!(text.starts_with("Child agent failed: "), "{text}");

    let direct = report(&world, &[folder, "--format", "json"]);
    assert_eq!(direct, world.text("report.json"));

    let page = report(&world, &[folder, "--format", "html"]);
    assert!(page.starts_with("<!doctype html>"));
    assert!(
        !page.contains("<script") && !page.contains("http"),
        "{page}"
    );
    let comment = report(&world, &[folder, "--format", "markdown"]);
    assert!(
        !comment.contains("<script") && !comment.contains("@all"),
        "{comment}"
    );
    assert!(comment.contains("| 1 | agent |"), "{comment}");
}

#[test]
fn blames_no_agent_without_call() {
    let world = World::shell();
    ended(&world.repair(&["--test", "sh check.sh"]), 1);
    let told = report(&world, &[]);
    assert!(told.starts_with("not fixed: "), "{told}");
    assert!(
        told.contains("\nerror ") && told.contains("expected 42, got 41"),
        "{told}"
    );
    assert!(!told.contains("Child agent"), "{told}");
    let block = report(&world, &["--format", "text"]);
    assert_eq!(block, world.text("report.txt"));
}

#[test]
fn finds_latest_run() {
    let world = World::shell();
    let agent = world.agent(&[FIX], "");
    let output = world
        .command(&["repair", "--test", "sh check.sh", "--agent", &agent])
        .output()
        .unwrap();
    ended(&output, 0);
    assert!(report(&world, &[]).starts_with("passed: "));
    let page = report(&world, &["--format", "html"]);
    assert!(page.contains("<ins>+ANSWER=42</ins>"), "{page}");
    let missing = world.command(&["report", "20200101T000000-1"]).output().unwrap();
    ended(&missing, 2);
}

#[test]
fn computes_rates_of_runs() {
    let world = World::shell();
    let runs = world.outside("runs");
    let fixing = world.agent(&[FIX], "");
    for (name, agent) in [("a", fixing.as_str()), ("b", "true")] {
        let folder = runs.join(name);
        let arguments = [
            "repair", "--test", "sh check.sh", "--agent", agent, "--max-attempts", "1",
        ];
        let output = world
            .command(&[&arguments[..], &["--out", folder.to_str().unwrap()]].concat())
            .output()
            .unwrap();
        ended(&output, i32::from(name == "b"));
    }
    std::fs::create_dir(runs.join("empty")).unwrap();
    let runs = runs.to_str().unwrap();
    let output = world.command(&["report", runs, "--format", "json"]).output().unwrap();
    ended(&output, 0);
    let stats: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(stats["runs"], 2);
    assert_eq!(stats["fixed"], 1);
    assert_eq!(stats["recoveryRate"], 0.5);
    assert_eq!(stats["skipped"].as_array().unwrap().len(), 1);
    assert_eq!(stats["alarm"], Value::Null);
    let asked = |more: &[&str]| {
        let line = [&["report", runs], more].concat();
        world.command(&line).output().unwrap()
    };
    let rings = asked(&["--alert-rate", "0.4"]);
    ended(&rings, 1);
    let said = String::from_utf8_lossy(&rings.stderr).into_owned();
    let why = "1 of 2 failures are not fixed: 50.0 %, above the allowed 40.0 %";
    assert!(said.contains(why), "{said}");
    ended(&asked(&["--alert-rate", "0.5"]), 0);
}

#[test]
fn import_errors_and_their_recovery_are_counted() {
    // One is fixed without an agent, the other is not fixed.
    let files = [
        ("shop/__init__.py", ""),
        ("shop/prices.py", "def total(a, b):\n    return a + b\n"),
        ("check.py", "print(total(1, 2))\n"),
    ];
    needs!("python3");
    let healed = World::with(&files);
    let lost = World::with(&[files[0], ("check.py", "print(nowhere_at_all(1, 2))\n")]);
    let runs = healed.outside("runs");
    for (world, name, exit) in [(&healed, "a", 0), (&lost, "b", 1)] {
        let folder = runs.join(name);
        let arguments = ["repair", "--test", "python3 check.py", "--out"];
        let output = world
            .command(&[&arguments[..], &[folder.to_str().unwrap()]].concat())
            .output()
            .unwrap();
        ended(&output, exit);
    }
    let events = std::fs::read_to_string(runs.join("a/events.jsonl")).unwrap();
    let warned = |events: &str| -> Vec<Value> {
        let rows = events.lines().map(|it| serde_json::from_str(it).unwrap());
        rows.filter(|it: &Value| it["event"] == "import_error_recovery").collect()
    };
    let said = warned(&events);
    assert_eq!(said.len(), 1, "{events}");
    assert_eq!(
        (&said[0]["level"], &said[0]["attempt"]),
        (&"warning".into(), &1.into())
    );
    assert_eq!(said[0]["undefined_names"], serde_json::json!(["total"]));
    assert_eq!(
        said[0]["suggested_imports"]["total"],
        "from shop.prices import total"
    );
    let line = ["report", runs.to_str().unwrap(), "--format", "json"];
    let output = healed.command(&line).output().unwrap();
    let stats: Value = serde_json::from_slice(&output.stdout).unwrap();
    let recovery = serde_json::json!({"runs": 2, "fixed": 1});
    assert_eq!(stats["kinds"]["import_error"], recovery);
}

#[test]
fn counts_unlisted_protected_files() {
    let guarded: Vec<String> = (0..45).map(|at| format!(".github/workflows/w{at}.yml")).collect();
    let mut files: Vec<(&str, &str)> = guarded.iter().map(|it| (it.as_str(), "")).collect();
    files.push(("answer.sh", "ANSWER=41\n"));
    let world = World::with(&files);
    let agent = world.agent(&["I do not know."], "");
    let test = "echo 'answer.sh: line 1: wrong'; exit 1";
    world.repair(&["--test", test, "--agent", &agent, "--max-attempts", "1"]);
    let packet = world.json("attempts/01/failure-packet.json");
    assert_eq!(packet["protectedPaths"].as_array().unwrap().len(), 40);
    assert_eq!(packet["moreProtectedPaths"], 5);
    let prompt = world.text("attempts/01/prompt.md");
    assert!(prompt.contains("\nand 5 more\n"), "{prompt}");
}

#[test]
fn result_has_start_and_end() {
    let world = World::shell();
    world.repair(&["--test", "sh check.sh"]);
    let (run, result) = (world.json("run.json"), world.json("result.json"));
    assert_eq!(run["startedAt"], result["startedAt"]);
    let time = |name: &str| -> jiff::Timestamp { result[name].as_str().unwrap().parse().unwrap() };
    let took = time("endedAt").duration_since(time("startedAt")).as_secs_f64();
    let said = result["durationSeconds"].as_f64().unwrap();
    assert!(took >= 0.0 && said <= took + 1.0, "{took} {said}");
}

#[test]
fn advice_follows_outcome() {
    // Nothing was done, so there is nothing to go on with; no level is above the last.
    let world = World::shell();
    let agent = world.agent(&["I do not know."], "");
    world.repair(&[
        "--test", "sh check.sh", "--agent", &agent, "--max-attempts", "1",
    ]);
    let report = world.text("report.txt");
    assert!(
        report.contains("PARTIAL") || report.contains("partial"),
        "{report}"
    );
    assert!(
        !report.contains("Review what is written so far"),
        "{report}"
    );
    assert!(report.contains("`--task FILE`"), "{report}");
    let world = World::with(&[("check.py", "import os\nprint(nowhere_at_all)\n")]);
    needs!("python3");
    let agent = world.agent(&["I do not know.", "Nor now.", "No.", "Never."], "");
    let line = ["--test", "python3 check.py", "--agent", &agent];
    let output = world.repair(&[&line[..], &["--max-attempts", "2"]].concat());
    ended(&output, 1);
    // The end of a name that stays undefined.
    let result = world.json("result.json");
    assert_eq!(result["status"], "blocked");
    assert_eq!(
        result["message"],
        "Import errors after 2 attempts. Missing: nowhere_at_all"
    );
}
