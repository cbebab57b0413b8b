//! Estimates tokens by a fixed ratio, since vocabularies differ between models and are large.

/// Estimates the tokens of a text of `bytes` bytes: two tokens for every seven bytes, rounded up.
///
/// A stated ratio instead of a tokenizer: vocabularies weigh more than the whole program and differ
/// between models. On two common ones source code measures 3.9 to 4.6 bytes a token, so that the
/// estimate is above what a packet takes (`scripts/tokens.mjs`). What is certain of any vocabulary
/// over bytes is that a token takes a byte at least: no more than 3.5 times the estimate.
#[must_use]
pub fn estimate_tokens(bytes: u64) -> u64 {
    bytes.saturating_mul(2).div_ceil(7)
}

/// The most bytes whose estimate is no more than `tokens`.
pub(super) fn bytes_of_tokens(tokens: u64) -> u64 {
    tokens.saturating_mul(7) / 2
}

#[cfg(test)]
mod tests {
    use super::{bytes_of_tokens, estimate_tokens};

    proptest::proptest! {
        // The most that a vocabulary over bytes can take is one token for each byte.
        #[test]
        fn bounds_every_vocabulary_over_bytes(sizes in proptest::collection::vec(0u64..1 << 40, 0..50)) {
            let bytes: u64 = sizes.iter().sum();
            let estimate: u64 = sizes.iter().map(|it| estimate_tokens(*it)).sum();
            proptest::prop_assert!(bytes * 2 <= estimate * 7);
            proptest::prop_assert!(estimate <= estimate_tokens(bytes) + sizes.len() as u64);
        }
    }

    #[test]
    fn rounds_up() {
        assert_eq!([0, 1, 7, 8].map(estimate_tokens), [0, 1, 2, 3]);
        for tokens in 0..20 {
            let bytes = bytes_of_tokens(tokens);
            assert!(estimate_tokens(bytes) <= tokens && estimate_tokens(bytes + 1) > tokens);
        }
    }
}
