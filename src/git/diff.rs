//! Computes line diffs, and merges texts.

use std::ops::Range;

use gix::diff::blob::unified_diff::{ConsumeHunk, ContextSize, DiffLineKind, HunkHeader};
use gix::diff::blob::{Algorithm, InternedInput, UnifiedDiff, diff_with_slider_heuristics};
pub use gix::merge::blob::builtin_driver::text::Conflict as MergeConflict;
use gix::merge::blob::builtin_driver::text::{Labels, Options};

use super::Repository;

/// The hunks of a unified diff with three lines of context; empty when the texts are the same.
pub fn unified_hunks(before: &str, after: &str) -> String {
    let input = InternedInput::new(before.as_bytes(), after.as_bytes());
    let diff = diff_with_slider_heuristics(Algorithm::Histogram, &input);
    // Writing to a String cannot fail.
    UnifiedDiff::new(
        &diff,
        &input,
        Hunks(String::new()),
        ContextSize::symmetrical(3),
    )
    .consume()
    .unwrap_or_default()
}

/// The runs of lines that differ, in order: lines of `before` that go, lines of `after` that come,
/// both counted from 0.
pub fn changed_lines(before: &[u8], after: &[u8]) -> Vec<(Range<usize>, Range<usize>)> {
    let input = InternedInput::new(before, after);
    let diff = diff_with_slider_heuristics(Algorithm::Histogram, &input);
    diff.hunks().map(|hunk| (wide(hunk.before), wide(hunk.after))).collect()
}

fn wide(range: Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

struct Hunks(String);

impl ConsumeHunk for Hunks {
    type Out = String;

    fn consume_hunk(
        &mut self,
        header: HunkHeader,
        lines: &[(DiffLineKind, &[u8])],
    ) -> std::io::Result<()> {
        self.0.push_str(&format!(
            "@@ -{},{} +{},{} @@\n",
            first_line(header.before_hunk_start, header.before_hunk_len),
            header.before_hunk_len,
            first_line(header.after_hunk_start, header.after_hunk_len),
            header.after_hunk_len
        ));
        for (kind, line) in lines {
            self.0.push(match kind {
                DiffLineKind::Context => ' ',
                DiffLineKind::Add => '+',
                DiffLineKind::Remove => '-',
            });
            self.0.push_str(&String::from_utf8_lossy(line));
            if !line.ends_with(b"\n") {
                self.0.push_str("\n\\ No newline at end of file\n");
            }
        }
        Ok(())
    }

    fn finish(self) -> String {
        self.0
    }
}

// An empty side starts at line 0.
fn first_line(start: u32, len: u32) -> u32 {
    if len == 0 { start.saturating_sub(1) } else { start }
}

impl Repository {
    /// Merges what leads from `base` to `theirs` into `ours`, with conflicts settled or else marked as the
    /// configuration says; gives the text, and whether conflicts are left.
    pub fn merge_texts(
        &self,
        [ours, base, theirs]: [&[u8]; 3],
        settled: Option<MergeConflict>,
    ) -> (Vec<u8>, bool) {
        let options = self.local().blob_merge_options();
        let mut options = options.map_or_else(|_| Options::default(), |options| options.text);
        options.conflict = settled.unwrap_or(options.conflict);
        let labels = Labels {
            ancestor: Some("base".into()),
            current: Some("ours".into()),
            other: Some("theirs".into()),
        };
        let (mut out, mut input) = (Vec::new(), gix::diff::blob::InternedInput::default());
        let resolution = gix::merge::blob::builtin_driver::text(
            &mut out, &mut input, labels, ours, base, theirs, options,
        );
        (out, resolution == gix::merge::blob::Resolution::Conflict)
    }
}

#[cfg(test)]
mod tests {
    use super::unified_hunks;

    #[test]
    fn hunks_read_as_git_writes_them() {
        assert_eq!(unified_hunks("a\nb\n", "a\nb\n"), "");
        assert_eq!(
            unified_hunks("a\nb\n", "a\nc"),
            "@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n"
        );
        assert_eq!(unified_hunks("", "a\n"), "@@ -0,0 +1,1 @@\n+a\n");
        assert_eq!(unified_hunks("a\n", ""), "@@ -1,1 +0,0 @@\n-a\n");
        assert_eq!(
            unified_hunks("1\n2\n3\n4\n5\n", "1\n2\n3\n4\nx\n5\n"),
            "@@ -2,4 +2,5 @@\n 2\n 3\n 4\n+x\n 5\n"
        );
    }
}
