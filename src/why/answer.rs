//! The answer of a search, as a document.

use std::time::Instant;

use super::find::{FindCause, submodules};
use super::trials::Trials;
use super::{Difference, Suspect, What};
use crate::model::WhyReason::{
    CommandNotFound, DoesNotBuild, FailsWithout, NewTest, NoBase, NoChange, NotExecutable,
};
use crate::model::{
    Remedy, RepoPath, SCHEMA_VERSION, WhyBase, WhyChange, WhyDocument, WhyReason, WhyVerdict,
};
use crate::workspace::Workspace;

/// The answer of a search.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Why no culprit is named.
    pub reason: Option<WhyReason>,
    /// The state that was compared with.
    pub base: Option<WhyBase>,
    /// The smallest set of changes with which reverted the tests pass.
    pub cause: Vec<WhyChange>,
    /// A patch that reverts it, where its lines did not change again.
    pub undo: Option<String>,
    /// Tests that fail only with it reverted.
    pub breaks: Vec<String>,
    /// The changes, likeliest first.
    pub suspects: Vec<WhyChange>,
}

impl Answer {
    /// No culprit, for a reason.
    pub fn unknown(reason: WhyReason) -> Self {
        Self {
            reason: Some(reason),
            base: None,
            cause: Vec::new(),
            undo: None,
            breaks: Vec::new(),
            suspects: Vec::new(),
        }
    }

    /// The same without a culprit, for a reason.
    pub fn with_reason(mut self, reason: WhyReason) -> Self {
        self.reason = Some(reason);
        self
    }

    /// Whether older commits cannot say more.
    pub fn is_last(&self) -> bool {
        !self.reason.is_some_and(may_lie_further)
    }

    /// Whether no change of the repository explains the failure.
    pub fn is_open(&self) -> bool {
        !self.is_last() || matches!(self.reason, Some(NoBase | CommandNotFound | NotExecutable))
    }

    // A denial needs everything reverted: a submodule never is, and of a copy an installed package may still be
    // the worktree's own.
    fn decide_verdict(&self, is_all_reverted: bool) -> WhyVerdict {
        match self.reason {
            None => WhyVerdict::Caused,
            Some(FailsWithout) if is_all_reverted => WhyVerdict::NotByThisChange,
            Some(CommandNotFound | NotExecutable) => WhyVerdict::NotRun,
            Some(_) => WhyVerdict::Unknown,
        }
    }
}

/// Whether changes that were not looked at may still hold the culprit.
pub(super) fn may_lie_further(reason: WhyReason) -> bool {
    matches!(reason, NoChange | FailsWithout | DoesNotBuild | NewTest)
}

/// Writes the document of an answer.
pub(super) fn build_document(
    find: &FindCause<'_>,
    trials: Trials<'_>,
    answer: Answer,
    started: Instant,
) -> WhyDocument {
    let workspace = find.workspace;
    let mask = |text: &str| find.redactor.mask(text);
    let masked = |change: WhyChange| WhyChange {
        diff: mask(&change.diff),
        ..change
    };
    let has_submodules = submodules(workspace).next().is_some();
    let verdict = answer.decide_verdict(!has_submodules && trials.place.kind() != "copy");
    let mut around = Vec::new();
    if verdict == WhyVerdict::Unknown {
        // Submodules that a document names as not tried.
        around.extend(submodules(workspace).take(3).map(not_tried));
    }
    if answer.is_open() {
        around.extend((find.around)(trials.red(), trials.not_run()));
    }
    let mut suspects = answer.suspects;
    let likely = trials.likely.as_deref().filter(|_| verdict != WhyVerdict::Caused);
    put_likely_first(&mut suspects, likely.unwrap_or_default());
    // Suspects that a document holds.
    let max_suspects = 20;
    let more = suspects.len().saturating_sub(max_suspects);
    suspects.truncate(max_suspects);
    let place_now = |cause| place_now(masked(cause), workspace);
    let failed_before = trials.failures.failed_before();
    let failed_before = failed_before.iter().map(|name| mask(name)).collect();
    let mut document = WhyDocument {
        schema_version: SCHEMA_VERSION,
        document: "why",
        verdict,
        reason: answer.reason,
        message: String::new(),
        command: mask(find.line),
        tests: trials.failures.tests(),
        not_rerun: trials.failures.left_out as u64,
        skipped: trials.failures.skipped(),
        failed_before,
        base: answer.base,
        cause: answer.cause.into_iter().map(place_now).collect(),
        breaks: answer.breaks.iter().map(|name| mask(name)).collect(),
        undo: answer.undo.filter(|patch| mask(patch) == *patch),
        suspects: suspects.into_iter().map(masked).collect(),
        more_suspects: more as u64,
        around,
        trials: trials.tried,
        runs: trials.runs,
        whole_runs: trials.whole_runs,
        duration_seconds: (started.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
    };
    document.message = crate::report::why_line(&document);
    document
}

fn not_tried(path: &RepoPath) -> Remedy {
    let line = format!("mendit -C {path} why");
    Remedy::new(format!("not tried: the submodule {path}"), Some(line))
}

// Changes with which reverted the tests passed once come first.
fn put_likely_first(suspects: &mut [WhyChange], likely: &[String]) {
    let with = match likely.len() {
        1 => "it reverted".to_owned(),
        count => format!("these {count} changes reverted together"),
    };
    suspects.sort_by_key(|suspect| !likely.contains(&suspect.place()));
    for suspect in suspects.iter_mut().filter(|suspect| likely.contains(&suspect.place())) {
        suspect.why = format!("the failing tests passed once with {with}");
    }
}

// The line of a committed change as the file is now, where its text is there once.
fn place_now(mut cause: WhyChange, workspace: &Workspace) -> WhyChange {
    let path = RepoPath::new(&cause.path).ok();
    let Some(path) = path.filter(|_| cause.commit.is_some() && cause.line.is_some()) else {
        return cause;
    };
    let added = cause.diff.lines().find_map(|line| line.strip_prefix('+'));
    let text = workspace.source.read(&path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines = (1_u32..).zip(text.lines());
    let mut found = lines.filter(|(_, line)| Some(line.trim_end()) == added);
    if let (Some((line, _)), None) = (found.next(), found.next()) {
        cause.line = Some(line);
    }
    cause
}

/// Changes as a document names them.
pub(super) fn describe_changes(
    difference: &Difference,
    ranked: &[Suspect],
    commit: Option<&str>,
) -> Vec<WhyChange> {
    let changes = ranked.iter().filter_map(|suspect| {
        let hunk = difference.hunks().get(suspect.hunk)?;
        let why = match &hunk.what {
            What::Moved(from) => format!("renamed from {from}, {}", suspect.why),
            What::File if difference.after(hunk).is_none() => format!("deleted, {}", suspect.why),
            _ => suspect.why.clone(),
        };
        Some(WhyChange {
            path: hunk.path.to_string(),
            line: hunk.line(),
            commit: commit.map(str::to_owned),
            why,
            // Lines of a change that a document shows.
            diff: difference.diff(hunk, 20),
        })
    });
    changes.collect()
}
