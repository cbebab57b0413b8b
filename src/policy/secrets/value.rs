/// How much a value looks like a secret, judged by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// A word, a path, a template, a placeholder, a number.
    None,
    /// Five groups of hex digits: random, but often a mere identifier.
    Uuid,
    /// What a careful person types as a password.
    Medium,
    /// What only a machine makes up.
    Strong,
}

/// Judges a value as it stands between its quotes or delimiters.
pub(super) fn strength(value: &[u8]) -> Strength {
    let shape = Shape::from_value(value);
    if shape.length < 6
        || is_template(value)
        || is_placeholder(value)
        || is_version(value)
        || is_checksum(value)
    {
        return Strength::None;
    }
    if shape.spaces > 0 {
        let other = shape.length - shape.letters - shape.digits - shape.spaces;
        let salt = shape.length >= 32
            && shape.spaces * 12 <= shape.length
            && other * 6 >= shape.length
            && shape.ascii;
        return if salt && shape.digits > 1 {
            Strength::Strong
        } else {
            Strength::None
        };
    }
    // Prose in another script.
    if !shape.ascii && value.iter().filter(|byte| !byte.is_ascii()).count() * 4 > shape.length {
        return Strength::None;
    }
    if PUBLIC_KEYS.iter().any(|start| value.starts_with(start)) {
        return Strength::None;
    }
    if is_uuid(value) {
        return Strength::Uuid;
    }
    if shape.letters == 0 || (shape.letters <= 2 && shape.marks == 0) {
        return Strength::None;
    }
    if shape.hex && shape.digits > 0 {
        return match shape.length {
            30.. => Strength::Strong,
            16.. => Strength::Medium,
            _ => Strength::None,
        };
    }
    if shape.reads_like_words() {
        return Strength::None;
    }
    let points = shape.points();
    match shape.length {
        14.. if points >= 4 => Strength::Strong,
        8.. if points >= 3 || shape.is_typed_password() => Strength::Medium,
        _ => Strength::None,
    }
}

/// A word with a number, as a careless person types: too common in code to be a secret by itself.
pub(super) fn is_weak_password(value: &[u8]) -> bool {
    let letters = value
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .count();
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    letters >= 4
        && digits >= 1
        && letters + digits == value.len()
        && value.len() >= 8
        && !is_placeholder(value)
}

/// Letters with digits among them, as in `s3cr3t`, too long for what documentation shows.
pub(super) fn is_mixed(value: &[u8]) -> bool {
    let shape = Shape::from_value(value);
    shape.length >= 12 && shape.digit_letter > 1 && shape.distinct > 7 && shape.letters > 7
}

// How public keys start in base64, by their DER or SSH headers.
#[rustfmt::skip]
const PUBLIC_KEYS: &[&[u8]] = &[
    b"MFkwEwYHKoZIzj0C", b"MIIBIjANBgkqhkiG9w0B", b"MIICIjANBgkqhkiG9w0B", b"MCowBQYDK2Vw",
    b"AAAAB3NzaC1", b"AAAAC3NzaC1", b"AAAAE2VjZHNh",
];

/// Whether the value is made of words.
pub(super) fn reads_like_words(value: &[u8]) -> bool {
    let shape = Shape::from_value(value);
    shape.digits == 0 && shape.pairs >= 6 && shape.reads_like_words()
}

/// Whether the value is five groups of hex digits.
fn is_uuid(value: &[u8]) -> bool {
    let dashes = [8, 13, 18, 23];
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| {
            if dashes.contains(&at) {
                *byte == b'-'
            } else {
                byte.is_ascii_hexdigit()
            }
        })
}

/// Whether something else puts the value in later: `${X}`, `{{ x }}`, `<token>`, `%s`, `$(cmd)`.
pub(super) fn is_template(value: &[u8]) -> bool {
    let has = |part: &[u8]| memchr::memmem::find(value, part).is_some();
    let sigil = value.first() == Some(&b'$')
        && value.get(1..).is_some_and(|name| {
            name.first()
                .is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
                && name
                    .iter()
                    .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
                && name.iter().all(|byte| !byte.is_ascii_digit())
        });
    let framed = matches!(
        (value.first(), value.last()),
        (Some(b'<'), Some(b'>'))
            | (Some(b'%'), Some(b'%'))
            | (Some(b'['), Some(b']'))
            | (Some(b'{'), Some(b'}'))
    );
    sigil
        || framed
        || [
            &b"${"[..],
            b"{{",
            b"$(",
            b"<%",
            b"%(",
            b"[REDACTED:",
            b"://",
            b"{}",
            b"{:",
            b"{0",
            b"process.env",
            b"os.environ",
            b"getenv",
        ]
        .iter()
        .any(|part| has(part))
}

// What a manifest asks for: `^1.2.3`, `npm:name@^1.2`, `>=3`.
fn is_version(value: &[u8]) -> bool {
    let number = |at: usize| value.get(at).is_some_and(u8::is_ascii_digit);
    let caret = memchr::memchr_iter(b'@', value).any(|at| {
        number(at + 1) || (matches!(value.get(at + 1), Some(b'^' | b'~')) && number(at + 2))
    });
    let alias = [&b"npm:"[..], b"workspace:", b"file:", b"link:", b"catalog:"];
    // `name-1.2.3`
    let digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let release = value
        .rsplit(|byte| matches!(byte, b'-' | b'@' | b'v'))
        .next()
        .unwrap_or_default();
    let released = release.split(|byte| *byte == b'.').count() >= 3
        && release.split(|byte| *byte == b'.').all(digits);
    released
        || (matches!(value.first(), Some(b'^' | b'~' | b'>' | b'<' | b'='))
            && (number(1) || number(2)))
        || (caret && alias.iter().any(|prefix| value.starts_with(prefix)))
        || alias.iter().skip(1).any(|prefix| value.starts_with(prefix))
}

// What a lock file says about a package: `sha512-rdj...==`.
fn is_checksum(value: &[u8]) -> bool {
    let names = [&b"sha1-"[..], b"sha256-", b"sha384-", b"sha512-"];
    names.iter().any(|name| value.starts_with(name))
}

/// Whether a person put the value there to be replaced.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    // Found anywhere in the value.
    #[rustfmt::skip]
    const PARTS: &[&str] = &[
        "example", "changeme", "change_me", "change-me", "change-this", "changethis", "your_",
        "your-", "yourkey", "yourtoken", "yourpass", "yoursecret", "placeholder", "dummy",
        "redacted", "foobar", "insert", "replace", "password", "passwd", "passw0rd", "mysecret",
        "my-secret", "my_secret", "sample", "xxxx", "****", "....", "1234567", "abcdefg",
        "qwerty", "lorem", "undefined", "notreal", "not-real", "not_real", "secret-key",
        "secretkey", "secret_key", "supersecret", "super-secret", "super_secret", "fake-",
        "fake_", "-fake", "_fake", "encrypted:", "0123456789", "aaaaaa", "000000", "test-",
        "test_", "-test", "_test", "testing", "thisis", "this-is",
    ];
    let lower: Vec<u8> = value.iter().take(256).map(u8::to_ascii_lowercase).collect();
    let mut seen = [false; 256];
    for byte in &lower {
        if let Some(slot) = seen.get_mut(usize::from(*byte)) {
            *slot = true;
        }
    }
    let distinct = seen.iter().filter(|seen| **seen).count();
    let short = value.len() <= 64;
    distinct < 5
        || (distinct < 8 && value.len() >= 20)
        || (short
            && PARTS
                .iter()
                .any(|part| memchr::memmem::find(&lower, part.as_bytes()).is_some()))
}

#[derive(Debug, Default)]
struct Shape {
    length: usize,
    letters: usize,
    digits: usize,
    spaces: usize,
    // Characters that names, paths and numbers do not contain.
    marks: usize,
    uppers: usize,
    // A digit directly before a letter, and a change of case that is not the start of a word.
    digit_letter: usize,
    odd_case: usize,
    // Neighbouring letters, and how many of these pairs are common in words.
    pairs: usize,
    common: usize,
    hex: bool,
    ascii: bool,
    distinct: usize,
}

impl Shape {
    fn from_value(value: &[u8]) -> Self {
        let mut shape = Self {
            length: value.len(),
            hex: value.iter().all(u8::is_ascii_hexdigit),
            ascii: value.is_ascii(),
            ..Self::default()
        };
        let mut seen = [false; 256];
        let mut before = 0_u8;
        for byte in value.iter().copied() {
            match byte {
                b'0'..=b'9' => shape.digits += 1,
                byte if byte.is_ascii_alphabetic() => {
                    shape.letters += 1;
                    shape.uppers += usize::from(byte.is_ascii_uppercase());
                    shape.digit_letter += usize::from(before.is_ascii_digit());
                    if before.is_ascii_alphabetic() {
                        shape.pairs += 1;
                        shape.common += usize::from(is_common_pair(before, byte));
                        shape.odd_case +=
                            usize::from(before.is_ascii_uppercase() != byte.is_ascii_uppercase());
                    }
                }
                byte if byte.is_ascii_whitespace() => shape.spaces += 1,
                b'_' | b'-' | b'.' | b'/' | b':' | b',' | b'=' | b'+' | b'(' | b')' | b'['
                | b']' | b'\'' | b'"' | b'\\' | b';' => {}
                byte => shape.marks += usize::from(byte.is_ascii()),
            }
            if let Some(slot) = seen.get_mut(usize::from(byte)) {
                shape.distinct += usize::from(!*slot);
                *slot = true;
            }
            before = byte;
        }
        shape
    }

    // Words, dotted and dashed names, versions, words with a number at their end.
    fn reads_like_words(&self) -> bool {
        let wordy = self.common * 100 >= self.pairs * 72;
        let camel = self.odd_case * 100 <= self.letters * 36;
        wordy
            && camel
            && self.digit_letter <= 1 + self.length / 24
            && self.marks == 0
            && self.pairs * 2 >= self.length
            || (self.digits == 0 && self.marks == 0 && wordy && camel)
    }

    fn points(&self) -> usize {
        let rare = |percent: usize| self.pairs >= 3 && self.common * 100 < self.pairs * percent;
        let mut points = 0;
        points += usize::from(rare(75));
        points += usize::from(rare(58));
        points += self.digit_letter.min(2);
        points += usize::from(self.odd_case * 100 >= self.letters * 36 && self.letters >= 6);
        points += usize::from(self.marks > 0 && self.digits > 0);
        points += usize::from(self.length >= 16 && self.distinct >= 9);
        points += usize::from(self.length >= 24 && self.distinct >= 12);
        points
    }

    // Letters, digits and a mark, as password rules ask for.
    fn is_typed_password(&self) -> bool {
        self.letters >= 2 && self.digits >= 1 && self.marks >= 1 && self.length <= 40
    }
}

fn is_common_pair(first: u8, second: u8) -> bool {
    let place = |byte: u8| usize::from(byte.to_ascii_lowercase().wrapping_sub(b'a'));
    COMMON_PAIRS
        .get(place(first))
        .is_some_and(|row| row >> place(second) & 1 == 1)
}

// Row by first letter, bit by second: the 250 pairs that make up 94 % of the letter pairs in
// identifiers and prose of software projects. Of random pairs they make up 37 %.
const COMMON_PAIRS: [u32; 26] = [
    0x13e_bd4e, 0x016_4911, 0x01a_4d95, 0x016_4919, 0x3ff_bd7f, 0x012_4931, 0x016_6191, 0x00a_4111,
    0x2ae_f87f, 0x000_0010, 0x00c_4911, 0x11c_4919, 0x010_d913, 0x03c_6d7d, 0x07e_fd4f, 0x01e_c911,
    0x010_0000, 0x13e_fd5d, 0x11c_c995, 0x11e_4995, 0x00e_b957, 0x000_4111, 0x000_4111, 0x008_8000,
    0x000_c011, 0x000_0011,
];

#[cfg(test)]
mod tests {
    use super::{Strength, strength};

    #[test]
    fn machines_make_strong_values() {
        for value in [
            "14f46a1c1bdf6160d8852428c29ed685",
            "GL2rmVZs198U3txBZJSpoBT6S+oO0hA5Q5MEbY1V",
            "mYNWN8Mrk9AX0XBT5Tg03Hsf",
            "llk2gfe8xvfn56v4j99y8c50",
            "zh!=!gq(w^_t[sBR29954x)HI+$ehwss*xYNQeu([xcWMhdzzr",
            "MW1pxMctoyA(>M%0Vl 2(#o0|2$cB+K|.G$hB~4`Juw@]:(5;oVUl<<W3^e_R-fg",
        ] {
            assert_eq!(strength(value.as_bytes()), Strength::Strong, "{value}");
        }
    }

    #[test]
    fn people_type_medium_values() {
        for value in [
            "uonnll86!QYK",
            "Pass!12345",
            "swordfish!23",
            "Tr0ub4dor&3",
            "rqllxnyrpfca5he",
        ] {
            assert!(strength(value.as_bytes()) >= Strength::Medium, "{value}");
        }
    }

    #[test]
    fn names_paths_templates_and_placeholders_are_none() {
        for value in [
            "createdAt_DESC_cursorPaginationKey",
            "passwordResetTokenExpiredMessage",
            "secret_token_generator",
            "django.contrib.auth.hashers.PBKDF2PasswordHasher",
            "./auth/constants/token-settings",
            "${PASSWORD}",
            "$TOKEN",
            "<YOUR_API_KEY>",
            "changeme",
            "****",
            "db/password",
            "sha256",
            "utf8mb4",
            "base64url",
            "application/x-www-form",
            "oauth2_provider_v2",
            "src/components/Input2FA.tsx",
            "test-token-123",
            "http://localhost:8080",
            "v1.22.333",
            "xxxxxxxxxxxxxxxxxxxxxxxx",
            "2024-01-02T03:04:05Z",
            "123456789012",
            "{{ secrets.TOKEN }}",
            "tokens-per-minute",
            "sha512-RdJUflcE3cUzKiMqQgsCu06FPu9UdIJO0beYbPhHN4k6apgJtifcoCtT9bcxOpYBtpD2kCM6Sbzg4CausW==",
        ] {
            assert_eq!(strength(value.as_bytes()), Strength::None, "{value}");
        }
        assert_eq!(
            strength(b"26dfe8d8-889b-4380-92ff-9c3c6ea5d930"),
            Strength::Uuid
        );
    }
}
