use super::candidate::Candidate;
use super::log_file::LogFile;
use crate::model::{Diagnosis, FailureKind, MentionedFile};
use crate::source::Source;

/// Lines below the named one at whose end a bracket may close.
const MAX_LINES: usize = 8;
/// Bounds the places of a log at which a file is parsed.
const MAX_PLACES: usize = 8;

/// Proposes the bracket or colon that the parser misses at a place: the file does not parse, and with
/// the edit it does.
pub(super) fn syntax(diagnosis: &Diagnosis, source: &dyn Source) -> Option<Candidate> {
    let is_compiler = diagnosis.kind == FailureKind::TsError;
    if diagnosis.kind != FailureKind::SyntaxError && !is_compiler {
        return None;
    }
    let files = diagnosis
        .files
        .iter()
        .filter(|file| file.in_repository)
        .take(MAX_PLACES);
    files
        .filter_map(|file| Some((file, file.line? as usize)))
        .find_map(|(file, row)| {
            let place = LogFile::open(MentionedFile::repo_path(file)?, source)?;
            if place.parses(&place.text) {
                return None;
            }
            close_brackets(&place, row).or_else(|| close_file(&place))
        })
}

// The mark that is missing at the end of a line: a colon on the named one, a bracket where the statement ends.
fn close_brackets(place: &LogFile<'_>, row: usize) -> Option<Candidate> {
    // The lines of a statement are indented more than its first.
    let goes_on = |next: usize| indent(place, next) > indent(place, row);
    let ends = (row..row + MAX_LINES).filter(|row| !goes_on(row + 1));
    let brackets = ends
        .take(2)
        .flat_map(|row| [")", "]", "}"].map(|mark| (row, mark)));
    let mut marks = std::iter::once((row, ":")).chain(brackets);
    marks.find_map(|(row, mark)| {
        let range = place.line(row)?;
        let line = place.text.get(range.clone())?;
        let comments = ["  #", " #", " //"];
        let code = comments.iter().find_map(|comment| line.find(comment));
        let line = line.get(..code.unwrap_or(line.len()))?.trim_end();
        let trimmed = line.trim_end_matches([';', ',']);
        let at = range.start + if mark == ":" { line } else { trimmed }.len();
        let after = place.with(at..at, mark)?;
        place.candidate(&format!("add the missing `{mark}`"), &after)
    })
}

fn indent(place: &LogFile<'_>, row: usize) -> Option<usize> {
    let line = place.text.get(place.line(row)?)?;
    Some(line.len() - line.trim_start().len())
}

fn close_file(place: &LogFile<'_>) -> Option<Candidate> {
    let text = place.text.trim_end();
    let close = |close: &&str| {
        place.candidate(
            "close what is open at the end",
            &format!("{text}\n{close}\n"),
        )
    };
    ["}", "})", "});", ")", "]"].iter().find_map(close)
}

#[cfg(test)]
mod tests {
    use super::syntax;
    use crate::diagnose::{LogFacts, diagnose};
    use crate::source::{Memory, Source};

    #[test]
    fn missing_marks_are_added_where_the_file_then_parses() {
        let python = |row: usize, message: &str| {
            format!("  File \"/w/a.py\", line {row}\n    x\n    ^\nSyntaxError: {message}\n")
        };
        for (path, text, log, added) in [
            (
                "a.py",
                "def f(x):\n    due = [a for a in x if a  # all\n    return due\n",
                python(2, "'[' was never closed"),
                "    due = [a for a in x if a]  # all",
            ),
            ("a.py", "x = f(\n    1,\n    2\ny = 1\n", python(1, "'(' was never closed"), "    2)"),
            ("a.py", "def f(x)\n    return x\n", python(1, "expected ':'"), "def f(x):"),
            (
                "a.mjs",
                "export function f() {\n  return 1;\n",
                "file:///w/a.mjs:3\n\n\nSyntaxError: Unexpected end of input\n".to_owned(),
                "}",
            ),
            (
                "a.mjs",
                "f(g(1);\n",
                "file:///w/a.mjs:1\nf(g(1);\n  ^^^^\n\nSyntaxError: missing ) after argument list\n".to_owned(),
                "f(g(1));",
            ),
            ("a.ts", "f(g(1);\n", "a.ts(1,7): error TS1005: ')' expected.\n".to_owned(), "f(g(1));"),
            ("a.py", "x = [\n\ndef f(:\n", python(1, "'[' was never closed"), ""),
            (
                "a.py",
                "class Service\n    size = 1\n",
                "a.py:1: error: Expected `:`, found newline  [syntax]\n".to_owned(),
                "class Service:",
            ),
        ] {
            let source = Memory::named([(path, text)]);
            let diagnosis = diagnose(&log, &LogFacts::default(), Some(source.listing()));
            let found = syntax(&diagnosis, &source);
            let line = found.and_then(|fix| fix.added().into_iter().next());
            assert_eq!(line.unwrap_or_default(), added, "{text}{log}");
        }
    }
}
