use super::{embedded, parse, python, script};
use crate::model::{FileFacts, Language, ParseProblem, RepoPath};

/// Above this size only the head of a file is parsed: imports stand there, and nobody waits for
/// a bundle.
const MAX_PARSED_BYTES: usize = 4 * 1024 * 1024;
/// How much of an oversized file is parsed.
const HEAD_BYTES: usize = 256 * 1024;
/// Syntax errors reported for one file.
const MAX_SYNTAX_ERRORS: usize = 100;

/// Reads the imports, exports and top-level definitions of one file.
///
/// Never fails and never runs long: a file in no known language has no facts, and what cannot be
/// read, or is too large to be, is named in `problems`. The result depends on the name's extension
/// and the bytes alone.
#[must_use]
pub fn facts(path: &RepoPath, bytes: &[u8]) -> FileFacts {
    let Some((language, text)) = prepare(path, bytes) else {
        return FileFacts::default();
    };
    let (head, cut) = head_of(&text);
    let mut facts = match parse::parse(language, head) {
        Some(tree) if language == Language::Python => python::read(&tree, head),
        Some(tree) => script::read(&tree, head),
        None => FileFacts {
            problems: vec![given_up()],
            ..FileFacts::default()
        },
    };
    if cut {
        facts.problems.push(ParseProblem {
            line: 0,
            message: format!(
                "only the first {} of {} bytes were parsed",
                head.len(),
                bytes.len()
            ),
        });
    }
    facts
}

/// The places where the file does not follow its language's grammar, in source order.
///
/// A file in no known language has none; one too large or too entangled to parse has a single
/// problem on line 0.
#[must_use]
pub fn syntax_errors(path: &RepoPath, bytes: &[u8]) -> Vec<ParseProblem> {
    let Some((language, text)) = prepare(path, bytes) else {
        return Vec::new();
    };
    let (head, cut) = head_of(&text);
    if cut {
        return vec![ParseProblem {
            line: 0,
            message: "the file is too large to be checked".into(),
        }];
    }
    match parse::parse(language, head) {
        Some(tree) => parse::errors(&tree, head, MAX_SYNTAX_ERRORS),
        None => vec![given_up()],
    }
}

fn given_up() -> ParseProblem {
    ParseProblem {
        line: 0,
        message: "the parser gave up: the nesting or the errors take too long".into(),
    }
}

fn prepare<'a>(path: &RepoPath, bytes: &'a [u8]) -> Option<(Language, std::borrow::Cow<'a, [u8]>)> {
    if let Some((language, script)) = embedded::script_of(path.as_str(), bytes) {
        return Some((language, script.into()));
    }
    Some((Language::of_path(path.as_str())?, bytes.into()))
}

fn head_of(text: &[u8]) -> (&[u8], bool) {
    if text.len() <= MAX_PARSED_BYTES {
        return (text, false);
    }
    let head = text.get(..HEAD_BYTES).unwrap_or(text);
    let end = memchr::memrchr(b'\n', head).map_or(head.len(), |at| at + 1);
    (head.get(..end).unwrap_or(head), true)
}
