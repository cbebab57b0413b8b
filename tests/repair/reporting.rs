use serde_json::Value;

use crate::world::{FIX, World, ended};

fn report(world: &World, arguments: &[&str]) -> String {
    let output = world
        .command(&[&["report"], arguments].concat())
        .output()
        .unwrap();
    ended(&output, 0);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_failed_run_is_reported_and_read_back() {
    let world = World::shell();
    let evil = "<script>alert(1)</script> ``` | @all";
    let reply = format!(r#"{{"status": "give_up", "notes": "{evil}"}}"#);
    let agent = world.agent(&[&reply], "");
    ended(
        &world.repair(&[
            "--test",
            "sh check.sh",
            "--agent",
            &agent,
            "--max-attempts",
            "1",
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

    let file = world.outside("saved.txt");
    std::fs::write(&file, format!("noise before\n{text}")).unwrap();
    let back: Value = serde_json::from_str(&report(
        &world,
        &[file.to_str().unwrap(), "--format", "json"],
    ))
    .unwrap();
    let direct: Value =
        serde_json::from_str(&report(&world, &[folder, "--format", "json"])).unwrap();
    for field in [
        "category",
        "message",
        "sessionId",
        "retryable",
        "blockedOn",
        "suggestedActions",
    ] {
        assert_eq!(back[field], direct[field], "{field}");
    }

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
fn the_latest_run_is_found() {
    let world = World::shell();
    let agent = world.agent(&[FIX], "");
    let output = world
        .command(&["repair", "--test", "sh check.sh", "--agent", &agent])
        .output()
        .unwrap();
    ended(&output, 0);
    assert!(report(&world, &[]).starts_with("fixed: "));
    let page = report(&world, &["--format", "html"]);
    assert!(page.contains("<ins>+ANSWER=42</ins>"), "{page}");
    let missing = world
        .command(&["report", "20200101T000000-1"])
        .output()
        .unwrap();
    ended(&missing, 2);
}

#[test]
fn a_text_without_a_report_is_refused() {
    let world = World::shell();
    let file = world.outside("words.txt");
    std::fs::write(&file, "Category: timeout\n").unwrap();
    let output = world
        .command(&["report", file.to_str().unwrap()])
        .output()
        .unwrap();
    ended(&output, 2);
    assert!(String::from_utf8_lossy(&output.stderr).contains("U306"));
}

#[test]
fn runs_add_up_to_rates() {
    let world = World::shell();
    let runs = world.outside("runs");
    let fixing = world.agent(&[FIX], "");
    for (name, agent) in [("a", fixing.as_str()), ("b", "true")] {
        let folder = runs.join(name);
        let arguments = [
            "repair",
            "--test",
            "sh check.sh",
            "--agent",
            agent,
            "--max-attempts",
            "1",
        ];
        let output = world
            .command(&[&arguments[..], &["--out", folder.to_str().unwrap()]].concat())
            .output()
            .unwrap();
        ended(&output, i32::from(name == "b"));
    }
    std::fs::create_dir(runs.join("empty")).unwrap();
    let runs = runs.to_str().unwrap();
    let output = world
        .command(&["stats", runs, "--format", "json"])
        .output()
        .unwrap();
    ended(&output, 0);
    let stats: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(stats["runs"], 2);
    assert_eq!(stats["fixed"], 1);
    assert_eq!(stats["failureRate"], 0.5);
    assert_eq!(stats["skipped"].as_array().unwrap().len(), 1);
    let alert = ["stats", runs, "--alert-rate"];
    ended(
        &world
            .command(&[&alert[..], &["0.4"]].concat())
            .output()
            .unwrap(),
        1,
    );
    ended(
        &world
            .command(&[&alert[..], &["0.5"]].concat())
            .output()
            .unwrap(),
        0,
    );
}
