use crate::world::{World, ended, read};

const TEST: [&str; 5] = [
    "--test",
    "sh check.sh",
    "--agent-protocol",
    "edit",
    "--agent",
];

#[test]
fn what_an_agent_edits_becomes_the_patch() {
    let world = World::shell();
    let agent = world.script("cat > /dev/null\necho ANSWER=42 > answer.sh\n");
    ended(&world.repair(&[&TEST[..], &[&agent]].concat()), 0);
    assert!(world.text("final.patch").contains("+ANSWER=42"));
    assert_eq!(read(&world.repo.root().join("answer.sh")), "ANSWER=41\n");
}

#[test]
fn an_agent_that_touches_the_repository_itself_is_refused() {
    for meddling in [
        "mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
        "git config core.fsmonitor evil 2> /dev/null || printf '[core]\\n fsmonitor = evil\\n' >> .git/config",
    ] {
        let world = World::shell();
        let agent = world.script(&format!(
            "cat > /dev/null\necho ANSWER=42 > answer.sh\n{meddling}\n"
        ));
        let output = world.repair(&[&TEST[..], &[&agent, "--max-attempts", "1"]].concat());
        assert_ne!(output.status.code(), Some(0), "{meddling}");
        assert_eq!(
            world.attempts("stopReason"),
            ["policy_rejected"],
            "{meddling}"
        );
        assert!(!world.has("final.patch"));
        assert!(!world.repo.root().join(".git/hooks/pre-commit").exists());
    }
}

#[test]
fn a_link_out_of_the_tree_is_refused() {
    let world = World::shell();
    let agent = world.script("cat > /dev/null\nrm answer.sh\nln -s /etc/passwd answer.sh\n");
    let output = world.repair(&[&TEST[..], &[&agent, "--max-attempts", "1"]].concat());
    assert_ne!(output.status.code(), Some(0));
    assert_eq!(world.attempts("stopReason"), ["policy_rejected"]);
}
