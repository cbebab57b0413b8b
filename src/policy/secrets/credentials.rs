//! Credentials known by their place: in URLs, HTTP headers, command lines, calls and `.pgpass` lines.

use std::ops::Range;

use regex::bytes::Regex;

use super::base64::from_base64;
use super::name::WORDS;
use super::scan::Hit;
use super::value::{
    Strength, contains, has_byte, is_mixed, is_placeholder, is_template, is_weak_password,
    measure_strength,
};

const MAX_AUTHORITY: usize = 512;
const MAX_COMMAND: usize = 512;

/// Finds the password of `scheme://user:password@host`, or the token of `scheme://token@host`;
/// `after` is the place behind the `://`. Values that documentation shows are kept.
pub(super) fn find_in_url(text: &[u8], after: usize) -> Option<Hit> {
    let rest = &text[after..text.len().min(after + MAX_AUTHORITY)];
    let authority = take_until(rest, b"\"'<>`\\/?,");
    let found = match memchr::memrchr(b'@', authority) {
        Some(at) => find_in_authority(&authority[..at], &authority[at + 1..]),
        None => find_unescaped(take_until(rest, b"\"'<>`\\")),
    }?;
    Some(Hit::new("url-credentials", shift(found, after)))
}

fn find_in_authority(user: &[u8], host: &[u8]) -> Option<Range<usize>> {
    let Some(colon) = memchr::memchr(b':', user) else {
        let is_token = user.len() >= 16 && measure_strength(user) >= Strength::Uuid;
        return is_token.then_some(0..user.len());
    };
    let (name, password) = (&user[..colon], &user[colon + 1..]);
    let is_typed = is_weak_password(password) || is_mixed(password);
    let is_shown = is_shown(password)
        || password.eq_ignore_ascii_case(name)
        || (measure_strength(password) < Strength::Medium
            && ((is_placeholder(password) && !is_mixed(password))
                || is_documentation(host, is_typed)));
    (!is_shown).then_some(colon + 1..user.len())
}

/// Finds the password of an authority that contains an unescaped `/`, `?` or `,`: programs print such URLs
/// when they cannot parse them.
fn find_unescaped(whole: &[u8]) -> Option<Range<usize>> {
    let unescaped = regex!(r"^[\w.+%~-]*:(.+)@(?:[A-Za-z][\w.-]*|\d+\.\d+\.\d+\.\d+)(?:[:/?#]|$)");
    let password = unescaped?.captures(whole)?.get(1)?;
    // A port and a path.
    let digits = password.as_bytes().iter().take_while(|byte| byte.is_ascii_digit()).count();
    let behind = password.as_bytes().get(digits);
    let is_port = digits > 0 && matches!(behind, Some(b'/' | b'?' | b','));
    let found = !is_port && measure_strength(password.as_bytes()) >= Strength::Medium;
    found.then_some(password.range())
}

/// Whether a host represents any host; one of a single word does not where a user typed a password
/// for it.
fn is_documentation(host: &[u8], is_typed: bool) -> bool {
    let documentation = regex!(
        r"(?i)^(?:127\.|example\.|(?:host|domain|foo|google)\.com$|httpbin\.org$)|(?:^|\.)(?:example|test|invalid|localhost|local)$|\.example\."
    );
    let host = host.split(|byte| *byte == b':').next().unwrap_or(host);
    (!host.contains(&b'.') && !is_typed) || documentation.is_some_and(|hosts| hosts.is_match(host))
}

/// Finds the credentials behind the scheme of an authorization header, which is at `scheme`.
pub(super) fn find_in_header(text: &[u8], scheme: Range<usize>) -> Option<Hit> {
    let rest = &text[scheme.end..text.len().min(scheme.end + (8 * 1024))];
    let value = &rest[..rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"._~+/=-:|".contains(byte))
        .count()];
    if value.len() < 6 || is_placeholder(value) {
        return None;
    }
    let is_basic = text[scheme.clone()].eq_ignore_ascii_case(b"basic ");
    let found = match from_base64(value)
        .filter(|decoded| is_basic && decoded.iter().all(|byte| (b' '..=b'~').contains(byte)))
    {
        Some(decoded) => is_user_pair(&decoded),
        None => match measure_strength(value) {
            Strength::Strong => true,
            Strength::Medium => value.len() >= 10,
            Strength::Uuid => {
                let before = &text[scheme.start.saturating_sub(40)..scheme.start];
                contains(&before.to_ascii_lowercase(), b"authorization")
            }
            Strength::None => false,
        },
    };
    found.then(|| Hit::new("authorization", scheme.end..scheme.end + value.len()))
}

/// Whether a text is `user:password`, other than documentation shows.
pub(super) fn is_user_pair(decoded: &[u8]) -> bool {
    let Some(colon) = memchr::memchr(b':', decoded) else {
        return false;
    };
    let (name, password) = (&decoded[..colon], &decoded[colon + 1..]);
    let is_shown =
        WORDS.common.contains(&*String::from_utf8_lossy(password)) || password == b"open sesame";
    !name.is_empty() && password.len() >= 4 && !is_shown && password != name
}

/// Finds the password among the arguments of a program, which is at `program`.
pub(super) fn find_in_command(text: &[u8], program: Range<usize>) -> Option<Hit> {
    let user = regex!(
        r#"\s(?:-u|--user|--proxy-user)(?:[ =]{1,4}["']?|["'])([^\s:"'$]*):["']?([^\s"']+)"#
    );
    let redis = regex!(r#"\s(?:-a|--pass)(?: +|["'])["']?([^\s"']+)"#);
    let password = regex!(r#"\s-p[ "']*([^\s"']+)"#);
    let line = &text[program.end - 1..text.len().min(program.end + MAX_COMMAND)];
    // A line goes on behind a backslash; a shell starts another command behind these marks.
    let ends = memchr::memchr_iter(b'\n', line).find(|at| *at > 0 && line[at - 1] != b'\\');
    let line = &line[..ends.unwrap_or(line.len())];
    let name = text[program.clone()].to_ascii_lowercase();
    let (range, found) = if name.starts_with(b"curl") {
        let found = user?.captures(line)?;
        let (user, password) = (found.get(1)?, found.get(2)?);
        let set = password.as_bytes();
        let is_kept = is_shown(set) || is_placeholder(set) || user.as_bytes().ends_with(set);
        (password.range(), !is_kept)
    } else {
        let is_redis = name.starts_with(b"redis");
        let line = match line.iter().position(|byte| b"|;&".contains(byte)) {
            Some(end) if is_redis => &line[..end],
            _ => line,
        };
        let pattern = if is_redis { redis } else { password };
        let password = pattern?.captures(line)?.get(1)?;
        (
            password.range(),
            is_argument_password(password.as_bytes(), is_redis),
        )
    };
    found.then(|| Hit::new("command-line", shift(range, program.end - 1)))
}

/// Whether an argument is a password: a word with digits, or one of both cases. Of `redis-cli -a`
/// nothing else is there.
fn is_argument_password(password: &[u8], is_redis: bool) -> bool {
    let has_digits = has_byte(password, u8::is_ascii_digit) && password.len() >= 6;
    let has_cases = has_byte(password, u8::is_ascii_uppercase)
        && has_byte(password, u8::is_ascii_lowercase)
        && password.len() >= 8;
    let is_typed = has_digits || has_cases || (is_redis && password.len() >= 6);
    let found = measure_strength(password) >= Strength::Medium
        || (is_typed && !is_shown(password) && !is_placeholder(password));
    found && has_byte(password, u8::is_ascii_alphabetic)
}

/// Whether documentation writes this in place of a password.
fn is_shown(password: &[u8]) -> bool {
    password.len() < 3
        || is_template(password)
        || password.first().is_some_and(|first| b"$<{*[-/%".contains(first))
        || WORDS.common.contains(&*String::from_utf8_lossy(password).to_ascii_lowercase())
}

/// Finds the password of `auth=("name", "password")` when it is a literal; `after` is the place
/// behind the bracket.
pub(super) fn find_in_login(text: &[u8], after: usize) -> Option<Hit> {
    let login = regex!(r#"^[^,(){};]*,\s*(?:"([^"\n]+)"|'([^'\n]+)'|`([^`\n]+)`)\s*[),]"#);
    let rest = &text[after..text.len().min(after + MAX_COMMAND)];
    let password = first_group(login?, rest)?;
    // A path may look like a typed password, and never like what a machine makes up.
    let is_path = matches!(rest[password.start], b'/' | b'.');
    let least = if is_path { Strength::Strong } else { Strength::Medium };
    let found = measure_strength(&rest[password.clone()]) >= least;
    found.then(|| Hit::new("secret-argument", shift(password, after)))
}

/// Finds the first literal among the arguments of a call that only a machine makes up; `after` is
/// the place behind the bracket.
pub(super) fn find_in_call(text: &[u8], after: usize) -> Option<Hit> {
    let literal = regex!(r#"[);]|"([^"\n]*)"|'([^'\n]*)'|`([^`\n]*)`"#);
    let rest = &text[after..text.len().min(after + MAX_COMMAND)];
    let arguments = literal?.captures_iter(rest);
    let mut literals = arguments.map_while(|found| found.iter().skip(1).flatten().next());
    let key = literals.find(|literal| measure_strength(literal.as_bytes()) == Strength::Strong)?;
    Some(Hit::new("secret-argument", shift(key.range(), after)))
}

/// Finds the password of a `.pgpass` line outside of its file; its port is at `port`.
pub(super) fn find_in_pgpass(text: &[u8], port: Range<usize>) -> Option<Hit> {
    let fields = regex!(r#"^(?:[\w.*-]+):(?:[\w.*-]+):([^\s"'`<>]{6,100})"#)?;
    let rest = &text[port.end..text.len().min(port.end + MAX_AUTHORITY)];
    let password = fields.captures(rest)?.get(1)?;
    let is_kept = is_shown(password.as_bytes()) || is_placeholder(password.as_bytes());
    (!is_kept).then(|| Hit::new("password", shift(password.range(), port.end)))
}

/// Returns the first group of a pattern that matched.
pub(super) fn first_group(pattern: &Regex, text: &[u8]) -> Option<Range<usize>> {
    Some(pattern.captures(text)?.iter().skip(1).flatten().next()?.range())
}

fn take_until<'t>(text: &'t [u8], ends: &[u8]) -> &'t [u8] {
    text.split(|byte| byte.is_ascii_whitespace() || ends.contains(byte))
        .next()
        .unwrap_or_default()
}

pub(super) fn shift(range: Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}

#[cfg(test)]
mod tests {
    use super::find_in_url;
    use crate::policy::Redactor;

    fn found(text: &str) -> Option<&str> {
        let after = text.find("://")? + 3;
        find_in_url(text.as_bytes(), after).map(|hit| &text[hit.start..hit.end])
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
    fn keeps_documented_examples() {
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
    fn passwords_of_commands_are_masked() {
        for text in [
            "curl --cacert ca.crt -u elastic:P@ssw0rd$1 https://localhost:9200",
            "curl -X POST https://x/y \\\n  -d 'w' \\\n  -u developer:yqDVtkqPECriaLRi",
            "curl --user kevin:'pRf7vG2h1L8nQkW9' -iX PATCH",
            "docker login -u AWS -p hunter2x https://ecr.example.com",
            "sshpass -p 'Hx81kkq' ssh a@b",
            "mysql -u root -pHx81kkq db",
            "sshpass -p RatesOnLine ssh a@b",
            "twine upload -u ci -p Hx81kkq dist/a.whl",
            "az login --service-principal -u app -p Hx81kkq --tenant t",
            "redis-cli -h cache -a thunderclap ping",
            "redis-cli --pass Hx81kkq --tls",
            "redis-cli -a 'Hx81kkq'",
        ] {
            assert!(
                Redactor::default().redact(text).text.contains("[REDACTED:"),
                "{text}"
            );
        }
    }

    #[test]
    fn other_arguments_are_kept() {
        for text in [
            "curl -u user:pass x",
            "curl -u \"$USER:$PASS\" http://x",
            "docker login -u x --password-stdin",
            "sshpass -p $PASS ssh",
            "mysql -p -u root",
            "mkdir -p a1b2c3d4e5/x",
            "mysql -P 3306 -h db1.example",
            "mysql -u root -p db1",
            "redis-cli -a $PASS ping",
            "redis-cli -a <password> ping",
            "redis-cli --askpass --no-auth-warning",
            "redis-cli keys '*' | grep -a session1x",
        ] {
            assert_eq!(Redactor::default().redact(text).text, text);
        }
    }

    #[test]
    fn masks_keys_in_calls() {
        for text in [
            "hmac.new(b'3f9a1c7be0d24568a1b7c9d0e2f41357', body, sha256)",
            "crypto.createHmac('sha256', 'mYNWN8Mrk9AX0XBT5Tg03Hsf').update(x)",
            "jwt.sign(payload, \"GL2rmVZs198U3txBZJSpoBT6S0oO\", { algorithm: 'HS256' })",
        ] {
            let out = Redactor::default().mask(text);
            assert!(out.contains("[REDACTED:secret-argument]"), "{out}");
        }
    }

    #[test]
    fn passwords_beside_names_are_masked() {
        for text in [
            "requests.get(u, auth=('me', 'Tr0ub4dor&3'))",
            "HTTPBasicAuth(user, \"7f9aK2mQ8xZt4Vb1Lw6Yp0Rc3Ns5Hd9Gj2\")",
            "client.login(\n    'me',\n    'uonnll86!QYK',\n)",
        ] {
            let out = Redactor::default().mask(text);
            assert!(out.contains("[REDACTED:secret-argument]"), "{out}");
        }
    }

    #[test]
    fn other_call_arguments_are_kept() {
        for text in [
            "requests.get(u, auth=('user', 'pass'))",
            "auth = (name, password)",
            "HTTPBasicAuth('me', os.environ['PASS'])",
            "login('next', '/accounts/login/?next=/a1')",
            "authenticate(request, username='me')",
            "hmac.new(key, body).hexdigest() == '3f9a1c7be0d24568a1b7c9d0e2f41357'",
            "createHmac('sha256', secret)",
            "jwt.sign(payload, 'shhhhh')",
        ] {
            assert_eq!(Redactor::default().redact(text).text, text);
        }
    }

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

    #[test]
    fn masks_values_of_secret_kinds() {
        let secret = "kind: Secret\nmetadata:\n  name: x\ndata:\n  login: aHVudGVy\n  cert: |\n    TUlJQg\n    abcd\ntype: Opaque\n";
        let masked = "kind: Secret\nmetadata:\n  name: x\ndata:\n  login: [REDACTED:kubernetes-secret]\n  cert: |\n    \
                      [REDACTED:kubernetes-secret]\n    [REDACTED:kubernetes-secret]\ntype: Opaque\n";
        assert_eq!(Redactor::default().redact(secret).text, masked);
        let other = secret.replace("Secret", "ConfigMap");
        assert_eq!(Redactor::default().redact(&other).text, other);
        let two = format!("{other}---\n{secret}");
        assert_eq!(
            Redactor::default().redact(&two).text,
            format!("{other}---\n{masked}")
        );
    }
}
