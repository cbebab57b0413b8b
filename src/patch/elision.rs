use std::collections::HashMap;

/// The first new line that stands for code that is left out; with its number, counted from 1.
///
/// Words that something stays, and dots, may be meant (`# existing users`, `<b>...</b>`), so at least as many
/// lines of code must have given way as stand in their place, this one among them.
pub(super) fn left_out_line<'t>(path: &str, old: &[u8], new: &'t [u8]) -> Option<(u64, &'t [u8])> {
    let old: Vec<&[u8]> = solid(old).map(|it| it.1).collect();
    let mut known: HashMap<&[u8], Option<usize>> = HashMap::with_capacity(old.len());
    for (row, line) in old.iter().enumerate() {
        let stands = known.entry(line).or_insert(Some(row));
        *stands = stands.filter(|at| *at == row);
    }
    let new: Vec<(u64, &[u8])> = solid(new).collect();
    let line = |at: usize| new.get(at).map(|it| it.1);
    let candidates = new.iter().enumerate().filter_map(|(at, (_, text))| {
        let said = says(text).filter(|_| !known.contains_key(text))?;
        let above = at.checked_sub(1).and_then(line).unwrap_or_default();
        let stands = match said {
            Said::Placeholder => true,
            Said::Dots => !is_own_syntax(path, text, above),
            // A heading stands over new lines, what is left out beside known ones.
            Said::Stays => line(at + 1).is_none_or(|below| known.contains_key(below)),
        };
        stands.then_some((at, said))
    });
    let anchor = |at: &usize| line(*at).and_then(|text| known.get(text).copied().flatten());
    let mut candidates = candidates.take(MOST);
    let found = candidates.find(|(at, said)| {
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
        *said == Said::Placeholder || gone >= code(&mut come.iter().map(|it| it.1)) + itself
    });
    new.get(found?.0).copied()
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
    Placeholder,
    Dots,
    Stays,
}

fn says(line: &[u8]) -> Option<Said> {
    // What is left out is told in few words.
    let line = std::str::from_utf8(line).ok().filter(|it| it.len() < 200)?;
    if is_placeholder(line.as_bytes()) {
        return Some(Said::Placeholder);
    }
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

/// Whether a line of a reply says that lines of the file are left out here: a placeholder, or dots.
pub(super) fn is_left_out(row: &[u8]) -> bool {
    let text = String::from_utf8_lossy(row.trim_ascii()).to_lowercase();
    let said = in_comment(text.as_bytes()).unwrap_or(&text).trim();
    let rest = said.strip_prefix("...").or(said.strip_prefix('…'));
    let says = |rest: &str| rest.is_empty() || (rest.starts_with(' ') && leaves_out(rest));
    is_placeholder(row) || rest.is_some_and(says)
}

// Whether a line is a comment, or alone, that says that code is left out here.
fn is_placeholder(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    if !line
        .first()
        .is_some_and(|it| b"#/-<{;%(\".\xe2".contains(it))
    {
        return false;
    }
    let line = String::from_utf8_lossy(line).to_lowercase();
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

pub(super) fn leaves_out(said: &str) -> bool {
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

#[cfg(test)]
mod tests {
    use super::{is_placeholder, left_out_line};

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
