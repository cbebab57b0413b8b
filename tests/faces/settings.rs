//! Settings: the documentation, the help and `config show` name the same keys, and
//! a repository's own file runs nothing.

use crate::support;
use std::collections::BTreeMap;

use crate::support::{Repo, json, stderr};
use regex::Regex;

fn shown(repo: &Repo, flags: &[&str]) -> Vec<serde_json::Value> {
    let arguments = [flags, &["config", "show", "--format", "json"]].concat();
    json(&repo.mendit(&arguments)).as_array().unwrap().clone()
}

#[test]
fn every_key_is_documented_with_its_default() {
    let repo = Repo::with(&[]);
    let page = include_str!("../../docs/configuration.md");
    let row = Regex::new(r"(?m)^\| `([a-z-]+\.[a-z-]+)` \| (?:`(.*?)`)? \|").unwrap();
    let documented: BTreeMap<String, String> = row
        .captures_iter(page)
        .map(|it| {
            let default = it.get(2).map_or("null", |it| it.as_str());
            (it[1].to_owned(), default.to_owned())
        })
        .collect();
    let known: BTreeMap<String, String> = shown(&repo, &[])
        .iter()
        .map(|it| {
            (
                it["key"].as_str().unwrap().to_owned(),
                it["value"].to_string(),
            )
        })
        .collect();
    assert_eq!(documented, known);
}

#[test]
fn every_variable_sets_its_key() {
    let repo = Repo::with(&[]);
    for row in shown(&repo, &[]) {
        // Tables can be set in a file only.
        if row["key"] == "output.secret" {
            continue;
        }
        let key = row["key"].as_str().unwrap();
        let variable = format!("MENDIT_{}", key.replace(['.', '-'], "_").to_uppercase());
        let value = match key {
            "context.profile" => "spec",
            "agent.protocol" => "edit",
            "patch.tests" => "deny",
            "output.color" => "never",
            "sandbox.mode" => "require",
            _ if key.ends_with("workplace") => "copy",
            _ if row["value"].is_boolean() => "true",
            _ => "3",
        };
        let output = support::command(&repo.root(), &["config", "show"])
            .env(&variable, value)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let origin = format!("# environment {variable}\n");
        assert!(said.contains(&origin), "{key}: {said}{}", stderr(&output));
    }
}

#[test]
fn flag_help_names_settings_and_defaults() {
    let repo = Repo::with(&[]);
    let rows = shown(&repo, &[]);
    let mut named = BTreeMap::new();
    let pattern = Regex::new(r"(?:\[default: ([^\]]*)\] )?\[setting: ([^\]]*)\]").unwrap();
    for command in ["context", "check", "apply", "run", "fix", "doctor", "bench"] {
        let help = String::from_utf8(repo.mendit(&[command, "--help"]).stdout).unwrap();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for found in pattern.captures_iter(&help) {
            let default = found.get(1).map(|it| it.as_str().to_owned());
            named.insert(found[2].to_owned(), default);
        }
    }
    for row in rows {
        let key = row["key"].as_str().unwrap();
        if ["patch.protected", "output.secret"].contains(&key) {
            continue;
        }
        let said = named.remove(key).unwrap_or_else(|| panic!("no flag names {key}"));
        let default = match &row["value"] {
            serde_json::Value::String(word) => Some(word.clone()),
            serde_json::Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        assert_eq!(said, default, "{key}");
    }
    assert!(named.is_empty(), "unknown settings: {named:?}");
}

#[test]
fn untrusted_repository_file_runs_nothing() {
    let repo = Repo::with(&[("mendit.toml", "[test]\ncommand = \"touch ran; false\"\n")]);
    for arguments in [
        &["config", "show"][..],
        &["repair"],
        &["repair", "--test", "true"],
    ] {
        let output = repo.mendit(arguments);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        for part in ["U106", "test.command", "mendit.toml", "--trust-config"] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
    for flags in [&["--trust-config"][..], &["--config", "mendit.toml"]] {
        let rows = shown(&repo, flags);
        let row = rows.iter().find(|it| it["key"] == "test.command").unwrap();
        assert_eq!(row["value"][0], "touch ran; false");
    }
    assert!(!repo.root().join("ran").exists());
}

#[test]
fn user_file_sets_test_command() {
    let repo = Repo::with(&[("a.py", "x = 1\n")]);
    let home = repo.outside().join("settings");
    std::fs::create_dir_all(home.join("mendit")).unwrap();
    let file = home.join("mendit/config.toml");
    std::fs::write(
        &file,
        "[test]\ncommand = \"exit 0\"\n[limits]\ntimeout = \"1m\"\n",
    )
    .unwrap();
    let mendit = |arguments: &[&str]| {
        let mut command = support::command(&repo.root(), arguments);
        command.env("XDG_CONFIG_HOME", &home).output().unwrap()
    };
    let said = String::from_utf8(mendit(&["config", "show"]).stdout).unwrap();
    let row = format!("limits.timeout = 60  # {}", file.display());
    assert!(said.contains(&row), "{said}");
    let output = mendit(&["repair"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let without = repo.mendit(&["repair"]);
    assert_eq!(without.status.code(), Some(2));
    assert!(
        stderr(&without).contains("`mendit run CMD` first"),
        "{}",
        stderr(&without)
    );
}

#[test]
fn allowlist_excludes_everything_else() {
    let repo = Repo::with(&[
        ("package.json", "{\"name\": \"shop\"}"),
        (
            "src/a.ts",
            "import { b } from './b';\nimport { c } from '../lib/c';\nb + c;\n",
        ),
        ("src/b.ts", "export const b = 1;\n"),
        ("lib/c.ts", "export const c = 1;\n"),
        ("drizzle/d.sql", "select 1;\n"),
    ]);
    let read = |flags: &[&str]| {
        let level = ["context", "--level", "2", "--format", "json"];
        let context = json(&repo.mendit(&[&level[..], flags].concat()));
        let mut files: Vec<String> = context["filesIncluded"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it.as_str().unwrap().to_owned())
            .collect();
        files.sort();
        (files, context.to_string())
    };
    let (files, whole) = read(&["--allow", "src/**", "src/a.ts"]);
    assert_eq!(files, ["src/a.ts", "src/b.ts"]);
    assert!(
        whole.contains("C205") && !whole.contains("\"shop\""),
        "{whole}"
    );
    let (files, _) = read(&["--allow", "lib/**", "src/a.ts"]);
    assert!(!files.contains(&"src/a.ts".to_owned()), "{files:?}");
    let (files, _) = read(&["--allow", "drizzle/**", "drizzle/d.sql"]);
    assert!(!files.contains(&"drizzle/d.sql".to_owned()), "{files:?}");
}

#[test]
fn user_rules_mask() {
    let rules = "[[output.secret]]\nid = \"acme-token\"\npattern = \"acme_[0-9]{8}\"\n";
    let repo = Repo::with(&[("mendit.toml", rules)]);
    repo.write("log", "flurble: acme_12345678 is askew\n");
    let redacted = repo.mendit(&["redact", "log"]);
    let text = String::from_utf8(redacted.stdout).unwrap();
    assert_eq!(text, "flurble: [REDACTED:acme-token] is askew\n");
    repo.write(
        "mendit.toml",
        "[[output.secret]]\nid = \"a\"\npattern = \"(\"\n",
    );
    let wrong = repo.mendit(&["redact", "log"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        stderr(&wrong).contains("output.secret"),
        "{}",
        stderr(&wrong)
    );
}

#[test]
fn every_command_rejects_missing_file() {
    let repo = Repo::with(&[("a.log", "x\n")]);
    for command in [
        &["schema"][..],
        &["explain", "R201"],
        &["init"],
        &["doctor"],
        &["redact", "a.log"],
    ] {
        let output = repo.mendit(&[&["--config", "missing.toml"], command].concat());
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        let said = stderr(&output);
        assert!(
            said.contains("error[U103]: cannot read `missing.toml`: no such file")
                && said.contains("hint: `--config FILE` needs an existing file"),
            "{said}"
        );
    }
}
