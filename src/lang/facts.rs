use super::{embedded, jsdoc, parse, python, quiet, script};
use crate::model::{FileFacts, Language, ParseProblem, RepoPath};

/// Above this size only the head of a file is parsed: imports stand there, and nobody waits for
/// a bundle.
const MAX_PARSED_BYTES: usize = 4 * 1024 * 1024;
/// How much of an oversized file is parsed.
const HEAD_BYTES: usize = 256 * 1024;
/// A NUL byte among the first of a file means that it is no text, as git has it.
const BINARY_PROBE: usize = 8_000;
/// Brackets inside brackets that are parsed.
const MAX_NESTING: usize = 1_000;
/// Syntax errors reported for one file.
const MAX_SYNTAX_ERRORS: usize = 100;

/// A number for the way in which a file of this name is read: files of the same bytes and the same
/// number say the same. `None` for one that no language claims.
#[must_use]
pub fn reading(path: &RepoPath) -> Option<u8> {
    Some(match path.extension()? {
        "ts" | "mts" | "cts" => 0,
        "tsx" => 1,
        "py" | "pyi" => 2,
        "vue" => 3,
        "svelte" => 4,
        "astro" => 5,
        "js" | "jsx" | "mjs" | "cjs" => 6,
        "mdx" => 7,
        _ => return None,
    })
}

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
    let quiet = match language {
        Language::Python => quiet::quieted(head),
        _ => None,
    };
    // What is no whole program either way is read as it is.
    let short = quiet.as_deref().and_then(|text| {
        let tree = parse::parse(language, text)?;
        (!tree.root_node().has_error()).then_some((tree, text))
    });
    let (tree, said) = match short {
        Some((tree, text)) => (Some(tree), text),
        None => (parse::parse(language, head), head),
    };
    let mut facts = match tree {
        Some(tree) if language == Language::Python => python::read(&tree, said),
        Some(tree) => {
            let mut facts = script::read(&tree, head);
            if matches!(path.extension(), Some("js" | "jsx" | "mjs" | "cjs")) {
                jsdoc::read(&tree, head, &mut facts);
                facts.imports.sort_by_key(|import| import.line);
            }
            facts
        }
        None => FileFacts {
            problems: vec![given_up()],
            ..FileFacts::default()
        },
    };
    if let Some(reason) = cut {
        facts.problems.push(ParseProblem {
            line: 0,
            message: format!(
                "only the first {} of {} bytes were parsed: {reason}",
                head.len(),
                text.len()
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
    if let Some(reason) = cut {
        return vec![ParseProblem {
            line: 0,
            message: format!("the file was not checked: {reason}"),
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

pub(super) fn prepare<'a>(
    path: &RepoPath,
    bytes: &'a [u8],
) -> Option<(Language, std::borrow::Cow<'a, [u8]>)> {
    if let Some((language, script)) = embedded::script_of(path.as_str(), bytes) {
        return Some((language, script.into()));
    }
    Some((Language::of_path(path.as_str())?, bytes.into()))
}

// The part that is parsed, and why it is not the whole.
pub(super) fn head_of(text: &[u8]) -> (&[u8], Option<&'static str>) {
    let start = text.get(..text.len().min(BINARY_PROBE)).unwrap_or(text);
    if memchr::memchr(0, start).is_some() {
        return (&[], Some("it is binary"));
    }
    let (end, reason) = match too_deep(text) {
        Some(at) => (at, "its brackets nest too deep"),
        None if text.len() > MAX_PARSED_BYTES => (HEAD_BYTES, "it is too large"),
        None => return (text, None),
    };
    let head = text.get(..end.min(HEAD_BYTES)).unwrap_or(text);
    let end = memchr::memrchr(b'\n', head).map_or(head.len(), |at| at + 1);
    (head.get(..end).unwrap_or(head), Some(reason))
}

// Where brackets nest deeper than any person writes. A recovering parser is quadratic in that
// depth. Strings and comments are not told apart: their brackets cancel out or are few.
fn too_deep(text: &[u8]) -> Option<usize> {
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
        if depth.max(generics) > MAX_NESTING {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{facts, syntax_errors};
    use crate::model::RepoPath;

    #[test]
    fn hostile_files_end_and_say_so() {
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
    fn syntax_errors_have_lines() {
        let path = RepoPath::new("a.ts").unwrap();
        assert!(syntax_errors(&path, b"const a = 1;\n").is_empty());
        let found = syntax_errors(&path, b"const a = 1;\nconst = ;\nlet b = (1;\n");
        assert_eq!(found.first().map(|problem| problem.line), Some(2));
        assert!(found.iter().any(|problem| problem.line == 3));
        let none = RepoPath::new("a.txt").unwrap();
        assert!(syntax_errors(&none, b"((((").is_empty());
    }

    #[test]
    fn a_plain_ampersand_is_text_of_jsx_and_nowhere_else() {
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
        for name in ["a.ts", "a.js", "a.py", "a.vue", "a.svelte", "a.astro"] {
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
