use std::ops::Range;

use super::value::{Strength, is_mixed, is_placeholder, is_template, is_weak_password, strength};

const MAX_AUTHORITY: usize = 512;

/// The password of `scheme://user:password@host`, or the token of `scheme://token@host`; `after` is
/// the place behind the `://`. What documentation shows is kept.
pub(super) fn url_secret(text: &[u8], after: usize) -> Option<Range<usize>> {
    let rest = text.get(after..text.len().min(after + MAX_AUTHORITY))?;
    let until = |ends: &[u8]| {
        let end = rest
            .iter()
            .position(|byte| byte.is_ascii_whitespace() || ends.contains(byte));
        rest.get(..end.unwrap_or(rest.len()))
    };
    let authority = until(b"\"'<>`\\/?,")?;
    let Some(at) = memchr::memrchr(b'@', authority) else {
        return unescaped(until(b"\"'<>`\\")?).map(|range| after + range.start..after + range.end);
    };
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
            && ((is_placeholder(password) && !is_mixed(password))
                || is_documentation(host, is_weak_password(password) || is_mixed(password))));
    (!shown).then_some(after + colon + 1..after + at)
}

// The password of an authority in which `/`, `?` or `,` stand as they are. Programs print such URLs
// when they cannot make sense of them.
fn unescaped(whole: &[u8]) -> Option<Range<usize>> {
    let at = memchr::memrchr(b'@', whole)?;
    let colon = memchr::memchr(b':', whole.get(..at)?)?;
    let (name, password) = (whole.get(..colon)?, whole.get(colon + 1..at)?);
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.+%~".contains(byte);
    // A port and a path.
    let port = password.iter().take_while(|byte| byte.is_ascii_digit());
    let port = port.count();
    let is_port = port > 0 && matches!(password.get(port), Some(b'/' | b'?' | b','));
    let host = whole.get(at + 1..)?;
    let host = host.split(|byte| b":/?#".contains(byte)).next()?;
    let is_host = host
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
        && (host.first().is_some_and(u8::is_ascii_alphabetic)
            || host.split(|byte| *byte == b'.').count() == 4);
    let found =
        name.iter().all(is_name) && !is_port && is_host && strength(password) >= Strength::Medium;
    found.then_some(colon + 1..at)
}

/// The authorization code of `/callback?code=x&state=y`, which stands behind the place `after`.
/// Elsewhere a `code` says what went wrong.
pub(super) fn grant(text: &[u8], after: usize) -> Option<Range<usize>> {
    let rest = text.get(after..text.len().min(after + MAX_AUTHORITY))?;
    let part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_.~%/+".contains(byte);
    let length = rest.iter().take_while(part).count();
    let value = rest.get(..length)?;
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"'<>`".contains(byte);
    let before = text.get(after.saturating_sub(MAX_AUTHORITY)..after)?;
    let before = before.rsplit(ends).next()?;
    let behind = rest.get(length..)?.split(ends).next()?;
    let url = [before, behind].concat().to_ascii_lowercase();
    let signs = [
        &b"callback"[..],
        b"oauth",
        b"redirect",
        b"authorize",
        b"state=",
        b"scope=",
    ];
    let granted = signs
        .iter()
        .any(|it| memchr::memmem::find(&url, it).is_some());
    let made = strength(value);
    let found = (granted && made >= Strength::Uuid) || (made == Strength::Strong && length >= 24);
    found.then_some(after..after + length)
}

#[rustfmt::skip]
const COMMON: &[&[u8]] = &[
    b"pass", b"password", b"passwd", b"pwd", b"secret", b"token", b"test", b"key", b"user",
    b"foo", b"bar", b"baz", b"admin", b"root", b"postgres", b"mysql", b"guest", b"pass%20pass",
    b"changeme", b"example", b"mypass", b"mypassword", b"userpass", b"pw", b"xxx", b"testing",
    b"hunter2", b"123", b"1234", b"12345", b"123456", b"credentials", b"passphrase",
    b"x-oauth-basic", b"apikey", b"api_key",
];

// Hosts that stand for a host; one of a single word does not where somebody typed a password for it.
fn is_documentation(host: &[u8], typed: bool) -> bool {
    let host = host
        .split(|byte| *byte == b':')
        .next()
        .unwrap_or(host)
        .to_ascii_lowercase();
    let last = host.rsplit(|byte| *byte == b'.').next().unwrap_or(&host);
    let plain = !host.contains(&b'.');
    (plain && !typed)
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
    use super::{grant, url_secret};
    use crate::policy::Redactor;

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
            ("redis://:hunter2hunter2@cache:6379/0", "hunter2hunter2"),
            ("postgres://app:s3cr3tPassw0rd@db/x", "s3cr3tPassw0rd"),
            (
                "postgres://app:Zx9/kQ2mV7tLp4wB@db.prod.io/x",
                "Zx9/kQ2mV7tLp4wB",
            ),
            (
                "invalid URL 'postgres://app:Zx9?kQ2mV7tLp4wB@db:5432/x'",
                "Zx9?kQ2mV7tLp4wB",
            ),
            ("redis://:Zx9,kQ2mV7tLp4wB@cache", "Zx9,kQ2mV7tLp4wB"),
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
            "http://db1:5432/a7Kq9/x2@Zp4/v3Lm8Qw",
            "http://host:8080?next=kQ2mV7tLp4wB@db.prod.io",
            "https://host:port/path/to/kQ2@2.1.0",
            "oci://registry:main/library/image@sha256:7f9cc25de23d1a255720b0ae4551f404",
            "http://admin:letmein@example.com",
            "postgres://app:changeme123@db/x",
            "postgres://user:password1@localhost/x",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
    #[test]
    fn authorization_codes_are_found() {
        for text in [
            "GET /callback?code=4/0AX4XfWhq7rT2nZp9Lk&state=1",
            "http://localhost:8080/cb?state=a1&code=b7Fq9xKd2LmW4",
            "https://app.io/login/oauth?code=7f9cc25de23d1a255720b0ae4551f404",
            "/done?code=c0d1a2Zk9QmX7vB3nL5tR8wY2pH6",
        ] {
            let after = text.find("code=").unwrap() + 5;
            assert!(grant(text.as_bytes(), after).is_some(), "{text}");
            assert!(
                Redactor::default()
                    .redact(text)
                    .text
                    .contains("[REDACTED:authorization-code]")
            );
        }
        for text in [
            "/callback?code=invalid_request&state=1",
            "/error?code=E0433",
            "/zip?code=90210&country=us",
            "/callback?code=${code}",
            "/oauth/callback?code=AUTHORIZATION_CODE",
            "/oauth/callback?code=abc123",
        ] {
            assert_eq!(Redactor::default().redact(text).text, text);
        }
    }
}
