use std::collections::BTreeSet;

use super::candidate::Candidate;
use super::frames::{node_frame, python_frame, type_script_error};
use super::log_file::{LogFile, LogFiles, MAX_LINE};
use crate::model::{Diagnosis, FailureKind};
use crate::source::Source;

/// Lines below the named one at whose end a bracket may close.
const MAX_LINES: usize = 8;
/// Places looked at; at each the file is parsed, also as it would be mended.
const MAX_PLACES: usize = 8;

/// What a parser misses at a place it names: one bracket, colon or indent, where there is but one place for it. The
/// file does not parse, and then it does. Kept only when the commands pass with it.
pub(super) fn syntax(log: &str, diagnosis: &Diagnosis, source: &dyn Source) -> Vec<Candidate> {
    let files = LogFiles::new(diagnosis, source, MAX_PLACES);
    let mut seen = BTreeSet::new();
    let mut frame: Option<(&str, usize)> = None;
    let is_syntax = diagnosis.kind == FailureKind::SyntaxError;
    for line in log.lines().filter(|line| line.len() < MAX_LINE) {
        let line = line.trim();
        // pytest's reports and node's TAP put these before what they pass on.
        let bare = line.strip_prefix("E ").or_else(|| line.strip_prefix("# "));
        let line = bare.unwrap_or(line).trim();
        frame = python_frame(line).or(node_frame(line)).or(frame);
        // Many tests die of one slip.
        if !seen.insert((frame, line)) {
            continue;
        }
        let healed = type_script(line, &files).or_else(|| {
            let (kind, error) = line.split_once("Error: ")?;
            let (path, row) = frame?;
            if kind.ends_with("Reference") && error.starts_with("require is not defined") {
                return required(&files.find(path)?, row);
            }
            let slip = ["Syntax", "Indentation", "Tab"];
            let slip = slip.iter().any(|it| kind.ends_with(it));
            let place = slip.then(|| files.find(path))??;
            if place.parses(&place.text) {
                return None;
            }
            missing(&place, row, error)
        });
        if let Some(heal) = healed {
            return vec![heal];
        }
    }
    // Linters and type checkers name the place in forms of their own, which the diagnosis has read.
    let expected = diagnosis.evidence.iter().find_map(|line| {
        let text = line.text.to_lowercase().replace('`', "'");
        text.find("expected '").map(|at| text[at..].to_owned())
    });
    let named = diagnosis.files.iter().filter(|_| is_syntax);
    let healed = named.take(MAX_PLACES).find_map(|file| {
        let (place, row) = (files.find(&file.path)?, file.line? as usize);
        let message = expected.as_deref().unwrap_or_default();
        missing(&place, row, message).filter(|_| !place.parses(&place.text))
    });
    healed.into_iter().collect()
}

// Whether where a bracket that opens on this line closes is meaning: it groups what it holds
// (`(net + fee * n`), or an operator follows the last argument (`1 - min(percent, 100 / 100`).
fn groups(line: &str) -> bool {
    let mut open = Vec::new();
    for (at, letter) in line.char_indices() {
        match letter {
            '(' => open.push(at),
            ')' => {
                open.pop();
            }
            _ => {}
        }
    }
    let Some((head, inside)) = open.last().map(|at| line.split_at(*at)) else {
        return false;
    };
    let called = head.ends_with(|it: char| it.is_alphanumeric() || "_)]".contains(it));
    let operators = inside
        .matches(['+', '-', '*', '/', '%', '<', '>', '=', '|', '&'])
        .count();
    let words = inside
        .split_whitespace()
        .filter(|it| matches!(*it, "and" | "or" | "in" | "is"));
    let last = inside.rsplit_once(", ").map_or("", |(_, last)| last);
    let last = last.rsplit(')').next().unwrap_or_default();
    let binary = [" + ", " - ", " * ", " / ", " // ", " % "];
    let follows = binary.iter().any(|it| last.contains(it));
    (called && follows) || (!called && operators + words.count() > 1)
}

fn missing(place: &LogFile<'_>, row: usize, message: &str) -> Option<Candidate> {
    if let Some(open) = message.strip_suffix("' was never closed") {
        let close = match open.strip_prefix('\'')? {
            "(" => ")",
            "[" => "]",
            "{" => "}",
            _ => return None,
        };
        if close == ")" && place.text.get(place.line(row)?).is_some_and(groups) {
            return None;
        }
        // What is indented below the line still belongs to it.
        let goes_on = |next: usize| indent(place, next) > indent(place, row);
        let mut ends =
            (row..row.saturating_add(MAX_LINES)).filter(|row| !goes_on(row.saturating_add(1)));
        let after = ends.find_map(|row| at_end(place, row, close))?;
        return place.heal(&format!("close a bracket with `{close}`"), &after, true);
    }
    if message.starts_with("expected ':'") {
        let after = at_end(place, row, ":")?;
        return place.heal("put the colon", &after, true);
    }
    if let Some(rest) = message.strip_prefix("expected an indented block after ") {
        let above: usize = rest.rsplit_once("on line ")?.1.trim().parse().ok()?;
        let after = indented(place, above, row)?;
        return place.heal("indent a line", &after, true);
    }
    if message.starts_with("missing ) after") {
        let after = at_end(place, row, ")")?;
        return place.heal("close a bracket with `)`", &after, true);
    }
    if message.starts_with("Unexpected end of input") {
        let text = place.text.trim_end();
        let after = ["}", "})", "});", ")", "]"].iter().find_map(|close| {
            let after = format!("{text}\n{close}\n");
            place.parses(&after).then_some(after)
        })?;
        return place.heal("close what is open at the end", &after, true);
    }
    None
}

// A line with `mark` at the end of its code, when the file then parses.
fn at_end(place: &LogFile<'_>, row: usize, mark: &str) -> Option<String> {
    let range = place.line(row)?;
    let line = place.text.get(range.clone())?;
    let comments = ["  #", " #", " //"];
    let code = comments.iter().find_map(|mark| line.find(mark));
    let ends = [Some(line.len()), code];
    ends.into_iter().flatten().find_map(|end| {
        let bare = line.get(..end)?.trim_end();
        let bare = if mark == ":" {
            bare
        } else {
            bare.trim_end_matches([';', ','])
        };
        let at = range.start + bare.len();
        let after = place.with(at..at, mark)?;
        place.parses(&after).then_some(after)
    })
}

fn indent(place: &LogFile<'_>, row: usize) -> Option<usize> {
    let line = place.text.get(place.line(row)?)?;
    Some(line.len() - line.trim_start().len())
}

fn indented(place: &LogFile<'_>, above: usize, row: usize) -> Option<String> {
    if indent(place, above)? < indent(place, row)? {
        return None;
    }
    let unit = if place.text.contains("\n\t") {
        "\t"
    } else {
        "    "
    };
    let range = place.line(row)?;
    let head = place.line(above)?;
    let lead = place.text.get(head)?;
    let lead = lead.get(..lead.len() - lead.trim_start().len())?;
    let line = place.text.get(range.clone())?.trim_start();
    // More lines at the header's own indent may belong to its body, too.
    let ends = ["return", "raise", "break", "continue", "pass"];
    let last = ends.contains(&line.split([' ', ';', '(']).next().unwrap_or(line));
    if !last && indent(place, row + 1) == indent(place, above) {
        let next = place.text.get(place.line(row + 1)?)?;
        if !next.trim().is_empty() {
            return None;
        }
    }
    let after = place.with(range, &format!("{lead}{unit}{line}"))?;
    place.parses(&after).then_some(after)
}

// `a.ts(3,7): error TS1005: ')' expected.`, and every other complaint of the parser.
fn type_script(line: &str, files: &LogFiles<'_>) -> Option<Candidate> {
    let error = type_script_error(line)?;
    let of_parser = error.code.len() == 4 && error.code.starts_with('1');
    if !of_parser && !["17002", "17008"].contains(&error.code) {
        return None;
    }
    let place = files.find(error.path)?;
    let mark = error
        .message
        .strip_suffix("' expected.")?
        .strip_prefix('\'')?;
    let at = place.offset(error.line, error.column)?;
    let before = place.text.get(..at)?.trim_end().len();
    let after = [before, at].into_iter().find_map(|at| {
        let after = place.with(at..at, mark)?;
        place.parses(&after).then_some(after)
    })?;
    place.heal(&format!("put the `{mark}` that is expected"), &after, true)
}

// `const a = require("b")` at the top of a module.
fn required(place: &LogFile<'_>, row: usize) -> Option<Candidate> {
    let range = place.line(row)?;
    let line = place.text.get(range.clone())?;
    let rest = line.strip_prefix("const ")?;
    let (bound, call) = rest.split_once(" = require(")?;
    let (module, end) = call.split_once(')')?;
    let bound = bound.replace(": ", " as ");
    let after = place.with(range, &format!("import {bound} from {module}{end}"))?;
    place.parses(&after).then_some(())?;
    place.heal("import what a module cannot require", &after, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::{LogFacts, diagnose};
    use crate::source::Memory;

    fn healed(path: &str, text: &str, log: &str) -> Vec<Candidate> {
        let source = Memory::named([(path, text)]);
        let diagnosis = diagnose(log, &LogFacts::default(), Some(source.listing()));
        syntax(log, &diagnosis, &source)
    }

    #[test]
    fn what_is_missing_is_put_where_the_file_then_parses() {
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
            (
                "a.py",
                "x = f(\n    1,\n    2\ny = 1\n",
                python(1, "'(' was never closed"),
                "    2)",
            ),
            (
                "a.py",
                "def f(x)\n    return x\n",
                python(1, "expected ':'"),
                "def f(x):",
            ),
            (
                "a.py",
                "def f(x):\n    if x:\n    return 1\n    return 2\n",
                python(
                    3,
                    "expected an indented block after 'if' statement on line 2",
                ),
                "        return 1",
            ),
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
            (
                "a.mjs",
                "const path = require(\"node:path\");\npath.sep;\n",
                "file:///w/a.mjs:1\nconst path = require(\"node:path\");\n             ^\n\nReferenceError: require is not defined in ES module scope, you can use import instead\n".to_owned(),
                "import path from \"node:path\";",
            ),
            (
                "a.ts",
                "f(g(1);\n",
                "a.ts(1,7): error TS1005: ')' expected.\n".to_owned(),
                "f(g(1));",
            ),
            (
                "a.py",
                "def f(a, b, n):\n    return (a + b * n\n",
                python(2, "'(' was never closed"),
                "",
            ),
            (
                "a.py",
                "def f(p):\n    return 1 - min(p, 100 / 100\n",
                python(2, "'(' was never closed"),
                "",
            ),
            (
                "a.py",
                "def f(p, q):\n    return max(0, round(p * q, 2)\n",
                python(2, "'(' was never closed"),
                "    return max(0, round(p * q, 2))",
            ),
            (
                "a.py",
                "def f(rows):\n    for r in rows:\n    r = r()\n    g(r)\n",
                python(
                    3,
                    "expected an indented block after 'for' statement on line 2",
                ),
                "",
            ),
            (
                "a.py",
                "x = [\n\ndef f(:\n",
                python(1, "'[' was never closed"),
                "",
            ),
        ] {
            let found = healed(path, text, &log);
            let line = found.first().and_then(|heal| heal.added().into_iter().next());
            assert_eq!(line.unwrap_or_default(), added, "{text}{log}");
        }
    }

    #[test]
    fn what_linters_and_type_checkers_say_of_syntax_is_mended_like_pythons_own() {
        let now = "class Service\n    size = 1\n";
        for log in [
            "invalid-syntax: Expected `:`, found newline\n --> a.py:1:14\n",
            "a.py:1: error: Expected `:`, found newline  [syntax]\n",
            "a.py:1:14: E999 SyntaxError: expected ':'\n",
        ] {
            let added = healed("a.py", now, log);
            let added = added.first().map(Candidate::added).unwrap_or_default();
            assert_eq!(added, ["class Service:"], "{log}");
        }
    }
}
