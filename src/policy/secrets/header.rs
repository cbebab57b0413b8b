use std::ops::Range;

use super::value::{Strength, is_placeholder, strength};

const MAX_VALUE: usize = 8 * 1024;

/// The credentials after `Bearer `, `Basic `, `Digest ` or `token `; `after` is the place behind it.
pub(super) fn header_secret(text: &[u8], start: usize, after: usize) -> Option<Range<usize>> {
    let rest = text.get(after..text.len().min(after + MAX_VALUE))?;
    let part = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b'-' | b':' | b'|'
            )
    };
    let length = rest.iter().take_while(|byte| part(byte)).count();
    let value = rest.get(..length)?;
    if value.len() < 6 || is_placeholder(value) {
        return None;
    }
    let basic = text.get(start..start + 5)?.eq_ignore_ascii_case(b"basic");
    let found = match super::encoded::decode(value).filter(|decoded| basic && is_printable(decoded))
    {
        Some(decoded) => is_pair(&decoded),
        None => match strength(value) {
            Strength::Strong => true,
            Strength::Medium => value.len() >= 10,
            Strength::Uuid => in_header(text, start),
            Strength::None => false,
        },
    };
    found.then_some(after..after + length)
}

// `user:password`, other than what documentation shows.
fn is_pair(decoded: &[u8]) -> bool {
    let Some(colon) = memchr::memchr(b':', decoded) else {
        return false;
    };
    let (name, password) = decoded.split_at(colon);
    let password = password.get(1..).unwrap_or_default();
    let shown = [
        &b"password"[..],
        b"pass",
        b"test",
        b"secret",
        b"bar",
        b"open sesame",
    ]
    .contains(&password);
    !name.is_empty() && password.len() >= 4 && !shown && password != name
}

fn is_printable(decoded: &[u8]) -> bool {
    decoded.iter().all(|byte| (b' '..=b'~').contains(byte))
}

fn in_header(text: &[u8], start: usize) -> bool {
    let before = text
        .get(start.saturating_sub(40)..start)
        .unwrap_or_default()
        .to_ascii_lowercase();
    memchr::memmem::find(&before, b"authorization").is_some()
}

#[cfg(test)]
mod tests {
    use crate::policy::Redactor;

    #[test]
    fn credentials_of_headers_are_masked() {
        for text in [
            "Authorization: Bearer 8f3KxQ9vZ2mN7pLw4TqR",
            "extraheader = AUTHORIZATION: basic dXNlcjpodW50ZXIyIQ==",
            "curl -H 'Authorization: token 51e61afee2c2667123fc9ed160a0a20b330c8f74' x",
            "curl --header  'Authorization:  5eb4223e-5008-46e5-be67-c7b8f2732305'",
        ] {
            assert!(
                Redactor::default().redact(text).text.contains("[REDACTED:"),
                "{text}"
            );
        }
    }

    #[test]
    fn prose_and_placeholders_are_kept() {
        for text in [
            "Authorization: Bearer <token>",
            "a bearer token is sent",
            "basic authentication with passwords",
            "the token expired yesterday",
            "Bearer $TOKEN",
            "Basic usage: see below",
        ] {
            assert_eq!(Redactor::default().redact(text).text, text);
        }
    }
}
