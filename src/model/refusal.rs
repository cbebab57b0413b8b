use super::{Code, Excerpt, FirstDifference, Nearest, PatchProblem, Severity, Verdict};

/// Why a patch, a section or a hunk is refused. The verdict is that of the code.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The stable code.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// What the file has where the patch expects something else.
    pub mismatch: Box<Mismatch>,
}

/// What a person or model needs to see about a hunk that has no place.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mismatch {
    /// Where it stops matching.
    pub difference: Option<FirstDifference>,
    /// All lines where it would fit, counted from 1.
    pub candidates: Vec<u64>,
    /// The block of the file that is most like it.
    pub nearest: Option<Nearest>,
    /// Lines of the file around the places it may have meant.
    pub excerpts: Vec<Excerpt>,
}

impl Refusal {
    /// A refusal without a hint.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: None,
            mismatch: Box::default(),
        }
    }

    /// The same with a hint.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// The verdict of what is refused.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.code.verdict().unwrap_or(Verdict::Refused)
    }

    /// The same as a document tells it.
    #[must_use]
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

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}
