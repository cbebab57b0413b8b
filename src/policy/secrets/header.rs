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

/// The password of `curl -u user:password`; `after` is the place behind `curl `.
pub(super) fn curl_secret(text: &[u8], after: usize) -> Option<Range<usize>> {
    let rest = text.get(after..text.len().min(after + 2048))?;
    let line = command_line(rest);
    let flag = [&b"-u "[..], b"-u'", b"-u\"", b"--user ", b"--user="]
        .iter()
        .filter_map(|flag| memchr::memmem::find(line, flag).map(|at| at + flag.len()))
        .min()?;
    let argument = line.get(flag..)?;
    let lead = argument.iter().take_while(|byte| **byte == b' ').count();
    let length = argument
        .iter()
        .skip(lead)
        .take_while(|byte| !byte.is_ascii_whitespace())
        .count();
    let argument = argument.get(..lead + length)?;
    let colon = memchr::memchr(b':', argument)?;
    let name = argument.get(lead..colon)?.trim_ascii();
    let password = argument.get(colon + 1..)?;
    let quote = |byte: &&u8| matches!(**byte, b'"' | b'\'');
    let open = password.iter().take_while(quote).count();
    let close = password.iter().rev().take_while(quote).count();
    let password = password.get(open..password.len() - close.min(password.len()))?;
    let shown = password.len() < 4
        || name.ends_with(password)
        || is_placeholder(password)
        || super::value::is_template(password)
        || matches!(password.first(), Some(b'$' | b'<' | b'{' | b'*' | b'['))
        || matches!(password, b"pass" | b"test" | b"secret" | b"token");
    let from = after + flag + colon + 1 + open;
    (!shown).then_some(from..from + password.len())
}

// Up to the first line end without a backslash before it.
fn command_line(rest: &[u8]) -> &[u8] {
    let end = memchr::memchr_iter(b'\n', rest)
        .find(|at| at.checked_sub(1).and_then(|before| rest.get(before)) != Some(&b'\\'));
    rest.get(..end.unwrap_or(rest.len())).unwrap_or(rest)
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
            "curl --cacert ca.crt -u elastic:P@ssw0rd$1 https://localhost:9200",
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
            "curl -u user:pass x",
            "the token expired yesterday",
            "Bearer $TOKEN",
            "curl -u \"$USER:$PASS\" http://x",
            "Basic usage: see below",
        ] {
            assert_eq!(Redactor::default().redact(text).text, text);
        }
    }
}
