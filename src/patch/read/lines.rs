/// The lines of an input, without their line feeds.
pub(super) struct Lines<'a> {
    lines: Vec<&'a [u8]>,
    /// Whether the last line has no line feed.
    pub(super) cut: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let mut lines = Vec::with_capacity(bytes.len() / 32 + 1);
        let mut start = 0;
        for feed in memchr::memchr_iter(b'\n', bytes) {
            lines.push(bytes.get(start..feed).unwrap_or_default());
            start = feed + 1;
        }
        let rest = bytes.get(start..).unwrap_or_default();
        let cut = !rest.is_empty();
        if cut {
            lines.push(rest);
        }
        Self { lines, cut }
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The line at this index; empty past the end.
    pub(super) fn get(&self, at: usize) -> &'a [u8] {
        self.lines.get(at).copied().unwrap_or_default()
    }

    /// The line at this index, when there is one.
    pub(super) fn line(&self, at: usize) -> Option<&'a [u8]> {
        self.lines.get(at).copied()
    }
}

/// A line number as documents count them.
pub(super) fn number(at: usize) -> u32 {
    u32::try_from(at + 1).unwrap_or(u32::MAX)
}
