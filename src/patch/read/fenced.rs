use std::borrow::Cow;

use super::file_line::file_name;
use super::reader::{Lines, number, problem};
use crate::model::{Code, Mend, Operation, PatchFormat, Safety};
use crate::patch::set::{Body, FilePatch, PatchSet};

/// Reads whole files that stand in fences, each under a line that names it and nothing else, and those
/// that a shell command writes (`cat > src/a.py <<'EOF'`). `None` when there is none.
pub(super) fn fenced_files<'a>(lines: &Lines<'a>, mut mends: Vec<Mend>) -> Option<PatchSet<'a>> {
    let mut files = Vec::new();
    let mut problems = Vec::new();
    let mut at = 0;
    // Hostile text is not looked through from each of its fences to its end.
    let mut left = lines.len().saturating_mul(SEARCHES);
    while let Some(line) = lines.line(at) {
        let found = if let Some((name, end)) = heredoc(line) {
            Some((name, closing(lines, at + 1, end)?))
        } else if line.starts_with(b"```") && line.trim_ascii() != b"```diff" {
            let fence = line.iter().take_while(|byte| **byte == b'`').count();
            let end = line.get(..fence).unwrap_or_default();
            let word = line.get(fence..).unwrap_or_default().trim_ascii();
            // A suggestion stands for the lines that it comments on.
            let name = named(lines, at).filter(|_| !word.starts_with(b"suggestion"));
            let close = match name {
                Some(_) => closing_fence(lines, at + 1, end),
                None => closing(lines, at + 1, end),
            };
            left = left.saturating_sub(close.unwrap_or(lines.len()) - at);
            if let (Some(name), Some(close)) = (name, close)
                && is_markdown(name)
            {
                left = left.saturating_sub(lines.len() - close);
                if closing_fence(lines, close + 1, end).is_some() {
                    let message = "the file holds fences, and where its own ends is in doubt; put it \
                               between fences of four backticks";
                    problems.push(problem(Code::P313, number(at), message));
                }
            }
            if left == 0 {
                return None;
            }
            match (name, close) {
                (Some(name), Some(close)) => Some((name, close)),
                // A script may write files.
                (None, Some(_)) if heredoc(lines.get(at + 1)).is_some() => None,
                (None, Some(close)) => {
                    at = close + 1;
                    continue;
                }
                _ => None,
            }
        } else {
            None
        };
        let Some((name, close)) = found else {
            at += 1;
            continue;
        };
        let mut content = Vec::new();
        for row in at + 1..close {
            content.extend_from_slice(lines.get(row));
            content.push(b'\n');
        }
        let message = "took the text under the name of a file for the whole file";
        mends.push(Mend::new(Code::M105, Safety::Lossy, number(at), message));
        let (name, body) = (Cow::Borrowed(name), Body::Whole(content));
        let line = number(at);
        files.push(FilePatch::explicit(line, Operation::Modify, &name, body));
        at = close + 1;
    }
    (!files.is_empty()).then_some(PatchSet {
        format: PatchFormat::WholeFile,
        files,
        mends,
        problems,
    })
}

// How often all lines may be looked through.
const SEARCHES: usize = 64;

// The line right above the fence, or one blank line higher.
fn named<'a>(lines: &Lines<'a>, fence: usize) -> Option<&'a [u8]> {
    let above = |back: usize| fence.checked_sub(back).map(|at| lines.get(at));
    let line = above(1).filter(|line| !line.trim_ascii().is_empty());
    let name = file_name(line.or_else(|| above(2))?).filter(|it| !names_lines(it))?;
    let last = name.rsplit(|byte| *byte == b'/').next()?;
    let extension = last.rsplit(|byte| *byte == b'.').next()?;
    let is_file = extension.len() < last.len() && (1..6).contains(&extension.len());
    is_file.then_some(name)
}

// `src/a.py:12`, `src/a.py:12-20`, `src/a.py#L12`: what follows is no whole file.
fn names_lines(name: &[u8]) -> bool {
    let Some(at) = name.iter().rposition(|byte| matches!(byte, b':' | b'#')) else {
        return false;
    };
    let lines = name.get(at + 1..).unwrap_or_default();
    let number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'L' | b'-' | b',');
    lines.iter().any(u8::is_ascii_digit) && lines.iter().all(number)
}

// `cat > src/a.py <<'EOF'`, `cat <<EOF > src/a.py`: the name and the word that ends the text.
fn heredoc(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = line.strip_prefix(b"cat ")?;
    let mut words = rest.split(|byte| *byte == b' ').filter(|it| !it.is_empty());
    let (mut name, mut end) = (None, None);
    while let Some(word) = words.next() {
        if let Some(mark) = word.strip_prefix(b"<<") {
            let mark = if mark.is_empty() { words.next()? } else { mark };
            end = Some(unquoted(mark));
        } else if word == b">" {
            name = words.next().map(unquoted);
        } else {
            name = Some(unquoted(word.strip_prefix(b">")?));
        }
    }
    Some((name?, end?)).filter(|(name, end)| !name.is_empty() && !end.is_empty())
}

fn unquoted(word: &[u8]) -> &[u8] {
    let quotes = |byte: &u8| matches!(byte, b'\'' | b'"');
    let start = word.iter().position(|byte| !quotes(byte));
    let end = word.iter().rposition(|byte| !quotes(byte));
    start
        .zip(end)
        .and_then(|(start, end)| word.get(start..=end))
        .unwrap_or_default()
}

/// Whether a file may hold fences of its own.
pub(in crate::patch) fn is_markdown(name: &[u8]) -> bool {
    [&b".md"[..], b".mdx", b".markdown"]
        .iter()
        .any(|it| name.ends_with(it))
}

// The bare fence that no fence with a word behind it has opened.
fn closing_fence(lines: &Lines<'_>, from: usize, fence: &[u8]) -> Option<usize> {
    let mut open = 0_usize;
    (from..lines.len()).find(|at| {
        let Some(rest) = lines.get(*at).strip_prefix(fence) else {
            return false;
        };
        let word = rest.trim_ascii();
        if !word.is_empty() {
            open += usize::from(word.first().is_some_and(u8::is_ascii_alphanumeric));
            return false;
        }
        let closes = open == 0;
        open = open.saturating_sub(1);
        closes
    })
}

fn closing(lines: &Lines<'_>, from: usize, end: &[u8]) -> Option<usize> {
    (from..lines.len()).find(|at| lines.get(*at).trim_ascii_end() == end)
}

#[cfg(test)]
mod tests {
    use super::fenced_files;
    use crate::patch::read::reader::Lines;
    use crate::patch::set::Body;

    fn found(text: &str) -> Vec<(String, String)> {
        let set = fenced_files(&Lines::new(text.as_bytes()), Vec::new());
        let files = set.map(|set| set.files).unwrap_or_default();
        files
            .iter()
            .filter_map(|file| {
                let name = file.headers.plus.as_ref()?.name()?;
                let Body::Whole(content) = &file.body else {
                    return None;
                };
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                Some((text(name), text(content)))
            })
            .collect()
    }

    #[test]
    fn files_stand_under_their_names() {
        for text in [
            "src/a.py\n```\nx = 1\n```\n",
            "So:\n\n**src/a.py**\n\n```python\nx = 1\n```\nDone.\n",
            "```bash\ncat > src/a.py <<'EOF'\nx = 1\nEOF\n```\n",
            "cat <<EOF > src/a.py\nx = 1\nEOF\n",
        ] {
            let expected = ("src/a.py".to_owned(), "x = 1\n".to_owned());
            assert_eq!(found(text), [expected], "{text}");
        }
        for text in [
            "Run this:\n```\nx = 1\n```\n",
            "src/a.py\n```\nx = 1\n",
            "As in src/a.py, it is\n\n```\nx = 1\n```\n",
            "src/a.py:2\n```\nx = 1\n```\n",
            "src/a.py#L2-L3\n```\nx = 1\n```\n",
            "src/a.py\n```suggestion\nx = 1\n```\n",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_file_with_fences_goes_on_to_its_own_or_is_refused() {
        let whole = "docs/a.md\n```md\n# A\n```sh\nx\n```\nend\n```\nDone.\n";
        let expected = (
            "docs/a.md".to_owned(),
            "# A\n```sh\nx\n```\nend\n".to_owned(),
        );
        assert_eq!(found(whole), [expected]);
        let problems = |text: &str| {
            let set = fenced_files(&Lines::new(text.as_bytes()), Vec::new());
            set.map_or(0, |set| set.problems.len())
        };
        assert_eq!(problems(whole), 0);
        let bare = "docs/a.md\n```md\n# A\n```\nx\n```\nend\n```\n";
        assert_eq!(problems(bare), 1);
        assert_eq!(problems(&bare.replace("a.md\n```", "a.md\n````")), 0);
    }
}
