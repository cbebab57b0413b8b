use std::borrow::Cow;

/// One line of a file, with its newline when it has one.
#[derive(Debug, Clone)]
pub(super) struct Line<'a> {
    pub(super) text: Cow<'a, [u8]>,
    /// A hunk made or checked it; others must leave it alone.
    pub(super) patched: bool,
}

/// A file as lines.
#[derive(Debug, Clone, Default)]
pub(super) struct Image<'a> {
    lines: Vec<Line<'a>>,
}

impl<'a> Image<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let lines = bytes
            .split_inclusive(|byte| *byte == b'\n')
            .map(|line| Line {
                text: Cow::Borrowed(line),
                patched: false,
            });
        Self {
            lines: lines.collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn line(&self, at: usize) -> Option<&Line<'a>> {
        self.lines.get(at)
    }

    /// Puts `lines` in the place of `count` lines from `at` on.
    pub(super) fn replace(
        &mut self,
        at: usize,
        count: usize,
        lines: impl Iterator<Item = Line<'a>>,
    ) {
        let at = at.min(self.lines.len());
        let end = (at + count).min(self.lines.len());
        self.lines.splice(at..end, lines);
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.lines.iter().map(|line| line.text.len()).sum());
        for line in &self.lines {
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
