//! What a person does once: completions, the version, the packages.

use crate::support;

use crate::support::{Repo, stderr};

#[test]
fn completions_name_the_commands() {
    let repo = Repo::with(&[]);
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = repo.mendit(&["completions", shell]);
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(script.contains("git-apply"), "{shell}");
    }
    assert_eq!(repo.mendit(&["completions", "cmd"]).status.code(), Some(2));
}

#[test]
fn version_matches_package() {
    let repo = Repo::with(&[]);
    let said = String::from_utf8(repo.mendit(&["--version"]).stdout).unwrap();
    assert!(said.starts_with(concat!("mendit ", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn npm_packages_start_program() {
    use std::process::Command;

    support::needs!("npm", "node");
    let place = tempfile::tempdir().unwrap();
    // A few bytes that start the program: npm takes long to pack one that is not stripped.
    let program = place.path().join("mendit");
    let real = support::program();
    let text = format!("#!/bin/sh\nexec '{}' \"$@\"\n", real.display());
    support::write_program(&program, &text);
    let packages = place.path().join("packages");
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/package/npm.mjs");
    let made = Command::new("node").args([&script, &program, &packages]).output().unwrap();
    assert!(made.status.success(), "{}", stderr(&made));
    let clean = place.path().join("clean");
    std::fs::create_dir(&clean).unwrap();
    std::fs::write(clean.join("package.json"), "{\"private\": true}").unwrap();
    let mut folders: Vec<_> = std::fs::read_dir(&packages)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    folders.sort();
    assert_eq!(folders.len(), 2, "{folders:?}");
    let installed = Command::new("npm")
        .args([
            "install", "--offline", "--install-links", "--no-audit", "--no-fund",
        ])
        .arg("--ignore-scripts")
        .args(&folders)
        .env("npm_config_cache", place.path().join("cache"))
        .current_dir(&clean)
        .output()
        .unwrap();
    assert!(installed.status.success(), "{}", stderr(&installed));
    let start = |arguments: &[&str]| {
        let program = clean.join("node_modules/.bin/mendit");
        Command::new(program).args(arguments).output().unwrap()
    };
    let version = String::from_utf8(start(&["--version"]).stdout).unwrap();
    assert!(
        version.starts_with(concat!("mendit ", env!("CARGO_PKG_VERSION"))),
        "{version}"
    );
    assert_eq!(start(&["explain", "X000"]).status.code(), Some(2));
    // Who is asked to end hands it on: nothing waits for the sleep.
    let mut waiting = Command::new(clean.join("node_modules/.bin/mendit"))
        .args(["run", "--", "sh", "-c", "echo started; exec sleep 30"])
        .current_dir(&clean)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut shown = [0; 1];
    std::io::Read::read_exact(waiting.stdout.as_mut().unwrap(), &mut shown).unwrap();
    let started = std::time::Instant::now();
    let wrapper = rustix::process::Pid::from_child(&waiting);
    rustix::process::kill_process(wrapper, rustix::process::Signal::TERM).unwrap();
    assert!(!waiting.wait().unwrap().success());
    assert!(started.elapsed() < std::time::Duration::from_secs(20));
    let own = folders.iter().find(|it| !it.ends_with("mendit")).unwrap();
    std::fs::remove_dir_all(clean.join("node_modules").join(own.file_name().unwrap())).unwrap();
    let alone = start(&["--version"]);
    assert_eq!(alone.status.code(), Some(2));
    assert!(stderr(&alone).contains("is not installed"));
}
