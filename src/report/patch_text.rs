use std::fmt::Write as _;

use annotate_snippets::{AnnotationKind, Level, Message, Renderer, Snippet};

use super::visible::{difference as compare, harmless};
use crate::model::{
    Excerpt, FileVerdict, HunkVerdict, PatchProblem, PatchVerdict, Severity, Verdict,
};

/// Draws a verdict as a compiler draws errors: each problem at its line of the patch, and the line where a hunk
/// stops matching.
///
/// `name` is what the patch is called, `patch` its text.
#[must_use]
pub fn patch_text(verdict: &PatchVerdict, name: &str, patch: &[u8], color: bool) -> String {
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let mut text = failing(verdict);
    let mut drawn = 0;
    let mut left: Vec<&PatchProblem> = Vec::new();
    for (index, problem) in verdict.problems.iter().enumerate() {
        let earlier = verdict.problems.get(..index).unwrap_or_default();
        if drawn < MOST_DRAWN {
            let hunk = hunk_of(verdict, earlier, problem);
            text.push_str(&draw(problem, hunk, (name, patch), &renderer));
            text.push_str("\n\n");
            for excerpt in hunk.iter().flat_map(|hunk| &hunk.excerpts) {
                text.push_str(&block(excerpt, problem.path.as_deref()));
            }
            drawn += 1;
        } else {
            left.push(problem);
        }
    }
    if !left.is_empty() {
        let mut codes: Vec<&str> = left.iter().map(|it| it.code.as_str()).collect();
        codes.sort_unstable();
        codes.dedup();
        let _ = writeln!(
            text,
            "{} more problems ({}) are not shown; `--format json` lists all\n",
            left.len(),
            codes.join(", ")
        );
    }
    for mend in &verdict.mends {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "corrected[{}]: {} ({name}:{})",
            mend.code, mend.message, mend.patch_line
        );
    }
    for after in verdict.broken() {
        let _ = writeln!(
            text,
            "warning[{}]: {} ({}:{})",
            after.code, after.message, after.path, after.line
        );
    }
    for file in &verdict.files {
        let _ = writeln!(text, "{}", summary(file));
    }
    let _ = writeln!(text, "{}", answer(verdict.verdict));
    text
}

fn answer(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Applies => "the patch applies",
        Verdict::AppliesMended => "the patch applies, with corrections",
        Verdict::AlreadyApplied => "the patch is already applied",
        Verdict::Ambiguous => "the patch is ambiguous; nothing was changed",
        Verdict::ContextNotFound => "the patch does not apply; nothing was changed",
        Verdict::Unsafe => "the patch is unsafe and refused; nothing was changed",
        Verdict::Refused => "the patch is refused by policy; nothing was changed",
        Verdict::Malformed => "the patch is malformed; nothing was changed",
    }
}

fn summary(file: &FileVerdict) -> String {
    let mut text = format!("{} {}", file.operation.as_str(), file.path.escape_debug());
    if let Some(old) = &file.old_path {
        let _ = write!(text, " from {}", old.escape_debug());
    }
    if let Some(mode) = &file.mode {
        let _ = write!(text, ", mode {mode}");
    }
    let placed = file
        .hunks
        .iter()
        .filter(|hunk| hunk.verdict.applies())
        .count();
    if !file.hunks.is_empty() {
        let _ = write!(text, ", {placed} of {} hunks placed", file.hunks.len());
    }
    text
}

// Which hunks fail, before the drawings of the first of them.
fn failing(verdict: &PatchVerdict) -> String {
    let mut text = String::new();
    for file in &verdict.files {
        let failed: Vec<String> = file
            .hunks
            .iter()
            .filter(|hunk| hunk.code.is_some())
            .map(|hunk| hunk.index.to_string())
            .collect();
        if file.hunks.len() > 1 && !failed.is_empty() {
            let path = file.path.escape_debug();
            let (all, some) = (file.hunks.len(), failed.len());
            let _ = match failed.get(..MOST_NAMED) {
                _ if some == all => writeln!(text, "{path}: none of the {all} hunks applies"),
                Some(first) if some > MOST_NAMED => writeln!(
                    text,
                    "{path}: {some} of {all} hunks do not apply: {}, ...",
                    first.join(", ")
                ),
                _ => writeln!(
                    text,
                    "{path}: {some} of {all} hunks do not apply: {}",
                    failed.join(", ")
                ),
            };
        }
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

// Problems drawn in full: the first is usually fixed before anyone reads the tenth.
const MOST_DRAWN: usize = 6;

// Numbers of hunks in one line.
const MOST_NAMED: usize = 20;

// Hunks and their problems come in one order: the nth problem of a code is that of the nth hunk.
fn hunk_of<'v>(
    verdict: &'v PatchVerdict,
    earlier: &[PatchProblem],
    problem: &PatchProblem,
) -> Option<&'v HunkVerdict> {
    let same = |other: &&PatchProblem| other.code == problem.code && other.path == problem.path;
    let nth = earlier.iter().filter(same).count();
    verdict
        .files
        .iter()
        .filter(|file| problem.path.as_deref() == Some(file.path.as_str()))
        .flat_map(|file| &file.hunks)
        .filter(|hunk| hunk.code == Some(problem.code))
        .nth(nth)
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
    let difference = hunk.and_then(|hunk| hunk.first_difference.as_ref());
    let line = difference.map_or(problem.patch_line, |it| it.patch_line);
    let mut window = window(patch, line);
    let shown = difference.and_then(|it| Some(compare(&it.expected, it.actual.as_deref()?)));
    let unseen = shown.as_ref().and_then(|it| it.unseen.as_deref());
    if let (Some(difference), Some(shown), Some(window)) = (difference, &shown, &mut window)
        && unseen.is_some()
    {
        window.rewrite(&difference.expected, &shown.expected);
    }
    let actual = shown.as_ref().map(|it| it.actual.as_str());
    let label = difference.map(|it| label(it.file_line, actual, problem.path.as_deref()));
    let mut report = level
        .primary_title(title.as_str())
        .id(id)
        .elements(std::iter::empty::<Message<'_>>());
    if let Some(window) = &window {
        let mark = AnnotationKind::Primary.span(window.from..window.to);
        let mark = match &label {
            Some(label) => mark.label(label.as_str()),
            None => mark,
        };
        let snippet = Snippet::source(window.text.as_str())
            .line_start(window.first)
            .path(name)
            .annotation(mark);
        report = report.element(snippet);
    }
    let nearest = hunk.and_then(|hunk| hunk.nearest).map(|nearest| {
        format!(
            "the nearest block starts at line {} and has {:.0} % of the lines",
            nearest.line,
            nearest.similarity * 100.0
        )
    });
    if let Some(unseen) = unseen {
        report = report.element(Level::NOTE.message(unseen));
    }
    if let Some(nearest) = &nearest {
        report = report.element(Level::NOTE.message(nearest.as_str()));
    }
    let candidates = hunk.map(candidates).filter(|text| !text.is_empty());
    if let Some(candidates) = &candidates {
        report = report.element(Level::NOTE.message(candidates.as_str()));
    }
    if let Some(hint) = &problem.hint {
        report = report.element(Level::HELP.message(hint.as_str()));
    }
    renderer.render(&[report])
}

// Lines of the file as they are, which a better patch can be made of.
fn block(excerpt: &Excerpt, path: Option<&str>) -> String {
    let mut text = String::new();
    let path = path.unwrap_or_default().escape_debug();
    let _ = writeln!(text, "{path} now has:");
    for (line, number) in excerpt.lines.iter().zip(excerpt.first..) {
        let _ = writeln!(text, "{number:>6} | {}", harmless(line));
    }
    text.push('\n');
    text
}

fn candidates(hunk: &HunkVerdict) -> String {
    if hunk.candidates.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = hunk.candidates.iter().map(u64::to_string).collect();
    format!("it fits at lines {}", lines.join(", "))
}

fn label(line: u64, actual: Option<&str>, path: Option<&str>) -> String {
    let path = path.unwrap_or("the file");
    match actual {
        Some(actual) => format!("line {line} of {path} is `{actual}`"),
        None => format!("{path} ends before line {line}"),
    }
}

// Three lines of the patch around one, the offset of that one, and the number of the first.
struct Window {
    text: String,
    from: usize,
    to: usize,
    first: usize,
}

impl Window {
    // Shows the text of the marked line so that what is odd about it is seen.
    fn rewrite(&mut self, raw: &str, shown: &str) {
        let marked = self.text.get(self.from..self.to).unwrap_or_default();
        if let Some(sign) = marked.strip_suffix(raw) {
            let line = format!("{sign}{shown}");
            self.text.replace_range(self.from..self.to, &line);
            self.to = self.from + line.len();
        }
    }
}

fn window(patch: &[u8], line: u64) -> Option<Window> {
    let at = usize::try_from(line).ok()?.checked_sub(1)?;
    let first = at.saturating_sub(1);
    let mut window = Window {
        text: String::new(),
        from: 0,
        to: 0,
        first: first + 1,
    };
    let lines = patch.split_inclusive(|byte| *byte == b'\n').enumerate();
    for (index, line) in lines.skip(first).take(3) {
        let line = String::from_utf8_lossy(without_end(line));
        let shown: String = line.chars().take(200).collect();
        if index == at {
            window.from = window.text.len();
            window.to = window.from + shown.len().max(1);
        }
        window.text.push_str(&shown);
        window.text.push('\n');
    }
    (window.to > 0).then_some(window)
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}
