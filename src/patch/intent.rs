use std::borrow::Cow;
use std::collections::HashMap;

use super::change::FileState;
use super::elision::over_lost;
use super::read::is_markdown;
use super::set::Side;
use crate::languages::{Language, syntax_errors};
use crate::model::{Code, Refusal, RepoPath};

/// What a new content shows of a writer who meant something else than the bytes say; with the line of
/// the new content, counted from 1.
///
/// `before` is the content that gives way, `None` for a new file.
pub(super) fn unmeant(
    path: &str,
    before: Option<&FileState>,
    after: &FileState,
) -> Option<(u64, Refusal)> {
    let old: &[u8] = before.map_or(&[], |state| &state.bytes);
    let stands = placeholder(old, &after.bytes).or_else(|| over_lost(path, old, &after.bytes));
    if let Some(line) = stands {
        let text = String::from_utf8_lossy(line.1).trim().to_owned();
        let message = format!("`{text}` stands for lines that are left out");
        return Some((line.0, Refusal::new(Code::P312, message)));
    }
    if let Some(line) = hollowed(path, old, &after.bytes) {
        let text = String::from_utf8_lossy(line.1).trim().to_owned();
        let message = format!("`{text}` stands where a function had its body");
        return Some((line.0, Refusal::new(Code::P312, message)));
    }
    let line = before.and_then(|_| typographic(path, old, &after.bytes))?;
    let message = "the added line has typographic quotes or spaces, and the file has none";
    Some((line, Refusal::new(Code::P314, message)))
}

/// A whole file out of the fence, or the escapes of a string, that its writer left around it; with what was
/// done, in words.
pub(super) fn unwrapped<'t>(path: &str, text: &'t [u8]) -> Option<(Cow<'t, [u8]>, &'static str)> {
    if let Some(inner) = in_fence(text).filter(|_| !is_markdown(path.as_bytes())) {
        return Some((Cow::Borrowed(inner), "took off the fence around the file"));
    }
    let line = std::str::from_utf8(text.trim_ascii()).ok()?;
    if line.contains('\n') || !line.contains("\\n") {
        return None;
    }
    let decoded: String = serde_json::from_str(&format!("\"{line}\"")).ok()?;
    let path = RepoPath::new(path).ok()?;
    let parses = |text: &[u8]| syntax_errors(&path, text).is_empty();
    let meant = !parses(text) && parses(decoded.as_bytes());
    meant.then(|| {
        (
            Cow::Owned(decoded.into_bytes()),
            "decoded the escapes of a string",
        )
    })
}

fn in_fence(text: &[u8]) -> Option<&[u8]> {
    let text = text.trim_ascii();
    let fence = text.iter().take_while(|byte| **byte == b'`').count();
    let opened = memchr::memchr(b'\n', text).filter(|at| fence > 2 && *at >= fence)?;
    let (first, rest) = text.split_at(opened + 1);
    let inner = rest.strip_suffix(text.get(..fence)?)?;
    let alone = inner.ends_with(b"\n") && !first.get(fence..)?.contains(&b'`');
    alone.then_some(inner)
}

/// Refuses a whole file that has lost its rest.
pub(super) fn shrunk(path: &str, before: &[u8], after: &[u8]) -> Option<Refusal> {
    let solid = |text: &[u8]| {
        let lines = text.split(|byte| *byte == b'\n');
        lines.filter(|line| !line.trim_ascii().is_empty()).count()
    };
    let (was, is) = (solid(before), solid(after));
    if was == 0 || is >= was {
        return None;
    }
    let tail =
        lost_tail(before, after).is_some_and(|(gone, come)| gone >= LONG_TAIL && come * 4 < gone);
    let lost = was - is;
    let most = was >= FEW_LINES && lost * 2 >= was;
    let fragment = is == 0 || most || (lost >= LONG_TAIL && lost * 10 >= was * 3);
    if let Some(line) = keeps_the_rest(path, before, after) {
        let text = String::from_utf8_lossy(line).trim().to_owned();
        let message = format!("`{text}` seems to stand for lines that the whole file leaves out");
        return Some(Refusal::new(Code::P313, message));
    }
    (tail || fragment || lost_block(path, before, after)).then(|| {
        let message = format!(
            "the whole file would go from {was} lines to {is}; the rest seems to be left out"
        );
        Refusal::new(Code::P313, message)
    })
}

// A new line of a file that has become shorter: dots alone, or a comment that says that something stays.
fn keeps_the_rest<'t>(path: &str, before: &[u8], after: &'t [u8]) -> Option<&'t [u8]> {
    let dots = [".py", ".pyi", ".yml", ".yaml"];
    let dots = !dots.iter().any(|it| path.ends_with(it));
    let mut lines = after.split(|byte| *byte == b'\n');
    lines.find(|line| {
        let text = String::from_utf8_lossy(line.trim_ascii()).to_lowercase();
        let marks = ["#", "//", "--", "/*", "<!--"];
        let said = marks.iter().find_map(|mark| text.strip_prefix(mark));
        let said = said.map(|it| it.trim_end_matches(['*', '/', '-', '>', ' ', '.']));
        let stays = said.is_some_and(|said| {
            let words: Vec<&str> = said.split_whitespace().collect();
            let only = words.len() == 2 && words.ends_with(&["unchanged"]);
            let ends = ["as it is", "as is", "as they are", "as before", "unchanged"];
            let verbs = [
                "stay", "stays", "remain", "remains", "left", "kept", "keep", "leave",
            ];
            let verb = words.iter().any(|it| verbs.contains(it));
            words.len() < 9 && ends.iter().any(|it| said.ends_with(it)) && (verb || only)
        });
        (stays || (dots && matches!(text.as_str(), "..." | "…")))
            && memchr::memmem::find(before, line.trim_ascii()).is_none()
    })
}

// Whether a component of one file has lost its template or its script.
fn lost_block(path: &str, before: &[u8], after: &[u8]) -> bool {
    let blocks: &[&[u8]] = match path.rsplit('.').next() {
        Some("vue") => &[b"<template", b"<script"],
        Some("svelte") => &[b"<script"],
        _ => &[],
    };
    let has = |text: &[u8], block: &[u8]| {
        let mut lines = text.split(|byte| *byte == b'\n');
        lines.any(|line| line.starts_with(block))
    };
    let mut blocks = blocks.iter();
    blocks.any(|block| has(before, block) && !has(after, block))
}

// How many lines stand below the last ones that both texts have together, in the old and in the new.
fn lost_tail(before: &[u8], after: &[u8]) -> Option<(usize, usize)> {
    let rows = |text| -> Vec<&[u8]> {
        let solid = |line: &&[u8]| !line.trim_ascii().is_empty();
        <[u8]>::split(text, |byte| *byte == b'\n')
            .filter(solid)
            .collect()
    };
    let (old, new) = (rows(before), rows(after));
    let known = TOGETHER.min(new.len());
    // Of equal ones the last stays.
    let places: HashMap<&[&[u8]], usize> = old
        .windows(known.max(1))
        .enumerate()
        .map(|(at, rows)| (rows, at))
        .collect();
    (known..=new.len()).rev().find_map(|end| {
        let at = *places.get(new.get(end - known..end)?)?;
        Some((old.len() - at - known, new.len() - end))
    })
}

// Files of fewer lines are rewritten as a whole.
const FEW_LINES: usize = 5;

// Lines that stand together in two texts show where one goes on in the other.
const TOGETHER: usize = 3;

// Lines that a person deletes on purpose with an edit, not by sending the file without them.
const LONG_TAIL: usize = 8;

// Words of which one stands in every placeholder.
const WORDS: &[&[u8]] = &[
    b"...",
    "…".as_bytes(),
    b"unchanged",
    b"existing code",
    b"Existing code",
    b"rest of",
    b"Rest of",
    b"remains the same",
    b"stays the same",
    b"same as before",
];

// The first line of the new text that says that something is left out, and that the old has not.
fn placeholder<'t>(old: &[u8], new: &'t [u8]) -> Option<(u64, &'t [u8])> {
    let mut found: Option<usize> = None;
    for word in WORDS {
        for at in memchr::memmem::find_iter(new, word) {
            if found.is_some_and(|before| before <= at) {
                break;
            }
            let line = line_at(new, at);
            if is_placeholder(line) && memchr::memmem::find(old, line.trim_ascii()).is_none() {
                found = Some(at);
                break;
            }
        }
    }
    let at = found?;
    let row = memchr::memchr_iter(b'\n', new.get(..at)?).count() as u64 + 1;
    Some((row, line_at(new, at)))
}

// A line that is all of a function of Python, says nothing, and stands for several that are gone.
fn hollowed<'t>(path: &str, old: &[u8], new: &'t [u8]) -> Option<(u64, &'t [u8])> {
    let depth = |line: &[u8]| line.len() - line.trim_ascii_start().len();
    let rows = |text: &'t [u8]| -> Vec<(u64, &'t [u8])> {
        let rows = (1..).zip(text.split(|byte| *byte == b'\n'));
        rows.filter(|(_, line)| !line.trim_ascii().is_empty())
            .collect()
    };
    let new = if path.rsplit_once('.').is_some_and(|it| it.1 == "py") {
        rows(new)
    } else {
        Vec::new()
    };
    let is_head = |line: &[u8]| {
        let text = line.trim_ascii();
        (text.starts_with(b"def ") || text.starts_with(b"async def ")) && text.ends_with(b":")
    };
    let found = new.windows(2).enumerate().find(|(at, pair)| {
        let [(_, head), (_, body)] = pair else {
            return false;
        };
        if !is_head(head) || !says_nothing(body) {
            return false;
        }
        let alone = new
            .get(at + 2)
            .is_none_or(|(_, next)| depth(next) <= depth(head));
        let mut below = old
            .split(|byte| *byte == b'\n')
            .skip_while(|line| line != head)
            .skip(1);
        let mut had = below.by_ref().filter(|line| !line.trim_ascii().is_empty());
        let had = had
            .by_ref()
            .take_while(|line| depth(line) > depth(head))
            .count();
        // A head that stands twice does not tell whose body is gone.
        let heads = old.split(|byte| *byte == b'\n').filter(|line| line == head);
        alone && had > 1 && heads.count() == 1
    });
    found.and_then(|(at, _)| new.get(at + 1).copied())
}

// `...`, `pass`, the same with a comment that says that something stays, and a docstring that does.
fn says_nothing(line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line.trim_ascii()).to_lowercase();
    let said = line.strip_prefix("...").or(line.strip_prefix("pass"));
    let said = said.or(line.strip_prefix("\"\"\"")).map(str::trim);
    said.is_some_and(|said| {
        let words = said.trim_matches(|it: char| !it.is_alphanumeric());
        said.is_empty() || (words.split(' ').count() < 8 && leaves_out(words))
    })
}

fn line_at(text: &[u8], at: usize) -> &[u8] {
    let (before, after) = text.split_at(at.min(text.len()));
    let start = memchr::memrchr(b'\n', before).map_or(0, |feed| feed + 1);
    let end = memchr::memchr(b'\n', after).map_or(text.len(), |feed| at + feed);
    text.get(start..end).unwrap_or_default()
}

/// Whether a line is a comment, or alone, that says that code is left out here.
pub(super) fn is_placeholder(line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line.trim_ascii()).to_lowercase();
    let marks = [
        "#", "//", "--", "/*", "<!--", "{/*", ";;", "%", "(*", "\"\"\"",
    ];
    let Some(said) = marks.iter().find_map(|mark| line.strip_prefix(mark)) else {
        // Without a comment, only dots around the words.
        let open = line.strip_prefix("... ").or(line.strip_prefix("… "));
        let bare = open.and_then(|said| said.strip_suffix("...").or(said.strip_suffix('…')));
        return bare.is_some_and(|said| {
            (2..8).contains(&said.split_whitespace().count()) && leaves_out(said)
        });
    };
    let said = said.trim_matches(|it: char| matches!(it, '#' | '/' | '*' | '-' | ' ' | '!'));
    let said = said.trim_end_matches(['*', '/', '}', '>', '-', ')', ' ']);
    let said = said
        .strip_prefix(['(', '[', '<'])
        .map_or(said, |inner| inner.trim_end_matches([')', ']', '>']));
    match said_between_dots(said) {
        Some(said) => said.split(' ').count() < 12 && leaves_out(said),
        None => said.split(' ').count() < 10 && says_so_without_dots(said),
    }
}

// `... x ...`, `... x`, `x ...`: the words.
fn said_between_dots(text: &str) -> Option<&str> {
    let open = text.strip_prefix("...").or(text.strip_prefix('…'));
    let start = open.unwrap_or(text);
    let close = start.strip_suffix("...").or(start.strip_suffix('…'));
    (open.is_some() || close.is_some()).then(|| {
        close
            .unwrap_or(start)
            .trim_matches([' ', '.', '(', ')', '[', ']'])
    })
}

fn leaves_out(said: &str) -> bool {
    const WORDS: &[&str] = &[
        "existing",
        "rest",
        "unchanged",
        "remaining",
        "omitted",
        "same",
        "previous",
        "as before",
        "other",
        "code here",
        "unmodified",
        "no changes",
        "keep",
        "code",
    ];
    let words: Vec<&str> = said.split(|it: char| !it.is_alphanumeric()).collect();
    WORDS.iter().any(|word| match word.split_once(' ') {
        Some(_) => said.contains(word),
        None => words.contains(word),
    })
}

fn says_so_without_dots(said: &str) -> bool {
    let has = |word: &str| said.contains(word);
    let rest = has("rest of") || has("remaining") || has("remainder of");
    let code = has("code") || has("function") || has("method") || has("class") || has("file");
    (rest && (has("unchanged") || has("same") || has("omitted") || has("as before")))
        || (rest && code && has("here"))
        || (has("existing")
            && code
            && (has("here") || has("unchanged") || has("remains") || has("stays")))
        || said == "unchanged"
        || said == "same as before"
        || said == "existing code"
        || (has("code") && has("unchanged") && said.split(' ').count() < 5)
}

// A line of code with typographic quotes or spaces where the whole file had nothing but ASCII.
fn typographic(path: &str, old: &[u8], new: &[u8]) -> Option<u64> {
    Language::of_path(path)?;
    if !old.is_ascii() || new.is_ascii() {
        return None;
    }
    let text = std::str::from_utf8(new).ok()?;
    let odd = |letter: char| {
        matches!(letter,
            '\u{2018}'..='\u{201f}' | '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{3000}')
    };
    let rows = text.lines().zip(1_u64..);
    rows.filter(|(line, _)| line.contains(odd))
        .map(|(_, row)| row)
        .next()
}

/// Whether a section's last line may have been cut, by the id that it announces for the result.
pub(super) fn announces_another(sections: &super::set::FilePatch<'_>, bytes: &[u8]) -> bool {
    let named = matches!(sections.headers.plus, Some(Side::Name(_)));
    let index = sections.headers.index.filter(|it| it.new.len() >= 7);
    named && index.is_some() && !super::damage::proven(&[sections], bytes)
}

#[cfg(test)]
mod tests {
    use super::{hollowed, is_placeholder, placeholder, shrunk, typographic};

    #[test]
    fn what_stands_for_code_is_told_from_what_is_code() {
        for line in [
            "    # ... rest of the function unchanged ...",
            "// ... existing code ...",
            "/* ... rest of the file ... */",
            "    {/* ... existing JSX ... */}",
            "<!-- ... rest unchanged ... -->",
            "# rest of the code remains the same",
            "// Existing code here",
            "// … remaining methods …",
            "... rest of the code ...",
            "# (unchanged)",
        ] {
            assert!(is_placeholder(line.as_bytes()), "{line}");
        }
        for line in [
            "    ...",
            "def f(*args): ...",
            "# ...",
            "const rest = {...other};",
            "    ...rest,",
            "    ...rest",
            "    ...other code,",
            "    ...existing,",
            "// Wait for the rest of the workers.",
            "# The value is unchanged when the key is absent.",
            "print('Loading existing code...')",
            "# Handle the existing case...now",
            "/// Parses the remaining bytes of the header.",
            "// Keep the connection open while other requests are in flight, as the server expects...",
        ] {
            assert!(!is_placeholder(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn a_body_that_is_gone_is_told_from_a_stub() {
        let old = b"def f(x):\n    y = x\n    return y\n\ndef g(x):\n    pass\n";
        let made = |body: &str| format!("def f(x):\n    {body}\n\ndef g(x):\n    pass\n");
        for body in ["...", "pass", "pass  # unchanged", "\"\"\"Unchanged.\"\"\""] {
            let found = hollowed("a.py", old, made(body).as_bytes()).map(|it| it.0);
            assert_eq!(found, Some(2), "{body}");
        }
        for body in ["return x", "pass_on(x)", "...\n    return x"] {
            assert_eq!(hollowed("a.py", old, made(body).as_bytes()), None, "{body}");
        }
        assert_eq!(hollowed("a.pyi", old, made("...").as_bytes()), None);
        let stub = "def h(x):\n    ...\n";
        assert_eq!(hollowed("a.py", old, stub.as_bytes()), None);
    }

    #[test]
    fn a_placeholder_that_the_file_has_is_no_surprise() {
        let old = b"a\n# ... existing code ...\nb\n";
        assert_eq!(placeholder(old, b"a\nc\n  # ... existing code ...\n"), None);
        let found = placeholder(b"a\n", b"a\n# ... existing code ...\n");
        assert_eq!(found.map(|it| it.0), Some(2));
    }

    #[test]
    fn a_whole_file_keeps_its_rest() {
        let lines = |range: std::ops::Range<u32>| -> Vec<u8> {
            let lines: Vec<String> = range.map(|line| format!("line {line}\n")).collect();
            lines.concat().into_bytes()
        };
        let old = lines(0..40);
        for (new, refused) in [
            (lines(0..40), false),
            (lines(0..38), false),
            (lines(3..40), false),
            (lines(0..30), true),
            (lines(10..20), true),
            (Vec::new(), true),
            ([lines(0..39), lines(50..60)].concat(), false),
        ] {
            let text = String::from_utf8(new.clone()).unwrap();
            assert_eq!(shrunk("a", &old, &new).is_some(), refused, "{text}");
        }
        assert!(
            shrunk("a", b"a\nb\nc\n", b"a\nB\n").is_none(),
            "too small to tell"
        );
        let vue = "<script setup>\nx\n</script>\n<template>\n<b/>\n</template>\n";
        let short = |path: &str, old: &str, new: &str| {
            shrunk(path, old.as_bytes(), new.as_bytes()).is_some()
        };
        assert!(short("A.vue", vue, "<script setup>\nx\ny\nz\n</script>\n"));
        assert!(short(
            "a.txt",
            "one\ntwo\nthree\nfour\n",
            "one\n...\nfour!\n"
        ));
        assert!(!short(
            "a.py",
            "one\ntwo\nthree\nfour\n",
            "one\n...\nfour\n"
        ));
        let yaml = "a:\n  b: 1\n  c: 2\nd:\n  e: 1\n";
        assert!(short(
            "a.yml",
            yaml,
            "a:\n  b: 2\n  c: 2\n# d stays as it is\n"
        ));
        assert!(!short("a.yml", yaml, "a:\n  b: 2\n  c: 2\n# as it was\n"));
    }

    #[test]
    fn typographic_quotes_come_into_a_file_of_plain_ones() {
        let new = "x = “a”\n".as_bytes();
        assert_eq!(typographic("a.py", b"x = 1\n", new), Some(1));
        assert_eq!(typographic("a.py", "y = ‘b’\n".as_bytes(), new), None);
        assert_eq!(typographic("a.md", b"x = 1\n", new), None);
    }
}
