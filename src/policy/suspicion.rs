use std::collections::HashMap;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::change::{ChangeRules, ChangedFile, SEND_WITHOUT};
use super::test_change::changed_lines;
use super::test_files::{is_assertion, is_test};
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

/// The suspicious lines that changed files have and no file of the change had before: code that only moves
/// adds nothing. Files are code by their ending, by their first line, where they may be executed, and where
/// `is_run` says so; tests are none.
#[must_use]
pub fn suspicions(files: &[ChangedFile<'_>], is_run: &dyn Fn(&str) -> bool) -> Vec<Suspicion> {
    let mut gone: HashMap<&[u8], usize> = HashMap::new();
    let mut added: Vec<(usize, Vec<&[u8]>)> = Vec::new();
    for (at, file) in files.iter().enumerate() {
        let (before, after) = (
            file.before.unwrap_or_default(),
            file.after.unwrap_or_default(),
        );
        if before == after {
            continue;
        }
        let (lost, new) = changed_lines(before, after);
        for line in lost {
            *gone.entry(line).or_default() += 1;
        }
        if is_code(file, is_run) && !is_test(file.path) {
            added.push((at, new));
        }
    }
    let mut found = Vec::new();
    for (at, lines) in added {
        let Some(file) = files.get(at) else { continue };
        let mut new: HashMap<&[u8], usize> = HashMap::new();
        for line in lines {
            *new.entry(line).or_default() += 1;
        }
        let all = file.after.unwrap_or_default().split(|byte| *byte == b'\n');
        for (number, line) in all.enumerate() {
            let line = line.trim_ascii();
            let Some(left) = new.get_mut(line).filter(|it| **it > 0) else {
                continue;
            };
            *left -= 1;
            let Some(row) = row_of(file, number, line) else {
                continue;
            };
            if let Some(left) = gone.get_mut(line).filter(|it| **it > 0) {
                *left -= 1;
                continue;
            }
            found.push(Suspicion {
                at,
                line: number as u64 + 1,
                text: String::from_utf8_lossy(line)
                    .chars()
                    .take(MAX_SHOWN)
                    .collect(),
                why: row.why.as_str(),
                needs: row.needs,
            });
        }
    }
    found
}

/// The same as problems of a patch: told, or refused.
pub(super) fn suspicious(
    files: &[ChangedFile<'_>],
    rules: &ChangeRules<'_>,
) -> Vec<(usize, PatchProblem)> {
    let is_run = |path: &str| rules.run.get(path).is_some();
    let found = suspicions(files, &is_run).into_iter();
    let told = found.map(|it| {
        let head = format!("line {} `{}` {}", it.line, it.text, it.why);
        let problem = match it.needs {
            Needs::Refused => PatchProblem::new(Code::P712, format!("{head}: {SEND_WITHOUT}")),
            _ => PatchProblem::new(Code::P712, head).as_warning(),
        };
        (it.at, problem)
    });
    told.collect()
}

/// Characters of a line that are shown.
const MAX_SHOWN: usize = 80;

fn is_code(file: &ChangedFile<'_>, is_run: &dyn Fn(&str) -> bool) -> bool {
    Language::of_path(file.path).is_some()
        || file.modes.1 == 0o100_755
        || file.after.is_some_and(|it| it.starts_with(b"#!"))
        || is_run(file.path)
}

fn row_of(file: &ChangedFile<'_>, number: usize, line: &[u8]) -> Option<&'static Row> {
    if is_assertion(line) && line.starts_with(b"assert ") {
        return None;
    }
    let language = Language::of_path(file.path).map_or("", |it| it.name);
    ROWS.iter().find(|row| {
        let is_there = row.within.is_none_or(|within| number < within);
        let is_meant =
            language.is_empty() || row.language.as_deref().is_none_or(|it| it == language);
        is_there
            && is_meant
            && row.sign.is_match(line)
            && !row.but.as_ref().is_some_and(|it| it.is_match(line))
    })
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    language: Option<String>,
    sign: String,
    /// What takes a line out again.
    but: Option<String>,
    /// Only in so many first lines.
    within: Option<usize>,
    needs: Needs,
    why: String,
    #[serde(rename = "seen")]
    _seen: String,
}

struct Row {
    language: Option<String>,
    sign: Regex,
    but: Option<Regex>,
    within: Option<usize>,
    needs: Needs,
    why: String,
}

#[derive(serde::Deserialize)]
struct Table {
    suspicion: Vec<Written>,
}

#[expect(clippy::expect_used, reason = "embedded and tested")]
static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let table: Table =
        toml::from_str(include_str!("suspicion.toml")).expect("suspicion.toml parses");
    let compiled = |text: &str| Regex::new(text).expect("suspicion.toml has patterns");
    let rows = table.suspicion.into_iter().map(|it| Row {
        sign: compiled(&it.sign),
        but: it.but.as_deref().map(compiled),
        language: it.language,
        within: it.within,
        needs: it.needs,
        why: it.why,
    });
    rows.collect()
});

#[cfg(test)]
mod tests {
    use super::{Needs, suspicions};
    use crate::policy::change::tests::modified;

    fn needs(path: &str, before: &str, after: &str) -> Option<Needs> {
        let files = [modified(path, before, after)];
        suspicions(&files, &|path| path == "run.txt")
            .first()
            .map(|it| it.needs)
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
            assert_eq!(needs(path, "x\n", &after), expected, "{line}");
            assert_eq!(
                needs(path, &after, &format!("y\n{after}")),
                None,
                "{line} stays"
            );
        }
    }
}
