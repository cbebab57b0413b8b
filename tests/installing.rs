//! What a person does once: a configuration, completions, the manual, the version.

mod support;

use support::{Repo, stderr};

#[test]
fn init_writes_a_file_that_changes_nothing_and_never_overwrites() {
    let repo = Repo::with(&[]);
    let before = repo.mendit(&["config", "show"]).stdout;
    assert!(repo.mendit(&["init"]).status.success());
    assert_eq!(repo.mendit(&["config", "show"]).stdout, before);
    let written = std::fs::read(repo.root().join("mendit.toml")).unwrap();
    assert_eq!(repo.mendit(&["init", "--stdout"]).stdout, written);
    let again = repo.mendit(&["init"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr(&again).contains("U105"));
    assert_eq!(
        std::fs::read(repo.root().join("mendit.toml")).unwrap(),
        written
    );
}

#[test]
fn init_sees_the_other_name_too() {
    let repo = Repo::with(&[(".mendit.toml", "")]);
    assert_eq!(repo.mendit(&["init"]).status.code(), Some(2));
    assert!(!repo.root().join("mendit.toml").exists());
}

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
fn the_manual_has_a_page_for_each_command() {
    let repo = Repo::with(&[]);
    let page = String::from_utf8(repo.mendit(&["man"]).stdout).unwrap();
    assert!(page.contains(".TH") && page.contains("mendit"));
    let directory = repo.outside().join("man");
    let output = repo.mendit(&["man", "--out", directory.to_str().unwrap()]);
    assert!(output.status.success());
    let help = String::from_utf8(repo.mendit(&["--help"]).stdout).unwrap();
    let list = help
        .split("Commands:\n")
        .nth(1)
        .unwrap()
        .split("\n\n")
        .next()
        .unwrap();
    let commands = list
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let commands: Vec<&str> = commands
        .filter(|it| !it.is_empty() && *it != "help")
        .collect();
    assert!(commands.contains(&"man"));
    for command in commands {
        let file = directory.join(format!("mendit-{command}.1"));
        assert!(file.exists(), "{command}");
    }
}

#[test]
fn the_version_is_the_packages() {
    let repo = Repo::with(&[]);
    let said = String::from_utf8(repo.mendit(&["--version"]).stdout).unwrap();
    assert!(said.starts_with(concat!("mendit ", env!("CARGO_PKG_VERSION"))));
}
