use crate::model::Code;

/// What came of proving a fixture.
#[derive(Debug, Clone, Default)]
pub struct Proof {
    /// Programs it needs and that are not here; then nothing was run.
    pub missing: Vec<String>,
    /// What does not hold.
    pub problems: Vec<ProofProblem>,
}

/// One thing that a fixture says and that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProofProblem {
    /// The stable code.
    pub code: Code,
    /// One sentence.
    pub message: String,
}

impl Proof {
    /// Whether all of it holds; one that was skipped does not count as proven.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.missing.is_empty() && self.problems.is_empty()
    }

    pub(super) fn say(&mut self, code: Code, message: impl Into<String>) {
        self.problems.push(ProofProblem {
            code,
            message: message.into(),
        });
    }
}
