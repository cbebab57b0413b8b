//! Signs in code that a change may turn tests green by other means than a repair: the rows of
//! `suspicion.toml`.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use super::change::{ChangeRules, ChangedFile, SEND_WITHOUT};
use super::changed_lines::{ChangedLine, changed_lines};
use super::commands::CommandFiles;
use super::test_files::is_test;
use crate::languages::Language;
use crate::model::{Code, PatchProblem};

/// A sign that a change may turn tests green by other means than a repair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspicion {
    /// The place of its file among the changed files.
    pub at: usize,
    /// 1-based line of the changed file.
    pub line: u64,
    /// That line.
    pub text: String,
    /// The meaning of the sign.
    pub why: &'static str,
    /// What clears the suspicion.
    pub needs: Needs,
}

/// What clears a suspicion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Needs {
    /// Tests that fail when they expect something else.
    CounterProof,
    /// A person: no experiment here can clear it.
    Person,
    /// Nothing: it is refused.
    Refused,
}

/// Characters of a line that are shown.
const MAX_SHOWN: usize = 80;

/// Finds the suspicious lines that changed files have and no file of the change had before: code that
/// only moves adds nothing. Files are code by their ending, by their first line, where they may be
/// executed, and where a command runs them; tests are none.
#[must_use]
pub fn suspicions(files: &[ChangedFile<'_>], run: &CommandFiles) -> Vec<Suspicion> {
    let is_heeded: Vec<bool> = TABLE.rows.iter().map(|row| row.is_heeded(run)).collect();
    let find_in = |(at, file): (usize, &ChangedFile<'_>)| {
        if file.before == file.after {
            return (Vec::new(), Vec::new());
        }
        let [before, after] = [file.before, file.after].map(Option::unwrap_or_default);
        let (lost, added) = changed_lines(before, after);
        let is_code = is_code(file, run) && !is_test(file.path);
        let old = find_signs(&is_heeded, at, file.path, true, &lost);
        let mut new = find_signs(&is_heeded, at, file.path, is_code, &added);
        let named = TABLE
            .rows
            .iter()
            .enumerate()
            .find(|(row, it)| is_heeded[*row] && it.names(file));
        new.extend(named.map(|(row, _)| Sign::new(row, at, 1, file.path.as_bytes())));
        (old, new)
    };
    let all = crate::parallel::map(files.iter().enumerate().collect(), find_in);
    let (old, new): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    let [old, new] = [old.concat(), new.concat()];
    let mut found = remaining_signs(&new, &old, false);
    found.extend(remaining_signs(&old, &new, true));
    found
}

/// A line or a new file that a row is about.
#[derive(Clone)]
struct Sign {
    row: usize,
    at: usize,
    line: usize,
    text: Vec<u8>,
    /// The part that is the same where code only moves.
    mark: Vec<u8>,
}

impl Sign {
    fn new(row: usize, at: usize, line: usize, text: &[u8]) -> Self {
        // Of a comment that a program heeds the comment counts, and not the code before it.
        let rule = &TABLE.rows[row];
        let comment = rule.sign.as_ref().filter(|_| !rule.programs.is_empty());
        let mark = comment.and_then(|sign| sign.regex()?.find(text));
        let mark = mark.map_or(text, |mark| mark.as_bytes()).to_vec();
        Self {
            row,
            at,
            line,
            text: text.to_vec(),
            mark,
        }
    }
}

/// Returns the signs of one side that the other has not, one for each file and reason.
fn remaining_signs(one: &[Sign], other: &[Sign], lost: bool) -> Vec<Suspicion> {
    let mut left: HashMap<(usize, &[u8]), usize> = HashMap::new();
    for sign in other {
        *left.entry((sign.row, &sign.mark)).or_default() += 1;
    }
    let mut found: Vec<Suspicion> = Vec::new();
    for sign in one.iter().filter(|sign| TABLE.rows[sign.row].lost == lost) {
        let row = &TABLE.rows[sign.row];
        match left
            .get_mut(&(sign.row, &*sign.mark))
            .filter(|left| **left > 0)
        {
            Some(left) => *left -= 1,
            None if found
                .iter()
                .any(|told| told.at == sign.at && told.why == row.why) => {}
            None => found.push(Suspicion {
                at: sign.at,
                line: sign.line as u64,
                text: String::from_utf8_lossy(&sign.text)
                    .chars()
                    .take(MAX_SHOWN)
                    .collect(),
                why: &row.why,
                needs: row.needs,
            }),
        }
    }
    found
}

fn find_signs(
    is_heeded: &[bool],
    at: usize,
    path: &str,
    is_code: bool,
    lines: &[ChangedLine<'_>],
) -> Vec<Sign> {
    let language = Language::of_path(path).map_or("", |language| language.name);
    let is_meant =
        |row: &usize| is_heeded[*row] && TABLE.rows[*row].is_about(path, is_code, language);
    let meant: Vec<usize> = (0..TABLE.rows.len()).filter(is_meant).collect();
    let Some(signs) = TABLE.signs.as_ref().filter(|_| !meant.is_empty()) else {
        return Vec::new();
    };
    let find = |line: &ChangedLine<'_>| {
        let candidates = signs.matches(line.text);
        let mut rows = meant.iter().filter(|row| candidates.matched(**row));
        let row = rows.find(|row| TABLE.rows[**row].accepts(line))?;
        Some(Sign::new(*row, at, line.number, line.text))
    };
    lines.iter().filter_map(find).collect()
}

/// Turns suspicions into problems of a patch: warnings, or refusals.
pub(super) fn find_suspicious(
    files: &[ChangedFile<'_>],
    rules: &ChangeRules<'_>,
) -> Vec<(usize, PatchProblem)> {
    let problem = |found: Suspicion| {
        let head = format!("line {} `{}` {}", found.line, found.text, found.why);
        let problem = match found.needs {
            Needs::Refused => PatchProblem::new(Code::P712, format!("{head}: {SEND_WITHOUT}")),
            _ => PatchProblem::new(Code::P712, head).as_warning(),
        };
        (found.at, problem)
    };
    suspicions(files, rules.run)
        .into_iter()
        .map(problem)
        .collect()
}

fn is_code(file: &ChangedFile<'_>, run: &CommandFiles) -> bool {
    Language::of_path(file.path).is_some()
        || file.modes.1 == 0o100_755
        || file.after.is_some_and(|text| text.starts_with(b"#!"))
        || run.get(file.path).is_some()
}

/// A pattern of the table, compiled at its first use; letters and blanks are those of ASCII.
#[derive(Debug, serde::Deserialize)]
#[serde(from = "String")]
struct Pattern {
    text: String,
    compiled: OnceLock<Option<Regex>>,
}

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        Self {
            text,
            compiled: OnceLock::new(),
        }
    }
}

impl Pattern {
    fn regex(&self) -> Option<&Regex> {
        let compile = || RegexBuilder::new(&self.text).unicode(false).build().ok();
        self.compiled.get_or_init(compile).as_ref()
    }

    fn is_match(&self, text: &[u8]) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    language: Option<String>,
    /// The sign in a line; a row without it is about new files.
    sign: Option<Pattern>,
    /// Takes a line out again.
    but: Option<Pattern>,
    /// Only in so many first lines.
    within: Option<usize>,
    /// The line above.
    below: Option<Pattern>,
    /// About lines that go, and not those that come.
    #[serde(default)]
    lost: bool,
    /// Only in files of such a path, whatever they hold.
    file: Option<Pattern>,
    /// Only where the command runs one of these, or a program with an option that begins so.
    #[serde(default)]
    programs: Vec<String>,
    needs: Needs,
    why: String,
    #[serde(rename = "seen")]
    _seen: String,
}

impl Row {
    fn is_heeded(&self, run: &CommandFiles) -> bool {
        let runs = |word: &String| {
            let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
            let name = name.split('.').next().unwrap_or(name);
            matches!(name, "pre-commit" | "lint-staged")
                || self.programs.iter().any(|it| it == name)
        };
        let is_option = |word: &String| {
            let mut options = self
                .programs
                .iter()
                .filter(|program| program.starts_with("--"));
            options.any(|option| word.starts_with(option.as_str()))
        };
        let is_run =
            |words: &Vec<String>| words.iter().take(3).any(runs) || words.iter().any(is_option);
        self.programs.is_empty() || run.commands().iter().any(is_run)
    }

    /// Whether the row is about lines of such a file.
    fn is_about(&self, path: &str, is_code: bool, language: &str) -> bool {
        const PROSE: [&str; 5] = ["adoc", "md", "mdx", "rst", "txt"];
        let file = match &self.file {
            Some(file) => file.is_match(path.as_bytes()),
            None if self.programs.is_empty() => is_code,
            None => !PROSE.contains(&path.rsplit('.').next().unwrap_or_default()),
        };
        let is_own = self.language.as_deref().is_none_or(|own| own == language);
        self.sign.is_some() && file && (language.is_empty() || is_own)
    }

    /// Whether a line with the sign is meant.
    fn accepts(&self, line: &ChangedLine<'_>) -> bool {
        let is_assertion = self.programs.is_empty() && line.text.starts_with(b"assert ");
        !is_assertion
            && self.within.is_none_or(|within| line.number <= within)
            && self
                .below
                .as_ref()
                .is_none_or(|below| below.is_match(line.above))
            && !self.but.as_ref().is_some_and(|but| but.is_match(line.text))
    }

    /// Whether the row is about a new file as such.
    fn names(&self, file: &ChangedFile<'_>) -> bool {
        let is_new = file.before.is_none() && file.after.is_some();
        let path = self.file.as_ref().filter(|_| is_new && self.sign.is_none());
        path.is_some_and(|path| path.is_match(file.path.as_bytes()))
    }
}

#[derive(Default, serde::Deserialize)]
struct Table {
    #[serde(rename = "suspicion")]
    rows: Vec<Row>,
    /// The signs of all rows, asked at once; an empty class where a row has none.
    #[serde(skip)]
    signs: Option<RegexSet>,
}

// The file is part of the program, and a test reads it.
static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let text = embedded!("policy/suspicion.toml");
    let mut table: Table = crate::model::read_table(text).unwrap_or_default();
    let signs = table.rows.iter();
    let signs = signs.map(|row| {
        row.sign
            .as_ref()
            .map_or(r"[^\s\S]", |sign| sign.text.as_str())
    });
    table.signs = RegexSetBuilder::new(signs).unicode(false).build().ok();
    table
});

#[cfg(test)]
mod tests {
    use super::{Needs, TABLE, suspicions};
    use crate::model::Operation;
    use crate::policy::change::tests::modified;
    use crate::policy::{ChangedFile, CommandFiles};
    use crate::source::Memory;

    fn needs(command: &str, file: ChangedFile<'_>) -> Option<Needs> {
        let package = serde_json::json!({"scripts": {"lint": "eslint src", "types": "tsc -p ."}});
        let package = package.to_string();
        let source = Memory::named([("package.json", package.as_str()), ("run.txt", "")]);
        let run = CommandFiles::find(&[command.to_owned()], "", &source);
        suspicions(&[file], &run).first().map(|found| found.needs)
    }

    #[test]
    fn every_pattern_compiles() {
        for row in &TABLE.rows {
            let all = [&row.sign, &row.but, &row.below, &row.file];
            for pattern in all.into_iter().flatten() {
                assert!(
                    regex::bytes::Regex::new(&pattern.text).is_ok(),
                    "{}",
                    pattern.text
                );
            }
        }
        assert!(TABLE.signs.is_some() && !TABLE.rows.is_empty());
    }

    #[test]
    fn signs_are_told_and_hidden_code_is_refused() {
        for (path, line, expected) in [
            ("a.py", "# -*- coding: rot13 -*-", Some(Needs::Refused)),
            ("a.py", "# -*- coding: utf-8 -*-", None),
            ("a.py", "exec(base64.b64decode(x))", Some(Needs::Refused)),
            ("a.py", "model.eval()", None),
            ("a.py", "re.compile(x)", None),
            ("a.js", "eval(atob(x))", Some(Needs::Refused)),
            ("run.txt", "exec(open('x').read())", Some(Needs::Refused)),
            ("notes.txt", "exec(open('x').read())", None),
            (
                "a.py",
                "if 'PYTEST_CURRENT_TEST' in os.environ:",
                Some(Needs::Person),
            ),
            ("a.py", "os._exit(0)", Some(Needs::CounterProof)),
            (
                "a.py",
                "return {k: v for k, v in os.environ.items() if k.startswith('APP_')}",
                None,
            ),
            ("tests/test_a.py", "os._exit(0)", None),
        ] {
            let after = format!("{line}\n");
            let found = |before, after| needs("python3 run.txt", modified(path, before, after));
            assert_eq!(found("x\n", &after), expected, "{line}");
            assert_eq!(found(&after, &format!("y\n{after}")), None, "{line} stays");
        }
    }

    #[test]
    fn what_makes_a_checker_look_away_is_refused_where_it_runs() {
        for (command, path, comment) in [
            ("ruff check src", "a.py", "# noqa: F401"),
            ("uv run ruff check src", "a.py", "#NOQA"),
            ("python3 -m mypy src", "a.py", "# type: ignore[assignment]"),
            ("mypy src && pytest", "a.py", "# mypy: ignore-errors"),
            ("npx tsc --noEmit", "a.ts", "// @ts-expect-error later"),
            ("npm run types", "a.ts", "// @ts-nocheck"),
            ("npm run lint", "a.js", "/* eslint-disable no-undef */"),
            ("npm run lint", "a.js", "/* global add */"),
            ("npx biome ci", "a.js", "// biome-ignore lint: no"),
            ("npx prettier --check .", "a.js", "// prettier-ignore"),
            ("pytest --cov=a", "tests/test_a.py", "# pragma: no cover"),
            ("coverage run -m pytest", "a.py", "# pragma: no cover"),
            ("npx vitest run --coverage", "a.ts", "/* v8 ignore next */"),
            ("npx c8 mocha", "a.js", "/* istanbul ignore if */"),
        ] {
            let (plain, silent) = ("x = 1\n", format!("x = 1  {comment}\ny = 2\n"));
            let found = |command, before, after| needs(command, modified(path, before, after));
            let refused = found(command, plain, &silent);
            assert_eq!(refused, Some(Needs::Refused), "{command} {comment}");
            let moved = format!("y = 2\nx = 3  {comment}\n");
            assert_eq!(found(command, &silent, &moved), None, "{command} {comment}");
            for other in ["pytest -q", "npx vitest run", "cargo test"] {
                assert_eq!(found(other, plain, &silent), None, "{other} {comment}");
            }
        }
    }

    #[test]
    fn a_new_file_in_the_place_of_the_runner_is_refused() {
        let new = |path| ChangedFile {
            operation: Operation::Create,
            before: None,
            ..modified(path, "", "x = 1\n")
        };
        for (path, expected) in [
            ("pytest.py", Some(Needs::Refused)),
            ("src/unittest/__init__.py", Some(Needs::Refused)),
            ("shop/pytest.py", None),
            ("src/testing.py", None),
        ] {
            assert_eq!(needs("pytest", new(path)), expected, "{path}");
        }
    }

    #[test]
    fn an_example_that_is_run_keeps_what_it_says() {
        let text = "def f():\n    \"\"\"\n    >>> f()\n    2\n    \"\"\"\n    return 1\n";
        for (after, expected) in [
            (text.replace("return 1", "return 2"), None),
            (text.replace("    2\n", "    2\n    >>> g()\n    3\n"), None),
            (text.replace("    2\n", "    1\n"), Some(Needs::Person)),
            (
                text.replace(">>> f()", ">>> f()  # doctest: +SKIP"),
                Some(Needs::Person),
            ),
        ] {
            for (command, expected) in [
                ("pytest --doctest-modules", expected),
                ("python3 -m doctest a.py", expected),
                ("pytest", None),
            ] {
                assert_eq!(
                    needs(command, modified("a.py", text, &after)),
                    expected,
                    "{after}"
                );
            }
        }
    }
}
