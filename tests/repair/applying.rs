use crate::world::{FIX, World, ended, read};

#[test]
fn a_patch_that_helps_is_applied_when_asked() {
    let world = World::shell();
    let agent = world.agent(&[FIX], "");
    let output = world.repair(&["--test", "sh check.sh", "--agent", &agent, "--apply"]);
    ended(&output, 0);
    assert_eq!(read(&world.repo.root().join("answer.sh")), "ANSWER=42\n");
    assert_eq!(world.repo.git(&["status", "--porcelain"]), " M answer.sh\n");
    assert_eq!(world.json("result.json")["applied"], true);
}

#[test]
fn a_worktree_that_moved_is_left_as_it_is() {
    for workplace in ["auto", "copy"] {
        let world = World::shell();
        let (asked, edited) = (world.outside("asked"), world.outside("edited"));
        let wait = format!(
            "touch {}; while [ ! -f {} ]; do sleep 0.05; done",
            asked.display(),
            edited.display()
        );
        let agent = world.agent(&[FIX], &wait);
        let answer = world.repo.root().join("answer.sh");
        let mine = answer.clone();
        // The user goes on working while the agent thinks.
        let user = std::thread::spawn(move || {
            while !asked.exists() {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            std::fs::write(mine, "ANSWER=40\n").unwrap();
            std::fs::write(edited, "").unwrap();
        });
        let words = ["--test", "sh check.sh", "--agent", &agent, "--apply"];
        let more = ["--max-attempts", "1", "--workplace", workplace];
        let output = world.repair(&[&words[..], &more].concat());
        user.join().unwrap();
        ended(&output, 1);
        assert_eq!(read(&answer), "ANSWER=40\n");
        assert_eq!(world.json("result.json")["applied"], false);
        assert!(world.text("events.jsonl").contains("worktree_changed"));
        // A copy holds what the run began with, so that the patch is known to help.
        assert!(workplace == "auto" || world.has("final.patch"));
    }
}

#[test]
fn the_users_edits_are_part_of_what_is_repaired() {
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

#[test]
fn in_place_what_does_not_help_is_put_back() {
    // R54: the worktree itself, because it was named.
    let world = World::shell();
    let place = [
        "--test",
        "sh check.sh",
        "--workplace",
        "in-place",
        "--max-attempts",
        "1",
    ];
    let wrong = world.script("cat > /dev/null\necho ANSWER=40 > answer.sh\necho x > made.txt\n");
    let edits = ["--agent", &wrong, "--agent-protocol", "edit"];
    ended(&world.repair(&[&place[..], &edits].concat()), 1);
    assert_eq!(world.json("result.json")["workplace"]["kind"], "in-place");
    let read = |name: &str| std::fs::read_to_string(world.repo.root().join(name));
    assert_eq!(read("answer.sh").unwrap(), "ANSWER=41\n");
    assert!(read("made.txt").is_err());

    std::fs::remove_dir_all(world.run_folder()).unwrap();
    let right = world.agent(&[FIX], "");
    let line = [&place[..], &["--agent", &right, "--apply"]].concat();
    ended(&world.repair(&line), 0);
    assert_eq!(read("answer.sh").unwrap(), "ANSWER=42\n");
    assert_eq!(world.json("result.json")["applied"], true);
}
