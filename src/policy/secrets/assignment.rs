use std::ops::Range;

use super::name::{NameKind, name_kind};
use super::value::{Strength, is_placeholder, is_template, is_weak_password, strength};

// Longest name, and longest value, that is looked at.
const MAX_NAME: usize = 80;
const MAX_VALUE: usize = 1024;
// Longest value in all.
const MAX_WHOLE: usize = 64 * 1024;

/// A secret given to a name: `password = "x"`, `TOKEN=x`, `"auth": "x"`, `<pass>x</pass>`,
/// `--token x`, `setProperty("KEY", "x")`, `key="Password" value="x"`.
///
/// `at` is a byte inside the name. Returns the rule, the value, and where the name ends.
pub(super) fn assigned_secret(
    text: &[u8],
    at: usize,
) -> (Option<(&'static str, Range<usize>)>, usize) {
    let name = name_at(text, at);
    let end = name.end;
    if name.len() > MAX_NAME {
        return (None, end);
    }
    let judged = text.get(name.clone()).and_then(|bytes| {
        let kind = name_kind(bytes)?;
        let (value, form) = value_after(text, &name)?;
        let set = text.get(value.clone())?;
        // Of weak values only those are taken that cannot be the name of something.
        let literal = form == Form::Quoted || !bytes.iter().any(u8::is_ascii_lowercase);
        let weak = kind == NameKind::Password && literal && is_weak_password(set);
        let phrase = kind == NameKind::Password && form == Form::Quoted && is_passphrase(set);
        (weak || phrase || accepts(kind, set, form)).then(|| (rule_name(kind), whole(text, value)))
    });
    (judged, end)
}

// A value that is longer than what is looked at, to its end.
fn whole(text: &[u8], value: Range<usize>) -> Range<usize> {
    if value.len() < MAX_VALUE {
        return value;
    }
    let rest = text.get(value.end..).unwrap_or_default();
    let part = |byte: &&u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_' | b'.')
    };
    let more = rest.iter().take(MAX_WHOLE).take_while(part).count();
    value.start..value.end + more
}

// How a value is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Quoted,
    Bare,
    // After a flag or a word and a blank.
    Spaced,
    // A .netrc line.
    Netrc,
}

fn rule_name(kind: NameKind) -> &'static str {
    match kind {
        NameKind::Password => "password",
        NameKind::Token => "named-secret",
        NameKind::Key => "named-key",
    }
}

fn accepts(kind: NameKind, value: &[u8], form: Form) -> bool {
    if form == Form::Netrc {
        return value.len() >= 4 && !is_template(value) && !is_placeholder(value);
    }
    // Code: a call, an index, a member.
    if form != Form::Quoted && is_code(value) {
        return false;
    }
    let strength = strength(value);
    match (kind, form) {
        (_, Form::Spaced) => {
            let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
            strength == Strength::Strong && value.len() >= 16 && value.iter().all(plain)
        }
        (NameKind::Password, _) => strength >= Strength::Medium,
        (NameKind::Token, _) => {
            strength == Strength::Strong
                || (strength == Strength::Medium && value.len() >= 11)
                || strength == Strength::Uuid
                || is_basic_pair(value)
        }
        (NameKind::Key, _) => {
            let class = |test: fn(&u8) -> bool| value.iter().any(test);
            strength == Strength::Strong
                && value.len() >= 20
                && !value.iter().any(|byte| matches!(byte, b' ' | b'('))
                && !value.iter().all(u8::is_ascii_hexdigit)
                && class(u8::is_ascii_digit)
                && class(u8::is_ascii_uppercase)
                && class(u8::is_ascii_lowercase)
        }
    }
}

// A call, an index, a path through modules or members.
fn is_code(value: &[u8]) -> bool {
    let has = |marks: &[u8]| value.iter().any(|byte| marks.contains(byte));
    let member = |part: &[u8]| {
        part.first().is_some_and(u8::is_ascii_alphabetic)
            && part
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    let path =
        value.contains(&b'.') && value.len() <= 64 && value.split(|byte| *byte == b'.').all(member);
    path || memchr::memmem::find(value, b"::").is_some() || (has(b"([{") && !has(b"!#%^"))
}

// Base64 of `user:password`.
fn is_basic_pair(value: &[u8]) -> bool {
    super::encoded::decode(value).is_some_and(|decoded| {
        let printable = decoded.iter().all(|byte| (b' '..=b'~').contains(byte));
        let colons = memchr::memchr_iter(b':', &decoded).count();
        let inner = decoded.first() != Some(&b':') && decoded.last() != Some(&b':');
        decoded.len() >= 8 && printable && colons == 1 && inner
    })
}

fn name_at(text: &[u8], at: usize) -> Range<usize> {
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

fn value_after(text: &[u8], name: &Range<usize>) -> Option<(Range<usize>, Form)> {
    // The rule's name in a mask is not the name of what stands behind it.
    if text.get(..name.start)?.ends_with(b"[REDACTED:") {
        return None;
    }
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
    match text_of(&cursor) {
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
    value(cursor)
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
        && (starts.iter().any(|word| line.starts_with(word)) || entry(line));
    let (range, form) = value(cursor)?;
    match form {
        Form::Quoted | Form::Bare if flag => Some((range, form)),
        Form::Bare if netrc => Some((range, Form::Netrc)),
        _ => Some((range, Form::Spaced)),
    }
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
        return (closed && !bytes.is_empty()).then_some((start..start + bytes.len(), Form::Quoted));
    }
    let start = cursor.at;
    cursor.skip(MAX_VALUE, |byte| {
        !byte.is_ascii_whitespace()
            && !matches!(
                byte,
                b'"' | b'\''
                    | b'`'
                    | b','
                    | b';'
                    | b'&'
                    | b'<'
                    | b'>'
                    | b'|'
                    | b'\\'
                    | b')'
                    | b']'
                    | b'}'
            )
    });
    (cursor.at > start).then_some((start..cursor.at, Form::Bare))
}

/// Three words or more that no sentence is made of, as dice and password managers give them.
fn is_passphrase(value: &[u8]) -> bool {
    #[rustfmt::skip]
    const SENTENCE: &[&[u8]] = &[
        b"a", b"an", b"and", b"are", b"as", b"at", b"be", b"by", b"can", b"cannot", b"change",
        b"confirm", b"do", b"does", b"enter", b"field", b"for", b"forgot", b"from", b"get", b"has",
        b"have", b"if", b"in", b"incorrect", b"invalid", b"is", b"it", b"least", b"length", b"login",
        b"long", b"match", b"minimum", b"must", b"my", b"new", b"no", b"not", b"of", b"old", b"on",
        b"only", b"or", b"passphrase", b"password", b"passwords", b"please", b"required", b"reset",
        b"secret", b"set", b"should", b"show", b"strong", b"that", b"the", b"this", b"to", b"too",
        b"update", b"use", b"user", b"username", b"using", b"value", b"weak", b"with", b"wrong",
        b"you", b"your", b"some", b"here", b"goes", b"test", b"example", b"hash", b"text", b"string",
    ];
    let mut count = 0;
    for word in value.split(|byte| *byte == b' ') {
        let lower = word.iter().all(u8::is_ascii_lowercase) && (2..=12).contains(&word.len());
        let number = word.iter().all(u8::is_ascii_digit) && (1..=4).contains(&word.len());
        if !(lower || number) || SENTENCE.contains(&word) {
            return false;
        }
        count += 1;
    }
    (3..=12).contains(&count) && (16..=96).contains(&value.len())
}

#[cfg(test)]
mod tests {
    use super::is_passphrase;

    #[test]
    fn phrases_are_words_without_a_sentence() {
        for value in ["correct horse battery staple", "orbit velvet 42 lantern"] {
            assert!(is_passphrase(value.as_bytes()), "{value}");
        }
        for value in [
            "enter your password",
            "at least eight characters",
            "Correct Horse Battery Staple",
            "two words",
            "kinda long, with commas",
        ] {
            assert!(!is_passphrase(value.as_bytes()), "{value}");
        }
    }
}
