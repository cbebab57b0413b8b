use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;

use super::change::{ChangeRules, ChangedFile, SEND_WITHOUT};
use super::commands::CommandFiles;
use super::row_pattern::{Candidates, RowPattern};
use super::test_change::changed_lines;
use super::test_files::is_test;
use crate::languages::Language;
use crate::model::{Code, PatchProblem};

/// A sign that a change may turn tests green by other means than a repair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspicion {
    /// The place of its file among those that were asked of.
    pub at: usize,
    /// 1-based line of the changed file.
    pub line: u64,
    /// That line.
    pub text: String,
    /// What it is a sign of.
    pub why: &'static str,
    /// What takes it away.
    pub needs: Needs,
}

/// What takes a suspicion away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Needs {
    /// Tests that fail when they expect something else, or that pass in another guise.
    CounterProof,
    /// Tests that pass in another guise.
    Guise,
    /// The same without their runner.
    Apart,
    /// A person: no experiment here can take it away.
    Person,
    /// Nothing: it is refused.
    Refused,
}

/// The suspicious lines that changed files have and no file of the change had before: what only moves adds
/// nothing. Files are code by their ending, by their first line, where they may be executed, and where a
/// command runs them; tests are none.
#[must_use]
pub fn suspicions<'t>(files: &[ChangedFile<'t>], run: &CommandFiles) -> Vec<Suspicion> {
    let rows: Vec<&'static Row> = ROWS.iter().filter(|row| row.is_heeded(run)).collect();
    let of = |(at, file): (usize, &ChangedFile<'t>)| {
        let (mut old, mut new) = (Vec::new(), Vec::new());
        let [before, after] = [file.before, file.after].map(Option::unwrap_or_default);
        if file.before == file.after {
            return (old, new);
        }
        let (lost, added) = changed_lines(before, after);
        let is_code = is_code(file, run) && !is_test(file.path);
        signs(&rows, (at, file.path, true), (before, &lost), &mut old);
        signs(&rows, (at, file.path, is_code), (after, &added), &mut new);
        let named = rows.iter().find(|row| row.names(file));
        new.extend(named.map(|row| Sign::new(row, at, 0, file.path.as_bytes())));
        (old, new)
    };
    let all = crate::parallel::map(files.iter().enumerate().collect(), of);
    let (old, new): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    let [old, new] = [old, new].map(|it| it.into_iter().flatten().collect::<Vec<_>>());
    let mut found = left(&new, &old, false);
    found.extend(left(&old, &new, true));
    found
}

// A line or a new file that a row is about.
struct Sign<'t> {
    row: &'static Row,
    at: usize,
    number: usize,
    text: &'t [u8],
    /// What is the same where it only moves.
    mark: &'t [u8],
}

impl<'t> Sign<'t> {
    fn new(row: &'static Row, at: usize, number: usize, text: &'t [u8]) -> Self {
        // Of a comment that a program heeds it is the comment that counts, and not the code before it.
        let comment = row.sign.as_ref().filter(|_| !row.programs.is_empty());
        let mark = comment
            .and_then(|it| it.regex().find(text))
            .map(|it| it.as_bytes());
        Self {
            row,
            at,
            number,
            text,
            mark: mark.unwrap_or(text),
        }
    }

    fn key(&self) -> (*const Row, &'t [u8]) {
        (std::ptr::from_ref(self.row), self.mark)
    }
}

// Signs of rows about lines that are lost, or come, on the one side, without those of the other.
fn left(one: &[Sign<'_>], other: &[Sign<'_>], lost: bool) -> Vec<Suspicion> {
    let mut other_side: HashMap<_, usize> = HashMap::new();
    for sign in other {
        *other_side.entry(sign.key()).or_default() += 1;
    }
    let is_told = |it: &Suspicion, sign: &Sign<'_>| it.at == sign.at && it.why == sign.row.why;
    let mut found: Vec<Suspicion> = Vec::new();
    for sign in one.iter().filter(|it| it.row.lost == lost) {
        match other_side.get_mut(&sign.key()).filter(|left| **left > 0) {
            Some(left) => *left -= 1,
            // One line of a file tells it of all.
            None if found.iter().any(|it| is_told(it, sign)) => {}
            None => found.push(Suspicion {
                at: sign.at,
                line: sign.number as u64 + 1,
                text: String::from_utf8_lossy(sign.text)
                    .chars()
                    .take(MAX_SHOWN)
                    .collect(),
                why: &sign.row.why,
                needs: sign.row.needs,
            }),
        }
    }
    found
}

// The signs in the changed lines of a text.
fn signs<'t>(
    rows: &[&'static Row],
    (at, path, is_code): (usize, &str, bool),
    (text, changed): (&'t [u8], &[&'t [u8]]),
    found: &mut Vec<Sign<'t>>,
) {
    let language = Language::of_path(path).map_or("", |it| it.name);
    let meant = rows
        .iter()
        .filter(|row| row.is_about(path, is_code, language));
    let meant: Vec<*const Row> = meant.map(|it| std::ptr::from_ref(*it)).collect();
    let is_meant = |row: &Row| meant.contains(&std::ptr::from_ref(row));
    if meant.is_empty() || changed.is_empty() {
        return;
    }
    // Few lines hold anything that a row could be about.
    let mut open: HashMap<&[u8], (usize, Vec<usize>), RandomState> = HashMap::default();
    for line in changed {
        let may = CANDIDATES.within(line);
        if !may.is_empty() {
            open.entry(line).or_insert((0, may)).0 += 1;
        }
    }
    if open.is_empty() {
        return;
    }
    let mut above: &[u8] = b"";
    for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        if let Some((left, may)) = open.get_mut(line).filter(|it| it.0 > 0) {
            *left -= 1;
            let mut rows = may.iter().filter_map(|it| ROWS.get(*it));
            let row = rows.find(|row| is_meant(row) && row.matches(number, line, above));
            found.extend(row.map(|row| Sign::new(row, at, number, line)));
        }
        above = line;
    }
}

/// The same as problems of a patch: told, or refused.
pub(super) fn suspicious(
    files: &[ChangedFile<'_>],
    rules: &ChangeRules<'_>,
) -> Vec<(usize, PatchProblem)> {
    let found = suspicions(files, rules.run).into_iter();
    let problems = found.map(|suspicion| {
        let head = format!(
            "line {} `{}` {}",
            suspicion.line, suspicion.text, suspicion.why
        );
        let problem = match suspicion.needs {
            Needs::Refused => PatchProblem::new(Code::P712, format!("{head}: {SEND_WITHOUT}")),
            _ => PatchProblem::new(Code::P712, head).as_warning(),
        };
        (suspicion.at, problem)
    });
    problems.collect()
}

/// Characters of a line that are shown.
const MAX_SHOWN: usize = 80;

fn is_code(file: &ChangedFile<'_>, run: &CommandFiles) -> bool {
    Language::of_path(file.path).is_some()
        || file.modes.1 == 0o100_755
        || file.after.is_some_and(|it| it.starts_with(b"#!"))
        || run.get(file.path).is_some()
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    language: Option<String>,
    /// What stands in a line; a row without it is about new files.
    sign: Option<RowPattern>,
    /// What takes a line out again.
    but: Option<RowPattern>,
    /// Only in so many first lines.
    within: Option<usize>,
    /// What the line above says.
    below: Option<RowPattern>,
    /// Lines that go, and not those that come.
    #[serde(default)]
    lost: bool,
    /// Only in files of such a path, whatever they hold.
    file: Option<RowPattern>,
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
        let base = |word: &str| {
            let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
            name.split('.').next().unwrap_or(name).to_owned()
        };
        let runs = |name: &str| self.programs.iter().any(|it| it == name);
        let is_option = |word: &String| {
            let mut options = self.programs.iter().filter(|it| it.starts_with("--"));
            options.any(|it| word.starts_with(it.as_str()))
        };
        self.programs.is_empty()
            || run.commands().iter().any(|words| {
                let mut first = words.iter().take(3).map(|word| base(word));
                first.any(|it| runs(&it) || matches!(it.as_str(), "pre-commit" | "lint-staged"))
                    || words.iter().any(is_option)
            })
    }

    // Whether it is about lines of such a file.
    fn is_about(&self, path: &str, is_code: bool, language: &str) -> bool {
        const PROSE: [&str; 5] = ["adoc", "md", "mdx", "rst", "txt"];
        let extension = path.rsplit('.').next().unwrap_or_default();
        let file = match &self.file {
            Some(file) => file.regex().is_match(path.as_bytes()),
            None if self.programs.is_empty() => is_code,
            None => !PROSE.contains(&extension),
        };
        let own = language.is_empty() || self.language.as_deref().is_none_or(|it| it == language);
        self.sign.is_some() && file && own
    }

    fn matches(&self, number: usize, line: &[u8], above: &[u8]) -> bool {
        let fits = |it: Option<&RowPattern>, line| it.is_some_and(|it| it.regex().is_match(line));
        let asserts = self.programs.is_empty() && line.starts_with(b"assert ");
        !asserts
            && self.within.is_none_or(|within| number < within)
            && (self.below.is_none() || fits(self.below.as_ref(), above))
            && fits(self.sign.as_ref(), line)
            && !fits(self.but.as_ref(), line)
    }

    // Whether it is about a new file as such.
    fn names(&self, file: &ChangedFile<'_>) -> bool {
        let is_new = file.before.is_none() && file.after.is_some();
        let path = self.file.as_ref().filter(|_| is_new && self.sign.is_none());
        path.is_some_and(|it| it.regex().is_match(file.path.as_bytes()))
    }
}

#[derive(serde::Deserialize)]
struct Table {
    suspicion: Vec<Row>,
}

#[expect(clippy::expect_used, reason = "embedded and tested")]
static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let table: Table = crate::model::read_table(embedded!("policy/suspicion.toml"))
        .expect("suspicion.toml parses");
    table.suspicion
});

// Which rows a line may be about.
static CANDIDATES: LazyLock<Candidates> =
    LazyLock::new(|| Candidates::new(ROWS.iter().map(|row| row.sign.as_ref())));

#[cfg(test)]
mod tests {
    use super::{Needs, ROWS, suspicions};
    use crate::model::Operation;
    use crate::policy::change::tests::modified;
    use crate::policy::{ChangedFile, CommandFiles};
    use crate::source::Memory;

    fn needs(command: &str, file: ChangedFile<'_>) -> Option<Needs> {
        let source = Memory::named([
            ("Makefile", "lint:\n\t@uv run ruff check src\n"),
            (
                "package.json",
                r#"{"scripts":{"lint":"eslint src","types":"tsc -p ."}}"#,
            ),
            ("run.txt", ""),
        ]);
        let run = CommandFiles::find(&[command.to_owned()], "", &source);
        suspicions(&[file], &run).first().map(|it| it.needs)
    }

    #[test]
    fn every_pattern_compiles() {
        for row in ROWS.iter() {
            let all = [&row.sign, &row.but, &row.below, &row.file];
            for pattern in all.into_iter().flatten() {
                assert!(!pattern.regex().as_str().is_empty());
            }
        }
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
                Some(Needs::Guise),
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
            ("make lint", "a.py", "#NOQA"),
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
