//! Cuts a file into units that are shown or left out as a whole.

use crate::languages::Outline;

/// A part of a file that is shown or left out as one: a function, a method, a test, or lines
/// between such.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// First and last line, 1-based.
    pub lines: [u32; 2],
    /// The innermost definition that the unit lies in or is, by its place in the outline.
    pub definition: Option<usize>,
}

/// Cuts a file of `lines` lines into units, in order and without gaps.
pub fn units(outline: &Outline, lines: u32) -> Vec<Unit> {
    let mut cutter = Cutter {
        outline,
        children: children(outline),
        units: Vec::new(),
    };
    if lines > 0 {
        cutter.region([1, lines], None);
    }
    cutter.units
}

/// A text by its lines.
pub struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    /// Finds where each line begins.
    pub fn new(text: &'t str) -> Self {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes());
        let mut starts: Vec<usize> = std::iter::once(0).chain(ends.map(|at| at + 1)).collect();
        starts.retain(|start| *start < text.len());
        Self { text, starts }
    }

    /// Returns how many there are.
    pub fn count(&self) -> u32 {
        self.starts.len() as u32
    }

    /// Returns the text of a range, 1-based, as far as there is one.
    pub fn cut(&self, [from, to]: [u32; 2]) -> &'t str {
        let [start, end] = [from, to + 1]
            .map(|line| self.starts.get(line as usize - 1).copied().unwrap_or(self.text.len()));
        &self.text[start..end]
    }
}

struct Cutter<'a> {
    outline: &'a Outline,
    // By definition; the last row holds the outermost ones.
    children: Vec<Vec<usize>>,
    units: Vec<Unit>,
}

impl Cutter<'_> {
    fn region(&mut self, [from, to]: [u32; 2], definition: Option<usize>) {
        // A definition up to this length is one unit; a longer one is cut at its own parts.
        let whole = definition.is_some_and(|_| to + 1 - from <= 60);
        if whole || self.children.is_empty() {
            return self.push([from, to], definition);
        }
        let row = definition.unwrap_or(self.children.len() - 1);
        let children = std::mem::take(&mut self.children[row]);
        let mut next = from;
        for child in children {
            let [start, end] = self.outline.definitions[child].lines;
            let (start, end) = (start.max(next), end.min(to));
            // Definitions of fewer lines stay with the lines around them.
            if start > end || end + 1 - start < 3 {
                continue;
            }
            self.between(next, start, definition);
            self.region([start, end], Some(child));
            next = end + 1;
        }
        self.between(next, to + 1, definition);
    }

    // The lines from `from` up to `end`, cut where statements begin.
    fn between(&mut self, mut from: u32, end: u32, definition: Option<usize>) {
        // Lines between definitions are cut into pieces of about this length.
        let max_piece = 30;
        while from < end {
            let mut to = end - 1;
            if to + 1 - from > max_piece {
                let limit = from + max_piece;
                let statements = &self.outline.statements;
                let first = statements.partition_point(|(line, _)| *line <= from);
                // The last of the outermost starts.
                let cut = statements[first..]
                    .iter()
                    .take_while(|(line, _)| *line <= limit)
                    .filter(|(line, _)| *line > from + max_piece / 3)
                    .min_by_key(|(line, depth)| (*depth, std::cmp::Reverse(*line)));
                to = cut.map_or(limit, |(line, _)| *line) - 1;
            }
            self.push([from, to], definition);
            from = to + 1;
        }
    }

    fn push(&mut self, lines: [u32; 2], definition: Option<usize>) {
        self.units.push(Unit { lines, definition });
    }
}

fn children(outline: &Outline) -> Vec<Vec<usize>> {
    let mut children = vec![Vec::new(); outline.definitions.len() + 1];
    for (at, definition) in outline.definitions.iter().enumerate() {
        let row = definition.parent.unwrap_or(outline.definitions.len());
        if let Some(row) = children.get_mut(row) {
            row.push(at);
        }
    }
    children
}

#[cfg(test)]
mod tests {
    use super::units;
    use crate::languages::outline;
    use crate::model::RepoPath;

    #[test]
    fn every_line_is_in_one_unit() {
        let body = |lines: usize| "    x = 1\n".repeat(lines);
        let text = format!(
            "import a\nimport b\n\ndef f():\n{}\nclass C:\n    y = 2\n\n    def m(self):\n{}\n    def n(self):\n{}",
            body(5),
            body(70),
            body(4)
        );
        let path = RepoPath::new("a.py").unwrap();
        let lines = text.lines().count() as u32;
        let found = units(&outline(&path, text.as_bytes()), lines);
        let mut next = 1;
        for unit in &found {
            assert_eq!(unit.lines[0], next, "{found:?}");
            next = unit.lines[1] + 1;
        }
        assert_eq!(next, lines + 1);
        assert!(found.iter().any(|it| it.lines == [4, 9]), "{found:?}");
        assert!(found.iter().all(|it| it.lines[1] + 1 - it.lines[0] <= 60));
        assert!(units(&outline(&path, b""), 0).is_empty());
    }
}
