//! The document of `mendit check`: the verdict on a patch.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Code, Exit, SCHEMA_VERSION, Severity, StopReason, Verdict};

/// The validation result of one patch (`patch-verdict`, and `preflight.json` in a run).
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PatchVerdict {
    /// Version of this document's shape.
    pub schema_version: u32,
    /// Always `patch-verdict`.
    pub document: &'static str,
    /// The answer.
    pub verdict: Verdict,
    /// The code of the first problem that is an error.
    pub error_code: Option<Code>,
    /// The format of the input; `null` if it is not a patch.
    pub format: Option<PatchFormat>,
    /// One entry for each file the patch names, in the order of the patch.
    pub files: Vec<FileVerdict>,
    /// Corrections, in the order of the patch.
    pub mends: Vec<Mend>,
    /// Problems and warnings, in the order of the patch.
    pub problems: Vec<PatchProblem>,
    /// Places that parse in the tree and no longer parse after the patch.
    pub new_syntax_errors: Vec<AfterProblem>,
    /// Imports that the patch adds and that do not resolve.
    pub new_unresolved_imports: Vec<AfterProblem>,
    /// The same change as a git patch with true line numbers and blob ids; `null` unless it applies.
    pub canonical_patch: Option<String>,
    /// The tree object that `apply --tree` or `--commit` wrote.
    pub tree_id: Option<String>,
    /// A short text for the author of the patch about what to send instead; empty if it applies.
    pub feedback: String,
}

impl PatchVerdict {
    /// Returns the exit code of a command that validated this patch.
    pub fn exit(&self) -> Exit {
        self.error_code.map_or(self.verdict.exit(), Code::exit)
    }

    /// How an attempt at a repair ends whose patch this is, when it does not apply.
    pub fn stop_reason(&self) -> StopReason {
        self.error_code
            .and_then(Code::stop_reason)
            .unwrap_or(self.verdict.stop_reason())
    }

    /// New problems that the patch causes: syntax first, then imports.
    pub fn broken(&self) -> impl Iterator<Item = &AfterProblem> {
        self.new_syntax_errors.iter().chain(&self.new_unresolved_imports)
    }

    /// An empty verdict that says `verdict`.
    pub fn new(verdict: Verdict, format: Option<PatchFormat>) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            document: "patch-verdict",
            verdict,
            format,
            ..Self::default()
        }
    }
}

/// The format a patch came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PatchFormat {
    /// `diff --git` sections.
    Git,
    /// `---`, `+++` and `@@` without git's headers.
    Unified,
    /// SEARCH/REPLACE blocks.
    SearchReplace,
    /// The `*** Begin Patch` envelope.
    ApplyPatch,
    /// JSON edits with old and new text.
    Edits,
    /// JSON with whole files.
    WholeFile,
}

/// The validation result of one file of the patch.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileVerdict {
    /// The file after the patch, or the one deleted.
    pub path: String,
    /// Where it came from, for renames and copies.
    pub old_path: Option<String>,
    /// The operation on it.
    pub operation: Operation,
    /// git's mode after the patch in octal, such as `100644`; `null` when unchanged or deleted.
    pub mode: Option<String>,
    /// One entry for each hunk, in the order of the patch.
    pub hunks: Vec<HunkVerdict>,
}

/// The operation of a patch on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Changes content, mode or both.
    Modify,
    /// Makes a new file.
    Create,
    /// Removes the file.
    Delete,
    /// Moves the file, perhaps with changes.
    Rename,
    /// Copies the file, perhaps with changes.
    Copy,
}

/// The validation result of one hunk.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HunkVerdict {
    /// Counted from 1 within the file.
    pub index: usize,
    /// The answer.
    pub verdict: Verdict,
    /// The line the hunk names, counted from 1; `null` when it names none.
    pub line: Option<u64>,
    /// The target line in the file, counted from 1.
    pub applied_at: Option<u64>,
    /// Why it does not apply.
    pub code: Option<Code>,
    /// The same in words.
    pub message: String,
    /// The lines of the file where it expects others.
    #[serde(flatten)]
    pub mismatch: Mismatch,
}

impl HunkVerdict {
    /// Starts the verdict of a hunk as applied; `line` is the line that its header names.
    pub(crate) fn new(index: usize, line: Option<u64>) -> Self {
        Self {
            index,
            line,
            ..Self::default()
        }
    }

    /// Takes over why it does not.
    pub(crate) fn fail(&mut self, refusal: &Refusal) {
        self.verdict = refusal.verdict();
        self.code = Some(refusal.code);
        self.message.clone_from(&refusal.message);
        self.mismatch.clone_from(&refusal.mismatch);
    }
}

/// Lines of a file in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The number of the first, counted from 1.
    pub first: u64,
    /// The lines without their ends, lossily decoded.
    pub lines: Vec<String>,
}

/// The first line of a hunk that differs from the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FirstDifference {
    /// Line of the patch, counted from 1.
    pub patch_line: u64,
    /// Line of the file, counted from 1.
    pub file_line: u64,
    /// The line of the patch, lossily decoded.
    pub expected: String,
    /// The line of the file; `null` past its end.
    pub actual: Option<String>,
}

/// One correction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Mend {
    /// The code of the correction.
    pub code: Code,
    /// How certain it is.
    pub safety: Safety,
    /// Line of the patch, counted from 1.
    pub patch_line: u64,
    /// A description.
    pub message: String,
}

impl Mend {
    /// Creates a correction at a line of the patch.
    pub fn new(code: Code, safety: Safety, line: impl Into<u64>, message: &str) -> Self {
        Self {
            code,
            safety,
            patch_line: line.into(),
            message: message.to_owned(),
        }
    }
}

/// How far a correction can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Safety {
    /// The input and the file leave only one interpretation.
    Safe,
    /// Only one interpretation is left, but part of the input was lost.
    Lossy,
}

/// One problem of a patch, or a note about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PatchProblem {
    /// The problem.
    pub code: Code,
    /// Whether it stops the patch.
    pub severity: Severity,
    /// The file concerned, when one is known; lossily decoded.
    pub path: Option<String>,
    /// Line of the patch, counted from 1; 0 for the patch as a whole.
    pub patch_line: u64,
    /// The problem.
    pub message: String,
    /// How to correct it.
    pub hint: Option<String>,
}

/// How to treat a patch that changes assertions of existing tests together with product code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TestChanges {
    /// Report a warning
    #[default]
    Warn,
    /// Refuse the patch
    #[serde(rename = "deny")]
    Refused,
}

impl PatchProblem {
    /// A problem of the patch as a whole, as severe as its code.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            path: None,
            patch_line: 0,
            message: message.into(),
            hint: None,
        }
    }

    /// The same at a place.
    pub fn at(mut self, path: Option<&str>, patch_line: u64) -> Self {
        self.path = path.map(str::to_owned);
        self.patch_line = patch_line;
        self
    }

    /// The same where it stops nothing.
    pub fn as_warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// The problem, with the file first if it is known.
    pub fn text(&self) -> String {
        match &self.path {
            Some(path) => format!("{path}: {}", self.message),
            None => self.message.clone(),
        }
    }
}

/// A place in the tree after the patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AfterProblem {
    /// The problem.
    pub code: Code,
    /// The file.
    pub path: String,
    /// Its line after the patch, counted from 1.
    pub line: u64,
    /// The problem.
    pub message: String,
}

/// Why a patch, a section or a hunk is refused. The verdict is that of the code.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The stable code.
    pub code: Code,
    /// The problem.
    pub message: String,
    /// How to correct it.
    pub hint: Option<String>,
    /// The lines of the file where the patch expects others.
    pub mismatch: Box<Mismatch>,
}

/// The lines that a human or model needs to see for a hunk without a place.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Mismatch {
    /// Where it stops matching.
    #[serde(rename = "firstDifference")]
    pub difference: Option<FirstDifference>,
    /// All lines where it would fit, counted from 1, when there are several.
    pub candidates: Vec<u64>,
    /// Lines of the file around the places it may have meant, as the feedback shows them.
    #[serde(skip)]
    pub excerpts: Vec<Excerpt>,
}

/// The refusal without a hint, as a result.
pub(crate) fn refuse<T>(code: Code, message: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::new(code, message))
}

impl Refusal {
    /// A refusal without a hint.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: None,
            mismatch: Box::default(),
        }
    }

    /// The same with a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The verdict of a patch with this problem.
    pub fn verdict(&self) -> Verdict {
        self.code.verdict().unwrap_or(Verdict::Refused)
    }

    /// Converts it to the form that a document holds.
    pub fn problem(self, path: Option<&str>, patch_line: u64) -> PatchProblem {
        PatchProblem {
            code: self.code,
            severity: Severity::Error,
            path: path.map(str::to_owned),
            patch_line,
            message: self.message,
            hint: self.hint,
        }
    }
}
