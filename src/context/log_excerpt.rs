//! Cuts a log to its budget. The end keeps three quarters, because runners print the summary last.

use crate::model::LogExcerpt;

/// Cuts a cleaned log to `max_bytes`: the first quarter and the last three stay, on line borders. `original_bytes` is the size of the log as it was given.
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
    use super::excerpt;

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
