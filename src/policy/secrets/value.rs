//! Estimates from a value alone whether it is a secret.

use super::name::WORDS;

/// How random a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// A word, a path, a template, a placeholder, a number.
    None,
    /// Five groups of hex digits: random, but often a mere identifier.
    Uuid,
    /// A careful person types such a password.
    Medium,
    /// Only a machine makes this up.
    Strong,
}

/// Rates a value as it is between its quotes or delimiters.
pub(super) fn measure_strength(value: &[u8]) -> Strength {
    let shape = Shape::from_value(value);
    if shape.length < 6
        || is_template(value)
        || is_placeholder(value)
        || is_public(value)
        || shape.wide * 4 > shape.length
    {
        return Strength::None;
    }
    if shape.spaces > 0 {
        return if shape.is_salt() { Strength::Strong } else { Strength::None };
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

/// Whether a value is a word with a number, as a careless person types: too common in code to be a
/// secret by itself.
pub(super) fn is_weak_password(value: &[u8]) -> bool {
    let shape = Shape::from_value(value);
    shape.letters >= 4
        && shape.digits >= 1
        && shape.letters + shape.digits == value.len()
        && value.len() >= 8
        && !is_placeholder(value)
}

/// Whether digits are among letters, as in `s3cr3t`, in a value too long for documentation.
pub(super) fn is_mixed(value: &[u8]) -> bool {
    let shape = Shape::from_value(value);
    shape.length >= 12 && shape.digit_letter > 1 && shape.distinct > 7 && shape.letters > 7
}

/// Whether a value is made of words.
pub(super) fn reads_like_words(value: &[u8]) -> bool {
    let shape = Shape::from_value(value);
    shape.digits == 0 && shape.pairs >= 6 && shape.reads_like_words()
}

/// Whether a value is three words or more, as dice and password managers give them, and neither a
/// sentence nor the name of a thing.
pub(super) fn is_passphrase(value: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(value) else {
        return false;
    };
    let mark = if text.contains(' ') { ' ' } else { '-' };
    (16..=220).contains(&value.len())
        && (3..=24).contains(&text.split(mark).count())
        && text.split(mark).all(|word| {
            let lower = word.bytes().all(|byte| byte.is_ascii_lowercase());
            let number = word.bytes().all(|byte| byte.is_ascii_digit());
            let prose = WORDS.sentence.contains(word) && (mark == ' ' || word != "please");
            let thing = mark == '-' && WORDS.things.contains(word);
            (lower && (2..=12).contains(&word.len()) || number && (1..=4).contains(&word.len()))
                && !prose
                && !thing
        })
}

/// Whether a value is code: a call, an index, a path through modules or members.
pub(super) fn is_code(value: &[u8]) -> bool {
    let [has_brackets, has_signs] =
        [&b"([{"[..], b"!#%^"].map(|marks| value.iter().any(|byte| marks.contains(byte)));
    let is_path = value.contains(&b'.') && value.len() <= 64;
    (is_path
        && value.split(|byte| *byte == b'.').all(|part| {
            part.first().is_some_and(u8::is_ascii_alphabetic)
                && part.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        }))
        || contains(value, b"::")
        || (has_brackets && !has_signs)
}

/// Whether something else puts the value in later: `${X}`, `{{ x }}`, `<token>`, `%s`, `$(cmd)`.
pub(super) fn is_template(value: &[u8]) -> bool {
    let framed = regex!(r"(?s)^(?:\$[A-Za-z_]+|<.*>|%.*%|\[.*\]|\{.*\})$");
    let mut templates = WORDS.templates.iter();
    framed.is_some_and(|framed| framed.is_match(value))
        || templates.any(|part| contains(value, part.as_bytes()))
}

/// Whether a person put the value there to be replaced.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let lower: Vec<u8> = value.iter().take(256).map(u8::to_ascii_lowercase).collect();
    let distinct = count_distinct(&lower);
    distinct < 5
        || (distinct < 8 && value.len() >= 20)
        || (value.len() <= 64
            && WORDS.placeholders.iter().any(|part| contains(&lower, part.as_bytes())))
}

pub(super) fn has_byte(text: &[u8], test: fn(&u8) -> bool) -> bool {
    text.iter().any(test)
}

pub(super) fn contains(text: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(text, part).is_some()
}

/// Whether a value is published by its nature: a checksum of a lock file, a public key by its DER or
/// SSH header, a version such as `^1.2.3` or `name-1.2.3`.
fn is_public(value: &[u8]) -> bool {
    let version = regex!(r"^[~^<>=].?[0-9]|(?:^|[-@v^~])[0-9]+(?:\.[0-9]+){2,}$|^npm:.*@");
    let mut starts = WORDS.public_starts.iter();
    version.is_some_and(|version| version.is_match(value))
        || starts.any(|start| value.starts_with(start.as_bytes()))
}

fn is_uuid(value: &[u8]) -> bool {
    let uuid = regex!(r"^[[:xdigit:]]{8}-(?:[[:xdigit:]]{4}-){3}[[:xdigit:]]{12}$");
    uuid.is_some_and(|uuid| uuid.is_match(value))
}

fn count_distinct(bytes: &[u8]) -> usize {
    let mut seen = [false; 256];
    for byte in bytes {
        seen[usize::from(*byte)] = true;
    }
    seen.iter().filter(|seen| **seen).count()
}

#[derive(Debug, Default)]
struct Shape {
    length: usize,
    letters: usize,
    digits: usize,
    spaces: usize,
    /// Bytes that are not ASCII: prose in another script.
    wide: usize,
    /// Characters that names, paths and numbers do not contain.
    marks: usize,
    /// Digits directly before a letter.
    digit_letter: usize,
    /// Changes of case.
    odd_case: usize,
    /// Neighboring letters, and how many of these pairs are common in words.
    pairs: usize,
    common: usize,
    hex: bool,
    distinct: usize,
}

impl Shape {
    fn from_value(value: &[u8]) -> Self {
        let mut shape = Self {
            length: value.len(),
            hex: value.iter().all(u8::is_ascii_hexdigit),
            distinct: count_distinct(value),
            ..Self::default()
        };
        let mut before = 0_u8;
        for byte in value.iter().copied() {
            if byte.is_ascii_alphabetic() {
                shape.letters += 1;
                shape.digit_letter += usize::from(before.is_ascii_digit());
                if before.is_ascii_alphabetic() {
                    shape.pairs += 1;
                    shape.common += usize::from(is_common_pair(before, byte));
                    shape.odd_case +=
                        usize::from(before.is_ascii_uppercase() != byte.is_ascii_uppercase());
                }
            }
            shape.digits += usize::from(byte.is_ascii_digit());
            shape.spaces += usize::from(byte.is_ascii_whitespace());
            shape.wide += usize::from(!byte.is_ascii());
            let is_plain = b"_-./:,=+()[]'\"\\;".contains(&byte);
            shape.marks += usize::from(byte.is_ascii_punctuation() && !is_plain);
            before = byte;
        }
        shape
    }

    /// Whether words, dotted and dashed names, versions, or words with a number at their end.
    fn reads_like_words(&self) -> bool {
        let wordy = self.common * 100 >= self.pairs * 72;
        let camel = self.odd_case * 100 <= self.letters * 36;
        let few_digits = self.digit_letter <= 1 + self.length / 24;
        let mostly_letters = self.pairs * 2 >= self.length;
        self.marks == 0 && wordy && camel && (self.digits == 0 || few_digits && mostly_letters)
    }

    fn points(&self) -> usize {
        let percents = [75, 58].into_iter().filter(|_| self.pairs >= 3);
        self.digit_letter.min(2)
            + percents.filter(|percent| self.common * 100 < self.pairs * percent).count()
            + usize::from(self.odd_case * 100 >= self.letters * 36 && self.letters >= 6)
            + usize::from(self.marks > 0 && self.digits > 0)
            + usize::from(self.length >= 16 && self.distinct >= 9)
            + usize::from(self.length >= 24 && self.distinct >= 12)
    }

    /// Whether letters, digits and a mark, as password rules ask for.
    fn is_typed_password(&self) -> bool {
        self.letters >= 2 && self.digits >= 1 && self.marks >= 1 && self.length <= 40
    }

    /// Whether a salt of `WordPress`, which holds blanks.
    fn is_salt(&self) -> bool {
        let other = self.length - self.letters - self.digits - self.spaces;
        self.length >= 32
            && self.spaces * 12 <= self.length
            && other * 6 >= self.length
            && self.digits > 1
            && self.wide == 0
    }
}

fn is_common_pair(first: u8, second: u8) -> bool {
    let row = COMMON_PAIRS.get(letter_row(first));
    row.is_some_and(|row| row >> letter_row(second) & 1 == 1)
}

fn letter_row(byte: u8) -> usize {
    usize::from(byte.to_ascii_lowercase().wrapping_sub(b'a'))
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
    use super::{Strength, is_passphrase, measure_strength};

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
            assert_eq!(
                measure_strength(value.as_bytes()),
                Strength::Strong,
                "{value}"
            );
        }
    }

    #[test]
    fn people_type_medium_values() {
        for value in [
            "uonnll86!QYK", "Pass!12345", "swordfish!23", "Tr0ub4dor&3", "rqllxnyrpfca5he",
        ] {
            assert!(
                measure_strength(value.as_bytes()) >= Strength::Medium,
                "{value}"
            );
        }
    }

    #[test]
    fn names_paths_and_placeholders_are_no_secrets() {
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
            assert_eq!(
                measure_strength(value.as_bytes()),
                Strength::None,
                "{value}"
            );
        }
        assert_eq!(
            measure_strength(b"26dfe8d8-889b-4380-92ff-9c3c6ea5d930"),
            Strength::Uuid
        );
    }

    #[test]
    fn phrases_are_words_without_a_sentence() {
        for value in [
            "correct horse battery staple", "orbit velvet 42 lantern",
            "correct-horse-battery-staple", "letmein-please-now",
        ] {
            assert!(is_passphrase(value.as_bytes()), "{value}");
        }
        for value in [
            "enter your password", "at least eight characters", "Correct Horse Battery Staple",
            "two words", "kinda long, with commas", "reset-password-form",
            "orders-service-db-creds", "2024-01-02", "wide-tall form",
        ] {
            assert!(!is_passphrase(value.as_bytes()), "{value}");
        }
    }
}
