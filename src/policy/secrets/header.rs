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
    let pair = basic && super::encoded::decode(value).is_some_and(|decoded| is_pair(&decoded));
    let found = pair
        || (strength(value) >= Strength::Medium && value.len() >= 10)
        || strength(value) == Strength::Uuid && in_header(text, start);
    found.then_some(after..after + length)
}

// `user:password`, other than what documentation shows.
fn is_pair(decoded: &[u8]) -> bool {
    let Some(colon) = memchr::memchr(b':', decoded) else {
        return false;
    };
    let (name, password) = decoded.split_at(colon);
    let password = password.get(1..).unwrap_or_default();
    let printable = decoded.iter().all(|byte| (b' '..=b'~').contains(byte));
    let shown = [
        &b"password"[..],
        b"pass",
        b"test",
        b"secret",
        b"bar",
        b"open sesame",
    ]
    .contains(&password);
    printable && !name.is_empty() && password.len() >= 4 && !shown && password != name
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
    let line = rest.split(|byte| *byte == b'\n').next()?;
    let flag = [&b"-u "[..], b"-u'", b"-u\"", b"--user ", b"--user="]
        .iter()
        .filter_map(|flag| memchr::memmem::find(line, flag).map(|at| at + flag.len()))
        .min()?;
    let argument = line.get(flag..)?;
    let lead = argument
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'"' | b'\''))
        .count();
    let argument = argument.get(lead..)?;
    let length = argument
        .iter()
        .take_while(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\''))
        .count();
    let argument = argument.get(..length)?;
    let colon = memchr::memchr(b':', argument)?;
    let (name, password) = (argument.get(..colon)?, argument.get(colon + 1..)?);
    let shown = password.len() < 4
        || name == password
        || is_placeholder(password)
        || super::value::is_template(password)
        || matches!(password.first(), Some(b'$' | b'<' | b'{' | b'*' | b'['))
        || matches!(password, b"pass" | b"test" | b"secret" | b"token");
    let from = after + flag + lead + colon + 1;
    (!shown).then_some(from..from + password.len())
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
