use std::ops::Range;

use crate::policy::redact::line_end;

/// A stretch of text as a person would read it, with the way back to the original bytes.
///
/// Escapes of JSON and of programming languages, percent-encoding and XML entities are decoded,
/// wide letters and blanks made plain, terminal sequences and invisible characters taken out, and a line that ends in a backslash goes on
/// with the next.
#[derive(Debug, Default)]
pub(super) struct View {
    /// The readable bytes.
    pub(super) text: Vec<u8>,
    // For each byte, where it starts and ends in the original.
    origins: Vec<(usize, usize)>,
}

impl View {
    /// The range of the original that a range of the view stands for.
    pub(super) fn origin(&self, start: usize, end: usize) -> Range<usize> {
        let from = self.origins.get(start).map_or(0, |origin| origin.0);
        let to = end
            .checked_sub(1)
            .and_then(|last| self.origins.get(last))
            .map_or(from, |origin| origin.1);
        from..to.max(from)
    }

    fn push(&mut self, byte: u8, from: usize, to: usize) {
        self.text.push(byte);
        self.origins.push((from, to));
    }
}

/// Calls back with a view of each stretch of lines that reads otherwise than it is written.
pub(super) fn each_view(text: &[u8], mut found: impl FnMut(&View)) {
    let mut view = View::default();
    let mut open: Option<Range<usize>> = None;
    let mut from = 0;
    while let Some(at) = next_written(text, from) {
        let before = text.get(..at).unwrap_or_default();
        let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let mut end = line_end(text, at);
        while end < text.len() && is_continued(text.get(..end).unwrap_or_default()) {
            end = line_end(text, end + 1);
        }
        let end = text.len().min(end + 1);
        open = Some(match open {
            Some(range) if range.end >= start => range.start..end,
            before => {
                if let Some(range) = before {
                    build(&mut view, text, range, false);
                    found(&view);
                }
                start..end
            }
        });
        from = end;
    }
    if let Some(range) = open {
        build(&mut view, text, range, false);
        found(&view);
    }
}

// Whether a line ends in a backslash, so that the next belongs to it.
fn is_continued(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    line.ends_with(b"\\")
}

// The next place that a view changes.
fn next_written(text: &[u8], mut from: usize) -> Option<usize> {
    let suspicious = |byte: &u8| TRIGGER.get(usize::from(*byte)).copied().unwrap_or(false);
    loop {
        let at = from + text.get(from..)?.iter().position(suspicious)?;
        let rest = text.get(at..)?;
        let changed = match rest {
            [0x1b, ..] => true,
            [b'\\', next, ..] => is_escape(*next) || matches!(next, b'\r' | b'\n'),
            [b'%', a, b, ..] => a.is_ascii_hexdigit() && b.is_ascii_hexdigit(),
            [b'&', ..] => entity(rest).is_some(),
            rest => invisible(rest) > 0 || look_alike(rest).is_some(),
        };
        if changed {
            return Some(at);
        }
        from = at + 1;
    }
}

// First bytes of what a view changes.
const TRIGGER: [bool; 256] = {
    let mut table = [false; 256];
    let bytes = [
        0, 0x1b, b'\\', b'%', b'&', 0xc2, 0xcd, 0xe1, 0xe2, 0xe3, 0xef, 0xf3,
    ];
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
};

/// Makes the view of a range, `joined` with all its lines as one.
pub(super) fn build(view: &mut View, text: &[u8], range: Range<usize>, joined: bool) {
    view.text.clear();
    view.origins.clear();
    let mut at = range.start;
    // What a decoded escape character opens is taken out by looking at the decoded bytes.
    let mut sequence = Sequence::None;
    while let Some(rest) = text.get(at..range.end).filter(|rest| !rest.is_empty()) {
        let (byte, length) = match rest {
            [b'\r', b'\n', ..] if joined => (None, 2),
            [b'\n', ..] if joined => (None, 1),
            rest => unit(rest),
        };
        let Some(byte) = byte else {
            at += length;
            continue;
        };
        sequence = sequence.next(byte);
        if sequence == Sequence::None {
            view.push(byte, at, at + length);
        } else if sequence == Sequence::Done {
            sequence = Sequence::None;
        }
        at += length;
    }
}

// One byte of the view and the bytes it is written with; no byte for what is invisible.
fn unit(rest: &[u8]) -> (Option<u8>, usize) {
    let hex = |digits: &[u8]| {
        let text = std::str::from_utf8(digits)
            .ok()
            .filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        u32::from_str_radix(text, 16).ok()
    };
    let ascii = |code: u32| u8::try_from(code).ok().filter(u8::is_ascii).unwrap_or(b'?');
    match rest {
        [b'\\', b'\n', ..] => (None, 2),
        [b'\\', b'\r', b'\n', ..] => (None, 3),
        [b'\\', b'u', a, b, c, d, ..] => match hex(&[*a, *b, *c, *d]) {
            Some(0x200b..=0x200f | 0x2060..=0x206f | 0x202a..=0x202e | 0xfeff) => (None, 6),
            Some(code) => (Some(ascii(code)), 6),
            None => (Some(b'\\'), 1),
        },
        [b'\\', b'x', a, b, ..] => match hex(&[*a, *b]) {
            Some(code) => (Some(ascii(code)), 4),
            None => (Some(b'\\'), 1),
        },
        [b'\\', b'0', b'3', b'3', ..] => (Some(0x1b), 4),
        [b'\\', next, ..] if is_escape(*next) => {
            let byte = match next {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                b'e' => 0x1b,
                next => *next,
            };
            (Some(byte), 2)
        }
        [b'%', a, b, ..] => match hex(&[*a, *b]) {
            Some(code) => (Some(ascii(code)), 3),
            None => (Some(b'%'), 1),
        },
        [b'&', ..] => entity(rest).map_or((Some(b'&'), 1), |(byte, length)| (Some(byte), length)),
        [byte, ..] => match (invisible(rest), look_alike(rest)) {
            (0, None) => (Some(*byte), 1),
            (0, Some((byte, length))) => (Some(byte), length),
            (length, _) => (None, length),
        },
        [] => (None, 1),
    }
}

fn is_escape(byte: u8) -> bool {
    matches!(
        byte,
        b'n' | b't'
            | b'r'
            | b'e'
            | b'u'
            | b'x'
            | b'0'
            | b'"'
            | b'\''
            | b'\\'
            | b'/'
            | b'='
            | b':'
            | b'$'
            | b'&'
    )
}

fn entity(rest: &[u8]) -> Option<(u8, usize)> {
    const NAMED: &[(&[u8], u8)] = &[
        (b"&quot;", b'"'),
        (b"&apos;", b'\''),
        (b"&amp;", b'&'),
        (b"&lt;", b'<'),
        (b"&gt;", b'>'),
    ];
    if let Some((text, byte)) = NAMED.iter().find(|(text, _)| rest.starts_with(text)) {
        return Some((*byte, text.len()));
    }
    let digits = rest.strip_prefix(b"&#")?;
    let (digits, radix, lead) = match digits {
        [b'x' | b'X', digits @ ..] => (digits, 16, 3),
        digits => (digits, 10, 2),
    };
    let end = digits.iter().take(5).position(|byte| *byte == b';')?;
    let code = u8::from_str_radix(std::str::from_utf8(digits.get(..end)?).ok()?, radix).ok()?;
    code.is_ascii().then_some((code, lead + end + 1))
}

// Bytes of the invisible UTF-8 character at the start; 0 when there is none.
fn invisible(rest: &[u8]) -> usize {
    match rest {
        // Every other byte of UTF-16.
        [0, ..] => 1,
        [0xc2, 0xad, ..] | [0xcd, 0x8f, ..] => 2,
        [0xe2, 0x80, 0x8b..=0x8f | 0xaa..=0xae, ..]
        | [0xe2, 0x81, 0xa0..=0xaf, ..]
        | [0xe1, 0xa0, 0x8e, ..]
        | [0xef, 0xbb, 0xbf, ..]
        | [0xef, 0xb8, 0x80..=0x8f, ..] => 3,
        [0xf3, 0xa0, _, _, ..] => 4,
        _ => 0,
    }
}

// The ASCII that the character at the start looks like, and its bytes: a blank that does not break,
// and the wide forms of east Asian text.
fn look_alike(rest: &[u8]) -> Option<(u8, usize)> {
    match rest {
        [0xc2, 0xa0, ..] => Some((b' ', 2)),
        [0xe2, 0x80, 0xaf, ..] | [0xe3, 0x80, 0x80, ..] => Some((b' ', 3)),
        [0xef, 0xbc, low @ 0x81..=0xbf, ..] => Some((low - 0x60, 3)),
        [0xef, 0xbd, low @ 0x80..=0x9e, ..] => Some((low - 0x20, 3)),
        _ => None,
    }
}

// Where a terminal sequence stands, one decoded byte at a time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sequence {
    None,
    Escape,
    Control,
    Text,
    TextEscape,
    Done,
}

impl Sequence {
    fn next(self, byte: u8) -> Self {
        if byte == b'\n' {
            return Self::None;
        }
        match self {
            Self::None | Self::Done if byte == 0x1b => Self::Escape,
            Self::None | Self::Done => Self::None,
            Self::Escape => match byte {
                b'[' => Self::Control,
                b']' | b'P' | b'^' | b'_' => Self::Text,
                b' '..=b'/' => Self::Escape,
                _ => Self::Done,
            },
            Self::Control => match byte {
                0x1b => Self::Escape,
                b' '..=b'?' => Self::Control,
                _ => Self::Done,
            },
            Self::Text | Self::TextEscape => match byte {
                0x1b => Self::TextEscape,
                0x07 => Self::Done,
                b'\\' if self == Self::TextEscape => Self::Done,
                _ => Self::Text,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::each_view;

    fn views(text: &str) -> Vec<String> {
        let mut views = Vec::new();
        each_view(text.as_bytes(), |view| {
            views.push(String::from_utf8_lossy(&view.text).into_owned());
        });
        views
    }

    #[test]
    fn text_is_shown_as_it_reads() {
        assert_eq!(
            views("plain\n{\"a\":\"x\\ny=\\\"1\\\"\"}\nplain"),
            ["{\"a\":\"x\ny=\"1\"\"}\n"]
        );
        assert_eq!(
            views("\u{1b}[33mto\u{200b}ken\u{1b}[0m \\u001b[1mx"),
            ["token x"]
        );
        assert_eq!(views("a%3Db &quot;c&#61;d"), ["a=b \"c=d"]);
        assert_eq!(
            views("\u{ff34}oken\u{ff1a}\u{a0}x\u{ff5e}\u{3000}\u{ff1d}"),
            ["Token: x~ ="]
        );
        assert!(views("nothing to do % here && there \\d").is_empty());
    }

    #[test]
    fn ranges_lead_back() {
        let text = "x \\u0041\u{200b}B%43 y";
        each_view(text.as_bytes(), |view| {
            let at = view
                .text
                .windows(3)
                .position(|part| part == b"ABC")
                .unwrap();
            assert_eq!(&text[view.origin(at, at + 3)], "\\u0041\u{200b}B%43");
        });
    }
}
