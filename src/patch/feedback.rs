//! Writes the feedback for the author of a patch, usually a model.

use std::fmt::Write as _;

use crate::model::{HunkVerdict, PatchProblem, PatchVerdict, Severity, Verdict};
use crate::report::{difference, harmless, join_numbers, visible};

/// A short text that tells the author of a patch what to send instead; empty when it applies.
pub(super) fn write_feedback(verdict: &PatchVerdict) -> String {
    let mut text = match verdict.verdict {
        Verdict::Applies | Verdict::AppliesMended => return String::new(),
        Verdict::AlreadyApplied => {
            return "The files already are as this patch would make them. Send nothing.".to_owned();
        }
        other => format!("The patch was not applied ({other}). Nothing was changed.\n"),
    };
    // Writing to a String cannot fail.
    let errors = verdict.problems.iter();
    let errors = errors.filter(|problem| problem.severity == Severity::Error);
    for problem in errors.clone().take(10) {
        let path = problem.path.as_deref().unwrap_or("the patch");
        let (line, message, code) = (problem.patch_line, &problem.message, problem.code);
        let _ = writeln!(text, "- {path}, patch line {line}: {message} [{code}]");
        if let Some(hint) = &problem.hint {
            let _ = writeln!(text, "  {hint}");
        }
    }
    let hunks = verdict.files.iter();
    let hunks = hunks.flat_map(|file| file.hunks.iter().map(move |hunk| (&file.path, hunk)));
    let tells = |(_, hunk): &(&String, &HunkVerdict)| {
        hunk.mismatch.difference.is_some() || !hunk.mismatch.candidates.is_empty()
    };
    for (path, hunk) in hunks.filter(tells).take(MOST_SHOWN) {
        show_hunk(path, hunk, &mut text);
    }
    let left = errors.clone().count().saturating_sub(10);
    if left > 0 {
        let _ = writeln!(text, "- and {left} more");
    }
    text.push_str(&write_advice(errors));
    text
}

// Hunks that are shown with what is there.
const MOST_SHOWN: usize = 5;

// How a hunk differs from the file, and the lines that are there.
fn show_hunk(path: &str, hunk: &HunkVerdict, text: &mut String) {
    if let Some(found) = &hunk.mismatch.difference {
        let line = found.file_line;
        let _ = match &found.actual {
            Some(actual) => {
                let shown = difference(&found.expected, actual);
                let unseen = shown.unseen.map(|unseen| format!(" ({unseen})"));
                writeln!(
                    text,
                    "- {path}: the patch expects `{}`, line {line} of the file is `{}`{}.",
                    shown.expected,
                    shown.actual,
                    unseen.unwrap_or_default(),
                )
            }
            None => writeln!(
                text,
                "- {path}: the patch expects `{}`, line {line} of the file is past its end.",
                visible(&found.expected),
            ),
        };
    }
    if !hunk.mismatch.candidates.is_empty() {
        let lines = join_numbers(&hunk.mismatch.candidates);
        let _ = writeln!(text, "- {path}: it fits at lines {lines}.");
    }
    for excerpt in &hunk.mismatch.excerpts {
        let _ = writeln!(text, "  {path} now has:");
        for (line, number) in excerpt.lines.iter().zip(excerpt.first..) {
            let _ = writeln!(text, "  {number:>5} | {}", harmless(line));
        }
    }
}

// What to do about each code, in the order of the patch and each once.
fn write_advice<'v>(errors: impl Iterator<Item = &'v PatchProblem>) -> String {
    let mut sentences: Vec<&str> = Vec::new();
    for advice in errors.map(|problem| problem.code.advice()) {
        if !advice.is_empty() && !sentences.contains(&advice) {
            sentences.push(advice);
        }
    }
    sentences.truncate(4);
    sentences.join("\n")
}
