use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Deserialize;

use super::candidate::Candidate;
use super::log_file::{LogFile, python_frame};
use crate::languages::{is_word, words};
use crate::model::Diagnosis;
use crate::runners::{Pattern, parse_rows};
use crate::source::Source;

const MAX_CANDIDATES: usize = 4;
/// Longer lines of a log say nothing.
const MAX_LINE: usize = 2_000;
/// Statements for each of which all names of a kind may be read.
const MAX_STATEMENTS: usize = 64;

// A row of `witness.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    id: String,
    cue: String,
    pattern: Pattern,
    #[expect(dead_code, reason = "for readers of the table")]
    seen: String,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| parse_rows(embedded!("fixes/witness.toml")));

/// Returns edits that the lines of a log propose: they name the place, the wrong word there, and the right one.
pub(super) fn witnesses(log: &str, diagnosis: &Diagnosis, source: &dyn Source) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    // Many tests fail for one word.
    let mut seen = BTreeSet::new();
    for statement in read_statements(log).into_iter().take(MAX_STATEMENTS) {
        let key = (&statement.row.id, statement.place, statement.wrong);
        if seen.insert(key) && found.len() < MAX_CANDIDATES {
            found.extend(statement.build_candidate(diagnosis, source));
        }
    }
    found
}

// What a line says.
#[derive(Clone)]
struct Statement<'l> {
    row: &'static Row,
    // The path and the line of the place.
    place: Option<(&'l str, usize)>,
    column: Option<usize>,
    wrong: &'l str,
    right: &'l str,
}

// What the lines of a log say; where a line names no place, with the frame above and the one below, where pytest
// names it.
fn read_statements(log: &str) -> Vec<Statement<'_>> {
    let mut found: Vec<Statement<'_>> = Vec::new();
    let mut frame = None;
    let mut open: Vec<Statement<'_>> = Vec::new();
    for line in log.lines().filter(|line| line.len() < MAX_LINE) {
        let line = line.strip_prefix("E ").unwrap_or(line).trim();
        if let Some(here) = python_frame(line) {
            frame = Some(here);
            found.extend(open.drain(..).map(|one| Statement {
                place: frame,
                ..one
            }));
        }
        for row in ROWS.iter().filter(|row| line.contains(&row.cue)) {
            let Some(mut statement) = row.read_line(line) else {
                continue;
            };
            if statement.place.is_none() {
                open.push(statement.clone());
                statement.place = frame;
            }
            found.push(statement);
        }
    }
    found
}

impl Row {
    fn read_line<'l>(&'static self, line: &'l str) -> Option<Statement<'l>> {
        let found = self.pattern.get().captures(line)?;
        let group = |name: &str| found.name(name).map(|group| group.as_str());
        let number = |name: &str| group(name).and_then(|digits| digits.parse().ok());
        Some(Statement {
            row: self,
            place: group("path").zip(number("line")),
            column: number("column"),
            wrong: group("wrong")?,
            right: group("right")?,
        })
    }
}

impl Statement<'_> {
    fn build_candidate(&self, diagnosis: &Diagnosis, source: &dyn Source) -> Option<Candidate> {
        let (path, line) = self.place?;
        let file = LogFile::find(path, diagnosis, source)?;
        let start = self.find_wrong(&file, line)?;
        let (right, wrong) = (self.right, self.wrong);
        let after = file.with(start..start + wrong.len(), right)?;
        file.make_candidate(&format!("`{right}` is suggested for `{wrong}`"), &after)
    }

    // Where the word that is to be replaced starts: at the column, else where it stands alone on the line.
    fn find_wrong(&self, file: &LogFile<'_>, line: usize) -> Option<usize> {
        let range = file.line(line)?;
        let start = match self.column {
            Some(column) => file.byte_offset(line, column)?,
            None => {
                let text = file.text.get(range.clone())?;
                let mut places = words(text.as_bytes(), self.wrong);
                let at = places.next()?;
                places.next().is_none().then_some(range.start + at)?
            }
        };
        let after = file.text.get(start..)?.strip_prefix(self.wrong)?;
        (!after.bytes().next().is_some_and(is_word)).then_some(start)
    }
}

#[cfg(test)]
mod tests {
    use super::{ROWS, witnesses};
    use crate::diagnose::{LogFacts, diagnose};
    use crate::source::{Memory, Source};

    // The lines that a log about one file proposes.
    fn proposed(path: &str, text: &str, log: &str) -> Vec<String> {
        let source = Memory::named([(path, text)]);
        let diagnosis = diagnose(log, &LogFacts::default(), Some(source.listing()));
        let found = witnesses(log, &diagnosis, &source);
        found.iter().map(|one| one.added().join("|")).collect()
    }

    #[test]
    fn every_row_can_be_read_and_holds_its_cue() {
        let ids: std::collections::BTreeSet<&str> =
            ROWS.iter().map(|row| row.id.as_str()).collect();
        assert_eq!(ids.len(), ROWS.len());
        assert!(ids.len() > 3);
        for row in ROWS.iter() {
            row.pattern.get();
        }
    }

    #[test]
    fn what_the_compiler_names_is_changed_at_its_place() {
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
        ] {
            assert_eq!(proposed("src/a.ts", text, log).join("||"), after, "{log}");
        }
    }

    #[test]
    fn what_python_means_is_taken_where_the_word_stands_once() {
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
