use std::borrow::Cow;

/// One line of a file, with its newline when it has one.
#[derive(Debug, Clone)]
pub(super) struct Line<'a> {
    pub(super) text: Cow<'a, [u8]>,
    /// A hunk made or checked it; others must leave it alone.
    pub(super) patched: bool,
}

/// A file as lines, with a gap where the last change was: changes in order cost what they change.
#[derive(Debug, Clone, Default)]
pub(super) struct Image<'a> {
    left: Vec<Line<'a>>,
    // The lines after the gap, the last first.
    right: Vec<Line<'a>>,
}

impl<'a> Image<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let mut left = Vec::with_capacity(bytes.len() / 32 + 1);
        let mut start = 0;
        let mut push = |from: usize, to: usize| {
            left.push(Line {
                text: Cow::Borrowed(bytes.get(from..to).unwrap_or_default()),
                patched: false,
            });
        };
        for feed in memchr::memchr_iter(b'\n', bytes) {
            push(start, feed + 1);
            start = feed + 1;
        }
        if start < bytes.len() {
            push(start, bytes.len());
        }
        Self {
            left,
            right: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.left.len() + self.right.len()
    }

    pub(super) fn line(&self, at: usize) -> Option<&Line<'a>> {
        match at.checked_sub(self.left.len()) {
            None => self.left.get(at),
            Some(after) => self.right.get(self.right.len().checked_sub(after + 1)?),
        }
    }

    /// Puts `lines` in the place of `count` lines from `at` on.
    pub(super) fn replace(
        &mut self,
        at: usize,
        count: usize,
        lines: impl Iterator<Item = Line<'a>>,
    ) {
        let moved = self.left.split_off(at.min(self.left.len()));
        self.right.extend(moved.into_iter().rev());
        while self.left.len() < at
            && let Some(line) = self.right.pop()
        {
            self.left.push(line);
        }
        self.right.truncate(self.right.len().saturating_sub(count));
        self.left.extend(lines);
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let lines = || self.left.iter().chain(self.right.iter().rev());
        let mut bytes = Vec::with_capacity(lines().map(|line| line.text.len()).sum());
        for line in lines() {
            bytes.extend_from_slice(&line.text);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::{Image, Line};

    #[test]
    fn changes_lines_in_any_order() {
        let mut image = Image::new(b"1\n2\n3\n4");
        let line = |text: &'static [u8]| Line {
            text: Cow::Borrowed(text),
            patched: true,
        };
        image.replace(3, 1, [line(b"d\n"), line(b"e")].into_iter());
        image.replace(0, 2, [line(b"a\n")].into_iter());
        assert_eq!(image.to_bytes(), b"a\n3\nd\ne");
        assert_eq!(image.len(), 4);
        assert_eq!(image.line(1).map(|it| it.patched), Some(false));
        assert_eq!(image.line(3).map(|it| it.patched), Some(true));
        assert!(image.line(4).is_none());
    }
}
