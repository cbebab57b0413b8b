//! Compares the failure before and after a change.

use super::attempt::{Attempt, Trial};
use super::progress::{Effect, effect};
use super::run::Session;
use crate::model::{FailureKind, Observed, StopReason};
use crate::patch::Change;

/// What a run says of a change.
pub(super) struct Judged {
    pub(super) reason: StopReason,
    pub(super) message: String,
    /// Whether the failure is a step further.
    pub(super) is_progress: bool,
}

/// Compares what failed before a change with a run with it.
pub(super) fn judge_outcome(attempt: &Attempt<'_>, after: &Observed, changes: &[Change]) -> Judged {
    let none = Observed::default();
    let before = attempt.before.as_ref().unwrap_or(&none);
    let effect = match &attempt.before {
        None if !after.passed => Effect::Same,
        _ => effect(before, after, changes),
    };
    let mut focus = attempt.focus.iter();
    let part_passes = !attempt.focus.is_empty()
        && !after.failing_tests.is_empty()
        && focus.all(|test| !after.failing_tests.contains(test));
    let next = match next_error(after) {
        same if same == next_error(before) => format!("still fails: {same}"),
        other => format!("now fails with another error: {other}"),
    };
    match effect {
        Effect::Fixed => judged(StopReason::Fixed, "the test command passes", true),
        Effect::Better if part_passes => {
            judged(StopReason::Fixed, "the tests of this part pass", true)
        }
        Effect::Better => judged(StopReason::TestsChanged, &what_is_gone(before, after), true),
        // Without an agent, no later attempt corrects a change that only gets further.
        Effect::Further => judged(
            StopReason::TestsChanged,
            &format!("gets further, but {next}"),
            attempt.heal.is_none() || parses_now(before, after),
        ),
        Effect::Same => judged(StopReason::StillFailing, "fails with the same error", false),
        Effect::Changed => judged(StopReason::TestsChanged, &next, false),
        Effect::Regressed if after.test_result.timed_out => judged(
            StopReason::CommandTimeout,
            "no longer finishes within the time limit",
            false,
        ),
        Effect::Regressed => {
            let message = "something that passed before now fails";
            judged(StopReason::Regressed, message, false)
        }
    }
}

fn judged(reason: StopReason, message: &str, is_progress: bool) -> Judged {
    Judged {
        reason,
        message: message.to_owned(),
        is_progress,
    }
}

pub(super) fn parses_now(before: &Observed, after: &Observed) -> bool {
    before.kind == FailureKind::SyntaxError && after.kind != FailureKind::SyntaxError
}

fn next_error(after: &Observed) -> &str {
    let next = after.errors.iter().find(|row| !row.error.is_empty());
    next.map_or(after.message.as_str(), |row| row.error.as_str())
}

// What passes or is found now, by name.
fn what_is_gone(before: &Observed, after: &Observed) -> String {
    let tests = list_gone(&before.failing_tests, &after.failing_tests);
    let names = list_gone(&before.undefined_names, &after.undefined_names);
    let still = after.failing_tests.len();
    if !tests.is_empty() && still > 0 {
        format!("no longer failing: {tests}; still failing: {still}")
    } else if !names.is_empty() {
        format!("no longer undefined: {names}; other errors remain")
    } else {
        format!("the failure changed: {}", next_error(after))
    }
}

fn list_gone(before: &[String], after: &[String]) -> String {
    let names = before.iter().filter(|name| !after.contains(name));
    let names: Vec<&str> = names.map(String::as_str).collect();
    // Names that are listed.
    let most_names = 3;
    let shown = names.iter().take(most_names).copied().collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(most_names);
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

impl Session<'_> {
    /// Names the copy that runs in the place of what was changed, where a change had no effect and one is known.
    pub(super) fn name_unused_copy(&self, attempt: &mut Attempt<'_>, trial: &Trial) {
        if attempt.result.stop_reason != StopReason::StillFailing {
            return;
        }
        let original = self.asked.root.to_string_lossy();
        let log = &trial.ran.log;
        let names = super::attempt::paths_of(&trial.changes).join("`, `");
        let mut changes = trial.changes.iter();
        let copy = changes.find_map(|change| named_copy(log, change.path.as_str(), &original));
        let Some(copy) = copy else { return };
        let finding = format!(
            "`{copy}` runs, but `{names}` was changed: install the project in editable mode (`pip install -e .`), or in the isolated copy with `--setup`"
        );
        let message = format!("{}, but {finding}", attempt.result.message);
        attempt.end(StopReason::WorkplaceUnused, message);
    }
}

// A file of the same package and name elsewhere that a log names; the isolated copy's own path is not in it.
fn named_copy(log: &str, path: &str, original: &str) -> Option<String> {
    let mut parts = path.rsplitn(3, '/');
    let (name, folder) = (parts.next()?, parts.next()?);
    let ending = format!("/{folder}/{name}");
    log.match_indices(&ending).find_map(|(at, _)| {
        let before = log.get(..at)?;
        let from = before.rfind(|c: char| c.is_whitespace() || "\"'(".contains(c))? + 1;
        let found = format!("{}{ending}", before.get(from..)?);
        let is_elsewhere = found.starts_with('/') && found != format!("{original}/{path}");
        is_elsewhere.then_some(found)
    })
}

#[cfg(test)]
mod tests {
    use super::named_copy;

    #[test]
    fn finds_copy_of_file_in_log() {
        let log = "Traceback:\n  File \"/v/lib/site-packages/pk/core.py\", line 3\n";
        let found = named_copy(log, "src/pk/core.py", "/w/r");
        assert_eq!(found.as_deref(), Some("/v/lib/site-packages/pk/core.py"));
        let own = "  File \"src/pk/core.py\", line 3\n  File \"/w/r/src/pk/core.py\"\n";
        assert_eq!(named_copy(own, "src/pk/core.py", "/w/r"), None);
        assert_eq!(named_copy(log, "core.py", "/w/r"), None);
    }
}
