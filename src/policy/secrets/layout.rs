use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

// Longest name, and longest value, that is looked at.
pub(super) const MAX_NAME: usize = 80;
pub(super) const MAX_VALUE: usize = 1024;
// Longest list.
const MAX_LIST: usize = 4096;

// How a value is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Quoted,
    Bare,
    // After a flag or a word and a blank.
    Spaced,
    // A .netrc line.
    Netrc,
    // Behind a quote that the line does not close, as where something cut it, in a table or in a
    // call.
    Cut,
    // On the next line.
    Below,
}

/// The whole name that a byte belongs to.
pub(super) fn name_at(text: &[u8], at: usize) -> Range<usize> {
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let before = text
        .get(at.saturating_sub(MAX_NAME)..at)
        .unwrap_or_default();
    let after = text
        .get(at..text.len().min(at + MAX_NAME))
        .unwrap_or_default();
    let left = before.iter().rev().take_while(|byte| part(byte)).count();
    let right = after.iter().take_while(|byte| part(byte)).count();
    at - left..at + right
}

/// The values that stand before their name: `'x' == settings.token`, `'x' != 'y' : token`,
/// `"value": "x", "name": "TOKEN"`.
pub(super) fn values_before(text: &[u8], name: &Range<usize>) -> Vec<Range<usize>> {
    let from = name.start.saturating_sub(MAX_VALUE + MAX_NAME);
    let before = text.get(from..name.start).unwrap_or_default();
    let in_path = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.".contains(byte);
    let path = before
        .iter()
        .rev()
        .take(MAX_NAME)
        .take_while(|byte| in_path(byte));
    let operand = before.get(..before.len() - path.count());
    let operand = operand.unwrap_or_default().trim_ascii_end();
    let pattern = if operand.ends_with(b"==") || operand.ends_with(b"!=") {
        COMPARED.as_ref()
    } else if operand.ends_with(b":") && memchr::memmem::find(operand, b"!= ").is_some() {
        UNEQUAL.as_ref()
    } else {
        let open = |byte: &u8| b" \"'".contains(byte);
        let key = trim_end(trim_end(before, open), |byte| b":=".contains(byte));
        let key = trim_end(key, open);
        let ends = |word: &[u8]| {
            let end = key.len().checked_sub(word.len());
            end.and_then(|end| key.get(end..))
                .is_some_and(|end| end.eq_ignore_ascii_case(word))
        };
        let named = (ends(b"name") || ends(b"key"))
            && memchr::memmem::find(&before.to_ascii_lowercase(), b"value").is_some();
        VALUE_BEFORE.as_ref().filter(|_| named)
    };
    let found = pattern.and_then(|it| it.captures(before));
    let values = found.iter().flat_map(|it| it.iter().skip(1).flatten());
    values
        .map(|it| from + it.start()..from + it.end())
        .collect()
}

fn trim_end(text: &[u8], test: impl Fn(&u8) -> bool) -> &[u8] {
    let count = text.iter().rev().take_while(|byte| test(byte)).count();
    text.get(..text.len() - count).unwrap_or_default()
}

static COMPARED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let path = r"[ ]*[!=]==?[ ]*(?:[\w]+\.)*$";
    Regex::new(&format!(r#"(?-u)(?:"([^"\n]+)"|'([^'\n]+)'){path}"#)).ok()
});
// What `unittest` says of two that differ, before the message of the test.
static UNEQUAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let value = r#"(?:"([^"\n]+)"|'([^'\n]+)')"#;
    Regex::new(&format!(r"(?-u){value} [!=]= {value} : (?:[\w]+\.)*$")).ok()
});
static VALUE_BEFORE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let value = r#"value["']?[ ]*[:=][ ]*(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"',;{}]+))"#;
    Regex::new(&format!(
        r#"(?i-u)\b{value}[\s,;]+["']?(?:name|key)["']?[ ]*[:=][ ]*["']?$"#
    ))
    .ok()
});

/// What may be values in a list, or in the pairs in braces on one line, whose first stands at `from`; and
/// where it ends.
pub(super) fn items(text: &[u8], from: usize) -> (Vec<Range<usize>>, usize) {
    let mut items = Vec::new();
    let list = text.get(from..text.len().min(from + MAX_LIST));
    let list = list.unwrap_or_default();
    let part = |byte: u8| byte.is_ascii_alphanumeric() || b"_+/=.-".contains(&byte);
    let (mut depth, mut start) = (0_u32, None);
    let braced = list.starts_with(b"{");
    let mut before = b',';
    let mut end = from;
    for (at, byte) in list.iter().copied().chain([b'\n']).enumerate() {
        if part(byte) {
            start.get_or_insert(at);
        } else if let Some(start) = start.take().filter(|_| byte != b':') {
            items.push(from + start..from + at);
        }
        match byte {
            b'[' | b'(' => depth += 1,
            b']' | b')' if depth > 1 => depth -= 1,
            b'{' if at == 0 => {}
            b'{' | b'}' | b']' | b')' | b';' => break,
            b'\n' if depth == 0 => break,
            b' ' | b'\t' if depth == 0 && !braced && before != b',' => break,
            _ => {}
        }
        before = byte;
        end = from + at;
    }
    (items, end)
}

/// A place in the text that moves forward over what is known.
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn skip(&mut self, most: usize, test: impl Fn(u8) -> bool) -> usize {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let count = rest
            .iter()
            .take(most)
            .take_while(|byte| test(**byte))
            .count();
        self.at += count;
        count
    }

    fn eat(&mut self, literal: &[u8]) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let eaten = rest
            .get(..literal.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(literal));
        if eaten {
            self.at += literal.len();
        }
        eaten
    }

    fn blanks(&mut self) -> usize {
        self.skip(40, |byte| matches!(byte, b' ' | b'\t'))
    }
}

/// The value that is given to a name, and how it is written.
pub(super) fn value_after(text: &[u8], name: &Range<usize>) -> Option<(Range<usize>, Form)> {
    let mut cursor = Cursor { text, at: name.end };
    let before = name
        .start
        .checked_sub(1)
        .and_then(|at| text.get(at))
        .copied()
        .unwrap_or(0);
    let closers = cursor.skip(4, |byte| matches!(byte, b'"' | b'\'' | b'`' | b']' | b'\\'));
    let quoted_name = closers > 0;
    if before == b'<' && !quoted_name {
        return element(cursor);
    }
    let blanks = cursor.blanks();
    // `"name": "TOKEN", "value": "x"` and `key="Token" value="x"`.
    let mut ahead = Cursor {
        text,
        at: cursor.at,
    };
    ahead.skip(40, |byte| {
        matches!(byte, b',' | b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'')
    });
    if ahead.at > name.end && ahead.eat(b"value") {
        ahead.skip(2, |byte| matches!(byte, b'"' | b'\''));
        cursor = ahead;
        cursor.blanks();
    }
    let operator = cursor.skip(4, |byte| {
        matches!(
            byte,
            b':' | b'=' | b'>' | b'.' | b'?' | b'|' | b'+' | b'!' | b'-' | b','
        )
    });
    let text_of = |cursor: &Cursor<'_>| {
        text.get(cursor.at - operator..cursor.at)
            .unwrap_or_default()
    };
    let pair = text_of(&cursor) == b",";
    match text_of(&cursor) {
        // The next cell of a table, and the literal that a call takes.
        b"|" if blanks > 0 => {
            cursor.blanks();
            return value(cursor).map(|(range, _)| (range, Form::Cut));
        }
        b"" if blanks == 0 && !quoted_name && cursor.eat(b"(") => {
            let quoted = matches!(cursor.peek(), b'"' | b'\'' | b'`');
            return value(cursor)
                .filter(|_| quoted)
                .map(|(range, _)| (range, Form::Cut));
        }
        b"=" | b":" | b":=" | b"=>" | b"::=" | b":::=" | b".=" | b"?=" | b"||=" | b"+=" | b"=="
        | b"===" | b"->" | b":-" | b"!=" | b"!==" => {}
        // `var token string = "x"`, `password: str = "x"` is below.
        b"" if blanks > 0 => return spaced(cursor, text, name),
        b"," if quoted_name => {}
        _ => return None,
    }
    cursor.blanks();
    if let Some(typed) = after_type(&cursor) {
        cursor = typed;
    }
    // The next line belongs to no call that goes on.
    value(cursor).filter(|(_, form)| !pair || *form != Form::Below)
}

// Skips a type between a colon or name and its `=`: `: &'static str =`, `string =`.
fn after_type<'a>(cursor: &Cursor<'a>) -> Option<Cursor<'a>> {
    let mut ahead = Cursor {
        text: cursor.text,
        at: cursor.at,
    };
    let first = ahead.peek();
    if !(first.is_ascii_alphabetic() || first == b'&') {
        return None;
    }
    ahead.skip(40, |byte| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'_' | b'&' | b'\'' | b'<' | b'>' | b'[' | b']' | b'.' | b'?' | b'|' | b' ' | b':'
            )
    });
    if ahead.peek() != b'=' || cursor.text.get(ahead.at + 1) == Some(&b'=') {
        return None;
    }
    ahead.at += 1;
    ahead.blanks();
    matches!(ahead.peek(), b'"' | b'\'' | b'`').then_some(ahead)
}

// `<Pass encoding="base64">x</Pass>`, the text also on a line of its own.
fn element(mut cursor: Cursor<'_>) -> Option<(Range<usize>, Form)> {
    cursor.skip(80, |byte| !matches!(byte, b'>' | b'<' | b'\n'));
    if cursor.peek() != b'>' || cursor.text.get(cursor.at.checked_sub(1)?) == Some(&b'/') {
        return None;
    }
    cursor.at += 1;
    cursor.skip(80, |byte| byte.is_ascii_whitespace());
    let start = cursor.at;
    cursor.skip(MAX_VALUE, |byte| !matches!(byte, b'<' | b'\n' | b'\r'));
    let value = cursor.text.get(start..cursor.at)?.trim_ascii_end().len();
    let closed = cursor.text.get(cursor.at..)?.trim_ascii_start().first() == Some(&b'<');
    (closed && value > 0).then_some((start..start + value, Form::Quoted))
}

fn spaced(
    mut cursor: Cursor<'_>,
    text: &[u8],
    name: &Range<usize>,
) -> Option<(Range<usize>, Form)> {
    if let Some(typed) = after_type(&cursor) {
        cursor = typed;
        return value(cursor);
    }
    let flag = text.get(name.start..name.start + 1) == Some(b"-");
    let before = text.get(name.start.saturating_sub(200)..name.start)?;
    let line = before
        .rsplit(|byte| *byte == b'\n')
        .next()?
        .trim_ascii_start();
    let starts = [&b"machine "[..], b"default ", b"login "];
    let entry = |line: &[u8]| {
        memchr::memmem::find(line, b"machine ").is_some_and(|at| {
            let entry = line.get(at..).unwrap_or_default();
            memchr::memmem::find(entry, b" login ").is_some()
        })
    };
    let netrc = text.get(name.clone()) == Some(b"password")
        && ((line.is_empty() && is_entry(text, name.start))
            || starts.iter().any(|word| line.starts_with(word))
            || entry(line));
    let (range, form) = value(cursor)?;
    match form {
        Form::Quoted | Form::Bare if flag => Some((range, form)),
        Form::Bare if netrc => Some((range, Form::Netrc)),
        Form::Below => None,
        _ => Some((range, Form::Spaced)),
    }
}

// Whether the lines above a place are those of an entry that begins with `machine` or `default`, each of
// a word and a value.
fn is_entry(text: &[u8], at: usize) -> bool {
    let above = text.get(at.saturating_sub(400)..at).unwrap_or_default();
    let mut lines = above.rsplit(|byte| *byte == b'\n').skip(1);
    for line in lines.by_ref().take(3) {
        let mut words = line
            .split(u8::is_ascii_whitespace)
            .filter(|it| !it.is_empty());
        let (word, value, more) = (words.next(), words.next(), words.next());
        match (word, value, more) {
            (Some(b"machine"), Some(_), None) | (Some(b"default"), None, None) => return true,
            (Some(b"login" | b"account"), Some(_), None) => {}
            _ => return false,
        }
    }
    false
}

fn value(mut cursor: Cursor<'_>) -> Option<(Range<usize>, Form)> {
    // A prefix of the literal or a call around it, as in `b"x"` or `SecretStr("x")`.
    let mut ahead = Cursor {
        text: cursor.text,
        at: cursor.at,
    };
    let prefix = ahead.skip(24, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.' | b'@')
    });
    let call = ahead.skip(1, |byte| byte == b'(') > 0;
    if (call || prefix <= 2) && matches!(ahead.peek(), b'"' | b'\'' | b'`') {
        cursor = ahead;
    }
    cursor.skip(3, |byte| byte == b'\\');
    let quote = cursor.peek();
    if matches!(quote, b'"' | b'\'' | b'`') {
        cursor.skip(3, |byte| byte == quote);
        let start = cursor.at;
        cursor.skip(MAX_VALUE, |byte| byte != quote && byte != b'\n');
        let closed = cursor.peek() == quote;
        let bytes = cursor.text.get(start..cursor.at)?;
        let bytes = bytes.strip_suffix(b"\\").unwrap_or(bytes);
        if closed {
            return (!bytes.is_empty()).then_some((start..start + bytes.len(), Form::Quoted));
        }
        cursor.at = start;
        cursor.skip(MAX_VALUE, is_bare);
        let bytes = cursor.text.get(start..cursor.at)?;
        let dots = bytes.strip_suffix("\u{2026}".as_bytes()).unwrap_or(bytes);
        let dots = dots.iter().rev().take_while(|byte| **byte == b'.').count();
        return Some((start..cursor.at - dots, Form::Cut));
    }
    let start = cursor.at;
    cursor.skip(MAX_VALUE, is_bare);
    let bare = start..cursor.at;
    if matches!(cursor.text.get(bare.clone())?, b"" | b"(" | b"[")
        && let Some(value) = below(cursor.text, bare.end, b"|>-+")
    {
        // A block of YAML holds a value and nothing else.
        let block = matches!(cursor.text.get(bare.end), Some(b'|' | b'>'));
        return Some((value, if block { Form::Bare } else { Form::Below }));
    }
    (!bare.is_empty()).then_some((bare, Form::Bare))
}

fn is_bare(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !b"\"'`,;&<>|\\)]}".contains(&byte)
}

/// A value alone on the line below the place `at`, behind which `marks` may stand: that of `token: |`
/// or `token = (`, or the next item of a list.
pub(super) fn below(text: &[u8], at: usize, marks: &[u8]) -> Option<Range<usize>> {
    let mut cursor = Cursor { text, at };
    cursor.skip(3, |byte| marks.contains(&byte));
    cursor.blanks();
    cursor.skip(1, |byte| byte == b'\r');
    if cursor.skip(1, |byte| byte == b'\n') == 0 {
        return None;
    }
    cursor.blanks();
    cursor.eat(b"- ");
    cursor.skip(1, |byte| b"\"'`".contains(&byte));
    let start = cursor.at;
    cursor.skip(MAX_VALUE, is_bare);
    let value = start..cursor.at;
    cursor.skip(4, |byte| b"\"'`,;)]}\\".contains(&byte));
    cursor.blanks();
    let bytes = text.get(value.clone())?;
    let pair = bytes
        .windows(2)
        .any(|two| matches!(two, [b'=', next] if *next != b'='));
    let alone = matches!(cursor.peek(), b'\r' | b'\n' | 0);
    (alone && !pair && !value.is_empty()).then_some(value)
}
