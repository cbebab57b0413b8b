//! What keeps the house small: `budget.toml` holds the code lines of each room, the functions above 80
//! lines and the lists of words that stand in code. Its figures fall; one that rises says why.
//!
//! `MENDIT_WRITE_BUDGET=1 cargo test --test house budget` writes what has fallen, and nothing that has risen.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use crate::sources::{module_of, sources};

/// Code lines that a function may have without being listed.
const FUNCTION_LINES: usize = 80;

/// Strings that a list in code may have without being listed.
const LIST_STRINGS: usize = 8;

/// Code lines by which a room may fall before its figure must follow.
const SLACK: usize = 40;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Budget {
    rooms: BTreeMap<String, Room>,
    aims: BTreeMap<String, usize>,
    functions: BTreeMap<String, usize>,
    words: BTreeMap<String, usize>,
    own_trial: BTreeMap<String, usize>,
}

/// The code lines of a room now.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Room {
    now: usize,
    /// The measured reason of the last rise.
    why: Option<String>,
}

#[test]
fn rooms_keep_their_budget() {
    let found = rooms();
    let budget = budget();
    let mut wrong = Vec::new();
    for (room, lines) in &found {
        match budget.rooms.get(room) {
            Some(held) if *lines > held.now => wrong.push(format!(
                "{room} has {lines} code lines, {} are allowed: delete, or say the measured reason in budget.toml",
                held.now
            )),
            Some(held) if lines + SLACK < held.now => wrong.push(format!(
                "{room} has only {lines} of {} code lines: lower its figure",
                held.now
            )),
            Some(_) => {}
            None => wrong.push(format!("{room}, {lines} code lines, is not in budget.toml")),
        }
    }
    for room in budget
        .rooms
        .keys()
        .filter(|room| !found.contains_key(*room))
    {
        wrong.push(format!("{room} is in budget.toml and not in src"));
    }
    let reasons = budget.rooms.iter().filter(|(_, room)| {
        let measured = |why: &String| why.bytes().any(|byte| byte.is_ascii_digit());
        !room.why.as_ref().is_none_or(measured)
    });
    wrong.extend(reasons.map(|(room, _)| format!("{room}: a reason without a figure")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_room_has_an_aim() {
    let budget = budget();
    let aimed: BTreeSet<&str> = budget.aims.keys().flat_map(|it| it.split(' ')).collect();
    let without: Vec<_> = budget
        .rooms
        .keys()
        .filter(|it| !aimed.contains(it.as_str()))
        .collect();
    assert!(without.is_empty(), "without an aim: {without:?}");
}

#[test]
fn long_functions_are_listed_and_only_become_fewer() {
    hold("code lines", &functions(), &budget().functions);
}

#[test]
fn lists_of_words_are_listed_and_only_become_fewer() {
    hold("strings", &words(), &budget().words);
}

/// A row says in `seen` where such a thing stands in public; one that does not was only ever tried here.
#[test]
fn rows_that_were_seen_nowhere_only_become_fewer() {
    hold("rows without `seen`", &own_trials(), &budget().own_trial);
}

#[test]
fn what_is_counted_is_code() {
    let text = "\
        // a comment\n\
        \n\
        const FEW: &[&str] = &[\"a\", \"b\"];\n\
        static MANY: [&str; 9] = [\n    \"a;\", \"b\", \"c\", \"d\",\n    \"e\", \"f\", \"g\", \"h\", \"i\",\n];\n\
        #[cfg(test)]\nmod tests {\n    fn hidden() {}\n}\n\
        fn short() -> u8 {\n    // why\n    1\n}\n";
    let lines = code_lines(text);
    assert_eq!(lines.len(), 8, "{lines:?}");
    assert_eq!(functions_in(&lines), [("short".to_owned(), 3)]);
    let lists: Vec<_> = lists_in(&lines).collect();
    assert_eq!(lists, [("FEW".to_owned(), 2), ("MANY".to_owned(), 9)]);
}

fn hold(unit: &str, found: &BTreeMap<String, usize>, held: &BTreeMap<String, usize>) {
    let mut wrong = Vec::new();
    for (name, size) in found {
        match held.get(name) {
            Some(allowed) if size > allowed => {
                wrong.push(format!("{name}: {size} {unit}, {allowed} are allowed"));
            }
            Some(_) => {}
            None => wrong.push(format!(
                "{name}: {size} {unit}, and it is not in budget.toml"
            )),
        }
    }
    let gone = held.keys().filter(|name| !found.contains_key(*name));
    wrong.extend(gone.map(|name| format!("{name} is in budget.toml, and short or gone")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn path() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("budget.toml")
}

/// `budget.toml`, with what has fallen written down first where that is asked for.
fn budget() -> &'static Budget {
    static BUDGET: LazyLock<Budget> = LazyLock::new(|| {
        let mut text = fs::read_to_string(path()).unwrap();
        if std::env::var_os("MENDIT_WRITE_BUDGET").is_some() {
            text = lowered(&text);
            fs::write(path(), &text).unwrap();
        }
        toml::from_str(&text).unwrap()
    });
    &BUDGET
}

/// The text of the budget with each figure no higher than what was found, and without what is gone.
fn lowered(text: &str) -> String {
    let (rooms, functions, words, rows) = (rooms(), functions(), words(), own_trials());
    let row = Regex::new(r#"^"?([^"=]+?)"? = (\{ now = )?([0-9]+)"#).unwrap();
    let mut section = "";
    let mut out = String::new();
    for line in text.lines() {
        section = line.strip_prefix('[').unwrap_or(section);
        let found = match section {
            "rooms]" => &rooms,
            "functions]" => &functions,
            "words]" => &words,
            "own_trial]" => &rows,
            _ => &BTreeMap::new(),
        };
        match row.captures(line) {
            Some(parts) if !section.starts_with("aims") => {
                let held: usize = parts[3].parse().unwrap();
                let Some(now) = found.get(&parts[1]) else {
                    continue;
                };
                let from = parts.get(3).unwrap();
                let kept = &line[..from.start()];
                out.push_str(&format!(
                    "{kept}{}{}\n",
                    held.min(*now),
                    &line[from.end()..]
                ));
            }
            _ => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    out
}

/// Code lines by room.
fn rooms() -> BTreeMap<String, usize> {
    let mut rooms = BTreeMap::new();
    for (path, text) in sources() {
        let room = module_of(&path).unwrap_or_else(|| "beside".to_owned());
        *rooms.entry(room).or_default() += code_lines(&text).len();
    }
    rooms
}

/// Functions above the limit: `file name` to code lines, those of one name in a file added up.
fn functions() -> BTreeMap<String, usize> {
    above(FUNCTION_LINES, functions_in)
}

/// Lists above the limit: `file NAME` to strings.
fn words() -> BTreeMap<String, usize> {
    above(LIST_STRINGS, |lines| lists_in(lines).collect())
}

fn above(limit: usize, of: impl Fn(&[&str]) -> Vec<(String, usize)>) -> BTreeMap<String, usize> {
    let mut all: BTreeMap<String, usize> = BTreeMap::new();
    for (path, text) in sources() {
        let path = path
            .strip_prefix("src")
            .unwrap()
            .to_str()
            .unwrap()
            .replace('\\', "/");
        for (name, size) in of(&code_lines(&text)) {
            if size > limit {
                *all.entry(format!("{path} {name}")).or_default() += size;
            }
        }
    }
    all
}

/// Rows without `seen` by table: `path` below `src` to their number.
fn own_trials() -> BTreeMap<String, usize> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.clone()];
    let mut found = BTreeMap::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "toml") {
                let table: toml::Table =
                    toml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
                let rows = table.values().filter_map(toml::Value::as_array).flatten();
                let rows = rows.filter_map(toml::Value::as_table);
                let unseen = rows.filter(|row| !row.contains_key("seen")).count();
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
                if unseen > 0 {
                    found.insert(name.replace('\\', "/"), unseen);
                }
            }
        }
    }
    found
}

/// The lines of a file that are neither blank, nor comments, nor items under `#[cfg(test)]`.
fn code_lines(text: &str) -> Vec<&str> {
    let mut lines = text.lines();
    let mut code = Vec::new();
    while let Some(line) = lines.next() {
        let bare = line.trim();
        if bare.starts_with("#[cfg(test)]") {
            // As rustfmt sets it: what is open ends at the brace below its first word.
            let end = format!("{}}}", &line[..line.len() - bare.len()]);
            let mut open = false;
            for line in lines.by_ref() {
                open |= line.ends_with('{');
                let whole = !open && line.ends_with([';', '}', ',']);
                if whole || open && line.trim_end_matches([';', ',']) == end {
                    break;
                }
            }
        } else if !bare.is_empty() && !bare.starts_with("//") {
            code.push(line);
        }
    }
    code
}

/// The functions of code lines, each with its own number of lines.
fn functions_in(lines: &[&str]) -> Vec<(String, usize)> {
    let head =
        Regex::new(r"^(\s*)(?:pub(?:\([^)]*\))?\s+)?(?:const\s+|async\s+|unsafe\s+)*fn\s+(\w+)")
            .unwrap();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(parts) = head.captures(line) else {
            continue;
        };
        let body = lines[at..]
            .iter()
            .position(|it| it.contains('{') || it.ends_with(';'));
        let Some(body) = body.filter(|ahead| lines[at + ahead].contains('{')) else {
            continue;
        };
        let end = format!("{}}}", &parts[1]);
        let one_line = lines[at + body].ends_with('}');
        let rest = lines[at + body..]
            .iter()
            .position(|it| one_line || it.trim_end() == end);
        found.push((parts[2].to_owned(), body + rest.unwrap_or(0) + 1));
    }
    found
}

/// The constants of code lines that hold strings, each with their number.
fn lists_in<'a>(lines: &'a [&str]) -> impl Iterator<Item = (String, usize)> + 'a {
    let head = Regex::new(r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:const|static)\s+(\w+)\s*:").unwrap();
    let string = Regex::new(r##"r#".*?"#|b?"(?:\\.|[^"\\])*""##).unwrap();
    lines.iter().enumerate().filter_map(move |(at, line)| {
        let name = head.captures(line)?[1].to_owned();
        let ends = |it: &&str| string.replace_all(it, "").trim_end().ends_with(';');
        let last = lines[at..].iter().position(ends)?;
        let text = lines[at..=at + last].join("\n");
        Some((name, string.find_iter(&text).count()))
    })
}
