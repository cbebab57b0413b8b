//! Collects problems and corrections into a verdict.

use super::Judged;
use crate::model::{Code, HunkVerdict, PatchProblem, PatchVerdict, Refusal, Severity, Verdict};
use crate::patch::change::Change;
use crate::patch::feedback::write_feedback;
use crate::patch::set::PatchSet;

/// The verdict while it is being made.
pub(super) struct Report {
    pub(super) verdict: PatchVerdict,
    worst: Option<Verdict>,
    /// The hunks of the section that is being placed.
    pub(super) hunks: Vec<HunkVerdict>,
    /// All of the patch is there already.
    pub(super) is_applied: bool,
    pub(super) gains_imports: bool,
}

impl Report {
    pub(super) fn new(set: &PatchSet<'_>) -> Self {
        let mut verdict = PatchVerdict::new(Verdict::Applies, Some(set.format));
        verdict.mends.clone_from(&set.mends);
        let mut report = Self {
            verdict,
            worst: None,
            hunks: Vec::new(),
            is_applied: false,
            gains_imports: false,
        };
        set.problems.iter().cloned().for_each(|problem| report.add(problem));
        report
    }

    /// Returns the verdict on an input without a patch.
    pub(super) fn refused(refusal: Refusal) -> Judged {
        let mut verdict = PatchVerdict::new(refusal.verdict(), None);
        verdict.error_code = Some(refusal.code);
        verdict.problems.push(refusal.problem(None, 0));
        verdict.feedback = write_feedback(&verdict);
        Judged {
            verdict,
            changes: Vec::new(),
            gains_imports: false,
        }
    }

    pub(super) fn is_refused(&self) -> bool {
        self.worst.is_some()
    }

    /// Whether nothing speaks against the patch so far and there is something to write.
    pub(super) fn goes_on(&self) -> bool {
        self.worst.is_none() && !self.is_applied
    }

    pub(super) fn add_plain(&mut self, code: Code, message: impl Into<String>) {
        self.add(PatchProblem::new(code, message));
    }

    pub(super) fn add(&mut self, problem: PatchProblem) {
        // A section whose hunk header cannot be read only seems to change nothing.
        let is_unread = self.verdict.error_code == Some(Code::P307);
        if is_unread && problem.code == Code::P305 {
            return;
        }
        if problem.severity == Severity::Error && problem.code.verdict() > self.worst {
            self.worst = problem.code.verdict();
            self.verdict.error_code = Some(problem.code);
        }
        self.verdict.problems.push(problem);
    }

    /// Refuses a patch that needed mends.
    pub(super) fn refuse_mends(&mut self) {
        let first = self.verdict.mends.first().cloned();
        if let Some(first) = first.filter(|_| self.worst.is_none()) {
            let message = format!("it would need a correction: {}", first.message);
            self.add(PatchProblem::new(Code::P309, message).at(None, first.patch_line));
        }
    }

    /// Ends with the verdict, and with the changes when they may be written.
    pub(super) fn emit(mut self, changes: Vec<Change>) -> Judged {
        let applies = self.goes_on();
        let verdict = &mut self.verdict;
        verdict.verdict = match self.worst {
            Some(worst) => worst,
            None if self.is_applied => Verdict::AlreadyApplied,
            None if verdict.mends.is_empty() => Verdict::Applies,
            None => Verdict::AppliesMended,
        };
        verdict.mends.retain(|_| applies || self.is_applied);
        verdict.mends.sort_by_key(|mend| mend.patch_line);
        verdict.problems.sort_by_key(|problem| problem.patch_line);
        verdict.feedback = write_feedback(verdict);
        Judged {
            verdict: self.verdict,
            changes: if applies { changes } else { Vec::new() },
            gains_imports: self.gains_imports,
        }
    }
}
