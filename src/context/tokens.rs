//! Cuts a log to its budget, of which the end keeps three quarters because runners print the summary last, and estimates
//! tokens by a fixed ratio, since vocabularies differ between models and are large.

use crate::model::LogExcerpt;

/// Estimates the tokens of a text of `bytes` bytes: two tokens for every seven bytes, rounded up.
///
/// A stated ratio instead of a tokenizer: vocabularies weigh more than the whole program and differ
/// between models. On two common ones source code measures 3.9 to 4.6 bytes a token, so that the
/// estimate is above what a packet takes (`scripts/tokens.mjs`). What is certain of any vocabulary
/// over bytes is that a token takes a byte at least: no more than 3.5 times the estimate.
pub fn estimate_tokens(bytes: u64) -> u64 {
    bytes.saturating_mul(2).div_ceil(7)
}

/// The most bytes whose estimate is no more than `tokens`.
pub(super) fn bytes_of_tokens(tokens: u64) -> u64 {
    tokens.saturating_mul(7) / 2
}

/// Cuts a cleaned log to `max_bytes`: the first quarter and the last three stay, on line borders. `original_bytes` is
/// the size of the log as it was given.
pub(super) fn excerpt(
    text: &str,
    original_bytes: u64,
    redactions: u64,
    max_bytes: u64,
) -> LogExcerpt {
    let max = usize::try_from(max_bytes).unwrap_or(usize::MAX);
    let (text, omitted) = if text.len() <= max {
        (text.to_owned(), 0)
    } else {
        let head = line_border_before(text, max / 4);
        let tail = line_border_after(text, text.len() - (max - max / 4)).max(head);
        let omitted = tail - head;
        let mark = format!("[{omitted} bytes left out]\n");
        (format!("{}{mark}{}", &text[..head], &text[tail..]), omitted)
    };
    LogExcerpt {
        text,
        bytes: original_bytes,
        omitted_bytes: omitted as u64,
        redactions,
    }
}

fn line_border_before(text: &str, limit: usize) -> usize {
    let bytes = &text.as_bytes()[..limit.min(text.len())];
    memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1)
}

fn line_border_after(text: &str, limit: usize) -> usize {
    let start = limit.min(text.len());
    memchr::memchr(b'\n', &text.as_bytes()[start..]).map_or(text.len(), |at| start + at + 1)
}

#[cfg(test)]
mod tests {
    use super::{bytes_of_tokens, estimate_tokens, excerpt};

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

    #[test]
    fn keeps_head_and_tail_on_line_borders() {
        let text: String = (0..100).map(|n| format!("line {n:02}\n")).collect();
        let cut = excerpt(&text, 900, 2, 80);
        assert!(cut.text.starts_with("line 00\nline 01\n["), "{}", cut.text);
        assert!(cut.text.ends_with("line 98\nline 99\n"));
        let mark = format!("[{} bytes left out]\n", cut.omitted_bytes);
        assert_eq!(
            cut.text.len() as u64,
            800 - cut.omitted_bytes + mark.len() as u64
        );
        assert_eq!((cut.bytes, cut.redactions), (900, 2));
        assert_eq!(excerpt("a\n", 2, 0, 80).text, "a\n");
    }
}
