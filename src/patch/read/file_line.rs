//! Reads the line above a block that names its file.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::fence::ends_block;
use super::keys::is_one;
use crate::patch::text::Text;

/// The file that a line above a block names, in one of the three lines before `at`.
pub(super) fn name_above<'a>(lines: &Text<'a>, at: usize) -> Option<&'a [u8]> {
    for back in 1..=3 {
        let line = lines.line(at.checked_sub(back)?).trim_ascii();
        if ends_block(line) {
            return None;
        }
        if let Some(info) = line.strip_prefix(b"```") {
            // "```python src/a.py", "```python:src/a.py"
            let name = info.rsplit(|byte| matches!(byte, b' ' | b':')).next();
            if let Some(name) = name.filter(|name| name.contains(&b'.')) {
                return Some(name);
            }
            continue;
        }
        if let Some(name) = file_name(line).or_else(|| capture_name(&MARKED, line)) {
            return Some(name);
        }
        if !strip_markup(line).is_empty() && !line.starts_with(b"<") {
            return None;
        }
    }
    None
}

/// The file that a line names: `src/a.py`, `**src/a.py**:`, `File: src/a.py`, `1. Edit src/a.py`,
/// `<file path="src/a.py">`. `None` when it names none.
pub(super) fn file_name(line: &[u8]) -> Option<&[u8]> {
    let line = line.trim_ascii();
    if let Some(name) = capture_name(&ATTRIBUTE, line) {
        return Some(name);
    }
    if line.starts_with(b"<") {
        return None;
    }
    let name = strip_markup(line);
    if !name.is_empty() && !name.contains(&b' ') {
        return Some(strip_link(name));
    }
    let words = name.split(|byte| *byte == b' ').map(strip_markup);
    let words: Vec<&[u8]> = words.filter(|word| !word.is_empty()).collect();
    let mut others = words.iter().filter(|word| !is_number(word) && !is_word(word, REMARKS));
    let file = others.next().filter(|_| others.next().is_none())?;
    let is_named =
        name.contains(&b':') && words.first().is_some_and(|word| is_word(word, FILE_WORDS));
    (words.len() > 1 && (file.iter().any(|byte| matches!(byte, b'.' | b'/')) || is_named))
        .then_some(*file)
}

// `src/a.py](src/a.py`, as undressing leaves it of a link: the text, or where the link leads.
fn strip_link(name: &[u8]) -> &[u8] {
    let Some(at) = memchr::memmem::find(name, b"](") else {
        return name;
    };
    let (text, target) = (&name[..at], &name[at + 2..]);
    let elsewhere = text.contains(&b'/') || memchr::memmem::find(target, b"://").is_some();
    if elsewhere { text } else { target }
}

/// The file that a heading, an item or a bold line opens with in backticks, whatever it says of it:
/// "### 1. `src/a.py`: make it inclusive", "**`src/a.py`** (line 39)".
static MARKED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^[#*\-. 0-9]*`([^`\s]*[./][^`\s]*)`([^`]|`[^`./]*`)*$").ok());

/// `<file path="x">`, `<file name='x'>`, `<path>x</path>`
static ATTRIBUTE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let by_key = r#"^<[^>]*?(?:path|name|file)=["']([^"']+)["']"#;
    let by_tag = "^<(?:path|file_path|filename|file)>([^<]+)<";
    Regex::new(&format!("{by_key}|{by_tag}")).ok()
});

fn capture_name<'l>(pattern: &LazyLock<Option<Regex>>, line: &'l [u8]) -> Option<&'l [u8]> {
    let found = pattern.as_ref()?.captures(line)?;
    let name = found.get(1).or_else(|| found.get(2));
    name.map(|name| name.as_bytes())
}

const FILE_WORDS: &str = "file filename filepath path";
const REMARKS: &str = "file filename filepath path edit update modify change create in new the for original modified \
    updated before after";

fn is_word(word: &[u8], words: &str) -> bool {
    std::str::from_utf8(word).is_ok_and(|word| is_one(word, words))
}

fn is_number(word: &[u8]) -> bool {
    let digits = word.strip_suffix(b".").unwrap_or(word);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

// `**src/a.py**:`, `# src/a.py`, `` `src/a.py` ``
fn strip_markup(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(b"// ").unwrap_or(line);
    let start = line.iter().position(|byte| is_bare(*byte)).unwrap_or(line.len());
    let end = line.iter().rposition(|byte| is_bare(*byte));
    let inner = line.get(start..end.map_or(start, |at| at + 1)).unwrap_or_default();
    inner.strip_prefix(b"- ").unwrap_or(inner)
}

fn is_bare(byte: u8) -> bool {
    !b"*`# :\"'()[],".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::{MARKED, capture_name, file_name};

    #[test]
    fn a_line_names_a_file_in_many_ways() {
        for (line, name) in [
            ("src/a.py", Some("src/a.py")),
            ("**src/a.py**:", Some("src/a.py")),
            ("### `src/a.py`", Some("src/a.py")),
            ("File: src/a.py", Some("src/a.py")),
            ("Edit `src/a.py`:", Some("src/a.py")),
            ("1. src/a.py", Some("src/a.py")),
            ("// src/a.ts", Some("src/a.ts")),
            ("/src/a.ts", Some("/src/a.ts")),
            ("2. **File:** `src/a.py`", Some("src/a.py")),
            ("src/a.py (original)", Some("src/a.py")),
            ("[src/a.py](src/a.py)", Some("src/a.py")),
            ("### [a.py](src/a.py)", Some("src/a.py")),
            (
                "[src/a.py](https://x.io/o/r/blob/main/src/a.py#L3)",
                Some("src/a.py"),
            ),
            ("<file path=\"src/a.py\">", Some("src/a.py")),
            ("<path>src/a.py</path>", Some("src/a.py")),
            ("Now I change the loop. It was wrong.", None),
            ("Here is the change:", None),
            ("", None),
        ] {
            let found = file_name(line.as_bytes());
            assert_eq!(found, name.map(str::as_bytes), "{line}");
        }
    }

    #[test]
    fn a_heading_names_a_file_whatever_it_says_of_it() {
        for (line, name) in [
            ("**`src/a.py`** (line 39)", Some("src/a.py")),
            ("### 1. `src/a.py`: make `x` inclusive", Some("src/a.py")),
            ("- `src/a.py` is too strict", Some("src/a.py")),
            ("### 1. `src/a.py` and `src/b.py`", None),
            ("As in `src/a.py`:", None),
            ("**`run`** is slow", None),
        ] {
            let found = capture_name(&MARKED, line.as_bytes());
            assert_eq!(found, name.map(str::as_bytes), "{line}");
        }
    }
}
