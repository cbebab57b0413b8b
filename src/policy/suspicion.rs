//! Signs in added lines that a change may turn tests green by other means than a repair: the rows of
//! `suspicion.toml`. A sign that only moves does not count.

use std::collections::{BTreeSet, HashMap};
use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder};

use super::change::{ChangedFile, SEND_WITHOUT};
use super::changed_lines::{ChangedLine, changed_lines};
use super::commands::CommandFiles;
use super::test_files::is_test;
use crate::languages::Language;
use crate::model::{Code, PatchProblem, parse_rows};

/// A sign that a change may turn tests green by other means than a repair.
pub struct Suspicion {
    /// The place of its file among the changed files.
    pub at: usize,
    /// Whether a person has to look: no experiment here clears it.
    pub for_person: bool,
    /// What the line is, and where.
    pub problem: PatchProblem,
}

/// Finds the suspicious lines that changed files have and no file of the change had before: code that
/// only moves adds nothing. Files are code by their ending, by their first line, where they may be
/// executed, and where a command runs them; tests are none. One for each file and reason.
pub fn find_suspicious(files: &[ChangedFile<'_>], run: &CommandFiles) -> Vec<Suspicion> {
    let heeded = TABLE.iter().enumerate().filter(|(_, row)| row.is_heeded(run));
    let heeded: Vec<usize> = heeded.map(|(at, _)| at).collect();
    let of_files = crate::parallel::map(files, |file| signs_of_file(file, &heeded, run));
    let mut moved: HashMap<(usize, &[u8]), usize> = HashMap::new();
    for sign in of_files.iter().flat_map(|signs| &signs.lost) {
        *moved.entry((sign.row, sign.mark)).or_default() += 1;
    }
    let mut found = Vec::new();
    for (at, signs) in of_files.iter().enumerate() {
        let mut told = BTreeSet::new();
        for sign in &signs.added {
            match moved.get_mut(&(sign.row, sign.mark)) {
                Some(left) if *left > 0 => *left -= 1,
                _ if told.insert(&TABLE[sign.row].why) => found.push(sign.suspicion(at)),
                _ => {}
            }
        }
    }
    found
}

/// The signs in the lines that a file loses and gains.
#[derive(Default)]
struct FileSigns<'f> {
    lost: Vec<Sign<'f>>,
    added: Vec<Sign<'f>>,
}

/// A line that a row is about.
struct Sign<'f> {
    row: usize,
    line: usize,
    text: &'f [u8],
    /// The part that is the same where code only moves: of a comment that a checker heeds the
    /// comment, and not the code before it.
    mark: &'f [u8],
}

impl<'f> Sign<'f> {
    fn new(row: usize, line: usize, text: &'f [u8]) -> Self {
        let rule = &TABLE[row];
        let comment = Some(&rule.sign).filter(|_| !rule.programs.is_empty());
        let mark = comment.and_then(|sign| sign.find(text));
        Self {
            row,
            line,
            text,
            mark: mark.unwrap_or(text),
        }
    }

    fn suspicion(&self, at: usize) -> Suspicion {
        let row = &TABLE[self.row];
        let text = String::from_utf8_lossy(self.text);
        // Characters of a line that are shown.
        let shown: String = text.chars().take(80).collect();
        let head = format!("line {} `{shown}` {}", self.line, row.why);
        Suspicion {
            at,
            for_person: row.person,
            problem: match row.refused {
                true => PatchProblem::new(Code::P712, format!("{head}: {SEND_WITHOUT}")),
                false => PatchProblem::new(Code::P712, head).as_warning(),
            },
        }
    }
}

fn signs_of_file<'f>(
    file: &ChangedFile<'f>,
    heeded: &[usize],
    run: &CommandFiles,
) -> FileSigns<'f> {
    if file.before == file.after {
        return FileSigns::default();
    }
    let [before, after] = [file.before, file.after].map(Option::unwrap_or_default);
    let (lost, added) = changed_lines(before, after);
    let is_code = is_code(file, run) && !is_test(file.path);
    FileSigns {
        lost: find_signs(&lost, file.path, true, heeded),
        added: find_signs(&added, file.path, is_code, heeded),
    }
}

fn find_signs<'f>(
    lines: &[ChangedLine<'f>],
    path: &str,
    is_code: bool,
    heeded: &[usize],
) -> Vec<Sign<'f>> {
    let language = Language::of_path(path).map_or("", |language| language.name);
    let text: Vec<&[u8]> = lines.iter().map(|line| line.text).collect();
    let text = text.join(&b'\n').to_ascii_lowercase();
    let mut meant = heeded.to_vec();
    meant.retain(|row| {
        TABLE[*row].is_about(path, is_code, language) && TABLE[*row].may_be_in(&text)
    });
    let signs = lines.iter().filter_map(|line| {
        let row = *meant.iter().find(|row| TABLE[**row].accepts(line))?;
        Some(Sign::new(row, line.number, line.text))
    });
    signs.collect()
}

fn is_code(file: &ChangedFile<'_>, run: &CommandFiles) -> bool {
    Language::of_path(file.path).is_some()
        || file.modes.1 == 0o100_755
        || file.after.is_some_and(|text| text.starts_with(b"#!"))
        || run.get(file.path).is_some()
}

/// A pattern of the table, compiled when a line may have it; letters and blanks are those of ASCII.
#[derive(Debug, serde::Deserialize)]
#[serde(from = "String")]
struct Pattern(String, OnceLock<Option<Regex>>);

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        Self(text, OnceLock::new())
    }
}

impl Pattern {
    fn get(&self) -> Option<&Regex> {
        let regex = self.1.get_or_init(|| RegexBuilder::new(&self.0).unicode(false).build().ok());
        regex.as_ref()
    }

    fn find<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        Some(self.get()?.find(text)?.as_bytes())
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    language: Option<String>,
    /// The sign in a line.
    sign: Pattern,
    /// In lower case; each line with the sign has one of them. Without any, the sign itself is sought.
    #[serde(default)]
    words: Vec<String>,
    /// Takes a line out again.
    but: Option<Pattern>,
    /// Only in files whose path, with a slash before it, ends so, whatever they hold.
    #[serde(default)]
    files: Vec<String>,
    /// Only where the command runs one of these, or a program with an option that begins so.
    #[serde(default)]
    programs: Vec<String>,
    /// Whether the change is refused; otherwise the sign is reported.
    #[serde(default)]
    refused: bool,
    /// Whether no experiment clears the sign.
    #[serde(default)]
    person: bool,
    why: String,
}

impl Row {
    fn is_heeded(&self, run: &CommandFiles) -> bool {
        let options = self.programs.iter().filter(|program| program.starts_with("--"));
        self.programs.is_empty()
            || run.commands().iter().any(|words| {
                words.iter().take(3).any(|word| self.is_program(word))
                    || options
                        .clone()
                        .any(|option| words.iter().any(|word| word.starts_with(option)))
            })
    }

    fn is_program(&self, word: &str) -> bool {
        let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
        let name = name.split('.').next().unwrap_or(name);
        matches!(name, "pre-commit" | "lint-staged")
            || self.programs.iter().any(|program| program == name)
    }

    /// Whether the row is about lines of such a file.
    fn is_about(&self, path: &str, is_code: bool, language: &str) -> bool {
        const PROSE: [&str; 5] = ["adoc", "md", "mdx", "rst", "txt"];
        let whole = format!("/{path}");
        let file = match self.programs.is_empty() {
            _ if !self.files.is_empty() => self.files.iter().any(|end| whole.ends_with(end)),
            true => is_code,
            false => !PROSE.contains(&path.rsplit('.').next().unwrap_or_default()),
        };
        let is_own = self.language.as_deref().is_none_or(|own| own == language);
        file && (language.is_empty() || is_own)
    }

    /// Whether a text, in lower case, has one of the words.
    fn may_be_in(&self, text: &[u8]) -> bool {
        let mut words = self.words.iter();
        self.words.is_empty()
            || words.any(|word| memchr::memmem::find(text, word.as_bytes()).is_some())
    }

    /// Whether a line has the sign, and is meant.
    fn accepts(&self, line: &ChangedLine<'_>) -> bool {
        let is_assertion = self.programs.is_empty() && line.text.starts_with(b"assert ");
        let but = self.but.as_ref().and_then(|but| but.find(line.text));
        !is_assertion && self.sign.find(line.text).is_some() && but.is_none()
    }
}

static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| parse_rows(embedded!("policy/suspicion.toml")));

#[cfg(test)]
mod tests {
    use regex_syntax::ParserBuilder;
    use regex_syntax::hir::{Hir, HirKind};

    use super::{TABLE, find_suspicious};
    use crate::model::Severity;
    use crate::policy::change::tests::modified;
    use crate::policy::{ChangedFile, CommandFiles};
    use crate::source::Memory;

    fn needs(command: &str, file: ChangedFile<'_>) -> Option<Severity> {
        let package = serde_json::json!({"scripts": {"lint": "eslint src", "types": "tsc -p ."}});
        let package = package.to_string();
        let source = Memory::named([("package.json", package.as_str()), ("run.txt", "")]);
        let run = CommandFiles::find(&[command.to_owned()], "", &source);
        let found = find_suspicious(&[file], &run);
        found.first().map(|found| found.problem.severity)
    }

    #[test]
    fn table_is_read() {
        let patterns = TABLE.iter().flat_map(|row| [Some(&row.sign), row.but.as_ref()]);
        let broken = patterns.flatten().filter(|pattern| pattern.get().is_none());
        assert!(broken.count() == 0 && TABLE.len() > 25);
    }

    // Whether each text of a pattern has one of the words, read from the pattern itself.
    fn needs_words(hir: &Hir, words: &[String]) -> bool {
        let any = |parts: &[Hir]| parts.iter().any(|part| needs_words(part, words));
        match hir.kind() {
            HirKind::Literal(text) => {
                let text = String::from_utf8_lossy(&text.0).to_lowercase();
                words.iter().any(|word| text.contains(word))
            }
            HirKind::Capture(part) => any(std::slice::from_ref(&*part.sub)),
            HirKind::Repetition(part) => part.min > 0 && any(std::slice::from_ref(&*part.sub)),
            // `(?:re|copy)\.` has `re.` or `copy.`.
            HirKind::Concat(parts) => {
                let joined = parts.windows(2).any(|pair| match (pair[0].kind(), pair[1].kind()) {
                    (HirKind::Alternation(starts), HirKind::Literal(end)) => {
                        let starts = starts.iter();
                        let starts =
                            starts.map(|start| [start.clone(), Hir::literal(end.0.clone())]);
                        starts
                            .map(|both| Hir::concat(both.into()))
                            .all(|both| needs_words(&both, words))
                    }
                    _ => false,
                });
                joined || any(parts)
            }
            HirKind::Alternation(parts) => parts.iter().all(|part| needs_words(part, words)),
            HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) => false,
        }
    }

    #[test]
    fn suspicious_line_contains_word_of_row() {
        for row in TABLE.iter().filter(|row| !row.words.is_empty()) {
            let pattern = row.sign.0.trim_start_matches("(?i)");
            let mut parser = ParserBuilder::new().unicode(false).utf8(false).build();
            let hir = parser.parse(pattern).unwrap();
            assert!(needs_words(&hir, &row.words), "{pattern}");
        }
    }

    #[test]
    fn warns_of_signs_and_refuses_hidden_code() {
        for (path, line, expected) in [
            ("a.py", "# -*- coding: rot13 -*-", Some(Severity::Error)),
            ("a.py", "# -*- coding: utf-8 -*-", None),
            ("a.py", "exec(base64.b64decode(x))", Some(Severity::Error)),
            ("a.py", "model.eval()", None),
            ("a.py", "re.compile(x)", None),
            ("a.js", "eval(atob(x))", Some(Severity::Error)),
            ("run.txt", "exec(open('x').read())", Some(Severity::Error)),
            ("notes.txt", "exec(open('x').read())", None),
            (
                "a.py",
                "if 'PYTEST_CURRENT_TEST' in os.environ:",
                Some(Severity::Warning),
            ),
            ("a.py", "os._exit(0)", Some(Severity::Warning)),
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
    fn refuses_suppression_for_checkers() {
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
            assert_eq!(refused, Some(Severity::Error), "{command} {comment}");
            let moved = format!("y = 2\nx = 3  {comment}\n");
            assert_eq!(found(command, &silent, &moved), None, "{command} {comment}");
            for other in ["pytest -q", "npx vitest run", "cargo test"] {
                assert_eq!(found(other, plain, &silent), None, "{other} {comment}");
            }
        }
    }
}
