use std::ops::Range;

use super::value::{Strength, is_placeholder, is_template, strength};

const MAX_AUTHORITY: usize = 512;

/// The password of `scheme://user:password@host`, or the token of `scheme://token@host`; `after` is
/// the place behind the `://`. What documentation shows is kept.
pub(super) fn url_secret(text: &[u8], after: usize) -> Option<Range<usize>> {
    let rest = text.get(after..text.len().min(after + MAX_AUTHORITY))?;
    let end = rest
        .iter()
        .position(|byte| {
            byte.is_ascii_whitespace()
                || matches!(
                    byte,
                    b'/' | b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\' | b'?' | b','
                )
        })
        .unwrap_or(rest.len());
    let authority = rest.get(..end)?;
    let at = memchr::memrchr(b'@', authority)?;
    let (user, host) = (authority.get(..at)?, authority.get(at + 1..)?);
    let Some(colon) = memchr::memchr(b':', user) else {
        let token = user.len() >= 16 && strength(user) >= Strength::Uuid;
        return token.then_some(after..after + at);
    };
    let (name, password) = (user.get(..colon)?, user.get(colon + 1..)?);
    let lower = password.to_ascii_lowercase();
    let shown = password.len() < 3
        || lower == name.to_ascii_lowercase()
        || is_template(password)
        || matches!(
            password.first(),
            Some(b'$' | b'{' | b'<' | b'%' | b'*' | b'[')
        )
        || COMMON.contains(&lower.as_slice())
        || (strength(password) < Strength::Medium
            && (is_placeholder(password) || is_documentation(host)));
    (!shown).then_some(after + colon + 1..after + at)
}

#[rustfmt::skip]
const COMMON: &[&[u8]] = &[
    b"pass", b"password", b"passwd", b"pwd", b"secret", b"token", b"test", b"key", b"user",
    b"foo", b"bar", b"baz", b"admin", b"root", b"postgres", b"mysql", b"guest", b"pass%20pass",
    b"changeme", b"example", b"mypass", b"mypassword", b"userpass", b"pw", b"xxx", b"testing",
    b"hunter2", b"123", b"1234", b"12345", b"123456", b"credentials", b"passphrase",
    b"x-oauth-basic", b"apikey", b"api_key",
];

// Hosts that stand for a host.
fn is_documentation(host: &[u8]) -> bool {
    let host = host
        .split(|byte| *byte == b':')
        .next()
        .unwrap_or(host)
        .to_ascii_lowercase();
    let last = host.rsplit(|byte| *byte == b'.').next().unwrap_or(&host);
    let plain = !host.contains(&b'.');
    plain
        || matches!(
            last,
            b"example" | b"test" | b"invalid" | b"localhost" | b"local"
        )
        || host.starts_with(b"127.")
        || host.starts_with(b"example.")
        || memchr::memmem::find(&host, b".example.").is_some()
        || matches!(
            host.as_slice(),
            b"host.com" | b"domain.com" | b"foo.com" | b"google.com" | b"httpbin.org"
        )
}

#[cfg(test)]
mod tests {
    use super::url_secret;

    fn found(text: &str) -> Option<&str> {
        let after = text.find("://")? + 3;
        url_secret(text.as_bytes(), after).map(|range| &text[range])
    }

    #[test]
    fn credentials_in_urls_are_found() {
        for (text, secret) in [
            (
                "https://ci:KZ8lO3sOVhmyrXGO@git.example.test/x.git/",
                "KZ8lO3sOVhmyrXGO",
            ),
            (
                "mongodb://testuser:testpass@ds04.mongolab.com:48537/main",
                "testpass",
            ),
            ("https://cafebabe:deadbeef@gems.contribsys.com/", "deadbeef"),
            ("redis://:p4ssw0rdX!x@cache.prod.io", "p4ssw0rdX!x"),
            (
                "https://7f9cc25de23d1a255720b0ae4551f404@git.io/x",
                "7f9cc25de23d1a255720b0ae4551f404",
            ),
        ] {
            assert_eq!(found(text), Some(secret), "{text}");
        }
    }

    #[test]
    fn what_documentation_shows_is_kept() {
        for text in [
            "postgres://user:password@localhost:5432/test",
            "https://user:${PASSWORD}@example.com/",
            "http://localhost:8080/a@b",
            "https://git@github.com/o/r",
            "http://user:pass@httpbin.org",
            "postgres://postgres:postgres@db/x",
            "https://x.io/path:with@at",
            "ssh://git@host:22/x",
            "http://admin:letmein@example.com",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
