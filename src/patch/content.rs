use std::borrow::Cow;
use std::sync::Arc;

use super::change::FileState;
use super::compose::{LineEdit, compose, marks_note, one_edit};
use super::damage::{damaged, newline_lost, proven};
use super::place::{Outcome, Work, diagnose, place};
use super::set::{Body, FilePatch, Hunk, LineKind};
use super::text::{LineEnds, Text};
use crate::model::{Code, HunkVerdict, Mend, Refusal, Safety, Verdict};

/// How hunks are placed.
#[derive(Debug, Clone, Copy)]
pub(super) struct How {
    pub(super) strict: bool,
}

impl How {
    pub(super) const STRICT: Self = Self { strict: true };
}

/// What one or several sections of a patch make of a file's content.
pub(super) struct Modified {
    /// The bytes after, and the change in lines; `None` when a hunk failed.
    pub(super) after: Option<(Arc<[u8]>, Vec<LineEdit>)>,
    /// One list for each section.
    pub(super) hunks: Vec<Vec<HunkVerdict>>,
    pub(super) mends: Vec<Mend>,
    /// The failures, with the line of the patch.
    pub(super) failures: Vec<(u64, Refusal)>,
    /// The new side of every hunk already stands there: the content the patch would start from.
    pub(super) already: Option<Vec<u8>>,
}

/// Applies hunks of one or several sections to a file's content.
pub(super) fn modify(
    before: &FileState,
    sections: &[&FilePatch<'_>],
    how: How,
    work: &Work,
) -> Modified {
    let one = together(before, sections, how, work);
    if one.after.is_some() || sections.len() < 2 || one.already.is_some() {
        return one;
    }
    in_turn(before, sections, how, work).unwrap_or(one)
}

// Later sections may count on what earlier ones did.
fn in_turn(
    before: &FileState,
    sections: &[&FilePatch<'_>],
    how: How,
    work: &Work,
) -> Option<Modified> {
    let mut state = before.clone();
    let mut hunks = Vec::new();
    let mut mends = Vec::new();
    for section in sections {
        let mut next = together(&state, &[section], how, work);
        let (bytes, _) = next.after.take()?;
        state.bytes = bytes;
        hunks.append(&mut next.hunks);
        mends.append(&mut next.mends);
    }
    let edits = one_edit(&before.bytes, &state.bytes);
    Some(Modified {
        after: Some((state.bytes, edits)),
        hunks,
        mends,
        failures: Vec::new(),
        already: None,
    })
}

fn together(before: &FileState, sections: &[&FilePatch<'_>], how: How, work: &Work) -> Modified {
    let explicit = sections
        .iter()
        .any(|section| section.headers.explicit.is_some());
    let mut owners = Vec::new();
    for (owner, section) in sections.iter().enumerate() {
        if let Body::Hunks(list) = &section.body {
            owners.extend(list.iter().enumerate().map(|(index, _)| (owner, index + 1)));
        }
    }
    let hunks = match sections {
        [
            FilePatch {
                body: Body::Hunks(list),
                ..
            },
        ] => Cow::Borrowed(list.as_slice()),
        several => several
            .iter()
            .flat_map(|section| match &section.body {
                Body::Hunks(list) => list.as_slice(),
                _ => &[],
            })
            .cloned()
            .collect(),
    };
    let mut modified = Modified {
        after: None,
        hunks: vec![Vec::new(); sections.len()],
        mends: Vec::new(),
        failures: Vec::new(),
        already: None,
    };
    let text = Text::new(&before.bytes);
    let (text, hunks) = match_line_ends(text, hunks, how.strict, &mut modified.mends);
    let outcomes = place(&text, &hunks, how.strict, work);
    let failed = outcomes
        .iter()
        .any(|outcome| matches!(outcome, Outcome::Failed(_)));
    if failed && let Some(origin) = reversed(&text, &hunks, explicit, work) {
        modified.already = Some(origin);
    }
    let doubt = if failed {
        None
    } else {
        damaged(&text, &hunks, sections)
    };
    let composed = if failed {
        None
    } else if let Some((line, failure)) = doubt {
        modified.failures.push((line, failure));
        None
    } else {
        match compose(&text, &outcomes, !explicit) {
            Ok(composed) => Some(composed),
            Err((index, failure)) => {
                let line = hunks.get(index).map_or(0, |hunk| u64::from(hunk.line));
                modified.failures.push((line, failure));
                None
            }
        }
    };
    let mut diagnosed = 0;
    for ((outcome, hunk), (owner, index)) in outcomes.iter().zip(hunks.iter()).zip(owners) {
        let stated = hunk.old.map(|(line, _)| u64::from(line));
        let mut verdict = HunkVerdict {
            index,
            verdict: Verdict::Applies,
            line: stated,
            applied_at: None,
            code: None,
            message: String::new(),
            first_difference: None,
            candidates: Vec::new(),
            nearest: None,
        };
        match outcome {
            Outcome::Placed(placed) => {
                let at = placed.at() as u64 + 1;
                verdict.applied_at = Some(at);
                for note in &placed.mends {
                    modified
                        .mends
                        .push(mend(note.code(), note.safety, hunk, note.message));
                }
                let pure = hunk.old_lines().next().is_none();
                if let Some(stated) = stated.filter(|stated| *stated != at && !pure) {
                    let message = format!(
                        "placed at line {at}, the only one that fits; the patch says {stated}"
                    );
                    modified
                        .mends
                        .push(mend(Code::M401, Safety::Safe, hunk, &message));
                }
                if stated.is_none() && !explicit {
                    let message = format!(
                        "placed at line {at}, the only one that fits; the patch names none"
                    );
                    modified
                        .mends
                        .push(mend(Code::M401, Safety::Safe, hunk, &message));
                }
                if !placed.mends.is_empty() || stated.is_some_and(|stated| stated != at && !pure) {
                    verdict.verdict = Verdict::AppliesMended;
                }
            }
            Outcome::Repeated(note) => {
                verdict.verdict = Verdict::AppliesMended;
                modified
                    .mends
                    .push(mend(note.code(), note.safety, hunk, note.message));
            }
            Outcome::Failed(failure) if modified.already.is_some() => {
                verdict.verdict = Verdict::AlreadyApplied;
                "its new side already stands in the file".clone_into(&mut verdict.message);
                let _ = failure;
            }
            Outcome::Failed(failure) => {
                let mut failure = failure.clone();
                if diagnosed < 8 {
                    diagnose(&mut failure, &text, hunk, work);
                    diagnosed += 1;
                }
                verdict.verdict = failure.verdict();
                verdict.code = Some(failure.code);
                verdict.message.clone_from(&failure.message);
                verdict.first_difference = failure.mismatch.difference.clone();
                verdict.candidates.clone_from(&failure.mismatch.candidates);
                verdict.nearest = failure.mismatch.nearest;
                if diagnosed <= 8 {
                    modified.failures.push((u64::from(hunk.line), failure));
                }
            }
        }
        if let Some(list) = modified.hunks.get_mut(owner) {
            list.push(verdict);
        }
    }
    let composed = composed.filter(|composed| {
        let doubtful = composed.doubtful_end && !explicit && !proven(sections, &composed.bytes);
        if doubtful {
            let line = hunks.last().map_or(0, |hunk| u64::from(hunk.line));
            modified.failures.push((line, newline_lost()));
        }
        !doubtful
    });
    if let Some(composed) = composed {
        if composed.ignored_marks {
            let (code, message) = marks_note();
            if let Some(hunk) = hunks.last() {
                modified
                    .mends
                    .push(mend(code, Safety::Lossy, hunk, message));
            }
        }
        if !how.strict || modified.mends.is_empty() {
            modified.after = Some((composed.bytes.into(), composed.edits));
        } else if let Some(first) = modified.mends.first() {
            let message = format!("it would have to be mended: {}", first.message);
            let failure = Refusal::new(Code::P309, message);
            modified.failures.push((first.patch_line, failure));
        }
    }
    modified
}

pub(super) fn mend(code: Code, safety: Safety, hunk: &Hunk<'_>, message: &str) -> Mend {
    Mend {
        code,
        safety,
        patch_line: u64::from(hunk.line),
        message: message.to_owned(),
    }
}

// Line ends are a matter of the whole file: either all of the patch's are translated or none.
fn match_line_ends<'t, 'h, 'a>(
    text: Text<'t>,
    mut hunks: Cow<'h, [Hunk<'a>]>,
    strict: bool,
    mends: &mut Vec<Mend>,
) -> (Text<'t>, Cow<'h, [Hunk<'a>]>) {
    let lines = || hunks.iter().flat_map(|hunk| &hunk.lines);
    let has_cr = lines().any(|line| line.line.ends_with(b"\r"));
    // A carriage return is part of a line end only where a newline follows it.
    let ended = || lines().filter(|line| !line.no_newline);
    let all_cr = ended().next().is_some()
        && lines().all(|line| line.line.ends_with(b"\r") != line.no_newline);
    let first = hunks.first().map(|hunk| u64::from(hunk.line));
    let mut note = |code, message: &str| {
        mends.push(Mend {
            code,
            safety: Safety::Safe,
            patch_line: first.unwrap_or(0),
            message: message.to_owned(),
        });
    };
    let mut text = text;
    if text.ends == LineEnds::CrLf && !has_cr && !strict {
        note(Code::M411, "gave added lines the CR LF ends of the file");
        text = text.without_cr();
    } else if text.ends == LineEnds::Lf
        && text.len() > 0
        && !text.line(text.len() - 1).ends_with(b"\r")
        && all_cr
        && !strict
    {
        note(
            Code::M412,
            "dropped carriage returns that the file does not have",
        );
        for hunk in hunks.to_mut() {
            for line in &mut hunk.lines {
                let plain = line.line.strip_suffix(b"\r").unwrap_or(&line.line).to_vec();
                line.line = Cow::Owned(plain);
            }
        }
    }
    (text, hunks)
}

/// The hunk that undoes a hunk.
pub(super) fn reverse_hunk<'a>(hunk: &Hunk<'a>) -> Hunk<'a> {
    let mut reverse = hunk.clone();
    std::mem::swap(&mut reverse.old, &mut reverse.new);
    for line in &mut reverse.lines {
        line.kind = match line.kind {
            LineKind::Context => LineKind::Context,
            LineKind::Remove => LineKind::Add,
            LineKind::Add => LineKind::Remove,
        };
    }
    reverse
}

// The content that the hunks would start from, when the file is what they lead to.
fn reversed(text: &Text<'_>, hunks: &[Hunk<'_>], explicit: bool, work: &Work) -> Option<Vec<u8>> {
    let says_something = |hunk: &Hunk<'_>| {
        hunk.changes_something()
            && hunk
                .new_lines()
                .any(|line| !line.text().trim_ascii().is_empty())
    };
    if hunks.is_empty() || !hunks.iter().all(says_something) {
        return None;
    }
    let back: Vec<Hunk<'_>> = hunks.iter().map(reverse_hunk).collect();
    let outcomes = place(text, &back, true, work);
    if outcomes
        .iter()
        .any(|outcome| matches!(outcome, Outcome::Failed(_)))
    {
        return None;
    }
    compose(text, &outcomes, !explicit)
        .ok()
        .map(|composed| composed.bytes)
}
