//! What the fuzz targets do with bytes, and what has to hold.

use mendit::model::{RepoPath, Verdict};
use mendit::patch::{Body, JudgeOptions, ReadOptions, judge, read};
use mendit::source::Memory;

/// Reads any bytes as a patch: no panic, no endless work, and every hunk has lines to show.
pub fn reader(bytes: &[u8]) {
    let _ = read(bytes, &ReadOptions::default(), |set| {
        for file in &set.files {
            let Body::Hunks(hunks) = &file.body else {
                continue;
            };
            for hunk in hunks {
                assert!(hunk.line > 0 && hunk.loose_tail <= hunk.lines.len());
            }
        }
    });
}

/// Splits the input at the first NUL into a file and a patch for it, and judges the patch.
///
/// Nothing changes unless the verdict applies. The canonical patch of a result leads from the same
/// file to the same result, needs no mending, and is then applied already.
pub fn placer(bytes: &[u8]) {
    let Some(at) = bytes.iter().position(|byte| *byte == 0) else {
        return;
    };
    let (file, patch) = (&bytes[..at], &bytes[at + 1..]);
    let Ok(path) = RepoPath::new("f") else {
        return;
    };
    let source = Memory::new([(path.clone(), file.to_vec())]);
    let options = JudgeOptions::default();
    let judged = judge(patch, &source, &options);
    if !judged.verdict.verdict.applies() {
        assert!(judged.changes.is_empty());
        return;
    }
    let again = judge(&judged.canonical_patch(), &source, &options);
    assert_eq!(again.verdict.verdict, Verdict::Applies);
    let after = |judged: &mendit::patch::Judged| -> Vec<_> {
        let changes = judged.changes.iter();
        changes
            .map(|change| (change.path.clone(), change.after.clone()))
            .collect()
    };
    assert_eq!(after(&again), after(&judged));
}

#[cfg(test)]
mod tests {
    use super::{placer, reader};

    #[test]
    fn holds_for_a_seed() {
        let patch = b"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n";
        reader(patch);
        placer(&[&b"a\n\0"[..], patch].concat());
    }
}
