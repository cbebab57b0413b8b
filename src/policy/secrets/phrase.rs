/// Three words or more that no sentence is made of, as dice and password managers give them.
pub(super) fn is_passphrase(value: &[u8]) -> bool {
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
