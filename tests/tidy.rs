//! The shape of the source, as a test: floors, who may name which crate, file length, codes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// A module imports only from floors below its own. The page is in `src/lib.rs`.
const FLOORS: &[(&str, u8)] = &[
    ("model", 0),
    ("config", 1),
    ("source", 1),
    ("exec", 1),
    ("report", 1),
    ("git", 2),
    ("lang", 2),
    ("resolve", 3),
    ("policy", 3),
    ("diagnose", 3),
    ("workspace", 3),
    ("graph", 4),
    ("patch", 4),
    ("rank", 5),
    ("hint", 5),
    ("context", 6),
    ("agent", 6),
    ("heal", 6),
    ("repair", 7),
    ("bench", 8),
    ("cli", 9),
    ("mcp", 8),
];

/// A crate or API, the one place that may name it, and the pattern that finds it.
const SOLE_USERS: &[(&str, &str)] = &[
    (r"\bgix::|\buse gix\b", "src/git/"),
    (r"\btree_sitter", "src/lang/"),
    (r"\bclap::|\buse clap\b", "src/cli/"),
    (r"\bignore::", "src/source/"),
    (r"process::Command|Command::new", "src/exec/"),
    (r"\bprintln!|\beprintln!|io::stdout|io::stderr", "src/cli/"),
];

/// Files above the limit, each a table or one deep algorithm.
const LONG_FILES: &[&str] = &["src/repair/plan_table.rs"];

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

#[test]
fn no_files_import_each_other_in_a_circle() {
    let modules = Modules::read();
    let names = modules.code.keys();
    let mut open: BTreeMap<&str, BTreeSet<String>> = names
        .map(|module| (module.as_str(), modules.imported(module)))
        .collect();
    assert!(open.values().flatten().count() > 500);
    // What imports nothing that is left, or is imported by nothing that is left, is in no circle.
    loop {
        let wanted: BTreeSet<&String> = open.values().flatten().collect();
        let free: Vec<&str> = open
            .iter()
            .filter(|(module, imports)| {
                let ends = !imports.iter().any(|it| open.contains_key(it.as_str()));
                ends || !wanted.contains(&(**module).to_owned())
            })
            .map(|(module, _)| *module)
            .collect();
        if free.is_empty() {
            break;
        }
        open.retain(|module, _| !free.contains(module));
    }
    assert!(open.is_empty(), "in or between circles: {open:#?}");
}

#[test]
fn each_crate_has_one_user() {
    let mut wrong = Vec::new();
    for (pattern, user) in SOLE_USERS {
        let pattern = Regex::new(pattern).unwrap();
        for (path, text) in sources() {
            if !path.starts_with(user) && pattern.is_match(&code_of(&text)) {
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
fn no_unfinished_marks() {
    let marks = Regex::new(r"todo!\(|unimplemented!\(|TODO|FIXME|HACK").unwrap();
    for (path, text) in sources() {
        assert!(!marks.is_match(&text), "{}", path.display());
    }
}

// The file without its unit tests, which stand at the end.
fn code_of(text: &str) -> String {
    text.split("#[cfg(test)]\nmod ")
        .next()
        .unwrap_or("")
        .to_owned()
}

// What the source files are, as modules: `patch/place/hunk`, and `patch/place` for its `mod.rs`.
struct Modules {
    code: BTreeMap<String, String>,
    // A folder and a name that its `mod.rs` re-exports, to the file that has it.
    exported: BTreeMap<(String, String), String>,
    uses: Regex,
    inline: Regex,
}

impl Modules {
    fn read() -> Self {
        let exports = Regex::new(r"pub(?:\([^)]*\))? use (\w+(?:::[^;]+)?);").unwrap();
        let (mut code, mut exported) = (BTreeMap::new(), BTreeMap::new());
        for (path, text) in sources() {
            let module = path.strip_prefix("src").unwrap().with_extension("");
            let module = module.to_str().unwrap();
            let Some(folder) = module.strip_suffix("/mod") else {
                let lines = code_of(&text);
                let lines = lines
                    .lines()
                    .filter(|it| !it.trim_start().starts_with("//"));
                code.insert(module.to_owned(), lines.collect::<Vec<_>>().join("\n"));
                continue;
            };
            let found = exports.captures_iter(&text);
            for path in found.flat_map(|found| one_by_one(&found[1])) {
                if let Some((file, name)) = path.split_once("::") {
                    exported.insert((folder.to_owned(), name.to_owned()), file.to_owned());
                }
            }
        }
        Self {
            code,
            exported,
            uses: Regex::new(r"\buse ((?:super|crate)::[^;]+);").unwrap(),
            inline: Regex::new(r"\b(?:super|crate)(?:::\w+)+").unwrap(),
        }
    }

    // The files whose items a file names.
    fn imported(&self, module: &str) -> BTreeSet<String> {
        let text = &self.code[module];
        let grouped = self.uses.captures_iter(text);
        let grouped = grouped.flat_map(|found| one_by_one(&found[1]));
        let named = self.inline.find_iter(text);
        grouped
            .chain(named.map(|found| found.as_str().to_owned()))
            .filter_map(|path| self.file_of(module, &path))
            .filter(|file| file != module)
            .collect()
    }

    fn file_of(&self, module: &str, path: &str) -> Option<String> {
        let mut at: Vec<&str> = module.split('/').collect();
        for part in path.split("::") {
            let here = at.join("/");
            match part {
                "crate" => at.clear(),
                "super" => drop(at.pop()),
                _ if self.code.contains_key(&here) => break,
                _ => match self.exported.get(&(here, part.to_owned())) {
                    Some(file) => at.push(file),
                    None => at.push(part),
                },
            }
        }
        let file = at.join("/");
        self.code.contains_key(&file).then_some(file)
    }
}

// `a::{b, c::{d, e}}` as `a::b`, `a::c::d`, `a::c::e`.
fn one_by_one(path: &str) -> Vec<String> {
    let path: String = path.split_whitespace().collect();
    let Some((before, group)) = path.split_once('{') else {
        return vec![path];
    };
    let group = group.strip_suffix('}').unwrap_or(group);
    let mut depth = 0;
    let parts = group.split(|char| {
        depth += i32::from(char == '{') - i32::from(char == '}');
        char == ',' && depth == 0
    });
    parts
        .flat_map(one_by_one)
        .filter(|part| !part.is_empty())
        .map(|part| format!("{before}{part}"))
        .collect()
}

fn module_of(path: &Path) -> Option<String> {
    let mut parts = path.iter().skip(1);
    let module = parts.next()?.to_str()?;
    parts.next().map(|_| module.to_owned())
}

fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut open = vec![root.join("src")];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path.strip_prefix(root).unwrap().to_owned(), text));
            }
        }
    }
    found.sort();
    assert!(found.len() > 20);
    found
}
