//! Every command line of the documentation is understood, and what needs neither a network nor an
//! account is run.
#![cfg(unix)]

use crate::support;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::Repo;
use regex::Regex;

/// Programs that stand in for those the documentation names: name, what they print, exit code.
const STAND_INS: &[(&str, &str, u8)] = &[
    ("pnpm", LOG, 1),
    ("pytest", LOG, 1),
    ("npm", "ok", 0),
    ("make", "ok", 0),
    ("cargo", "ok", 0),
    ("model-output", PATCH, 0),
    ("my-agent", "{\"status\": \"give_up\"}", 0),
    ("llm", "I do not know.", 0),
];

/// Lines with these words are read and not run: they need an account, a client or an interrupted
/// run, or are tried in tests of their own.
const NOT_RUN: &[&str] = &[
    "claude",
    "codex",
    "gemini",
    "copilot",
    "qwen",
    "aider",
    "/opt/",
    "mendit mcp",
    "--resume",
    "mendit bench",
];

const LOG: &str = "src/app.ts(2,13): error TS2304: Cannot find name 'cents'.";
const PATCH: &str = "--- a/src/money.ts\n+++ b/src/money.ts\n@@ -1 +1 @@\n-export const cents = 1;\n+export const cents = 2;";

#[test]
fn every_command_line_is_understood() {
    let lines = command_lines();
    assert!(lines.len() > 50, "{} lines found", lines.len());
    for (file, line) in &lines {
        for words in commands(line) {
            if let Err(said) = mendit::cli::parse(&words) {
                panic!("{file}: `{line}`: {said}");
            }
        }
    }
    // Between backticks a command often stands without what it needs.
    let spans = Regex::new("`mendit ([a-z-]+)[^`]*`").unwrap();
    for (file, text) in pages() {
        for found in spans.captures_iter(&text) {
            let known = mendit::cli::parse(&["mendit", &found[1], "--help"]);
            assert!(known.is_ok(), "{file}: {}", &found[0]);
        }
    }
}

// What stands between braces is filled in when it is printed: one word.
#[test]
fn every_command_that_a_text_advises_is_accepted() {
    let spans = Regex::new("`(mendit [^`]+)`").unwrap();
    let filled = Regex::new(r"\{[^}]*\}").unwrap();
    let broken = Regex::new(r"\\\n\s*").unwrap();
    let (mut typed, mut refused) = (0, Vec::new());
    for (path, text) in crate::sources::sources() {
        for found in spans.captures_iter(&crate::sources::code_of(&text)) {
            let line = broken.replace_all(&found[1], "");
            let line = filled.replace_all(&line, "x").replace("AGENT", "claude");
            for mut words in commands(&line) {
                if ["x", "__sup", "COMMAND", "help"].contains(&words[1].as_str()) {
                    continue;
                }
                // By its name alone a command often stands without what it needs.
                let is_name =
                    |it: &String| it.chars().all(|it| it.is_ascii_lowercase() || it == '-');
                if words[1..].iter().all(is_name) && words.len() < 4 {
                    words.push("--help".to_owned());
                }
                if mendit::cli::parse(&words).is_err() {
                    refused.push(format!("{}: {line}", path.display()));
                }
                typed += 1;
            }
        }
    }
    assert!(refused.is_empty(), "{refused:#?}");
    assert!(typed > 100, "{typed} commands typed");
}

#[test]
fn what_can_be_run_runs() {
    let mut ran = 0;
    for (file, line) in command_lines() {
        if NOT_RUN.iter().any(|word| line.contains(word)) {
            continue;
        }
        let repo = example();
        if line.contains("report") {
            shell(
                &repo,
                "mendit repair --test 'pnpm test' --out .mendit/runs/one",
            );
            shell(
                &repo,
                "cp -R .mendit/runs runs; mendit report --format text > report.txt",
            );
        }
        // What takes the last run has one.
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [
            "mendit",
            "diagnose" | "hint" | "context" | "fix" | "run" | "why",
            ..,
        ] = words.as_slice()
        {
            shell(&repo, "mendit run pytest");
        }
        let (code, said) = shell(&repo, &line.replace("RUN", ".mendit/runs/one"));
        let fine = matches!(code, Some(0 | 1 | 4));
        assert!(fine, "{file}: `{line}` ended with {code:?}: {said}");
        ran += 1;
    }
    assert!(ran > 40, "{ran} lines ran");
}

// A repository that holds what the documentation names.
fn example() -> Repo {
    let repo = Repo::with(&[
        ("src/money.ts", "export const cents = 1;\n"),
        ("src/app.ts", "import './money';\nconsole.log(1);\n"),
        ("pkg/__init__.py", ""),
        ("pkg/engine.py", "class Engine:\n    pass\n"),
        ("pkg/one.py", "from pkg.engine import Engine\n\nEngine()\n"),
        ("pkg/two.py", "Engine()\n"),
    ]);
    repo.write("src/app.ts", "import './money';\nconsole.log(cents);\n");
    repo.write("TASK", "Mend `src/app.ts`.\n");
    repo.write(
        ".mcp.json",
        "{\"mcpServers\": {\"docs\": {\"command\": \"mendit\", \"args\": [\"mcp\"]}}}",
    );
    repo.commit();
    let files = [
        ("fix.patch", PATCH),
        ("reply.txt", PATCH),
        ("test.log", LOG),
        ("job.log", LOG),
        ("logs/1_unit.txt", LOG),
        ("base-logs/1_unit.txt", LOG),
        ("retry/1_unit.txt", "ok"),
        (
            "pytest.log",
            "  File \"pkg/two.py\", line 1, in <module>\nNameError: name 'Engine' is not defined",
        ),
    ];
    for (path, text) in files {
        repo.write(path, format!("{text}\n"));
    }
    for folder in [
        ".local/share/bash-completion/completions",
        ".zfunc",
        ".config/fish/completions",
    ] {
        std::fs::create_dir_all(repo.outside().join("home").join(folder)).unwrap();
    }
    for (name, text, code) in STAND_INS {
        let path = repo.outside().join("bin").join(name);
        let text = format!("#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {code}\n");
        support::write_program(&path, &text);
    }
    repo
}

fn shell(repo: &Repo, line: &str) -> (Option<i32>, String) {
    let path = support::path_with_program(&[repo.outside().join("bin")]);
    let output = Command::new("sh")
        .args(["-c", line])
        .current_dir(repo.root())
        .stdin(std::fs::File::open(repo.root().join("fix.patch")).unwrap())
        .env("PATH", path)
        .env("HOME", repo.outside().join("home"))
        .env("XDG_STATE_HOME", support::STATE)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    (output.status.code(), support::stderr(&output))
}

fn pages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<PathBuf> = std::fs::read_dir(root.join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "md"))
        .collect();
    paths.push(root.join("README.md"));
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, std::fs::read_to_string(&path).unwrap())
    };
    paths.into_iter().map(read).collect()
}

// The lines of shell blocks that call the program, each with its page.
fn command_lines() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (file, text) in pages() {
        let mut block = None;
        for line in text.lines() {
            match (line.strip_prefix("```"), block) {
                (Some(language), None) => block = Some(language),
                (Some(_), Some(_)) => block = None,
                (None, Some("sh" | "console" | "")) => {
                    let line = line.strip_prefix("$ ").unwrap_or(line);
                    if !commands(line).is_empty() {
                        found.push((file.clone(), line.to_owned()));
                    }
                }
                _ => {}
            }
        }
    }
    found
}

// The words of each call of the program in a line, without redirections.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    for word in words(line) {
        match word {
            Word::Text(text) => all.last_mut().unwrap().push(text),
            Word::Sign => all.push(Vec::new()),
        }
    }
    for words in &mut all {
        if let Some(at) = words
            .iter()
            .position(|it| it.starts_with('>') || it.starts_with("2>"))
        {
            words.truncate(at);
        }
    }
    all.retain(|words| words.first().is_some_and(|it| it == "mendit"));
    all
}

enum Word {
    Text(String),
    /// Between two commands.
    Sign,
}

// As a shell splits what the documentation uses: quotes, comments, `|`, `&&` and `;`.
fn words(line: &str) -> Vec<Word> {
    let mut out = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars().peekable();
    while let Some(char) = chars.next() {
        match (quote, char) {
            (Some(open), it) if it == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(char);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, '|' | ';' | '&') if char != '&' || chars.peek() == Some(&'&') => {
                chars.next_if_eq(&char);
                out.extend(word.take().map(Word::Text));
                out.push(Word::Sign);
            }
            (None, it) if it.is_whitespace() => out.extend(word.take().map(Word::Text)),
            (_, it) => word.get_or_insert_default().push(it),
        }
    }
    out.extend(word.map(Word::Text));
    out
}

#[test]
fn every_link_leads_to_a_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let link = Regex::new(r"\]\(([^)#:]+)(?:#[^)]*)?\)").unwrap();
    let mut missing = Vec::new();
    for (file, text) in pages() {
        let folder = if file == "README.md" {
            root.to_owned()
        } else {
            root.join("docs")
        };
        for found in link.captures_iter(&text) {
            if !folder.join(&found[1]).exists() {
                missing.push(format!("{file}: {}", &found[1]));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}
