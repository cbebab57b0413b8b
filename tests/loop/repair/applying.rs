use super::world::{FIX, World, ended, read};

#[test]
fn applies_working_patch_on_request() {
    let world = World::shell();
    let agent = world.agent(&[FIX], "");
    let output = world.repair(&["--test", "sh check.sh", "--agent", &agent, "--apply"]);
    ended(&output, 0);
    assert_eq!(read(&world.repo.root().join("answer.sh")), "ANSWER=42\n");
    assert_eq!(world.repo.git(&["status", "--porcelain"]), " M answer.sh\n");
    assert_eq!(world.json("result.json")["applied"], true);
}

#[test]
fn keeps_edits_made_meanwhile() {
    let edit = "echo ANSWER=42 > answer.sh";
    // The workplace, how the agent answers, what the owner writes while it thinks, how it ends.
    for (workplace, protocol, (path, text), reason) in [
        // The file that the agent fixes.
        (
            "auto",
            "prompt",
            ("answer.sh", "ANSWER=40\n"),
            "worktree_changed",
        ),
        (
            "auto",
            "edit",
            ("answer.sh", "ANSWER=41\nMINE=1\n"),
            "worktree_changed",
        ),
        // One that breaks what it is tried with, and one that makes it pass.
        ("auto", "edit", ("check.sh", "exit 1\n"), "worktree_changed"),
        (
            "auto",
            "prompt",
            ("answer.sh", "ANSWER=42\n"),
            "worktree_changed",
        ),
        // Code that is new.
        (
            "auto",
            "prompt",
            ("conftest.py", "X = 1\n"),
            "worktree_changed",
        ),
        // The same content again, a log that somebody writes: nothing of it is loaded.
        ("auto", "prompt", ("answer.sh", "ANSWER=41\n"), "fixed"),
        ("auto", "prompt", ("repair.log", "attempt 1\n"), "fixed"),
        // A copy holds what the run began with, so that the patch is known to help.
        ("copy", "edit", ("answer.sh", "ANSWER=40\n"), "fixed"),
    ] {
        let world = World::shell();
        let (asked, edited) = (world.outside("asked"), world.outside("edited"));
        let wait = format!(
            "touch {}; while [ ! -f {} ]; do sleep 0.05; done",
            asked.display(),
            edited.display()
        );
        let agent = match protocol {
            "edit" => world.script(&format!("cat > /dev/null\n{edit}\n{wait}\n")),
            _ => world.agent(&[FIX], &wait),
        };
        let mine = world.repo.root().join(path);
        let user = std::thread::spawn(move || {
            while !asked.exists() {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            std::fs::write(mine, text).unwrap();
            std::fs::write(edited, "").unwrap();
        });
        let words = ["--test", "sh check.sh", "--agent", &agent, "--apply"];
        let beside = world.outside("");
        let beside = beside.to_str().unwrap();
        let more = ["--agent-protocol", protocol, "--workplace", workplace];
        let open = ["--allow-write", beside];
        let output = world.repair(&[&words[..], &more, &open].concat());
        user.join().unwrap();
        let answer = read(&world.repo.root().join("answer.sh"));
        let result = world.json("result.json");
        assert_eq!(result["stopReason"], reason, "{path} {text}");
        let applied = reason == "fixed" && workplace == "auto";
        ended(&output, i32::from(!applied));
        assert_eq!(result["applied"], applied, "{path} {text}");
        if path == "answer.sh" && !applied {
            assert_eq!(answer, text);
        } else {
            let expected = ["ANSWER=41\n", "ANSWER=42\n"][usize::from(applied)];
            assert_eq!(answer, expected, "{path} {text}");
        }
        assert_eq!(world.has("final.patch"), reason == "fixed");
        if reason == "worktree_changed" {
            let said = result["message"].as_str().unwrap();
            assert!(said.contains(&format!("`{path}` was changed")), "{said}");
            assert_eq!(result["agentCalls"], 1, "it is not asked again");
        }
    }
}

#[test]
fn repairs_on_top_of_user_edits() {
    let world = World::shell();
    world.repo.write("answer.sh", "# mine\nANSWER=41\n");
    world.repo.write("untracked.sh", "X=1\n");
    let agent = world.agent(&["```diff\n--- a/answer.sh\n+++ b/answer.sh\n@@ -1,2 +1,2 @@\n # mine\n-ANSWER=41\n+ANSWER=42\n```\n"], "");
    let test = "sh check.sh && . ./untracked.sh";
    ended(
        &world.repair(&["--test", test, "--agent", &agent, "--apply"]),
        0,
    );
    assert_eq!(
        read(&world.repo.root().join("answer.sh")),
        "# mine\nANSWER=42\n"
    );
}
