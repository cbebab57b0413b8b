use std::collections::BTreeMap;

use super::Fixture;
use crate::model::{FileMode, Level, PacketFile};
use crate::patch::{Body, Hunk, LineKind, PatchSet, ReadOptions, Side, read};

/// What the reference does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileChange {
    /// The file; one that the reference makes has no lines to be seen.
    pub(super) path: String,
    /// Places in it, as the reference has hunks.
    pub(super) places: usize,
    /// Groups of lines, counted from 1: of each group one must be seen. A line that goes is a group
    /// of its own; for a line that comes, the lines around its place are one.
    pub(super) lines: Vec<Vec<u32>>,
}

/// What the reference of a fixture does, by file.
pub(super) fn reference_changes(fixture: &Fixture) -> Vec<FileChange> {
    let Some(reference) = &fixture.reference else {
        return Vec::new();
    };
    read(reference, &ReadOptions::default(), changes_of).unwrap_or_default()
}

fn changes_of(set: PatchSet<'_>) -> Vec<FileChange> {
    let mut changes = Vec::new();
    for file in set.files {
        let Some(name) = file.headers.plus.as_ref().and_then(Side::name) else {
            continue;
        };
        let name = String::from_utf8_lossy(name);
        let made = matches!(file.headers.minus, Some(Side::Null | Side::Epoch(_)));
        let Body::Hunks(hunks) = &file.body else {
            continue;
        };
        changes.push(FileChange {
            path: name.strip_prefix("b/").unwrap_or(&name).to_owned(),
            places: hunks.len(),
            lines: hunks.iter().filter(|_| !made).flat_map(lines_of).collect(),
        });
    }
    changes
}

// The header counts from the line before when there is no old line.
fn lines_of(hunk: &Hunk<'_>) -> Vec<Vec<u32>> {
    let Some((first, count)) = hunk.old else {
        return Vec::new();
    };
    let mut next = first.saturating_add(u32::from(count == 0));
    let mut groups: Vec<Vec<u32>> = Vec::new();
    let mut replaces = false;
    for line in &hunk.lines {
        match line.kind {
            LineKind::Context => replaces = false,
            LineKind::Remove => {
                groups.push(vec![next]);
                replaces = true;
            }
            LineKind::Add if !replaces => {
                let around = [next.saturating_sub(1), next];
                let around = around.into_iter().filter(|line| *line > 0);
                groups.push(around.collect());
                replaces = true;
            }
            LineKind::Add => {}
        }
        if line.kind != LineKind::Add {
            next = next.saturating_add(1);
        }
    }
    groups
}

/// A file of a packet, as far as sight goes.
pub(super) struct ShownFile<'a> {
    /// Where it is.
    pub(super) path: &'a str,
    /// How much of it is there.
    pub(super) mode: FileMode,
    /// The lines that are there; none is all of them.
    pub(super) ranges: &'a [[u32; 2]],
}

impl<'a> From<&'a PacketFile> for ShownFile<'a> {
    fn from(file: &'a PacketFile) -> Self {
        Self {
            path: file.path.as_str(),
            mode: file.mode,
            ranges: &file.ranges,
        }
    }
}

impl ShownFile<'_> {
    fn shows(&self, line: u32) -> bool {
        self.mode == FileMode::Full
            || self
                .ranges
                .iter()
                .any(|[from, to]| (*from..=*to).contains(&line))
    }
}

/// What a packet lacks for the repair.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Lacking {
    /// Needed files that are in it neither whole nor in part.
    pub(super) files: Vec<String>,
    /// Needed files that are in it without a line that the repair changes.
    pub(super) lines: Vec<String>,
}

impl Lacking {
    /// Every file that is not there as the repair needs it.
    pub(super) fn all(&self) -> Vec<&str> {
        let all = self.files.iter().chain(&self.lines);
        all.map(String::as_str).collect()
    }
}

/// What some files of a packet lack for the repair of a fixture.
pub(super) fn lacking<'a>(
    fixture: &Fixture,
    packet: impl IntoIterator<Item = ShownFile<'a>>,
) -> Lacking {
    let packet: BTreeMap<&str, ShownFile<'_>> =
        packet.into_iter().map(|file| (file.path, file)).collect();
    let changes = reference_changes(fixture);
    let mut lacking = Lacking::default();
    for path in &fixture.needed {
        let Some(file) = packet.get(path.as_str()) else {
            lacking.files.push(path.to_string());
            continue;
        };
        let mut groups = changes
            .iter()
            .filter(|change| change.path == path.as_str())
            .flat_map(|change| &change.lines);
        if groups.any(|group| !group.iter().any(|line| file.shows(*line))) {
            lacking.lines.push(path.to_string());
        }
    }
    lacking
}

/// The rungs at which packets first held and first showed what a repair needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Rungs {
    /// Every needed file, whole or in part.
    pub(super) held: Option<Level>,
    /// And every line that changes.
    pub(super) shown: Option<Level>,
}

impl Rungs {
    /// Takes a packet into account.
    pub(super) fn see(&mut self, level: Level, lacking: &Lacking) {
        let lower = |before: Option<Level>| Some(before.map_or(level, |it| it.min(level)));
        if lacking.files.is_empty() {
            self.held = lower(self.held);
            if lacking.lines.is_empty() {
                self.shown = lower(self.shown);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::load_fixtures;
    use super::{FileMode, ReadOptions, ShownFile, changes_of, lacking, read};

    #[test]
    fn lines_to_be_seen_are_those_of_the_old_side() {
        let rows: [(&str, &[&[u32]]); 6] = [
            ("@@ -3,3 +3,3 @@\n a\n-b\n+B\n c\n", &[&[4]]),
            ("@@ -3,2 +3,3 @@\n a\n+b\n c\n", &[&[3, 4]]),
            ("@@ -1,2 +1,3 @@\n+z\n a\n c\n", &[&[1]]),
            ("@@ -1,4 +1,3 @@\n a\n-b\n-c\n+d\n e\n", &[&[2], &[3]]),
            ("@@ -0,1 +1,2 @@\n+z\n a\n", &[&[]]),
            ("@@ -5,3 +5,4 @@\n-a\n b\n+B\n c\n", &[&[5], &[6, 7]]),
        ];
        for (hunk, wanted) in rows {
            let patch = format!("diff --git a/f b/f\n--- a/f\n+++ b/f\n{hunk}");
            let found = read(patch.as_bytes(), &ReadOptions::default(), changes_of).unwrap();
            assert_eq!(found[0].path, "f");
            assert_eq!(found[0].lines, wanted, "{hunk}");
        }
    }

    // A file, how much of it is there, and how many files and lines are lacking then.
    type Row = (&'static str, FileMode, &'static [[u32; 2]], (usize, usize));

    #[test]
    fn a_file_counts_when_its_lines_are_shown() {
        let (home, path) = (tempfile::tempdir().unwrap(), "app.py");
        let one = home.path().join("one");
        std::fs::create_dir_all(one.join("repo")).unwrap();
        std::fs::write(one.join("repo/app.py"), "a\n").unwrap();
        std::fs::write(one.join("fixture.toml"), MANIFEST).unwrap();
        let patch = "--- a/app.py\n+++ b/app.py\n@@ -4,2 +4,2 @@\n a\n-b\n+c\n";
        std::fs::write(one.join("reference.patch"), patch).unwrap();
        let fixture = load_fixtures(&one).unwrap().remove(0);
        let rows: [Row; 4] = [
            ("other.py", FileMode::Full, &[], (1, 0)),
            (path, FileMode::Full, &[], (0, 0)),
            (path, FileMode::Window, &[[1, 2], [5, 9]], (0, 0)),
            (path, FileMode::Skeleton, &[[1, 4]], (0, 1)),
        ];
        for (path, mode, ranges, wanted) in rows {
            let found = lacking(&fixture, [ShownFile { path, mode, ranges }]);
            let counts = (found.files.len(), found.lines.len());
            assert_eq!(counts, wanted, "{path} {ranges:?}");
        }
        assert!(fixture.is_toy());
    }

    const MANIFEST: &str = r#"
title = "A letter is wrong"
language = "python"
test = "python3 app.py"
needs = ["python3"]
needed = ["app.py"]
level = 0
heal-safe = false

[expect]
kind = "runtime_error"
status = "fixed"
stop-reason = "fixed"
"#;
}
