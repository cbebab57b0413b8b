//! The shape of the source, as a test: floors, who may name which crate, file length, codes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use regex::Regex;

use crate::sources::{code_of, module_of, sources};

/// A module imports only from floors below its own, so no two of them import each other. The page
/// is in `src/lib.rs`.
const FLOORS: &[(&str, u8)] = &[
    ("model", 0),
    ("config", 1),
    ("junit", 1),
    ("parallel", 0),
    ("source", 1),
    ("exec", 1),
    ("report", 1),
    ("state", 1),
    ("runners", 1),
    ("git", 2),
    ("trace", 2),
    ("languages", 2),
    ("policy", 3),
    ("diagnose", 4),
    ("workspace", 3),
    ("graph", 4),
    ("patch", 4),
    ("proof", 4),
    ("workplace", 5),
    ("rank", 5),
    ("hint", 5),
    ("context", 6),
    ("agent", 6),
    ("heal", 6),
    ("remedies", 6),
    ("repair", 7),
    ("why", 8),
    ("bench", 8),
    ("app", 9),
    ("cli", 11),
    ("mcp", 10),
];

/// A crate or API, what may name it, and the pattern that finds it. What requests are made of comes from
/// clap through one file.
const SOLE_USERS: &[(&str, &str)] = &[
    (r"\bgix::|\buse gix\b", "src/git/"),
    (r"\btree_sitter", "src/languages/"),
    (r"\bclap::|\buse clap\b", "src/cli/ src/app/flags.rs"),
    (r"\bignore::", "src/source/"),
    (r"process::Command|Command::new", "src/exec/"),
    (r"\bprintln!|\beprintln!|io::stdout|io::stderr", "src/cli/"),
];

/// Files above the limit, each a table or one deep algorithm.
const LONG_FILES: &[&str] = &[];

const MAX_LINES: usize = 600;

#[test]
fn modules_import_from_floors_below() {
    let pattern = Regex::new(r"crate::([a-z_]+)").unwrap();
    let floors: BTreeMap<_, _> = FLOORS.iter().copied().collect();
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let Some(module) = module_of(&path) else {
            continue;
        };
        let floor = floors[module.as_str()];
        for found in pattern.captures_iter(&code_of(&text)) {
            let other = &found[1];
            let below = floors.get(other).is_some_and(|below| *below < floor);
            if other != module && !below {
                wrong.push(format!("{}: crate::{other}", path.display()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "floors crossed upward:\n{}",
        wrong.join("\n")
    );
}

/// What the faces may name: everything else is the business of a task.
const FACES: &[(&str, &[&str])] = &[
    ("cli", &["app", "report", "model", "cli", "mcp"]),
    ("mcp", &["app", "report", "model", "mcp"]),
];

#[test]
fn faces_only_translate() {
    let pattern = Regex::new(r"crate::([a-z_]+)").unwrap();
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let Some((_, allowed)) = FACES
            .iter()
            .find(|(face, _)| module_of(&path).is_some_and(|it| it == *face))
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
fn each_crate_has_one_user() {
    let mut wrong = Vec::new();
    for (pattern, user) in SOLE_USERS {
        let pattern = Regex::new(pattern).unwrap();
        for (path, text) in sources() {
            let may = user.split(' ').any(|it| path.starts_with(it));
            if !may && pattern.is_match(&code_of(&text)) {
                wrong.push(format!("{} names {pattern}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_are_of_a_sane_length() {
    let long: Vec<_> = sources()
        .into_iter()
        .filter(|(path, _)| !LONG_FILES.contains(&path.to_str().unwrap()))
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| *lines > MAX_LINES)
        .collect();
    assert!(long.is_empty(), "over {MAX_LINES} lines: {long:?}");
}

#[test]
fn module_files_only_re_export() {
    let item = Regex::new(r"(?m)^\s*(pub )?fn ").unwrap();
    for (path, text) in sources() {
        if path.ends_with("mod.rs") && !path.starts_with("src/cli") {
            assert!(!item.is_match(&text), "{} has functions", path.display());
        }
    }
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
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
    let pages: Vec<String> = mendit::model::code_pages()
        .iter()
        .map(|page| page.code.to_string())
        .collect();
    let explained: BTreeSet<String> = pages.iter().cloned().collect();
    assert_eq!(pages.len(), mendit::model::Code::ALL.len());
    assert_eq!(pages.len(), explained.len(), "a code has two pages");
    let unexplained: Vec<_> = used.difference(&explained).collect();
    let unused: Vec<_> = explained.difference(&used).collect();
    assert!(unexplained.is_empty(), "without a page: {unexplained:?}");
    assert!(unused.is_empty(), "explained, never used: {unused:?}");
}

#[test]
fn what_comments_cite_is_written_down() {
    let read = |name: &str| fs::read_to_string(format!("docs/design/{name}.md")).unwrap();
    let (requirements, decisions) = (read("requirements"), read("decisions"));
    let cited = Regex::new(r"\b(?:R([0-9]{1,2})|conflicts? ([0-9]+))\b").unwrap();
    for (path, text) in sources() {
        for found in cited.captures_iter(&text) {
            let stands = match (found.get(1), found.get(2)) {
                (Some(number), _) => requirements.contains(&format!("**R{}**", number.as_str())),
                (_, Some(number)) => decisions.contains(&format!("\n{}. **", number.as_str())),
                _ => true,
            };
            assert!(stands, "{}: {}", path.display(), &found[0]);
        }
    }
}

#[test]
fn every_requirement_has_its_row_and_every_test_in_it_is_there() {
    let read = |name: &str| fs::read_to_string(format!("docs/design/{name}.md")).unwrap();
    let numbers = |text: &str, pattern: &str| -> Vec<String> {
        let pattern = Regex::new(pattern).unwrap();
        let found = pattern.captures_iter(text).map(|it| it[1].to_owned());
        found.collect()
    };
    let held = read("held");
    let wanted = numbers(&read("requirements"), r"(?m)^- \*\*(R[0-9]+)\*\*");
    assert!(wanted.len() > 80, "{wanted:?}");
    assert_eq!(numbers(&held, r"(?m)^\| (R[0-9]+) \|"), wanted);
    for named in numbers(&held, r"`([a-z0-9_/]+::[a-z0-9_]+)`") {
        let (file, name) = named.split_once("::").unwrap();
        let folder = if file.starts_with("src/") {
            ""
        } else {
            "tests/"
        };
        let path = format!("{folder}{file}.rs");
        let text = fs::read_to_string(&path).unwrap_or_else(|_| panic!("{path} is not there"));
        let test = Regex::new(&format!(
            r"#\[(?:tokio::)?test.*\]\n(?:#\[.*\]\n|    #\[.*\]\n)*\s*(?:async )?fn {name}\("
        ))
        .unwrap();
        assert!(test.is_match(&text), "{named} is no test");
    }
    let empty = numbers(&held, r"(?m)^\| (R[0-9]+) \|  \|  \|$");
    assert!(empty.is_empty(), "neither held nor said why not: {empty:?}");
}

#[test]
fn no_unfinished_marks() {
    // In a comment: reports of tests have a TODO of their own.
    let marks = Regex::new(r"todo!\(|unimplemented!\(|//[^\n]*\b(?:TODO|FIXME|HACK)\b").unwrap();
    for (path, text) in sources() {
        assert!(!marks.is_match(&text), "{}", path.display());
    }
}

// A name that says what it is, where one has to look up to know.
#[test]
fn closures_of_several_lines_name_what_they_take() {
    let unnamed = Regex::new(r"(?m)\|&*it(?:: [^|]*)?\| ?\{$").unwrap();
    for (path, text) in sources() {
        let found = unnamed
            .find(&text)
            .map(|it| text[..it.start()].lines().count());
        assert_eq!(found, None, "{}", path.display());
    }
}

// The file without its unit tests, which stand at the end.
