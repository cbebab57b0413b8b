//! Reads the edits that error messages propose, such as "did you mean".

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Captures;
use serde::Deserialize;

use super::candidate::Candidate;
use super::log_file::{LogFile, product_files, python_frame};
use crate::hint::{only_near, replace_words};
use crate::languages::is_word;
use crate::model::{Diagnosis, parse_rows};
use crate::policy::is_test;
use crate::runners::Pattern;
use crate::source::Source;

// A row of `witness.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    id: String,
    cue: String,
    pattern: Pattern,
    // Whether `await` is put before a call.
    #[serde(default)]
    awaits: bool,
    names: Option<String>,
    among: Option<String>,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| parse_rows(embedded!("fixes/witness.toml")));

/// Returns edits that the lines of a log propose: they name the place, the wrong word there, and the right one or
/// the kind of names among which it is.
pub(super) fn witnesses(
    log: &str,
    diagnosis: &Diagnosis,
    source: &dyn Source,
    renamed: &BTreeMap<String, String>,
) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    // Many tests fail for one word.
    let mut seen = BTreeSet::new();
    // Statements for each of which all names of a kind may be read.
    for statement in read_statements(log).into_iter().take(64) {
        let (row, places) = (&statement.row.id, statement.places.clone());
        let is_new = seen.insert((row, places, statement.group("wrong")));
        if is_new && found.len() < 4 {
            let candidate = statement.build_candidate(diagnosis, source, renamed);
            found.extend(candidate.filter(|one| !found.contains(one)));
        }
    }
    found
}

/// Returns the words of which a log says that they are wrong.
pub(super) fn named_words(log: &str) -> impl Iterator<Item = &str> {
    read_statements(log).into_iter().map(|statement| statement.group("wrong"))
}

// What a line says.
struct Statement<'l> {
    row: &'static Row,
    groups: Captures<'l>,
    // Paths and lines of what may be the place.
    places: Vec<(&'l str, usize)>,
}

// What the lines of a log say; where a line names no place, with the frame below, where pytest names it, and the one
// above.
fn read_statements(log: &str) -> Vec<Statement<'_>> {
    let mut found: Vec<Statement<'_>> = Vec::new();
    let mut frame = None;
    let mut open = 0;
    // Longer lines of a log say nothing.
    for line in log.lines().filter(|line| line.len() < 2_000) {
        let line = line.strip_prefix("E ").unwrap_or(line).trim();
        if let Some(here) = python_frame(line) {
            frame = Some(here);
            let statements = found.iter_mut().skip(open);
            for statement in statements.filter(|one| one.groups.name("path").is_none()) {
                statement.places.insert(0, here);
            }
            open = found.len();
        }
        for row in ROWS.iter().filter(|row| line.contains(&row.cue)) {
            let Some(groups) = row.pattern.get().captures(line) else {
                continue;
            };
            let [path, at] = ["path", "line"].map(|name| groups.name(name));
            let line = at.and_then(|at| at.as_str().parse().ok());
            let place = path.map(|path| path.as_str()).zip(line).or(frame);
            found.push(Statement {
                row,
                groups,
                places: Vec::from_iter(place),
            });
        }
    }
    found
}

impl<'l> Statement<'l> {
    fn group(&self, name: &str) -> &'l str {
        self.groups.name(name).map_or("", |group| group.as_str())
    }

    fn build_candidate(
        &self,
        diagnosis: &Diagnosis,
        source: &dyn Source,
        renamed: &BTreeMap<String, String>,
    ) -> Option<Candidate> {
        let named = self.named_place(diagnosis, source);
        let (file, start) = named.or_else(|| self.only_place(source))?;
        // Not in tests, because a test may be right and the code wrong.
        if self.row.names.is_some() && is_test(file.path.as_str()) {
            return None;
        }
        let wrong = self.group("wrong");
        if self.row.awaits {
            let after = replace_words(&file.text, &[start], "", "await ");
            return file.make_candidate(&format!("await `{wrong}`"), &after);
        }
        let right = renamed.get(wrong).cloned().or_else(|| self.right_word(source))?;
        let after = replace_words(&file.text, &[start], wrong, &right);
        file.make_candidate(&format!("replace `{wrong}` with `{right}`"), &after)
    }

    fn right_word(&self, source: &dyn Source) -> Option<String> {
        let (wrong, right) = (self.group("wrong"), self.group("right"));
        if !right.is_empty() {
            return (right != wrong).then(|| right.to_owned());
        }
        let names = self.list_names(source)?;
        only_near(wrong, names.iter().map(String::as_str))
    }

    // The names among which the right one is: those that the message lists, else those that the repository has.
    fn list_names(&self, source: &dyn Source) -> Option<BTreeSet<String>> {
        let of = regex::escape(self.group("of"));
        let [names, among] = [&self.row.names, &self.row.among].map(|text| {
            let text = text.as_ref()?.replace("{of}", &of);
            regex::Regex::new(&text).ok()
        });
        let names = names?;
        let mut found = BTreeSet::new();
        let listed = self.group("listed");
        let texts: Vec<String> = if listed.is_empty() {
            let paths = source.listing().files().map(|entry| entry.path.to_string());
            let texts = product_files(source, |path| path.ends_with(".py")).map(|file| file.text);
            let texts = texts.filter(|text| among.as_ref().is_none_or(|one| one.is_match(text)));
            texts.chain(paths).collect()
        } else {
            vec![listed.to_owned()]
        };
        for groups in texts.iter().flat_map(|text| names.captures_iter(text)) {
            let list = groups.get(1).map_or("", |list| list.as_str());
            let words = list.split(|c: char| !(c.is_alphanumeric() || "_-.".contains(c)));
            found.extend(words.map(str::to_owned));
        }
        Some(found)
    }

    // The wrong word at a place that the message names: at the column, else the only one on the line.
    fn named_place<'s>(
        &self,
        diagnosis: &Diagnosis,
        source: &'s dyn Source,
    ) -> Option<(LogFile<'s>, usize)> {
        let wrong = self.group("wrong");
        self.places.iter().find_map(|(path, line)| {
            let file = LogFile::find(path, diagnosis, source)?;
            let start = match self.group("column").parse() {
                Ok(column) => file.byte_offset(*line, column)?,
                Err(_) => {
                    let places: Vec<usize> = file.words(file.line(*line)?, wrong).collect();
                    // `f(rate=rate)`: the keyword is wrong.
                    let mut keys =
                        places.iter().filter(|at| file.text[**at + wrong.len()..].starts_with('='));
                    let mut all = places.iter();
                    *only_one(&mut all).or_else(|| only_one(&mut keys))?
                }
            };
            let after = file.text.get(start..)?.strip_prefix(wrong)?;
            let is_whole = wrong.is_empty() || !after.bytes().next().is_some_and(is_word);
            let start = awaitable_start(&file, start, self.row.awaits).filter(|_| is_whole)?;
            Some((file, start))
        })
    }

    // The only one of the product, where the message names no place.
    fn only_place<'s>(&self, source: &'s dyn Source) -> Option<(LogFile<'s>, usize)> {
        let mut only = None;
        let is_unplaced = self.group("column").is_empty();
        let is_meant = |path: &str| path.ends_with(".py") || path.ends_with(".html");
        for file in product_files(source, is_meant).filter(|_| is_unplaced) {
            let places = file.words(0..file.text.len(), self.group("wrong"));
            let starts = places.filter_map(|at| awaitable_start(&file, at, self.row.awaits));
            match starts.collect::<Vec<_>>()[..] {
                [] => {}
                [start] if only.is_none() => only = Some((file, start)),
                _ => return None,
            }
        }
        only
    }
}

fn only_one<'p>(places: &mut dyn Iterator<Item = &'p usize>) -> Option<&'p usize> {
    places.next().filter(|_| places.next().is_none())
}

// Where the call at a byte begins, when an async function is around it and nothing awaits it yet. A member of a
// promise would need brackets.
fn awaitable_start(file: &LogFile<'_>, at: usize, awaits: bool) -> Option<usize> {
    if !awaits {
        return Some(at);
    }
    let head = file.text.get(..at)?;
    let is_python = file.path.extension() == Some("py");
    if !is_python && head.ends_with('.') {
        return None;
    }
    let start = head
        .trim_end_matches(|letter: char| letter.is_alphanumeric() || "_.".contains(letter))
        .len();
    let above = head.get(..start)?;
    let function = if is_python {
        let mut lines = above.lines().rev().map(str::trim_start);
        lines.find(|line| line.starts_with("def ") || line.starts_with("async def "))?
    } else {
        above.get(above.rfind("\n}").unwrap_or(0)..)?
    };
    let above = above.trim_end();
    let is_call = !above.ends_with("await") && !above.ends_with("def");
    (function.contains("async ") && is_call).then_some(start)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{ROWS, witnesses};
    use crate::diagnose::{LogFacts, diagnose};
    use crate::model::RepoPath;
    use crate::source::{Memory, Source};

    // The lines that are added for a log about one file.
    fn healed(path: &str, text: &str, log: &str) -> Vec<String> {
        let file = RepoPath::new(path).unwrap();
        let cart = "class Cart:\n    def add(self, price: dict[str, int], *, count=f(1, 2)):\n        ...\n";
        let cart = (
            RepoPath::new("lib/cart.py").unwrap(),
            cart.as_bytes().to_vec(),
        );
        let source = Memory::new([(file, text.as_bytes().to_vec()), cart]);
        let diagnosis = diagnose(log, &LogFacts::default(), Some(source.listing()));
        let found = witnesses(log, &diagnosis, &source, &BTreeMap::new());
        let added = found.iter().map(|heal| {
            assert!(heal.must_fix, "{}", heal.what);
            heal.added().join("|")
        });
        added.collect()
    }

    #[test]
    fn finds_typo_in_keyword_argument() {
        let error = |name: &str| {
            format!("TypeError: Cart.add() got an unexpected keyword argument '{name}'")
        };
        for (name, after) in [
            ("pirce", Some("    cart.add(price=1, count=2)")),
            ("volume", None),
            ("f", None),
        ] {
            let text = format!("def use(cart):\n    cart.add({name}=1, count=2)\n");
            for log in [
                format!(
                    "  File \"/w/src/use.py\", line 2, in use\n    x\n{}\n",
                    error(name)
                ),
                format!(
                    "tests/test_use.py:5: \n_ _ _\nE   {}\n\nsrc/use.py:2: TypeError\n",
                    error(name)
                ),
            ] {
                let expected: Vec<&str> = after.into_iter().collect();
                assert_eq!(healed("src/use.py", &text, &log), expected, "{log}");
                let log = log.replace("src/use.py", "tests/test_a.py");
                assert!(healed("tests/test_a.py", &text, &log).is_empty());
            }
        }
    }

    #[test]
    fn finds_typo_in_class_member() {
        let text = |name: &str| {
            format!(
                "class Shop(Base):\n    def on_bind(self):\n        self.rates = {{}}\n        self.{name}\n"
            )
        };
        for (name, right) in [("on_bnid", "on_bind"), ("rtaes", "rates"), ("tax", "")] {
            for log in [
                format!(
                    "src/shop.py:4: in run\n    self.x\nE   AttributeError: 'Shop' object has no attribute '{name}'\n"
                ),
                format!(
                    "E   AttributeError: type object 'Shop' has no attribute '{name}'\n\nsrc/shop.py:4: AttributeError\n"
                ),
            ] {
                let right = (!right.is_empty()).then(|| format!("        self.{right}"));
                let expected: Vec<String> = right.into_iter().collect();
                assert_eq!(healed("src/shop.py", &text(name), &log), expected, "{log}");
            }
        }
    }

    // The lines that a log about one file proposes.
    fn proposed(path: &str, text: &str, log: &str) -> Vec<String> {
        let source = Memory::named([(path, text)]);
        let diagnosis = diagnose(log, &LogFacts::default(), Some(source.listing()));
        let found = witnesses(log, &diagnosis, &source, &BTreeMap::new());
        found.iter().map(|one| one.added().join("|")).collect()
    }

    #[test]
    fn rows_parse_and_contain_cue() {
        let ids: std::collections::BTreeSet<&str> =
            ROWS.iter().map(|row| row.id.as_str()).collect();
        assert_eq!(ids.len(), ROWS.len());
        assert!(ids.len() > 6);
        for row in ROWS.iter() {
            row.pattern.get();
        }
    }

    #[test]
    fn awaits_unawaited_coroutine() {
        let log = "lib/notify.py:3: RuntimeWarning: coroutine 'Notifier.lent' was never awaited\n";
        let text = |head: &str| {
            format!(
                "class A:\n    {head}def go(self, it):\n        if it.lent(1):\n            pass\n"
            )
        };
        let found = proposed("lib/notify.py", &text("async "), log);
        assert_eq!(found, ["        if await it.lent(1):"]);
        assert!(proposed("lib/notify.py", &text(""), log).is_empty());
    }

    #[test]
    fn edits_location_of_compiler() {
        for (text, log, after) in [
            (
                "const a = 'x'\nexport const n = a.lenght\n",
                "src/a.ts(2,20): error TS2551: Property 'lenght' does not exist on type 'string'. Did you mean 'length'?\n",
                "export const n = a.length",
            ),
            (
                "const a = 'x'\nexport const n = a.lenght\n",
                "src/a.ts(2,19): error TS2551: Property 'lenght' does not exist on type 'string'. Did you mean 'length'?\n",
                "",
            ),
            (
                "class A {\n  go() { return load(1) }\n}\n",
                "src/a.ts(2,17): error TS2663: Cannot find name 'load'. Did you mean the instance member 'this.load'?\n",
                "  go() { return this.load(1) }",
            ),
            (
                "async function f() {\n  show(load())\n}\n",
                "src/a.ts(2,8): error TS2345: Argument of type 'Promise<string>' is not assignable to parameter of type 'string'.\n",
                "  show(await load())",
            ),
            (
                "function f() {\n  show(load())\n}\n",
                "src/a.ts(2,8): error TS2345: Argument of type 'Promise<string>' is not assignable to parameter of type 'string'.\n",
                "",
            ),
        ] {
            assert_eq!(proposed("src/a.ts", text, log).join("||"), after, "{log}");
        }
    }

    #[test]
    fn takes_unique_name_python_suggests() {
        let text = "class Job:\n    attempts = 0\n\ndef run(job):\n    job.attemps += 1\n";
        for log in [
            "Traceback (most recent call last):\n  File \"/w/src/a.py\", line 5, in run\n    job.attemps += 1\nAttributeError: 'Job' object has no attribute 'attemps'. Did you mean: 'attempts'?\n",
            "E   AttributeError: 'Job' object has no attribute 'attemps'. Did you mean: 'attempts'?\n\nsrc/a.py:5: AttributeError\n",
            "src/a.py:5: error: \"Job\" has no attribute \"attemps\"; maybe \"attempts\"?  [attr-defined]\n",
        ] {
            assert_eq!(
                proposed("src/a.py", text, log),
                ["    job.attempts += 1"],
                "{log}"
            );
        }
    }
}
