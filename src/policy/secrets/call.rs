use std::ops::Range;

use super::value::{Strength, strength};

/// Functions that sign or encrypt with one of their arguments, as they stand before the arguments.
#[rustfmt::skip]
pub(super) const CALLS: &[&str] = &[
    "hmac.new(", "hmac(", "createhmac(", "hmac_sha256(", "hash_hmac(", "jwt.encode(", "jwt.decode(",
    "jwt.sign(", "jwt.verify(", "fernet(", "aesgcm(", "createcipheriv(", "createdecipheriv(",
    "secretkeyspec(", "webhooks.constructevent(",
];

const MAX_CALL: usize = 512;

/// The first literal among the arguments that only a machine makes up; `after` is the place behind
/// the bracket.
pub(super) fn argument_secret(text: &[u8], after: usize) -> Option<Range<usize>> {
    let rest = text.get(after..text.len().min(after + MAX_CALL))?;
    let mut at = 0;
    while let Some(byte) = rest.get(at) {
        match byte {
            b')' | b';' => return None,
            quote @ (b'"' | b'\'' | b'`') => {
                let inside = rest.get(at + 1..)?;
                let length = memchr::memchr2(*quote, b'\n', inside)?;
                let value = inside.get(..length)?;
                if inside.get(length) == Some(quote) && strength(value) == Strength::Strong {
                    return Some(after + at + 1..after + at + 1 + length);
                }
                at += length + 2;
            }
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::policy::Redactor;

    #[test]
    fn keys_that_are_given_to_functions_are_masked() {
        for text in [
            "hmac.new(b'3f9a1c7be0d24568a1b7c9d0e2f41357', body, sha256)",
            "crypto.createHmac('sha256', 'mYNWN8Mrk9AX0XBT5Tg03Hsf').update(x)",
            "jwt.sign(payload, \"GL2rmVZs198U3txBZJSpoBT6S0oO\", { algorithm: 'HS256' })",
        ] {
            let out = Redactor::default().redact(text).text.into_owned();
            assert!(out.contains("[REDACTED:secret-argument]"), "{out}");
        }
    }

    #[test]
    fn other_arguments_are_kept() {
        for text in [
            "hmac.new(key, body).hexdigest() == '3f9a1c7be0d24568a1b7c9d0e2f41357'",
            "createHmac('sha256', secret)",
            "jwt.sign(payload, 'shhhhh')",
        ] {
            assert_eq!(Redactor::default().redact(text).text, text);
        }
    }
}
