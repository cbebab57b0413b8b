//! The shape of the source: layers, sole users of crates, codes that are explained.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use crate::sources::{code_of, files_of, module_of, sources};

/// Each module with its layer. A module imports only from layers below its own.
const LAYERS: &[(&str, u8)] = &[
    ("model", 0),
    ("parallel", 0),
    ("config", 1),
    ("exec", 1),
    ("junit", 1),
    ("report", 1),
    ("runners", 1),
    ("source", 1),
    ("state", 1),
    ("git", 2),
    ("languages", 2),
    ("trace", 2),
    ("policy", 3),
    ("workspace", 3),
    ("diagnose", 4),
    ("graph", 4),
    ("patch", 4),
    ("proof", 4),
    ("hint", 5),
    ("rank", 5),
    ("workplace", 5),
    ("agent", 6),
    ("context", 6),
    ("heal", 6),
    ("fixes", 6),
    ("inventory", 7),
    ("repair", 7),
    ("why", 8),
    ("bench", 8),
    ("app", 9),
    ("mcp", 10),
    ("cli", 11),
];

/// Patterns of crates and APIs, each with the folders or files that may name them.
const SOLE_USERS: &[(&str, &str)] = &[
    (r"\bgix::|\buse gix\b", "src/git/"),
    (r"\btree_sitter", "src/languages/"),
    (r"\bclap::|\buse clap\b", "src/cli/ src/app/flags.rs"),
    (r"\bignore::", "src/source/"),
    (r"process::Command|Command::new", "src/exec/"),
    (
        r"\bprintln!|\beprintln!|io::stdout|io::stderr",
        "src/cli/ src/mcp/stdio.rs",
    ),
];

#[test]
fn modules_import_from_lower_layers() {
    let pattern = Regex::new(r"crate::([a-z_]+)").unwrap();
    let layers: BTreeMap<_, _> = LAYERS.iter().copied().collect();
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let Some(module) = module_of(&path) else {
            continue;
        };
        let layer = layers[module.as_str()];
        for found in pattern.captures_iter(&code_of(&text)) {
            let other = &found[1];
            let is_lower = layers.get(other).is_some_and(|lower| *lower < layer);
            if other != module && !is_lower {
                wrong.push(format!("{}: crate::{other}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "imports upward:\n{}", wrong.join("\n"));
}

/// Modules that translate between a caller and the tasks, with what they may import.
const FRONT_ENDS: &[(&str, &[&str])] = &[
    ("cli", &["app", "report", "model", "cli", "mcp"]),
    ("mcp", &["app", "report", "model", "mcp"]),
];

#[test]
fn front_ends_import_tasks_only() {
    let pattern = Regex::new(r"crate::([a-z_]+)").unwrap();
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let Some((_, allowed)) = FRONT_ENDS
            .iter()
            .find(|(name, _)| module_of(&path).is_some_and(|module| module == *name))
        else {
            continue;
        };
        for found in pattern.captures_iter(&code_of(&text)) {
            if !allowed.contains(&&found[1]) {
                wrong.push(format!("{}: crate::{}", path.display(), &found[1]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn crates_have_one_user() {
    let mut wrong = Vec::new();
    for (pattern, user) in SOLE_USERS {
        let pattern = Regex::new(pattern).unwrap();
        for (path, text) in sources() {
            let may = user.split(' ').any(|prefix| path.starts_with(prefix));
            if !may && pattern.is_match(&code_of(&text)) {
                wrong.push(format!("{} names {pattern}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn codes_used_are_codes_explained() {
    let pattern = Regex::new(r"Code::([PMCRLFU][0-9]{3})\b").unwrap();
    let used: BTreeSet<String> = sources()
        .iter()
        .filter(|(path, _)| !path.ends_with("model/code.rs"))
        .flat_map(|(_, text)| {
            pattern
                .captures_iter(&code_of(text))
                .map(|found| found[1].to_owned())
                .collect::<Vec<_>>()
        })
        .collect();
    let pages: Vec<String> = mendit::documents::code_pages()
        .iter()
        .filter(|page| page.family == "code")
        .map(|page| page.name.to_owned())
        .collect();
    let explained: BTreeSet<String> = pages.iter().cloned().collect();
    assert_eq!(pages.len(), mendit::documents::Code::ALL.len());
    assert_eq!(pages.len(), explained.len(), "a code has two pages");
    let unexplained: Vec<_> = used.difference(&explained).collect();
    let unused: Vec<_> = explained.difference(&used).collect();
    assert!(unexplained.is_empty(), "without a page: {unexplained:?}");
    assert!(unused.is_empty(), "explained, never used: {unused:?}");
}

#[test]
fn long_closures_name_their_parameter() {
    let unnamed = Regex::new(r"(?m)\|&*it(?:: [^|]*)?\| ?\{$").unwrap();
    for (path, text) in sources() {
        let found = unnamed.find(&text).map(|closure| text[..closure.start()].lines().count());
        assert_eq!(found, None, "{}", path.display());
    }
}

#[test]
fn table_rows_name_where_they_were_seen() {
    // Rules of logs are older than the habit: there a row may have an example alone.
    let files = files_of("toml").into_iter();
    let mut tables = 0;
    for (path, text) in files.filter(|(path, _)| !path.starts_with("src/diagnose/rules")) {
        let table: toml::Table = text.parse().unwrap();
        for (name, rows) in &table {
            let rows = rows.as_array().cloned().unwrap_or_default();
            let seen = rows.iter().filter(|row| row.get("seen").is_some()).count();
            tables += usize::from(seen > 0);
            assert!(
                seen == 0 || seen == rows.len(),
                "{}: {name}",
                path.display()
            );
        }
    }
    assert!(tables > 5, "{tables}");
}
