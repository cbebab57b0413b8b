//! What a release is made of: its scripts pack the program, write what package managers read, and
//! install it into a home of its own.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stderr, reason = "a test says what it skips")]

use crate::support;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn python(script: &str, args: &[&str]) -> Option<Output> {
    let output = Command::new("python3")
        .arg(Path::new(ROOT).join("scripts/release").join(script))
        .args(args)
        .output();
    output
        .inspect_err(|_| eprintln!("skipped: needs python3"))
        .ok()
}

fn text(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn an_archive_is_the_same_twice_and_installs() {
    let scratch = tempfile::tempdir().unwrap();
    let at = |name: &str| scratch.path().join(name).to_str().unwrap().to_owned();
    // Packing the program itself takes seconds; its pages and completions are real.
    let program = at("mendit");
    let real = support::program();
    let script = format!("#!/bin/sh\nexec '{}' \"$@\"\n", real.display());
    support::write_program(Path::new(&program), &script);
    let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    for out in ["one", "two"] {
        let Some(output) = python("archive.py", &[&target, &program, "--out", &at(out)]) else {
            return;
        };
        assert!(output.status.success(), "{output:?}");
    }
    let archive = format!("mendit-{target}.tar.gz");
    let bytes = |out: &str| fs::read(scratch.path().join(out).join(&archive)).unwrap();
    assert_eq!(bytes("one"), bytes("two"));

    let channels = ["--archives", &at("one"), "--repository", "someone/mendit"];
    let output = python("channels.py", &channels).unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("left out: aarch64-apple-darwin"), "{said}");
    let sums = text(at("one/SHA256SUMS"));
    let (sum, _) = sums
        .lines()
        .find_map(|line| line.split_once("  ").filter(|(_, name)| *name == archive))
        .unwrap();
    let formula = text(at("one/homebrew/mendit.rb"));
    assert!(
        formula.contains(sum) && !formula.contains("on_macos"),
        "{formula}"
    );

    let server: serde_json::Value = serde_json::from_str(&text(at("one/server.json"))).unwrap();
    assert_eq!(server["name"], "io.github.someone/mendit");
    assert_eq!(server["packages"][0]["transport"]["type"], "stdio");

    let installed = |releases: &str| {
        Command::new("sh")
            .arg(at("one/install.sh"))
            .env("HOME", at("home"))
            .env("MENDIT_RELEASES", releases)
            .output()
            .unwrap()
    };
    let output = installed(&at("one"));
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with(concat!("mendit ", env!("CARGO_PKG_VERSION"))));
    assert!(Path::new(&at("home/.local/bin/mendit")).exists());

    // A damaged archive changes nothing.
    fs::write(at("two") + "/" + &archive, b"other").unwrap();
    fs::write(at("home/.local/bin/mendit"), b"old").unwrap();
    let output = installed(&at("two"));
    assert!(!output.status.success());
    assert_eq!(text(at("home/.local/bin/mendit")), "old");
}

#[test]
fn a_version_is_set_everywhere_at_once() {
    let scratch = tempfile::tempdir().unwrap();
    let files = [
        "Cargo.toml",
        "Cargo.lock",
        "CHANGELOG.md",
        "scripts/release/version.py",
    ];
    for file in files {
        let to = scratch.path().join(file);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(Path::new(ROOT).join(file), to).unwrap();
    }
    let set = |version: &str| {
        let script = scratch.path().join("scripts/release/version.py");
        let more = ["--date", "2030-01-31", "--repository", "someone/mendit"];
        let output = Command::new("python3")
            .arg(script)
            .arg(version)
            .args(more)
            .output();
        output
            .inspect_err(|_| eprintln!("skipped: needs python3"))
            .ok()
    };
    let Some(output) = set("12.34.56") else {
        return;
    };
    assert!(output.status.success(), "{output:?}");
    for file in files.iter().filter(|it| it.contains("Cargo.")) {
        let said = text(scratch.path().join(file));
        assert!(said.contains("\"12.34.56\""), "{file}");
    }
    let manifest = text(scratch.path().join("Cargo.toml"));
    assert!(manifest.contains("repository = \"https://github.com/someone/mendit\""));
    let changes = text(scratch.path().join("CHANGELOG.md"));
    assert!(changes.contains("## Unreleased\n\n## 12.34.56 (2030-01-31)\n"));
    assert!(!set("1.2").unwrap().status.success());
    // Nothing new since: no release.
    assert!(!set("12.34.57").unwrap().status.success());
}
