use regex::Regex;

use super::candidate::Candidate;
use super::log_file::LogFile;
use crate::languages::words;

/// `import { type X }` and `import type { X }` without the word, where X stands alone.
pub(super) fn as_value(text: &str, name: &str) -> Option<String> {
    let alone = format!(r"import type (\{{ ?{name} ?\}}|{name}) from");
    let inline = format!(r"([{{,]\s*)type ({name}\s*[,}}])");
    for (pattern, plain) in [(alone, "import $1 from"), (inline, "$1$2")] {
        let pattern = Regex::new(&pattern).ok()?;
        if pattern.find_iter(text).count() == 1 {
            return Some(pattern.replace(text, plain).into_owned());
        }
    }
    None
}

/// `await` before the only call of a coroutine on a line of an async function of Python.
pub(super) fn waits(place: &LogFile<'_>, row: usize, name: &str) -> Option<Candidate> {
    let range = place.line(row)?;
    let line = place.text.get(range.clone())?;
    let mut calls = words(line.as_bytes(), name).filter(|at| {
        line.get(at + name.len()..)
            .is_some_and(|it| it.starts_with('('))
    });
    let (Some(at), None) = (calls.next(), calls.next()) else {
        return None;
    };
    let indent = |line: &str| line.len() - line.trim_start().len();
    let above = place.text.get(..range.start)?.lines().rev();
    let mut around = above.filter(|it| !it.trim().is_empty() && indent(it) < indent(line));
    let function = around.find(|line| {
        line.trim_start().starts_with("def ") || line.trim_start().starts_with("async def ")
    })?;
    let head = line.get(..at + name.len())?;
    let start = operand(head)?;
    let waits = head.get(..start)?.trim_end().ends_with("await");
    if waits || !function.trim_start().starts_with("async ") {
        return None;
    }
    let start = range.start + start;
    let after = place.with(start..start, "await ")?;
    place.parses(&after).then_some(())?;
    place.heal(&format!("await `{name}`"), &after, true)
}

/// `await` before the expression at the place: before a member the whole of it in brackets.
pub(super) fn awaited(place: &LogFile<'_>, at: usize) -> Option<String> {
    let head = place.text.get(..at)?;
    let inside = head.rfind("async ");
    if inside.is_none() || inside < head.rfind("\n}") {
        return None;
    }
    let Some(object) = head.strip_suffix("?.").or_else(|| head.strip_suffix('.')) else {
        return place.with(at..at, "await ");
    };
    let start = operand(object)?;
    let expression = object.get(start..)?;
    place.with(start..object.len(), &format!("(await {expression})"))
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
