use std::collections::HashSet;

/// The first new line that stands for code that is left out; with its number, counted from 1.
///
/// Words that something stays, and dots, may be meant (`# existing users`, `<b>...</b>`), so at least as many
/// lines of code must have gone as have come, this one among them.
pub(super) fn left_out_line<'t>(path: &str, old: &[u8], new: &'t [u8]) -> Option<(u64, &'t [u8])> {
    let rows: Vec<(u64, &[u8])> = solid(new).collect();
    let old: HashSet<&[u8]> = solid(old).map(|row| row.1).collect();
    let new: HashSet<&[u8]> = rows.iter().map(|row| row.1).collect();
    let is_code = |text: &&&[u8]| !is_comment(text);
    let gone = old.difference(&new).filter(is_code).count();
    let come = new.difference(&old).filter(is_code).count();
    let found = rows.iter().enumerate().find(|(at, (_, text))| {
        let line = |at: usize| rows.get(at).map(|row| row.1);
        let above = at.checked_sub(1).and_then(line).unwrap_or_default();
        let elision = elision_of(text).filter(|_| !old.contains(text));
        let is_loss = gone >= come + usize::from(is_comment(text));
        match elision {
            Some(Elision::Placeholder) => true,
            Some(Elision::Dots) => is_loss && !is_own_syntax(path, text, above),
            // A heading stands over new lines, what is left out beside known ones.
            Some(Elision::Stays) => is_loss && line(at + 1).is_none_or(|below| old.contains(below)),
            None => false,
        }
    });
    found.map(|(_, row)| *row)
}

fn solid(text: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let rows = (1..).zip(text.split(|byte| *byte == b'\n'));
    let rows = rows.map(|(row, line)| (row, line.trim_ascii()));
    rows.filter(|(_, line)| !line.is_empty())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Elision {
    // That code is left out, in words that nobody uses of something else.
    Placeholder,
    Dots,
    // That something stays, which may be meant.
    Stays,
}

fn elision_of(line: &[u8]) -> Option<Elision> {
    // What is left out is told in few words.
    let line = std::str::from_utf8(line).ok().filter(|it| it.len() < 200)?;
    let line = line.trim();
    if is_dots(line) || line.contains(">...<") || line.contains(">…<") {
        return Some(Elision::Dots);
    }
    let within = line.match_indices("/*").filter_map(|(at, mark)| {
        let rest = line.get(at + mark.len()..)?;
        rest.split_once("*/").map(|(inner, _)| inner)
    });
    let bare = || (dots_around(line) == (true, true) && line.contains(' ')).then_some(line);
    let whole = in_comment(line).or_else(|| in_brackets(line)).or_else(bare);
    whole.into_iter().chain(within).find_map(elision_in)
}

fn elision_in(text: &str) -> Option<Elision> {
    let lower = text.to_lowercase();
    let edge = |it: char| it == ' ' || it.is_ascii_punctuation() && it != '.';
    let words = lower.trim_matches(edge);
    if is_dots(words) {
        return Some(Elision::Dots);
    }
    let (before, after) = dots_around(words);
    let words = words.trim_matches(|it: char| edge(it) || matches!(it, '.' | '…'));
    let count = words.split_whitespace().count();
    let has = |any: &[&str]| any.iter().any(|it| words.contains(it));
    let rest = has(&["rest of", "remain", "existing"]);
    if ((before || after) && count < 12 && leaves_out(words))
        || (count < 10 && rest && (has(SAME) || speaks_of_code(words) && words.contains("here")))
    {
        return Some(Elision::Placeholder);
    }
    let starts = [
        "rest of ",
        "the rest of ",
        "keep existing ",
        "keep the existing ",
        "existing ",
    ];
    let ends = SAME.iter().any(|it| words.ends_with(it));
    let stays = count <= 7 && (ends || starts.iter().any(|it| words.starts_with(it)));
    stays.then_some(Elision::Stays)
}

const SAME: &[&str] = &[
    "unchanged",
    "unmodified",
    "as before",
    "as is",
    "same",
    "omitted",
    "no changes",
    "remains",
    "stays",
];

fn speaks_of_code(text: &str) -> bool {
    let words = ["code", "function", "method", "class", "file"];
    words.iter().any(|it| text.contains(it))
}

// Whether a text begins, and ends, with dots.
fn dots_around(text: &str) -> (bool, bool) {
    let before = text.starts_with("...") || text.starts_with('…');
    (before, text.ends_with("...") || text.ends_with('…'))
}

// What a line that is a comment and nothing else says.
fn in_comment(line: &str) -> Option<&str> {
    let pairs = [("{/*", "*/}"), ("/*", "*/"), ("<!--", "-->")];
    let paired = pairs.iter().find_map(|(open, close)| {
        let inner = line.strip_prefix(open)?.strip_suffix(close)?;
        (!inner.contains(close)).then_some(inner)
    });
    let to_end = ["#", "//", "--", ";;"];
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

fn is_comment(line: &[u8]) -> bool {
    std::str::from_utf8(line).is_ok_and(|it| in_comment(it).is_some())
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

/// Whether a line of a reply says that lines of the file are left out here: a placeholder, or dots.
pub(super) fn is_left_out(row: &[u8]) -> bool {
    let text = String::from_utf8_lossy(row).to_lowercase();
    match elision_of(row) {
        Some(Elision::Stays) => !text.contains("existing") || speaks_of_code(&text),
        other => other.is_some(),
    }
}

fn leaves_out(text: &str) -> bool {
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
    let words: Vec<&str> = text.split(|it: char| !it.is_alphanumeric()).collect();
    WORDS.iter().any(|word| match word.split_once(' ') {
        Some(_) => text.contains(word),
        None => words.contains(word),
    })
}

#[cfg(test)]
mod tests {
    use super::{Elision, elision_of, is_left_out, left_out_line};

    const CARD: &str = "<section>\n  <header>\n    <h1>{title}</h1>\n    <b>{count}</b>\n  </header>\n  \
                        <Button\n    kind=\"a\"\n    off\n  >\n    Close\n  </Button>\n</section>\n";

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
            assert!(is_left_out(line.as_bytes()), "{line}");
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
                left_out_line("a.tsx", CARD.as_bytes(), new.as_bytes()).is_some(),
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
        assert_eq!(found.map(|it| it.0), Some(5));
        assert_eq!(
            left_out_line("a.pyi", python.as_bytes(), gone.as_bytes()),
            None
        );
    }
}
