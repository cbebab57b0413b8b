//! Command lines in the documentation and in messages are accepted by the program.

use std::path::{Path, PathBuf};

use regex::Regex;

#[test]
fn documented_commands_parse() {
    let lines = command_lines();
    assert!(lines.len() > 50, "{} lines found", lines.len());
    for (file, line) in &lines {
        for words in commands(line) {
            if let Err(said) = mendit::internals::parse_command_line(&words) {
                panic!("{file}: `{line}`: {said}");
            }
        }
    }
    // Between backticks a command often lacks its required arguments.
    let spans = Regex::new("`mendit ([a-z-]+)[^`]*`").unwrap();
    for (file, text) in pages() {
        for found in spans.captures_iter(&text) {
            let known = mendit::internals::parse_command_line(&["mendit", &found[1], "--help"]);
            assert!(known.is_ok(), "{file}: {}", &found[0]);
        }
    }
}

// Text between braces is filled in when it is printed: one word.
#[test]
fn commands_in_messages_parse() {
    let spans = Regex::new("`(mendit [^`]+)`").unwrap();
    let filled = Regex::new(r"\{[^}]*\}").unwrap();
    let broken = Regex::new(r"\\\n\s*").unwrap();
    let (mut typed, mut refused) = (0, Vec::new());
    let hints = include_str!("../../src/app/hints.toml").to_owned();
    let hints = (PathBuf::from("src/app/hints.toml"), hints);
    for (path, text) in crate::sources::sources().into_iter().chain([hints]) {
        for found in spans.captures_iter(&crate::sources::code_of(&text)) {
            let line = broken.replace_all(&found[1], "");
            let line = filled.replace_all(&line, "x").replace("AGENT", "claude");
            for mut words in commands(&line) {
                if ["x", "__sup", "COMMAND", "help"].contains(&words[1].as_str()) {
                    continue;
                }
                // A command that is only named often lacks its required arguments.
                let is_name =
                    |it: &String| it.chars().all(|it| it.is_ascii_lowercase() || it == '-');
                if words[1..].iter().all(is_name) && words.len() < 4 {
                    words.push("--help".to_owned());
                }
                if mendit::internals::parse_command_line(&words).is_err() {
                    refused.push(format!("{}: {line}", path.display()));
                }
                typed += 1;
            }
        }
    }
    assert!(refused.is_empty(), "{refused:#?}");
    assert!(typed > 80, "{typed} commands typed");
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
        if let Some(at) = words.iter().position(|it| it.starts_with('>') || it.starts_with("2>")) {
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
