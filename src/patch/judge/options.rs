//! The options and the result of a validation.

use std::borrow::Cow;

use super::super::change::Change;
use crate::model::{PatchVerdict, TestChanges};
use crate::policy::{Allowed, ChangeLimits, CommandFiles, Dependencies};

/// How to validate.
#[derive(Default)]
pub struct JudgeOptions<'a> {
    /// Mend nothing.
    pub strict: bool,
    /// Take the patch at its word: placeholders, whole files without their rest, and text that no
    /// longer parses are written as they are.
    pub as_written: bool,
    /// Undo what a diff does.
    pub reverse: bool,
    /// Leading components to strip from names; `None` finds out.
    pub strip: Option<usize>,
    /// Put before every path.
    pub directory: Cow<'a, str>,
    /// Paths that a person allowed by name.
    pub allowed: Allowed,
    /// Whether dependencies may change.
    pub dependencies: Dependencies,
    /// The files that the commands run, which a repair must leave alone.
    pub run: CommandFiles,
    /// What becomes of changed assertions of existing tests.
    pub tests: TestChanges,
    /// How the tree as it would be is looked at.
    pub after: After,
    /// Limits on size.
    pub limits: ChangeLimits,
}

/// How the tree as it would be after a patch is looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum After {
    /// Not at all.
    #[default]
    Ignored,
    /// A patch is refused that takes a file that parses to one that does not; new syntax errors are reported.
    Parses,
    /// The same, and imports that lead nowhere are reported.
    Reported,
    /// These are refused too.
    Enforced,
}

/// A verdict and, when it applies, what to write.
pub struct Judged {
    /// The verdict; without `canonical_patch`, which [`Judged::canonical_patch`] writes.
    pub verdict: PatchVerdict,
    /// What to write, in the order of paths; empty unless the verdict applies.
    pub changes: Vec<Change>,
    /// Whether the patch adds an import to a file; false when imports were not checked.
    pub gains_imports: bool,
}

impl Judged {
    /// Whether the patch applies, with or without mends.
    pub fn applies(&self) -> bool {
        self.verdict.verdict.applies()
    }

    /// What a path holds after the patch; `None` when it does not change or is no longer there.
    pub fn after(&self, path: &str) -> Option<&[u8]> {
        let mut changes = self.changes.iter();
        let change = changes.find(|change| change.path.as_str() == path)?;
        change.after.as_ref().map(|state| &*state.bytes)
    }

    /// The same change as a git patch with true line numbers, modes and blob ids.
    pub fn canonical_patch(&self) -> Vec<u8> {
        crate::patch::canonical::canonical(&self.changes)
    }
}
