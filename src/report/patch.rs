//! Formats a verdict like a compiler error.

use annotate_snippets::{AnnotationKind, Level, Message, Renderer, Snippet};

use super::visible::{difference as compare, join_numbers, list_advice, show_excerpts};
use crate::model::{
    Code, FileVerdict, HunkVerdict, PatchProblem, PatchVerdict, Severity, Verdict, page,
};

/// Draws a verdict as a compiler draws errors: each problem at its line of the patch, and the line where a hunk
/// stops matching.
///
/// `name` is the patch's name, `patch` its text.
pub fn patch_text(verdict: &PatchVerdict, name: &str, patch: &[u8], color: bool) -> String {
    let [plain, styled] = [Renderer::plain(), Renderer::styled()];
    let renderer = if color { styled } else { plain };
    let mut text = String::new();
    // Problems drawn in full: the first is usually fixed before anyone reads the tenth.
    let max_drawn = 6;
    for (at, problem) in verdict.problems.iter().take(max_drawn).enumerate() {
        let hunk = find_hunk(verdict, &verdict.problems[..at], problem);
        text.push_str(&draw(problem, hunk, (name, patch), &renderer));
        text.push_str("\n\n");
        let path = problem.path.as_deref().unwrap_or_default();
        text.extend(hunk.map(|hunk| show_excerpts(path, hunk)));
    }
    let more = verdict.problems.len().saturating_sub(max_drawn);
    if more > 0 {
        text.push_str(&format!(
            "{more} more problems are not shown; `--format json` lists all\n\n"
        ));
    }
    for mend in &verdict.mends {
        let (code, message, line) = (mend.code, &mend.message, mend.patch_line);
        text.push_str(&format!("corrected[{code}]: {message} ({name}:{line})\n"));
    }
    let refused: Vec<Code> = verdict.problems.iter().map(|problem| problem.code).collect();
    for after in verdict.broken().filter(|after| !refused.contains(&after.code)) {
        let (code, message, path) = (after.code, &after.message, &after.path);
        text.push_str(&format!(
            "warning[{code}]: {message} ({path}:{})\n",
            after.line
        ));
    }
    for sentence in list_advice(verdict) {
        text.push_str(&format!("help: {sentence}\n"));
    }
    // Hunks of a patch that cannot be read are not compared with the file.
    let is_placed = verdict.verdict != Verdict::Malformed;
    let lacking = verdict.problems.iter().filter(|problem| problem.code == Code::P501);
    let lacking: Vec<&str> = lacking.filter_map(|problem| problem.path.as_deref()).collect();
    let files = verdict.files.iter().filter(|file| !lacking.contains(&file.path.as_str()));
    text.extend(files.map(|file| file_line(file, is_placed)));
    text + &verdict_text(verdict.verdict, refused.contains(&Code::P501))
}

fn verdict_text(verdict: Verdict, lacks_file: bool) -> String {
    let unchanged = match verdict {
        Verdict::Applies | Verdict::AppliesMended | Verdict::AlreadyApplied => "",
        _ => "; nothing was changed",
    };
    let title = match page(&format!("verdict {verdict}")) {
        Some(_) if lacks_file => "the patch changes a file that does not exist",
        page => page.map_or("", |page| page.title),
    };
    format!("{verdict}: {title}{unchanged}\n")
}

// The operation on a file, and its hunks that do not apply.
fn file_line(file: &FileVerdict, is_placed: bool) -> String {
    let mut text = format!("{} {}", file.operation, file.path.escape_debug());
    if let Some(old) = &file.old_path {
        text.push_str(&format!(" from {}", old.escape_debug()));
    }
    let all = file.hunks.len();
    let failed = file.hunks.iter().filter(|hunk| !hunk.verdict.applies());
    let failed: Vec<String> = failed.map(|hunk| hunk.index.to_string()).collect();
    let fit = all - failed.len();
    match failed.as_slice() {
        [] if all == 0 => {}
        _ if !is_placed => {}
        [_, more @ ..] if fit > 0 => {
            let (plural, list) = (if more.is_empty() { "" } else { "s" }, failed.join(", "));
            text.push_str(&format!(", hunk{plural} {list} of {all} not placed"));
        }
        _ => text.push_str(&format!(", {fit} of {all} hunks fit")),
    }
    text + "\n"
}

// Hunks and their problems have one order: the nth problem of a code is that of the nth hunk.
fn find_hunk<'v>(
    verdict: &'v PatchVerdict,
    earlier: &[PatchProblem],
    problem: &PatchProblem,
) -> Option<&'v HunkVerdict> {
    let same = earlier.iter();
    let same = same.filter(|other| other.code == problem.code && other.path == problem.path);
    let files = verdict.files.iter();
    files
        .filter(|file| problem.path.as_deref() == Some(file.path.as_str()))
        .flat_map(|file| &file.hunks)
        .filter(|hunk| hunk.code == Some(problem.code))
        .nth(same.count())
}

fn draw(
    problem: &PatchProblem,
    hunk: Option<&HunkVerdict>,
    (name, patch): (&str, &[u8]),
    renderer: &Renderer,
) -> String {
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = match &problem.path {
        Some(path) => format!("{}: {}", path.escape_debug(), problem.message),
        None => problem.message.clone(),
    };
    let id = problem.code.as_str();
    let title = level.primary_title(title.as_str()).id(id);
    let mut report = title.elements(std::iter::empty::<Message<'_>>());
    let difference = hunk.and_then(|hunk| hunk.mismatch.difference.as_ref());
    let shown =
        difference.and_then(|found| Some(compare(&found.expected, found.actual.as_deref()?)));
    let label = difference.map(|found| {
        let line = found.file_line;
        let path = problem.path.as_deref().unwrap_or("the file");
        match &shown {
            Some(shown) if shown.actual.trim().is_empty() => {
                format!("line {line} of {path} is blank")
            }
            Some(shown) => format!("line {line} of {path} is `{}`", shown.actual),
            None => format!("{path} ends before line {line}"),
        }
    });
    let line = difference.map_or(problem.patch_line, |found| found.patch_line);
    // The line alone, because the renderer indexes all that it is given.
    let source = find_line(patch, line).map(String::from_utf8_lossy);
    if let Some(source) = &source {
        let mark =
            AnnotationKind::Primary.span(0..source.trim_end_matches(['\r', '\n']).len().max(1));
        let mark = match &label {
            Some(label) => mark.label(label.as_str()),
            None => mark,
        };
        let snippet = Snippet::source(&**source).line_start(line as usize);
        report = report.element(snippet.path(name).annotation(mark));
    }
    let notes = notes(
        hunk,
        shown.and_then(|shown| Some((shown.unseen?, shown.expected))),
    );
    for note in &notes {
        report = report.element(Level::NOTE.message(note.as_str()));
    }
    if let Some(hint) = &problem.hint {
        report = report.element(Level::HELP.message(hint.as_str()));
    }
    renderer.render(&[report])
}

// What is unseen and the candidates.
fn notes(hunk: Option<&HunkVerdict>, unseen: Option<(&str, String)>) -> Vec<String> {
    let unseen = unseen.map(|(note, expected)| format!("{note}: the patch has `{expected}`"));
    let mut notes: Vec<String> = unseen.into_iter().collect();
    let Some(hunk) = hunk else { return notes };
    if !hunk.mismatch.candidates.is_empty() {
        let lines = join_numbers(&hunk.mismatch.candidates);
        notes.push(format!("it fits at lines {lines}"));
    }
    notes
}

/// Finds a line of a text with its end, counted from 1.
fn find_line(text: &[u8], line: u64) -> Option<&[u8]> {
    let row = usize::try_from(line).ok()?.checked_sub(1)?;
    text.split_inclusive(|byte| *byte == b'\n').nth(row)
}
