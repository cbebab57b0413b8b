//! Reads imports, exports and definitions of a file. It never fails, because one odd file must not stop
//! a graph.

use std::borrow::Cow;

use tree_sitter::Tree;

use super::language::{Grammar, Language};
use super::parse;
use crate::model::{FileFacts, ParseProblem, RepoPath};

/// Reads the imports, exports and top-level definitions of one file.
///
/// Never fails and never runs long: a file in no known language has no facts, and what cannot be
/// read, or is too large to be, is named in `problems`. The result depends on the name's extension
/// and the bytes alone.
pub fn facts(path: &RepoPath, bytes: &[u8]) -> FileFacts {
    let Some(code) = Code::read(path, bytes) else {
        return FileFacts::default();
    };
    let head = code.head();
    let mut facts = (code.language.facts)(path, code.grammar, head).unwrap_or_else(|| FileFacts {
        problems: vec![given_up()],
        ..FileFacts::default()
    });
    if let Some(reason) = code.cut {
        facts.problems.push(ParseProblem::new(
            0,
            format!(
                "only the first {} of {} bytes were parsed: {reason}",
                head.len(),
                code.text.len()
            ),
        ));
    }
    tracing::debug!(
        imports = facts.imports.len(),
        problems = facts.problems.len(),
        "parsed {path}"
    );
    facts
}

/// The places where the file does not follow its language's grammar, in source order.
///
/// A file in no known language has none; one too large or too entangled to parse has a single
/// problem on line 0.
pub fn syntax_errors(path: &RepoPath, bytes: &[u8]) -> Vec<ParseProblem> {
    let Some(code) = Code::read(path, bytes) else {
        return Vec::new();
    };
    if let Some(reason) = code.cut {
        return vec![ParseProblem::new(
            0,
            format!("the file was not checked: {reason}"),
        )];
    }
    // Syntax errors reported for one file.
    let max_syntax_errors = 100;
    match code.tree() {
        Some(tree) => {
            let found = parse::find_errors(&tree, code.head(), max_syntax_errors);
            if !found.is_empty() {
                return found;
            }
            let mut found = (code.language.layout)(&tree, code.head());
            found.truncate(max_syntax_errors);
            found
        }
        None => vec![given_up()],
    }
}

/// Whether a file parses where it changed; most changes are small, and to parse all takes most of the time of a check.
pub fn parses_where_changed(path: &RepoPath, old: &[u8], new: &[u8]) -> bool {
    let language = Language::of_path(path.as_str());
    let part = language.map_or(new, |language| (language.changed_part)(old, new));
    syntax_errors(path, part).is_empty()
}

fn given_up() -> ParseProblem {
    ParseProblem::new(0, "the parser gave up: too many errors or too deep nesting")
}

/// The code of a file, and what reads it.
pub(super) struct Code<'a> {
    pub(super) language: &'static Language,
    pub(super) grammar: &'static Grammar,
    text: Cow<'a, [u8]>,
    end: usize,
    /// Why only its head is parsed, when it is.
    pub(super) cut: Option<&'static str>,
}

impl<'a> Code<'a> {
    /// `None` for a file in no known language.
    pub(super) fn read(path: &RepoPath, bytes: &'a [u8]) -> Option<Self> {
        let (language, kind) = Language::of_kind(path.as_str())?;
        let (grammar, text): (_, Cow<'_, [u8]>) = match kind.code {
            Some(code) => {
                let (grammar, text) = code(bytes);
                (grammar, text.into())
            }
            None => (kind.grammar, bytes.into()),
        };
        let (end, cut) = head_of(&text);
        Some(Self {
            language,
            grammar,
            text,
            end,
            cut,
        })
    }

    /// What is parsed of it: all but for an oversized file.
    pub(super) fn head(&self) -> &[u8] {
        self.text.get(..self.end).unwrap_or_default()
    }

    /// Whether the code is a part of the file, as the script of a component is.
    pub(super) fn is_embedded(&self) -> bool {
        matches!(self.text, Cow::Owned(_))
    }

    /// The tree of the head; `None` when it cannot be parsed.
    pub(super) fn tree(&self) -> Option<Tree> {
        parse::parse(self.grammar, self.head())
    }
}

// The end of the part that is parsed, and why it is not the whole.
fn head_of(text: &[u8]) -> (usize, Option<&'static str>) {
    // A NUL byte among the first of a file means that it is no text, as git has it.
    let start = text.get(..text.len().min(8_000)).unwrap_or(text);
    if memchr::memchr(0, start).is_some() {
        return (0, Some("it is binary"));
    }
    // How much of an oversized file is parsed.
    let head_bytes = 256 * 1024;
    let (end, reason) = match too_deep(text) {
        Some(at) => (at, "its brackets nest too deep"),
        // Above this size only the head of a file is parsed: imports are there, and a bundle would take long.
        None if text.len() > 4 * 1024 * 1024 => (head_bytes, "it is too large"),
        None => return (text.len(), None),
    };
    let head = text.get(..end.min(head_bytes)).unwrap_or(text);
    let end = memchr::memrchr(b'\n', head).map_or(head.len(), |at| at + 1);
    (end, Some(reason))
}

// Deep nesting is cut, because a recovering parser is quadratic in that depth. Brackets in strings and comments count
// too, since they cancel out or are few.
fn too_deep(text: &[u8]) -> Option<usize> {
    let mut opening =
        memchr::memchr3_iter(b'(', b'[', b'{', text).chain(memchr::memchr_iter(b'<', text));
    // Deeper nesting could overflow the parser's stack.
    let max_nesting = 1_000;
    opening.nth(max_nesting)?;
    let mut depth = 0_usize;
    let mut generics = 0_usize;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b'}' => {
                depth = depth.saturating_sub(1);
                generics = 0;
            }
            b']' => depth = depth.saturating_sub(1),
            b';' => generics = 0,
            b'<' => generics += 1,
            b'>' => generics = generics.saturating_sub(1),
            _ => continue,
        }
        if depth.max(generics) > max_nesting {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{facts, syntax_errors};
    use crate::languages::perturbable_tests;
    use crate::model::RepoPath;

    #[test]
    fn reports_hostile_files() {
        let deep = 60_000;
        for (name, text) in [
            ("a.ts", format!("import './x'\n{}", "f<T,".repeat(deep))),
            ("a.ts", format!("import './x'\n{}", "(".repeat(deep))),
            ("a.tsx", format!("import './x'\n{}", "{".repeat(deep))),
            ("a.py", format!("import x\n{}", "[".repeat(deep))),
            (
                "a.js",
                format!("import './x'\n{}", "a=1;".repeat(2_000_000)),
            ),
        ] {
            let path = RepoPath::new(name).unwrap();
            let found = facts(&path, text.as_bytes());
            assert_eq!(found.imports.len(), 1, "{name}");
            assert_eq!(found.problems.len(), 1, "{name}");
            assert_eq!(syntax_errors(&path, text.as_bytes()).len(), 1, "{name}");
        }
    }

    #[test]
    fn reads_nesting_without_brackets() {
        let many = 60_000;
        for (name, text) in [
            (
                "a.py",
                format!("import sys\nsys.exit({}1)\n", "- ".repeat(many)),
            ),
            (
                "a.py",
                format!("import os\ngetattr(os, {}'a')\n", "'a' + ".repeat(many)),
            ),
            (
                "a.ts",
                format!("process.exit({}1)\n", "a ? a : ".repeat(many)),
            ),
            ("a.ts", format!("require({}'a')\n", "'a' + ".repeat(many))),
            ("a.ts", format!("{}let x\n", "declare ".repeat(many))),
        ] {
            let path = RepoPath::new(name).unwrap();
            let _ = facts(&path, text.as_bytes());
            assert!(
                perturbable_tests(&path, text.as_bytes()).is_empty(),
                "{name}"
            );
        }
    }

    #[test]
    fn syntax_errors_have_lines() {
        let path = RepoPath::new("a.ts").unwrap();
        assert!(syntax_errors(&path, b"const a = 1;\n").is_empty());
        let found = syntax_errors(&path, b"const a = 1;\nconst = ;\nlet b = (1;\n");
        assert_eq!(found.first().map(|problem| problem.line), Some(2));
        assert!(found.iter().any(|problem| problem.line == 3));
        // The node begins at the end of the line above.
        let python = RepoPath::new("a.py").unwrap();
        let found = syntax_errors(
            &python,
            b"def f(s: bytes) -> int:\n    return g(s, \"big\"\n\n\ndef h():\n    pass\n",
        );
        let found = found.first().map(|problem| (problem.line, problem.message.as_str()));
        assert_eq!(found, Some((2, "unexpected `return g(s, \"big\"`")));
        let none = RepoPath::new("a.txt").unwrap();
        assert!(syntax_errors(&none, b"((((").is_empty());
    }

    #[test]
    fn ampersand_is_text_in_jsx_only() {
        let path = RepoPath::new("a.tsx").unwrap();
        for (text, errors) in [
            ("<a href=\"https://x.y/?a=1&utm_source=b\">x</a>", false),
            ("<p>see https://x.y/?a=1&utm_source=b; now</p>", false),
            (
                "<p>AT&T, Terms & Conditions &amp; R&D &#x26; {b & c}</p>",
                false,
            ),
            ("<p>a &&b</p>", false),
            ("<p b={c & d}>e & f</p>", false),
            ("<p>a & b</p> & &c", true),
            ("<p>a & b", true),
            ("&c", true),
        ] {
            let found = syntax_errors(&path, format!("export const a = {text}\n").as_bytes());
            assert_eq!(!found.is_empty(), errors, "{text}: {found:?}");
        }
    }

    #[test]
    fn any_bytes_are_read() {
        let mut state = 7_u32;
        for name in ["a.ts", "a.js", "a.py", "a.vue", "a.svelte"] {
            let path = RepoPath::new(name).unwrap();
            for length in [0, 1, 2, 50, 3_000] {
                let bytes: Vec<u8> = (0..length)
                    .map(|_| {
                        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        (state >> 24) as u8
                    })
                    .collect();
                let _ = facts(&path, &bytes);
                let _ = syntax_errors(&path, &bytes);
            }
        }
    }
}
