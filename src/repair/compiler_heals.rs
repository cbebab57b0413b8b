use std::collections::BTreeSet;

use super::edit_heal::{LogFile, LogFiles, MAX_LINE, is_name};
use super::heals::HealPatch;
use crate::model::Diagnosis;
use crate::source::Source;

const MAX_HEALS: usize = 4;
/// Files looked into for them.
const MAX_FILES: usize = 256;

/// What a compiler or an interpreter itself proposes: it names the place, what is wrong there and
/// what is right.
pub(super) fn compiler_heals(
    log: &str,
    diagnosis: &Diagnosis,
    source: &dyn Source,
) -> Vec<HealPatch> {
    let mut found: Vec<HealPatch> = Vec::new();
    let files = LogFiles::new(diagnosis, source, MAX_FILES);
    let mut seen = BTreeSet::new();
    let lines = log.lines().filter(|line| line.len() < MAX_LINE);
    for line in lines.filter(|line| seen.insert(*line)) {
        let heal = type_script(line)
            .and_then(|said| said.heal(&files.find(said.path)?))
            .or_else(|| mypy(line, &files));
        found.extend(heal.filter(|heal| !found.contains(heal)));
    }
    for heal in python(log, &LogFiles::new(diagnosis, source, MAX_FILES)) {
        if !found.contains(&heal) {
            found.push(heal);
        }
    }
    found.truncate(MAX_HEALS);
    found
}

#[derive(Debug, PartialEq, Eq)]
struct Proposal<'l> {
    path: &'l str,
    line: usize,
    column: usize,
    edit: Edit<'l>,
}

#[derive(Debug, PartialEq, Eq)]
enum Edit<'l> {
    /// A word for another.
    Word { wrong: &'l str, right: &'l str },
    /// The specifier of an import.
    Specifier(&'l str),
    /// A name of an import is a type.
    AsType(&'l str),
    /// A name that is imported as a type is a value.
    AsValue(&'l str),
    /// A promise is used as what it will give.
    Await,
}

/// What the TypeScript compiler says of a place; line and column count from 1.
pub(super) struct TypeScriptError<'l> {
    pub(super) path: &'l str,
    pub(super) line: usize,
    pub(super) column: usize,
    /// The digits behind `TS`.
    pub(super) code: &'l str,
    pub(super) message: &'l str,
}

/// `a.ts(3,7): error TS2552: Cannot find name 'x'. Did you mean 'y'?`, or with `a.ts:3:7 - error`.
pub(super) fn type_script_error(line: &str) -> Option<TypeScriptError<'_>> {
    let (place, said) = line.split_once("error TS")?;
    let (code, message) = said.split_once(':')?;
    let place = place.trim_end_matches([' ', '-', ':']);
    let (path, numbers) = if let Some(place) = place.strip_suffix(')') {
        place.rsplit_once('(')?
    } else {
        let (rest, _) = place.rsplit_once(':')?;
        let (path, _) = rest.rsplit_once(':')?;
        (path, place.get(path.len() + 1..)?)
    };
    let (row, column) = numbers.split_once([',', ':'])?;
    Some(TypeScriptError {
        path: path.trim(),
        line: row.parse().ok()?,
        column: column.trim().parse().ok()?,
        code,
        message: message.trim(),
    })
}

fn type_script(line: &str) -> Option<Proposal<'_>> {
    let TypeScriptError {
        path,
        line,
        column,
        code,
        message: said,
    } = type_script_error(line)?;
    let proposed = || {
        let (_, after) = said.split_once("Did you mean ")?;
        let after = after.trim_start_matches("to write ");
        after
            .trim_start_matches(['\'', '"'])
            .split(['\'', '"'])
            .next()
    };
    let quoted = || said.split('\'').skip(1).step_by(2);
    let edit = match code {
        "2551" | "2552" | "2561" | "2570" | "2724" => {
            let right = proposed().filter(|word| is_name(word))?;
            let before = said.split("Did you mean ").next()?;
            let mut words = before.split('\'').skip(1).step_by(2);
            let wrong = words.find(|word| is_name(word))?;
            (wrong != right).then_some(Edit::Word { wrong, right })?
        }
        // The member of the instance or of the class, where its name stands alone.
        "2662" | "2663" => {
            let (wrong, right) = (quoted().next()?, quoted().nth(1)?);
            let object = right.strip_suffix(wrong)?.strip_suffix('.')?;
            (is_name(wrong) && is_name(object)).then_some(Edit::Word { wrong, right })?
        }
        "2835" => Edit::Specifier(proposed()?),
        "1484" => Edit::AsType(quoted().next()?),
        "1361" => Edit::AsValue(quoted().next()?),
        "2339" | "2345" | "2322" => {
            let promise = quoted().any(|type_| type_.starts_with("Promise<"));
            promise.then_some(Edit::Await)?
        }
        _ => return None,
    };
    Some(Proposal {
        path,
        line,
        column,
        edit,
    })
}

impl Proposal<'_> {
    fn heal(&self, place: &LogFile<'_>) -> Option<HealPatch> {
        let start = place.offset(self.line, self.column)?;
        let rest = place.text.get(start..)?;
        let stands = |word: &str| {
            let after = rest.strip_prefix(word)?.chars().next();
            (!after.is_some_and(|char| is_name(&char.to_string()))).then_some(())
        };
        match self.edit {
            Edit::Word { wrong, right } => {
                stands(wrong)?;
                let after = place.with(start..start + wrong.len(), right)?;
                let what = format!("the compiler suggests `{right}` for `{wrong}`");
                respelling(place.heal(&what, &after, true)?, wrong, right)
            }
            Edit::Specifier(right) => {
                let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
                let end = rest.get(1..)?.find(quote)? + 1;
                let after = place.with(start + 1..start + end, right)?;
                place.heal(&format!("the compiler says `{right}`"), &after, false)
            }
            Edit::AsType(name) => {
                stands(name)?;
                let after = place.with(start..start, "type ")?;
                let what = format!("import `{name}` as the type that it is");
                place.parses(&after).then_some(())?;
                place.heal(&what, &after, false)
            }
            Edit::AsValue(name) => {
                let after = as_value(&place.text, name)?;
                let what = format!("import `{name}` as the value that it is");
                place.parses(&after).then_some(())?;
                place.heal(&what, &after, false)
            }
            Edit::Await => {
                let after = awaited(place, start)?;
                place.parses(&after).then_some(())?;
                place.heal("wait for a promise", &after, true)
            }
        }
    }
}

// `import { type X }` and `import type { X }` without the word, where X stands alone.
fn as_value(text: &str, name: &str) -> Option<String> {
    for (alone, plain) in [
        (
            format!("import type {{ {name} }}"),
            format!("import {{ {name} }}"),
        ),
        (
            format!("import type {{{name}}}"),
            format!("import {{{name}}}"),
        ),
        (
            format!("import type {name} from"),
            format!("import {name} from"),
        ),
    ] {
        if text.matches(&alone).count() == 1 {
            return Some(text.replacen(&alone, &plain, 1));
        }
    }
    let inline = format!("type {name}");
    let mut places = text.match_indices(&inline).filter(|(at, _)| {
        let before = text.get(..*at).unwrap_or_default().trim_end();
        let after = text
            .get(at + inline.len()..)
            .unwrap_or_default()
            .trim_start();
        before.ends_with(['{', ',']) && after.starts_with([',', '}'])
    });
    let (Some((at, _)), None) = (places.next(), places.next()) else {
        return None;
    };
    let head = text.get(..at)?;
    Some(format!("{head}{}", text.get(at + "type ".len()..)?))
}

// `await` before the expression at the place: before a member the whole of it in brackets.
fn awaited(place: &LogFile<'_>, at: usize) -> Option<String> {
    let text = &place.text;
    let head = text.get(..at)?;
    let inside = head.rfind("async ");
    if inside.is_none() || inside < head.rfind("\n}") {
        return None;
    }
    let Some(object) = head.strip_suffix("?.").or_else(|| head.strip_suffix('.')) else {
        return place.with(at..at, "await ");
    };
    let start = operand(object)?;
    let expression = object.get(start..)?;
    let after = place.with(start..object.len(), &format!("(await {expression})"))?;
    Some(after)
}

// Where the call or the chain that ends the text starts.
fn operand(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = bytes.len();
    while let Some(byte) = at.checked_sub(1).and_then(|at| bytes.get(at)) {
        match byte {
            b')' | b']' => depth += 1,
            b'(' | b'[' if depth == 0 => break,
            b'(' | b'[' => depth -= 1,
            b'\'' | b'"' | b'`' if depth == 0 => return None,
            byte if depth == 0
                && !(byte.is_ascii_alphanumeric()
                    || matches!(byte, b'_' | b'$' | b'.' | b'?' | b'!')
                    || *byte >= 0x80) =>
            {
                break;
            }
            _ => {}
        }
        at -= 1;
    }
    let start = at + usize::from(text.get(at..)?.starts_with('!'));
    (start < text.len() && text.is_char_boundary(start)).then_some(start)
}

// `a.py:3: error: "Job" has no attribute "attemps"; maybe "attempts"?  [attr-defined]`
fn mypy(line: &str, files: &LogFiles<'_>) -> Option<HealPatch> {
    let (place, said) = line.split_once(": error: ")?;
    let (before, after) = said.split_once("; maybe \"")?;
    let right = after.split('"').next()?;
    let wrong = before.split('"').rfind(|word| is_name(word))?;
    let mut parts = place.split(':');
    let (path, row) = (parts.next()?, parts.next()?);
    word_on(&files.find(path)?, row.parse().ok()?, wrong, right)
}

// `NameError: name 'x' is not defined. Did you mean: 'y'?` below the frame that it is about.
fn python(log: &str, files: &LogFiles<'_>) -> Vec<HealPatch> {
    let mut frame: Option<(&str, usize)> = None;
    let mut open: Option<(&str, &str)> = None;
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let on_frame = |frame: Option<(&str, usize)>, wrong: &str, right: &str| {
        let (path, row) = frame?;
        word_on(&files.find(path)?, row, wrong, right)
    };
    for line in log.lines().filter(|line| line.len() < MAX_LINE) {
        let line = line.strip_prefix('E').unwrap_or(line).trim();
        if let Some(place) = python_frame(line) {
            frame = Some(place);
            if let Some((wrong, right)) = open.take()
                && seen.insert((frame, wrong))
            {
                found.extend(on_frame(frame, wrong, right));
            }
        }
        let Some((before, after)) = line.split_once("Did you mean: '") else {
            continue;
        };
        let names = |kind: &str| before.starts_with(kind);
        if !names("NameError: ") && !names("AttributeError: ") {
            continue;
        }
        let (Some(wrong), Some(right)) = (
            before.split('\'').skip(1).step_by(2).last(),
            after.split('\'').next().map(|it| it.trim_end_matches('?')),
        ) else {
            continue;
        };
        // Many tests die of one word.
        if !seen.insert((frame, wrong)) {
            continue;
        }
        match on_frame(frame, wrong, right) {
            Some(heal) => found.push(heal),
            // pytest names the place below.
            None => open = Some((wrong, right)),
        }
    }
    found
}

/// `File "a.py", line 3` or `a.py:3: NameError`.
pub(super) fn python_frame(line: &str) -> Option<(&str, usize)> {
    if let Some(rest) = line.strip_prefix("File \"") {
        let (path, rest) = rest.split_once("\", line ")?;
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        return Some((path, digits.parse().ok()?));
    }
    let (path, rest) = line.split_once(".py:")?;
    let (row, _) = rest.split_once(':')?;
    let path = line.get(..path.len() + 3)?;
    (!path.contains(' ')).then_some((path, row.parse().ok()?))
}

/// One word of a line for another, where it stands once on it.
pub(super) fn word_on(
    place: &LogFile<'_>,
    row: usize,
    wrong: &str,
    right: &str,
) -> Option<HealPatch> {
    if !is_name(wrong) || !is_name(right) {
        return None;
    }
    let range = place.line(row)?;
    let text = place.text.get(range.clone())?;
    let whole = |at: usize| {
        let before = text.get(..at).and_then(|it| it.chars().next_back());
        let after = text
            .get(at + wrong.len()..)
            .and_then(|it| it.chars().next());
        ![before, after]
            .into_iter()
            .flatten()
            .any(|char| is_name(&char.to_string()))
    };
    let mut places = text
        .match_indices(wrong)
        .map(|(at, _)| at)
        .filter(|at| whole(*at));
    let (Some(at), None) = (places.next(), places.next()) else {
        return None;
    };
    let start = range.start + at;
    let after = place.with(start..start + wrong.len(), right)?;
    let what = format!("`{right}` is suggested for `{wrong}`");
    respelling(place.heal(&what, &after, true)?, wrong, right)
}

#[expect(clippy::unnecessary_wraps, reason = "the end of a chain of options")]
fn respelling(heal: HealPatch, wrong: &str, right: &str) -> Option<HealPatch> {
    Some(HealPatch {
        respells: Some((wrong.to_owned(), right.to_owned())),
        ..heal
    })
}

/// What bundlers say of a file in one line: esbuild's `/w/a.ts:4:18: ERROR: Expected ")"`, Babel's
/// `SyntaxError: /w/a.jsx: Unexpected token (19:24)`, prettier's `a.js: SyntaxError: … (1:7)`.
pub(super) fn bundler(line: &str) -> Option<(&str, usize)> {
    if let Some((place, _)) = line.split_once(": ERROR: ") {
        return numbered(place.trim_start_matches("[ERROR] "));
    }
    let (before, said) = line
        .split_once("SyntaxError: ")
        .or_else(|| line.strip_prefix("[plugin:")?.split_once("] "))?;
    let numbers = line.strip_suffix(')')?.rsplit_once('(')?.1;
    let row = numbers.split_once(':')?.0.parse().ok()?;
    let (path, _) = said.split_once(": ").unwrap_or_default();
    let before = before.trim_start_matches("[error] ");
    let mut paths = [path, before.trim_end_matches(": ")].into_iter();
    Some((paths.find(|it| is_script(it))?, row))
}

/// The place below a parser's words: `File: /w/a.ts:4:0`, `At file: …`, `╭─[ a.ts:4:18 ]`.
pub(super) fn parser_frame(line: &str) -> Option<(&str, usize)> {
    let heads = ["File: ", "At file: ", "╭─[", ",-["];
    let place = heads.iter().find_map(|head| line.strip_prefix(head));
    let alone = || line.strip_suffix(':').filter(|it| !it.contains(' '));
    numbered(place.or_else(alone)?.trim_matches([' ', ']']))
}

// `PATH:LINE:COLUMN` of a script.
fn numbered(place: &str) -> Option<(&str, usize)> {
    let (rest, column) = place.rsplit_once(':')?;
    let (path, row) = rest.rsplit_once(':')?;
    column.parse::<usize>().ok()?;
    is_script(path).then_some((path, row.parse().ok()?))
}

fn is_script(path: &str) -> bool {
    let ends = ["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"];
    let end = path.rsplit_once('.').map(|it| it.1);
    end.is_some_and(|it| ends.contains(&it)) && !path.contains(' ')
}

/// `file:///w/src/a.mjs:9` or `/w/src/a.js:9`, alone on its line.
pub(super) fn node_frame(line: &str) -> Option<(&str, usize)> {
    let (path, row) = line.rsplit_once(':')?;
    is_script(path).then_some((path, row.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{Edit, Proposal, compiler_heals, type_script};
    use crate::diagnose::{LogFacts, diagnose};
    use crate::source::{Memory, Source};

    #[test]
    fn both_forms_of_the_compiler_are_read() {
        let edit = || Edit::Word {
            wrong: "lenght",
            right: "length",
        };
        for line in [
            "src/a.ts(3,7): error TS2551: Property 'lenght' does not exist on type 'string'. Did you mean 'length'?",
            "src/a.ts:3:7 - error TS2551: Property 'lenght' does not exist on type 'string'. Did you mean 'length'?",
        ] {
            let expected = Proposal {
                path: "src/a.ts",
                line: 3,
                column: 7,
                edit: edit(),
            };
            assert_eq!(type_script(line), Some(expected));
        }
        assert_eq!(
            type_script("src/a.ts(3,7): error TS2322: Did you mean 'x'?"),
            None
        );
    }

    // The lines that are added for a log about one file.
    fn healed(path: &str, text: &str, log: &str) -> Vec<String> {
        let source = Memory::named([(path, text)]);
        let diagnosis = diagnose(log, &LogFacts::default(), Some(source.listing()));
        let found = compiler_heals(log, &diagnosis, &source);
        found.iter().map(|heal| heal.added().join("|")).collect()
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
            (
                "import { b } from './b';\nb();\n",
                "src/a.ts(1,19): error TS2835: Relative import paths need explicit file extensions in ECMAScript imports when '--moduleResolution' is 'node16' or 'nodenext'. Did you mean './b.js'?\n",
                "import { b } from './b.js';",
            ),
            (
                "import { b, Shape } from './b'\nb as Shape\n",
                "src/a.ts(1,13): error TS1484: 'Shape' is a type and must be imported using a type-only import when 'verbatimModuleSyntax' is enabled.\n",
                "import { b, type Shape } from './b'",
            ),
            (
                "import type { Table } from './b'\nclass A extends Table {}\n",
                "src/a.ts(2,17): error TS1361: 'Table' cannot be used as a value because it was imported using 'import type'.\n",
                "import { Table } from './b'",
            ),
            (
                "import { type Table, b } from './b'\nclass A extends Table {}\n",
                "src/a.ts(2,17): error TS1361: 'Table' cannot be used as a value because it was imported using 'import type'.\n",
                "import { Table, b } from './b'",
            ),
            (
                "async function f() {\n  return load(1, 'a').size\n}\n",
                "src/a.ts(2,23): error TS2339: Property 'size' does not exist on type 'Promise<Blob>'.\n",
                "  return (await load(1, 'a')).size",
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
            assert_eq!(healed("src/a.ts", text, log).join("||"), after, "{log}");
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
                healed("src/a.py", text, log),
                ["    job.attempts += 1"],
                "{log}"
            );
        }
    }
}
