//! Writes the feedback for the author of a patch, usually a model.

use std::fmt::Write as _;

use crate::model::{HunkVerdict, PatchVerdict, Severity, Verdict};
use crate::report::{difference, join_numbers, list_advice, show_excerpts, visible};

/// Returns short feedback on what to send instead; empty when the patch applies.
pub(super) fn write_feedback(verdict: &PatchVerdict) -> String {
    let mut text = match verdict.verdict {
        Verdict::Applies | Verdict::AppliesMended => return String::new(),
        Verdict::AlreadyApplied => {
            return "The files already match this patch. Send nothing.".to_owned();
        }
        other => format!("The patch was not applied ({other}). Nothing was changed.\n"),
    };
    // Writing to a String cannot fail.
    let errors = verdict.problems.iter().filter(|problem| problem.severity == Severity::Error);
    for problem in errors.clone().take(10) {
        let path = problem.path.as_deref().unwrap_or("the patch");
        let (message, code) = (&problem.message, problem.code);
        let line = Some(problem.patch_line).filter(|line| *line > 0);
        let place = line.map_or(String::new(), |line| format!(", patch line {line}"));
        let _ = writeln!(text, "- {path}{place}: {message} [{code}]");
        if let Some(hint) = &problem.hint {
            let _ = writeln!(text, "  {hint}");
        }
    }
    let hunks = verdict.files.iter();
    let hunks = hunks.flat_map(|file| file.hunks.iter().map(move |hunk| (&file.path, hunk)));
    // Bounded, so that the feedback stays short.
    for (path, hunk) in hunks
        .filter(|(_, hunk)| {
            hunk.mismatch.difference.is_some() || !hunk.mismatch.candidates.is_empty()
        })
        .take(5)
    {
        show_hunk(path, hunk, &mut text);
    }
    let left = errors.count().saturating_sub(10);
    if left > 0 {
        let _ = writeln!(text, "- and {left} more");
    }
    text.push_str(&list_advice(verdict).join("\n"));
    text
}

// How a hunk differs from the file, and the lines that are there.
fn show_hunk(path: &str, hunk: &HunkVerdict, text: &mut String) {
    if let Some(found) = &hunk.mismatch.difference {
        let line = found.file_line;
        let actual = found.actual.as_ref();
        let shown = actual.map(|actual| difference(&found.expected, actual));
        let unseen = shown.as_ref().and_then(|shown| shown.unseen);
        let unseen = unseen.map_or(String::new(), |unseen| format!(" ({unseen})"));
        let (expected, there) = match shown {
            Some(shown) => (shown.expected, format!("is `{}`{unseen}", shown.actual)),
            None => (visible(&found.expected), "is past its end".to_owned()),
        };
        let _ = writeln!(
            text,
            "- {path}: the patch expects `{expected}`, line {line} of the file {there}."
        );
    }
    if !hunk.mismatch.candidates.is_empty() {
        let lines = join_numbers(&hunk.mismatch.candidates);
        let _ = writeln!(text, "- {path}: it fits at lines {lines}.");
    }
    text.push_str(&show_excerpts(path, hunk));
}
