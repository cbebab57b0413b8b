use std::time::{Duration, Instant};

use serde_json::Value;

use super::world::{FIX, World, ended};

// At each of these lines of the journal the program is killed; the second run goes on from there.
const KILLED_AT: [&str; 4] = [
    "\"what\":\"baseline\"",
    "\"attempt\":1,\"contextLevel\"",
    "\"attempt\":2,\"contextLevel\"",
    "\"attempt\":3,\"contextLevel\"",
];

#[test]
fn killed_run_resumes_to_same_end() {
    let request = r#"{"status": "request_files", "requestedFiles": ["other.sh"]}"#;
    let bad = FIX.replace("=41", "=40");
    let replies: [&str; 3] = [&bad, request, FIX];
    let whole = World::shell();
    let agent = whole.agent(&replies, "");
    ended(
        &whole.repair(&["--test", "sh check.sh", "--agent", &agent]),
        0,
    );
    for line in KILLED_AT {
        let world = World::shell();
        // Slow enough to be killed in the middle.
        let agent = world.agent(&replies, "sleep 0.4");
        let folder = world.run_folder();
        let folder = folder.to_str().unwrap();
        let arguments = [
            "repair", "--test", "sleep 0.2; sh check.sh", "--agent", &agent,
        ];
        let mut first = world
            .command(&[&arguments[..], &["--out", folder]].concat())
            .stderr(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let end = Instant::now() + Duration::from_mins(1);
        while !world.text("events.jsonl").contains(line) {
            assert!(Instant::now() < end, "never: {line}");
            assert!(
                first.try_wait().unwrap().is_none(),
                "it ended before {line}"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        first.kill().unwrap();
        first.wait().unwrap();
        let output = world
            .command(&[&arguments[..], &["--resume", folder]].concat())
            .output()
            .unwrap();
        ended(&output, 0);
        for field in ["stopReason", "level", "patchDigest"] {
            assert_eq!(world.attempts(field), whole.attempts(field), "{line}");
        }
        assert_eq!(
            world.text("final.patch"),
            whole.text("final.patch"),
            "{line}"
        );
        let result: Value = world.json("result.json");
        assert_eq!(result["status"], "passed");
        // No call that was answered is made again.
        assert_eq!(world.calls(), 3, "{line}");
    }
}

#[test]
fn never_resumes_on_other_files() {
    let world = World::shell();
    let agent = world.agent(&[&FIX.replace("=41", "=40")], "");
    let arguments = [
        "--test", "sh check.sh", "--agent", &agent, "--max-attempts", "1",
    ];
    ended(&world.repair(&arguments), 1);
    world.repo.write("answer.sh", "ANSWER=39\n");
    let run = world.run_folder();
    let resumed = [
        &["repair", "--resume", run.to_str().unwrap()],
        &arguments[..],
    ]
    .concat();
    let output = world.command(&resumed).output().unwrap();
    ended(&output, 2);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("hint:"), "{said}");
}

// What is kept of a change is masked, and the change is not made again with the mask in it.
#[test]
fn never_replays_change_with_secret() {
    let world = World::with(&[("a.sh", "A=0\nB=0\n")]);
    let token = ["ghp_", "oHBvRPOIvGrv5iFlbCBFNOgmBjMtps2jJyT3"].concat();
    let half = format!(
        "```diff\n--- a/a.sh\n+++ b/a.sh\n@@ -1,2 +1,3 @@\n-A=0\n+A=1\n B=0\n+KEY={token}\n```\n"
    );
    let agent = world.agent(&[&half], "");
    let test = ". ./a.sh; f=0; for n in A B; do eval v=\\$$n; [ $v = 1 ] || { f=1; echo \"FAILED \
                t/test_a.py::$n - AssertionError: $n\"; }; done; exit $f";
    let arguments = ["--test", test, "--agent", &agent, "--max-attempts"];
    ended(&world.repair(&[&arguments[..], &["1"]].concat()), 1);
    assert_eq!(world.attempts("kept"), [true]);
    let run = world.run_folder();
    let resume = ["repair", "--resume", run.to_str().unwrap()];
    let resumed = [&resume[..], &arguments, &["2"]].concat();
    let output = world.command(&resumed).output().unwrap();
    ended(&output, 2);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("is redacted"), "{said}");
}

#[test]
fn resume_applies_found_fix() {
    let world = World::shell();
    let agent = world.agent(&[FIX], "");
    let arguments = ["--test", "sh check.sh", "--agent", &agent];
    ended(&world.repair(&arguments), 0);
    assert_eq!(world.json("result.json")["applied"], false);
    let run = world.run_folder();
    let resume = ["repair", "--resume", run.to_str().unwrap(), "--apply"];
    let resumed = [&resume[..], &arguments].concat();
    ended(&world.command(&resumed).output().unwrap(), 0);
    assert_eq!(world.json("result.json")["applied"], true);
    assert_eq!(world.repo.git(&["status", "--porcelain"]), " M answer.sh\n");
    assert_eq!(world.calls(), 1);

    // What it says holds for its own commands and files only.
    let other = [
        "repair",
        "--resume",
        run.to_str().unwrap(),
        "--test",
        "false",
    ];
    ended(&world.command(&other).output().unwrap(), 2);
    world.repo.write("answer.sh", "ANSWER=40\n");
    let resumed = [&resume[..], &arguments].concat();
    let output = world.command(&resumed).output().unwrap();
    ended(&output, 2);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the files differ"), "{said}");
    assert_eq!(world.repo.git(&["diff", "--stat"]).lines().count(), 2);
}

#[test]
fn run_refuses_folder_of_repair() {
    let world = World::shell();
    let agent = world.agent(&[FIX], "");
    ended(
        &world.repair(&["--test", "sh check.sh", "--agent", &agent]),
        0,
    );
    let before = world.text("run.json");
    let folder = world.run_folder();
    let run = [
        "run",
        "--out",
        folder.to_str().unwrap(),
        "--",
        "sh",
        "check.sh",
    ];
    let output = world.command(&run).output().unwrap();
    ended(&output, 2);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("U303"), "{said}");
    assert_eq!(world.text("run.json"), before);
}
