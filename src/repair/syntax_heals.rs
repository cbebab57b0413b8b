use std::collections::HashMap;

use super::compiler_heals::python_frame;
use super::edit_heal::{LogFile, MAX_LINE};
use super::heals::Heal;
use crate::hint::Earlier;
use crate::model::Diagnosis;
use crate::source::Source;

/// Lines below the named one at whose end a bracket may close.
const MAX_LINES: usize = 8;

/// What a parser misses at a place it names: the lines there as an earlier version of the file has
/// them, when they differ in brackets, colons and indents alone; else one bracket, colon or indent,
/// where there is but one place for it. The file does not parse, and then it does. Kept only when
/// the commands pass with it.
pub(super) fn syntax_heals(
    log: &str,
    diagnosis: &Diagnosis,
    source: &dyn Source,
    earlier: &Earlier<'_>,
) -> Vec<Heal> {
    let mut frame: Option<(&str, usize)> = None;
    for line in log.lines().filter(|line| line.len() < MAX_LINE) {
        let line = line.strip_prefix("E ").unwrap_or(line).trim();
        frame = python_frame(line).or(node_frame(line)).or(frame);
        let healed = type_script(line, diagnosis, source).or_else(|| {
            let (kind, said) = line.split_once("Error: ")?;
            let (path, row) = frame?;
            let place = LogFile::find(path, diagnosis, source)?;
            if kind.ends_with("Reference") {
                return required(&place, row, said);
            }
            let slip = ["Syntax", "Indentation", "Tab"];
            if !slip.iter().any(|it| kind.ends_with(it)) || place.parses(&place.text) {
                return None;
            }
            let indents = !kind.ends_with("Syntax")
                || ["indent", " outside "].iter().any(|it| said.contains(it));
            as_before(&place, row, indents, earlier).or_else(|| missing(&place, row, said))
        });
        if let Some(heal) = healed {
            return vec![heal];
        }
    }
    Vec::new()
}

// `file:///w/src/a.mjs:9` or `/w/src/a.js:9`, alone on its line.
fn node_frame(line: &str) -> Option<(&str, usize)> {
    let (path, row) = line.rsplit_once(':')?;
    let script = ["js", "mjs", "cjs", "ts", "mts"];
    let named = path
        .rsplit_once('.')
        .is_some_and(|it| script.contains(&it.1));
    (named && !path.contains(' ')).then_some((path, row.parse().ok()?))
}

// The lines at a place as the newest version that has them otherwise and parses: of indents all that
// are near, of brackets as few as make the file parse, since the others may be meant as they are.
fn as_before(
    place: &LogFile<'_>,
    row: usize,
    indents: bool,
    earlier: &Earlier<'_>,
) -> Option<Heal> {
    let versions = earlier(&place.path);
    let texts = versions
        .iter()
        .filter_map(|it| std::str::from_utf8(it).ok());
    let least = if indents { MAX_LINES } else { 0 };
    let mut mended = texts
        .filter(|it| place.parses(it))
        .flat_map(|it| (least..=MAX_LINES).map(move |reach| (it, reach)))
        .map(|(it, reach)| with_lines_of(&place.text, it, row, reach))
        .filter(|it| *it != place.text && place.parses(it));
    let after = mended.next()?;
    let said = "put the brackets and indents of its last version";
    place.heal(said, &after, true)
}

// The lines near a row as `before` has them, where they differ in what a slip of the hand takes away.
fn with_lines_of(text: &str, before: &str, row: usize, reach: usize) -> String {
    let mut known: HashMap<String, Option<&str>> = HashMap::new();
    for line in before.lines() {
        let only = known.entry(words(line)).or_insert(Some(line));
        *only = only.filter(|it| *it == line);
    }
    let near = row.saturating_sub(reach)..=row.saturating_add(reach);
    let lines = text.split_inclusive('\n').enumerate().map(|(at, line)| {
        let bare = line.trim_end_matches(['\n', '\r']);
        let words = words(bare);
        match known.get(&words) {
            Some(Some(was)) if near.contains(&(at + 1)) && !words.is_empty() => {
                [was, &line[bare.len()..]].concat()
            }
            _ => line.to_owned(),
        }
    });
    lines.collect()
}

// A line without blanks and without what a slip of the hand takes away.
fn words(line: &str) -> String {
    let slips = ['(', ')', '[', ']', '{', '}', ':', ';'];
    let kept = line
        .chars()
        .filter(|it| !it.is_whitespace() && !slips.contains(it));
    kept.collect()
}

// Whether a bracket that opens on this line groups what it holds, so that where it closes is meaning:
// `(net + fee * n`.
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
    !called && operators + words.count() > 1
}

fn missing(place: &LogFile<'_>, row: usize, said: &str) -> Option<Heal> {
    if let Some(open) = said.strip_suffix("' was never closed") {
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
    if said.starts_with("expected ':'") {
        let after = at_end(place, row, ":")?;
        return place.heal("put the colon", &after, true);
    }
    if let Some(rest) = said.strip_prefix("expected an indented block after ") {
        let above: usize = rest.rsplit_once("on line ")?.1.trim().parse().ok()?;
        let after = indented(place, above, row)?;
        return place.heal("indent a line", &after, true);
    }
    if said.starts_with("missing ) after") {
        let after = at_end(place, row, ")")?;
        return place.heal("close a bracket with `)`", &after, true);
    }
    if said.starts_with("Unexpected end of input") {
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

// `a.ts(3,7): error TS1005: ')' expected.`
fn type_script(line: &str, diagnosis: &Diagnosis, source: &dyn Source) -> Option<Heal> {
    let (place, said) = line.split_once(": error TS1005: '")?;
    let mark = said.split('\'').next()?;
    let (path, numbers) = place.strip_suffix(')')?.rsplit_once('(')?;
    let (row, column) = numbers.split_once(',')?;
    let place = LogFile::find(path, diagnosis, source)?;
    let at = place.offset(row.parse().ok()?, column.parse().ok()?)?;
    let before = place.text.get(..at)?.trim_end().len();
    let after = [before, at].into_iter().find_map(|at| {
        let after = place.with(at..at, mark)?;
        place.parses(&after).then_some(after)
    })?;
    place.heal(&format!("put the `{mark}` that is expected"), &after, true)
}

// `const a = require("b")` at the top of a module.
fn required(place: &LogFile<'_>, row: usize, said: &str) -> Option<Heal> {
    if !said.starts_with("require is not defined") {
        return None;
    }
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
    use super::syntax_heals;
    use crate::diagnose::{LogFacts, diagnose};
    use crate::model::RepoPath;
    use crate::source::{Memory, Source};

    #[test]
    fn what_is_missing_is_put_where_the_file_then_parses() {
        let python = |row: usize, said: &str| {
            format!("  File \"/w/a.py\", line {row}\n    x\n    ^\nSyntaxError: {said}\n")
        };
        for (path, text, log, added) in [
            (
                "a.py",
                "def f(x):\n    due = [a for a in x if a  # all\n    return due\n",
                python(2, "'[' was never closed"),
                "+    due = [a for a in x if a]  # all",
            ),
            (
                "a.py",
                "x = f(\n    1,\n    2\ny = 1\n",
                python(1, "'(' was never closed"),
                "+    2)",
            ),
            (
                "a.py",
                "def f(x)\n    return x\n",
                python(1, "expected ':'"),
                "+def f(x):",
            ),
            (
                "a.py",
                "def f(x):\n    if x:\n    return 1\n    return 2\n",
                python(
                    3,
                    "expected an indented block after 'if' statement on line 2",
                ),
                "+        return 1",
            ),
            (
                "a.mjs",
                "export function f() {\n  return 1;\n",
                "file:///w/a.mjs:3\n\n\nSyntaxError: Unexpected end of input\n".to_owned(),
                "+}",
            ),
            (
                "a.mjs",
                "f(g(1);\n",
                "file:///w/a.mjs:1\nf(g(1);\n  ^^^^\n\nSyntaxError: missing ) after argument list\n".to_owned(),
                "+f(g(1));",
            ),
            (
                "a.mjs",
                "const path = require(\"node:path\");\npath.sep;\n",
                "file:///w/a.mjs:1\nconst path = require(\"node:path\");\n             ^\n\nReferenceError: require is not defined in ES module scope, you can use import instead\n".to_owned(),
                "+import path from \"node:path\";",
            ),
            (
                "a.ts",
                "f(g(1);\n",
                "a.ts(1,7): error TS1005: ')' expected.\n".to_owned(),
                "+f(g(1));",
            ),
            (
                "a.py",
                "def f(a, b, n):\n    return (a + b * n\n",
                python(2, "'(' was never closed"),
                "",
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
            let file = RepoPath::new(path).unwrap();
            let source = Memory::new([(file, text.as_bytes().to_vec())]);
            let diagnosis = diagnose(&log, &LogFacts::default(), Some(source.listing()));
            let found = syntax_heals(&log, &diagnosis, &source, &|_| Vec::new());
            let patch = found.first().map_or(String::new(), |heal| {
                String::from_utf8(heal.patch.clone()).unwrap()
            });
            let line = patch
                .lines()
                .find(|line| line.starts_with('+') && !line.starts_with("+++"));
            assert_eq!(line.unwrap_or_default(), added, "{text}{log}");
        }
    }

    #[test]
    fn an_earlier_version_says_where_a_bracket_closes_and_what_is_indented() {
        let file = RepoPath::new("a.py").unwrap();
        let before = "def f(rows, n):\n    for r in rows:\n        r = r()\n        g(r)\n    return (a + b) * n\n";
        for (now, said, row) in [
            (before.replace("b) * n", "b * n"), "'(' was never closed", 5),
            (
                before.replace("        ", "    "),
                "expected an indented block after 'for' statement on line 2",
                3,
            ),
        ] {
            let source = Memory::new([(file.clone(), now.into_bytes())]);
            let log = format!("  File \"/w/a.py\", line {row}\n    x\nSyntaxError: {said}\n");
            let diagnosis = diagnose(&log, &LogFacts::default(), Some(source.listing()));
            let found = syntax_heals(&log, &diagnosis, &source, &|_| vec![before.into()]);
            let set = String::from_utf8(found[0].patch.clone()).unwrap();
            let added: Vec<&str> = set
                .lines()
                .filter_map(|it| it.strip_prefix('+'))
                .filter(|it| !it.starts_with("++"))
                .collect();
            assert!(added.iter().all(|it| before.contains(it)), "{set}");
            assert!(!added.is_empty());
        }
    }
}
