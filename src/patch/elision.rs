use std::collections::HashMap;

use super::intent::is_placeholder;

/// The first new line that says that something stays, or is nothing but dots, where lines of the old text
/// are gone; with its number, counted from 1.
///
/// Such a line alone may be meant (`# existing users`, `<b>...</b>`), so at least as many lines of code
/// must have given way as stand in their place, this one among them.
pub(super) fn over_lost<'t>(path: &str, old: &[u8], new: &'t [u8]) -> Option<(u64, &'t [u8])> {
    let old: Vec<&[u8]> = solid(old).map(|it| it.1).collect();
    let mut known: HashMap<&[u8], Option<usize>> = HashMap::with_capacity(old.len());
    for (row, line) in old.iter().enumerate() {
        let stands = known.entry(line).or_insert(Some(row));
        *stands = stands.filter(|at| *at == row);
    }
    let new: Vec<(u64, &[u8])> = solid(new).collect();
    let line = |at: usize| new.get(at).map(|it| it.1);
    let candidates = new.iter().enumerate().filter(|(at, (_, text))| {
        let above = at.checked_sub(1).and_then(line).unwrap_or_default();
        let said = (!known.contains_key(text)).then(|| says(text)).flatten();
        match said {
            Some(Said::Dots) => !is_own_syntax(path, text, above),
            // A heading stands over new lines, what is left out beside known ones.
            Some(Said::Stays) => line(at + 1).is_none_or(|below| known.contains_key(below)),
            None => false,
        }
    });
    let anchor = |at: &usize| line(*at).and_then(|text| known.get(text).copied().flatten());
    let mut candidates = candidates.take(MOST);
    let found = candidates.find(|(at, _)| {
        let above = (0..*at).rev().find_map(|up| Some((up, anchor(&up)?)));
        let below = (at + 1..new.len()).find_map(|down| Some((down, anchor(&down)?)));
        let (from, gone_from) = above.map_or((0, 0), |(at, row)| (at + 1, row + 1));
        let (to, gone_to) = below.unwrap_or((new.len(), old.len()));
        let code = |lines: &mut dyn Iterator<Item = &[u8]>| {
            lines.filter(|text| in_comment(text).is_none()).count()
        };
        let gone = old.get(gone_from..gone_to).unwrap_or_default();
        let come = new.get(from..to).unwrap_or_default();
        let gone = code(&mut gone.iter().copied());
        let itself = usize::from(line(*at).is_some_and(|text| in_comment(text).is_some()));
        gone >= code(&mut come.iter().map(|it| it.1)) + itself
    });
    found.map(|(_, row)| *row)
}

// Each is looked around for what stands in its place; more would not stay linear.
const MOST: usize = 32;

fn solid(text: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let rows = (1..).zip(text.split(|byte| *byte == b'\n'));
    let rows = rows.map(|(row, line)| (row, line.trim_ascii()));
    rows.filter(|(_, line)| !line.is_empty())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Dots,
    Stays,
}

fn says(line: &[u8]) -> Option<Said> {
    // What is left out is told in few words.
    let line = std::str::from_utf8(line).ok().filter(|it| it.len() < 200)?;
    if is_dots(line) || line.contains(">...<") || line.contains(">…<") {
        return Some(Said::Dots);
    }
    let whole = in_comment(line.as_bytes()).or_else(|| in_brackets(line));
    let within = line.match_indices("/*").filter_map(|(at, mark)| {
        let rest = line.get(at + mark.len()..)?;
        rest.split_once("*/").map(|(said, _)| said)
    });
    let mut all = whole.into_iter().chain(within);
    all.find_map(|said| {
        let lower = said.to_lowercase();
        let strong = || is_placeholder(format!("/*{said}*/").as_bytes());
        match lower.trim_matches([' ', '*', '/', '-', '#', '!']) {
            said if is_dots(said) => Some(Said::Dots),
            said if stays(said) || strong() => Some(Said::Stays),
            _ => None,
        }
    })
}

// What a line that is a comment and nothing else says.
fn in_comment(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line).ok()?;
    let pairs = [("{/*", "*/}"), ("/*", "*/"), ("<!--", "-->")];
    let paired = pairs.iter().find_map(|(open, close)| {
        let said = line.strip_prefix(open)?.strip_suffix(close)?;
        (!said.contains(close)).then_some(said)
    });
    let to_end = ["#", "//", "--"];
    paired.or_else(|| to_end.iter().find_map(|mark| line.strip_prefix(mark)))
}

fn in_brackets(line: &str) -> Option<&str> {
    let round = line.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
    round.or_else(|| line.strip_prefix('[')?.strip_suffix(']'))
}

// `...`, also where JSON wants a key and a value.
fn is_dots(text: &str) -> bool {
    let only = |letter| matches!(letter, '.' | '…' | '"' | '\'' | ':' | ',' | ' ');
    (text.contains("...") || text.contains('…')) && text.chars().all(only)
}

// Dots that the language has: a body of Python, a document's end of YAML, the example of a docstring.
fn is_own_syntax(path: &str, line: &[u8], above: &[u8]) -> bool {
    let python = || {
        let heads: [&[u8]; 5] = [b"def ", b"async def ", b"class ", b")", b"]"];
        let example: [&[u8]; 2] = [b">>>", b"..."];
        let opens = above.ends_with(b":") && heads.iter().any(|it| above.starts_with(it));
        opens || example.iter().any(|it| above.starts_with(it))
    };
    let bare = matches!(line, b"..." | b"...,");
    match path.rsplit('.').next() {
        Some("pyi" | "yml" | "yaml") => bare,
        _ => bare && python(),
    }
}

// Words that something stays as it is, said in a comment without dots.
fn stays(said: &str) -> bool {
    let said = said.trim_matches([' ', '.', '…', '(', ')', '[', ']']);
    let words = said.split_whitespace().count();
    let all = ["rest", "other", "remaining", "all", "everything", "same"];
    let most = if said.split(' ').any(|word| all.contains(&word)) {
        7
    } else {
        4
    };
    let ends = [
        "unchanged",
        "unmodified",
        "as before",
        "as is",
        "the same",
        "omitted",
        "no changes",
    ];
    let starts = |starts: &[&str]| starts.iter().any(|it| said.starts_with(it));
    (words <= most && ends.iter().any(|it| said.ends_with(it)))
        || (words <= 6
            && starts(&[
                "rest of ",
                "the rest of ",
                "keep existing ",
                "keep the existing ",
            ]))
        || (words <= 3 && starts(&["existing "]))
}

#[cfg(test)]
mod tests {
    use super::over_lost;

    const CARD: &str = "<section>\n  <header>\n    <h1>{title}</h1>\n    <b>{count}</b>\n  </header>\n  \
                        <Button\n    kind=\"a\"\n    off\n  >\n    Close\n  </Button>\n</section>\n";

    #[test]
    fn lines_that_stand_over_lost_ones_are_found() {
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
                over_lost("a.tsx", CARD.as_bytes(), new.as_bytes()).is_some(),
                "{new}"
            );
        }
    }

    #[test]
    fn what_is_only_added_or_said_stays() {
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
                over_lost("a.tsx", CARD.as_bytes(), new.as_bytes()),
                None,
                "{new}"
            );
        }
        let own = CARD.replace("    off\n", "    {/* ... */}\n");
        assert_eq!(over_lost("a.tsx", own.as_bytes(), own.as_bytes()), None);
        let python = "def f():\n    return 1\n\nwith a:\n    b()\n    c()\n";
        let stub = "def f():\n    ...\n\nwith a:\n    b()\n    c()\n";
        assert_eq!(over_lost("a.py", python.as_bytes(), stub.as_bytes()), None);
        let gone = "def f():\n    return 1\n\nwith a:\n    ...\n";
        let found = over_lost("a.py", python.as_bytes(), gone.as_bytes());
        assert_eq!(found.map(|it| it.0), Some(5));
        assert_eq!(over_lost("a.pyi", python.as_bytes(), gone.as_bytes()), None);
    }
}
