//! Finds placeholders such as "rest of the code unchanged". Written as they are they would delete code.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::intent::solid_rows;
use super::text::matches_pattern;

/// How a line says that others are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Elision {
    /// In words that mean nothing else.
    Placeholder,
    /// By dots, which may be meant.
    Dots,
    /// By a remark that something stays, which may be meant.
    Stays,
}

/// Returns the first new line that represents code that is left out, with its number, counted from 1.
///
/// What may be meant counts only where at least as many lines of code have gone as have come, this one
/// among them.
pub(super) fn left_out_line<'t>(path: &str, old: &[u8], new: &'t [u8]) -> Option<(u64, &'t [u8])> {
    let rows: Vec<(u64, &[u8])> = solid_lines(new).collect();
    let old: HashSet<&[u8]> = solid_lines(old).map(|row| row.1).collect();
    let new: HashSet<&[u8]> = rows.iter().map(|row| row.1).collect();
    let gone = old.difference(&new).filter(|text| !is_comment(text)).count();
    let come = new.difference(&old).filter(|text| !is_comment(text)).count();
    let found = rows.iter().enumerate().find(|(at, (_, text))| {
        let line = |at: usize| rows.get(at).map(|row| row.1);
        let above = at.checked_sub(1).and_then(line).unwrap_or_default();
        let is_loss = gone >= come + usize::from(is_comment(text));
        match elision_of(text).filter(|_| !old.contains(text)) {
            Some(Elision::Placeholder) => true,
            Some(Elision::Dots) => is_loss && !is_own_syntax(path, text, above),
            // A heading is above new lines, what is left out beside known ones.
            Some(Elision::Stays) => is_loss && line(at + 1).is_none_or(|below| old.contains(below)),
            None => false,
        }
    });
    found.map(|(_, row)| *row)
}

fn solid_lines(text: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    solid_rows(text).into_iter().map(|(row, line)| (row, line.trim_ascii()))
}

/// Returns how a line says that lines of the file are left out here.
pub(super) fn elision_of(line: &[u8]) -> Option<Elision> {
    let line = std::str::from_utf8(line).ok()?.trim();
    // A longer line says something else.
    if line.len() > 200 {
        return None;
    }
    if is_dots(line) || line.contains(">...<") {
        return Some(Elision::Dots);
    }
    let lower = remark_in(line)?.to_lowercase();
    let said = lower.trim_matches(is_edge);
    if is_dots(said) {
        return Some(Elision::Dots);
    }
    let has_dots = is_dotted(said);
    let said = said.trim_matches(|letter: char| is_edge(letter) || matches!(letter, '.' | '…'));
    let words: Vec<&str> = said.split(|letter: char| !letter.is_alphanumeric()).collect();
    let [names_rest, leaves_out] = ["rest|remaining|existing", LEFT_OUT]
        .map(|list| list.split('|').any(|word| words.contains(&word)));
    let stays = STAYS.split('|').any(|end| said.contains(end));
    let speaks = leaves_out || stays;
    if has_dots && speaks && words.len() < 12
        || names_rest && words.len() < 10 && (stays || words.ends_with(&["code", "here"]))
    {
        return Some(Elision::Placeholder);
    }
    let starts = STARTS.split('|').any(|start| said.starts_with(start));
    let ends = STAYS.split('|').any(|end| said.ends_with(end));
    (words.len() <= 7 && (starts || ends)).then_some(Elision::Stays)
}

fn is_edge(letter: char) -> bool {
    letter == ' ' || letter.is_ascii_punctuation() && letter != '.'
}

const LEFT_OUT: &str = "existing|rest|remaining|previous|other|keep|code";
const STAYS: &str = "unchanged|unmodified|as before|same|omitted|no changes|remains";
const STARTS: &str = "rest of |the rest of |keep |existing ";

/// Returns what a line says that is a comment, a remark in brackets or between dots, and nothing else; or
/// the comment within it.
fn remark_in(line: &str) -> Option<&str> {
    if let Some((_, rest)) = line.split_once("/*") {
        return rest.split_once("*/").map(|(inner, _)| inner);
    }
    let is_bracketed = line.starts_with(['(', '[']) && line.ends_with([')', ']']);
    let is_bare = line.contains(' ') && is_dotted(line) && line.ends_with(['.', '…']);
    let is_remark = is_bracketed || is_bare || line.contains(">…<");
    (is_remark || is_comment(line.as_bytes())).then_some(line)
}

/// Whether a text begins or ends with dots.
fn is_dotted(text: &str) -> bool {
    ["...", "…"].iter().any(|dots| text.starts_with(dots) || text.ends_with(dots))
}

/// Whether a text is nothing but dots, also where JSON wants a key and a value.
fn is_dots(text: &str) -> bool {
    (text.contains("...") || text.contains('…'))
        && text
            .chars()
            .all(|letter| matches!(letter, '.' | '…' | '"' | '\'' | ':' | ',' | ' '))
}

/// Whether a line begins with the mark of a comment.
pub(super) fn is_comment(line: &[u8]) -> bool {
    let marks: [&[u8]; 7] = [b"#", b"//", b"--", b";;", b"/*", b"{/*", b"<!--"];
    marks.iter().any(|mark| line.starts_with(mark))
}

/// Whether dots are those of the language: a body of Python, an example of a docstring, the end of a document
/// of YAML.
fn is_own_syntax(path: &str, line: &[u8], above: &[u8]) -> bool {
    let is_bare = matches!(line, b"..." | b"...,");
    let is_body = matches_pattern(&HEAD, above);
    is_bare && (matches!(path.rsplit('.').next(), Some("pyi" | "yml" | "yaml")) || is_body)
}

/// Lines after which a line of dots is a body, not an elision.
static HEAD: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^((async )?def |class |[)\]]|>>>|\.\.\.)").ok());

#[cfg(test)]
mod tests {
    use super::{Elision, elision_of, left_out_line};

    const CARD: &str = "<section>\n  <header>\n    <h1>{title}</h1>\n    <b>{count}</b>\n  </header>\n  \
                        <Button\n    kind=\"a\"\n    off\n  >\n    Close\n  </Button>\n</section>\n";

    #[test]
    fn distinguishes_elisions_from_code() {
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
            assert!(elision_of(line.as_bytes()).is_some(), "{line}");
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
            assert_ne!(
                elision_of(line.as_bytes()),
                Some(Elision::Placeholder),
                "{line}"
            );
        }
    }

    #[test]
    fn finds_lines_above_elided_ones() {
        let children = "    <h1>{title}</h1>\n    <b>{count}</b>\n";
        let header = format!("  <header>\n{children}  </header>\n");
        for (old, new) in [
            (children, "    {/* rest unchanged */}\n"),
            (children, "    {/* ... */}\n"),
            (children, "    ...\n"),
            (children, "    {/* header stays the same */}\n"),
            (children, "    {/* same children as before */}\n"),
            (children, "    <!-- existing content -->\n"),
            (&header, "  <header id=\"x\">{/* unchanged */}</header>\n"),
            (
                &header,
                "  <header id=\"x\">{/* ... existing code ... */}</header>\n",
            ),
            (&header, "  <header id=\"x\">...</header>\n"),
            (&header, "  {/* keep existing header content */}</header>\n"),
            ("    off\n", "    /* other props unchanged */\n"),
            ("    kind=\"a\"\n    off\n", "    /* ...rest of props */\n"),
            (children, "    (rest of the section unchanged)\n"),
            (children, "    \"...\": \"...\",\n"),
        ] {
            assert!(CARD.contains(old), "{old}");
            let new = CARD.replace(old, new);
            assert!(
                left_out_line("a.tsx", CARD.as_bytes(), new.as_bytes()).is_some(),
                "{new}"
            );
        }
    }

    #[test]
    fn keeps_added_elision_comments() {
        for (old, new) in [
            ("  <header>\n", "  {/* existing items */}\n  <header>\n"),
            ("    off\n", "    // existing one\n    on\n"),
            ("    off\n", "    {...rest}\n"),
            ("    Close\n", "    <i>...</i>\n    Close\n"),
            (
                "    off\n",
                "    // keep existing handles\n    on\n    up\n",
            ),
        ] {
            let new = CARD.replace(old, new);
            assert_eq!(
                left_out_line("a.tsx", CARD.as_bytes(), new.as_bytes()),
                None,
                "{new}"
            );
        }
        let own = CARD.replace("    off\n", "    {/* ... */}\n");
        assert_eq!(left_out_line("a.tsx", own.as_bytes(), own.as_bytes()), None);
        let python = "def f():\n    return 1\n\nwith a:\n    b()\n    c()\n";
        let stub = "def f():\n    ...\n\nwith a:\n    b()\n    c()\n";
        assert_eq!(
            left_out_line("a.py", python.as_bytes(), stub.as_bytes()),
            None
        );
        let gone = "def f():\n    return 1\n\nwith a:\n    ...\n";
        let found = left_out_line("a.py", python.as_bytes(), gone.as_bytes());
        assert_eq!(found.map(|row| row.0), Some(5));
        assert_eq!(
            left_out_line("a.pyi", python.as_bytes(), gone.as_bytes()),
            None
        );
    }
}
