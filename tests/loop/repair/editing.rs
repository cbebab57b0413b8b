use super::world::{World, builds_in_temporary, ended, everything, read};

const TEST: [&str; 5] = [
    "--test", "sh check.sh", "--agent-protocol", "edit", "--agent",
];

#[test]
fn agent_edits_become_patch() {
    let world = World::shell();
    let agent = world.script("cat > /dev/null\necho ANSWER=42 > answer.sh\n");
    ended(&world.repair(&[&TEST[..], &[&agent]].concat()), 0);
    assert!(world.text("final.patch").contains("+ANSWER=42"));
    assert_eq!(read(&world.repo.root().join("answer.sh")), "ANSWER=41\n");
}

#[test]
fn edit_keeps_line_ends() {
    let world = World::shell();
    world.repo.write("answer.sh", "# one\nANSWER=41\n# three\n");
    world.repo.commit();
    let agent = world.script(
        "cat > /dev/null\nprintf '# one\\r\\nANSWER=42\\r\\n# three\\r\\n' > answer.sh\necho seen > notes.txt\n",
    );
    let output = world.repair(&[&TEST[..], &[&agent]].concat());
    ended(&output, 0);
    let patch = world.text("final.patch");
    assert!(
        !patch.contains('\r') && patch.contains("\n+ANSWER=42\n"),
        "{patch}"
    );
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("  answer.sh +1 -1\n"), "{said}");
    assert_eq!(world.json("result.json")["fileChanges"][0]["added"], 1);
}

#[test]
fn discards_agent_changes_to_git() {
    for workplace in ["auto", "copy"] {
        for meddling in [
            "mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
            "printf '[core]\\n fsmonitor = evil\\n' >> .git/config",
            "git -c user.name=a -c user.email=a@b commit -qam done",
            "rm -rf .git/refs .git/HEAD",
        ] {
            let world = World::shell();
            let before = everything(&world.repo.root().join(".git"));
            let agent = world.script(&format!(
                "cat > /dev/null\necho ANSWER=42 > answer.sh\n{meddling}\n"
            ));
            let more = ["--workplace", workplace, "--max-attempts", "1"];
            ended(&world.repair(&[&TEST[..], &[&agent], &more].concat()), 0);
            let patch = world.text("final.patch");
            assert_eq!(
                patch.matches("diff --git").count(),
                1,
                "{meddling}: {patch}"
            );
            assert_eq!(everything(&world.repo.root().join(".git")), before);
        }
    }
}

#[test]
fn every_agent_runs_in_workplace() {
    for protocol in ["json", "prompt", "edit"] {
        let world = World::shell();
        let root = world.repo.root();
        let edits = format!(
            "echo ANSWER=42 > {}/answer.sh; echo ANSWER=42 > answer.sh",
            root.display()
        );
        let agent = world.script(&format!("cat > /dev/null\n{edits}\n"));
        let words = [
            "--test", "sh check.sh", "--agent-protocol", protocol, "--agent", &agent,
        ];
        ended(&world.repair(&words), 0);
        assert_eq!(read(&root.join("answer.sh")), "ANSWER=41\n", "{protocol}");
        assert!(
            world.text("final.patch").contains("+ANSWER=42"),
            "{protocol}"
        );
    }
}

#[test]
fn keeps_edits_before_crash_without_litter() {
    for (end, name) in [("exit 3", "an error"), ("sleep 60", "the time limit")] {
        let world = World::shell();
        world.repo.write(".gitignore", "*.log\n");
        world.repo.commit();
        let litter = "mkdir .aider.tags.cache.v4; echo x > .aider.tags.cache.v4/db; echo x > a.log";
        let agent = world.script(&format!(
            "cat > /dev/null\necho ANSWER=42 > answer.sh\n{litter}\n{end}\n"
        ));
        let more = ["--agent-timeout", "2", "--max-attempts", "1"];
        ended(&world.repair(&[&TEST[..], &[&agent], &more].concat()), 0);
        let patch = world.text("final.patch");
        assert_eq!(patch.matches("diff --git").count(), 1, "{name}: {patch}");
    }
}

#[test]
fn refuses_link_out_of_tree() {
    let world = World::shell();
    let agent = world.script("cat > /dev/null\nrm answer.sh\nln -s /etc/passwd answer.sh\n");
    let output = world.repair(&[&TEST[..], &[&agent, "--max-attempts", "1"]].concat());
    assert_ne!(output.status.code(), Some(0));
    assert_eq!(world.attempts("stopReason"), ["policy_rejected"]);
}

#[test]
fn prints_setting_for_refused_write() {
    let world = World::shell();
    // Temporary folders are open, so the place has to be elsewhere.
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let note = place.path().join("note");
    let agent = world.script(&format!(
        "cat > /dev/null\necho x > {} || exit 3\necho ANSWER=42 > answer.sh\n",
        note.display()
    ));
    let words = [&TEST[..], &[&agent, "--max-attempts", "1"]].concat();
    let output = world.repair(&words);
    let said = String::from_utf8_lossy(&output.stderr);
    if !said.contains("R211") && !builds_in_temporary() {
        assert!(!note.exists());
        assert!(said.contains("--agent-write"), "{said}");
    }
    let opened = ["--agent-write", place.path().to_str().unwrap()];
    std::fs::remove_dir_all(world.run_folder()).unwrap();
    ended(&world.repair(&[&words[..], &opened].concat()), 0);
    assert!(note.exists());
}

#[test]
fn prints_last_lines_of_failed_agent() {
    let world = World::shell();
    let agent = world.script("cat > /dev/null\necho 'Invalid API key' >&2\nexit 7\n");
    let output = world.repair(&[&TEST[..], &[&agent, "--max-attempts", "1"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("exit code 7: Invalid API key"), "{said}");
}

// What a later session of the agent would run, ask or obey is dropped and said; its login and its sessions stay.
#[test]
fn agent_keeps_login_only() {
    for (agent, folder, login, change, path) in [
        (
            "claude",
            ".claude",
            ".credentials.json",
            r#"echo '{"hooks": {"SessionStart": "sh /tmp/x"}}' > settings.json"#,
            ".claude/settings.json",
        ),
        (
            "codex",
            ".codex",
            "auth.json",
            "echo '[mcp_servers.evil]' >> config.toml",
            ".codex/config.toml",
        ),
        (
            "gemini",
            ".gemini",
            "oauth_creds.json",
            "mkdir commands; echo 'prompt = \"x\"' > commands/test.toml",
            ".gemini/commands/test.toml",
        ),
        (
            "qwen",
            ".qwen",
            "oauth_creds.json",
            r#"rm settings.json; echo '{"permissions": {"allow": ["*"]}}' > settings.json"#,
            ".qwen/settings.json",
        ),
    ] {
        let world = World::shell();
        let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let own = home.path().join(folder);
        std::fs::create_dir_all(&own).unwrap();
        let known = ["settings.json", "config.toml"].map(|it| own.join(it));
        for path in &known {
            std::fs::write(path, "{}\n").unwrap();
        }
        std::fs::write(home.path().join(".bashrc"), "").unwrap();
        let program = world.outside(agent);
        let script = format!(
            "#!/bin/sh\ncat > /dev/null\n(cd ~/{folder}; echo new > {login}; {change})\n\
             echo evil >> ~/.bashrc\necho ANSWER=42 > answer.sh\n"
        );
        std::fs::write(&program, script).unwrap();
        let line = format!("sh {}", program.display());
        let mut command = world.command(&["repair", "--out", world.run_folder().to_str().unwrap()]);
        command.args(TEST).args([&line, "--max-attempts", "1"]);
        let output = command.env("HOME", home.path()).output().unwrap();
        ended(&output, 0);
        assert_eq!(world.attempts("stopReason"), ["fixed"], "{agent}");
        assert_eq!(read(&own.join(login)), "new\n", "{agent}");
        for path in &known {
            assert_eq!(read(path), "{}\n", "{agent}");
        }
        assert!(!own.join("commands/test.toml").exists());
        assert_eq!(read(&home.path().join(".bashrc")), "", "{agent}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(&format!("~/{path}")), "{agent}: {said}");
    }
}

#[test]
fn counts_reported_costs() {
    let world = World::shell();
    let program = world.outside("claude");
    let script = r#"#!/bin/sh
if grep -c ANSWER=40 > /dev/null; then echo ANSWER=42 > answer.sh; else echo ANSWER=40 > answer.sh; fi
echo '{"type":"assistant","message":{"content":[{"type":"tool_use","input":{"command":"sh test.sh"}}]}}'
echo '{"type":"result","result":"done","session_id":"0a-1b","total_cost_usd":0.25,"usage":{"input_tokens":3,"output_tokens":4}}'
"#;
    crate::support::write_program(&program, script);
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let repair = |more: &[&str]| {
        let run = world.run_folder();
        let mut command = world.command(&["repair", "--out", run.to_str().unwrap()]);
        command
            .args(&TEST[..2])
            .args(["--agent", "claude", "--max-attempts", "2", "-vv"]);
        command.args(more).env("PATH", &path).output().unwrap()
    };
    let output = repair(&[]);
    ended(&output, 0);
    assert_eq!(world.attempts("stopReason").len(), 2);
    assert_eq!(world.json("result.json")["usage"]["costUsd"], 0.5);
    std::fs::remove_dir_all(world.run_folder()).unwrap();
    // Its reported cost counts against a limit; an agent that reports none has no limit.
    let output = repair(&["--budget-usd", "0.2"]);
    ended(&output, 1);
    let _ = std::fs::rename(&program, world.outside("codex"));
    let mut command = world.command(&["repair", "--agent", "codex", "--budget-usd", "1"]);
    let output = command.args(&TEST[..2]).env("PATH", &path).output().unwrap();
    ended(&output, 2);
    assert!(crate::support::stderr(&output).contains("reports no cost"));
}
