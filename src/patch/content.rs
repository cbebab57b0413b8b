use std::borrow::Cow;
use std::sync::Arc;

use super::change::FileState;
use super::compose::{Composed, LineEdit, compose, one_edit};
use super::damage::{damaged, newline_lost, proven};
use super::exact::apply_exactly;
use super::line_ends::match_line_ends;
use super::place::{Placement, Work, diagnose, place};
use super::set::{Body, FilePatch, Hunk, LineKind};
use super::text::Text;
use crate::model::{Code, HunkVerdict, Mend, Refusal, Safety, Verdict};

/// What one or several sections of a patch make of a file's content.
pub(super) struct Modified {
    /// The bytes after, and the change in lines; `None` when a hunk failed.
    pub(super) after: Option<(Arc<[u8]>, Vec<LineEdit>)>,
    /// Those of all sections, numbered in each.
    pub(super) hunks: Vec<HunkVerdict>,
    pub(super) mends: Vec<Mend>,
    /// The failures, with the line of the patch.
    pub(super) failures: Vec<(u64, Refusal)>,
    /// The new side of every hunk already stands there: the content the patch would start from.
    pub(super) already: Option<Vec<u8>>,
    /// Placed byte for byte, which leaves nothing to doubt.
    pub(super) is_exact: bool,
}

/// Applies hunks of one or several sections to a file's content.
pub(super) fn modify(
    before: &FileState,
    sections: &[&FilePatch<'_>],
    strict: bool,
    work: &Work,
) -> Modified {
    if let Some(exact) = apply_exactly(before, sections) {
        return exact;
    }
    let one = by_line_ends(before, sections, strict, work);
    if one.after.is_some() || one.already.is_some() || strict {
        return one;
    }
    // Two sections that change the same place are alternatives, not one after the other.
    let clash = one.failures.iter().any(|(_, it)| it.code == Code::P303);
    let blocks = sections.iter().all(|it| it.headers.explicit.is_some());
    let steps: Vec<FilePatch<'_>> = if blocks {
        sections.iter().flat_map(|it| split_hunks(it)).collect()
    } else {
        sections.iter().map(|it| (*it).clone()).collect()
    };
    if steps.len() < 2 || steps.len() > MOST_STEPS || clash {
        return one;
    }
    apply_sequentially(before, &steps, sections, work).unwrap_or(one)
}

fn split_hunks<'a>(section: &FilePatch<'a>) -> Vec<FilePatch<'a>> {
    let Body::Hunks(hunks) = &section.body else {
        return Vec::new();
    };
    let alone = hunks.iter().map(|hunk| FilePatch {
        line: section.line,
        headers: section.headers.clone(),
        body: Body::Hunks(vec![hunk.clone()]),
    });
    alone.collect()
}

// Blocks that are tried one after the other.
const MOST_STEPS: usize = 64;

// Later steps may count on what earlier ones did.
fn apply_sequentially(
    before: &FileState,
    steps: &[FilePatch<'_>],
    sections: &[&FilePatch<'_>],
    work: &Work,
) -> Option<Modified> {
    let mut state = before.clone();
    let mut hunks = Vec::new();
    let mut mends = Vec::new();
    for step in steps {
        let mut next = by_line_ends(&state, &[step], false, work);
        let (bytes, _) = next.after.take()?;
        state.bytes = bytes;
        hunks.append(&mut next.hunks);
        mends.append(&mut next.mends);
    }
    for (verdict, index) in hunks.iter_mut().zip(numbers(sections)) {
        verdict.index = index;
    }
    let edits = one_edit(&before.bytes, &state.bytes);
    Some(Modified {
        after: Some((state.bytes, edits)),
        hunks,
        mends,
        failures: Vec::new(),
        already: None,
        is_exact: false,
    })
}

// Line ends are those of the file, unless the blob id of the result shows that others are meant.
fn by_line_ends(
    before: &FileState,
    sections: &[&FilePatch<'_>],
    strict: bool,
    work: &Work,
) -> Modified {
    let one = together(before, sections, strict, false, work);
    let changed = |mend: &Mend| matches!(mend.code, Code::M411) && mend.safety == Safety::Lossy;
    if one.mends.iter().any(changed) {
        let kept = together(before, sections, strict, true, work);
        let after = kept.after.as_ref();
        if after.is_some_and(|(bytes, _)| proven(sections, bytes)) {
            return kept;
        }
    }
    // What stands there to the byte needs no other ends.
    if one.after.is_none() && one.already.is_none() && before.bytes.contains(&b'\r') {
        let exact = together(before, sections, true, true, work);
        if exact.after.is_some() {
            return exact;
        }
    }
    one
}

fn together(
    before: &FileState,
    sections: &[&FilePatch<'_>],
    strict: bool,
    keeps_cr: bool,
    work: &Work,
) -> Modified {
    let explicit = sections
        .iter()
        .any(|section| section.headers.explicit.is_some());
    let mut modified = Modified {
        after: None,
        hunks: Vec::new(),
        mends: Vec::new(),
        failures: Vec::new(),
        already: None,
        is_exact: false,
    };
    let text = Text::new(&before.bytes);
    let (text, hunks) = match_line_ends(text, hunks_of(sections), keeps_cr, &mut modified.mends);
    let outcomes = place(&text, &hunks, work);
    let failed = |outcome: &Placement<'_, '_>| matches!(outcome, Placement::Failed(_));
    let composed = if outcomes.iter().any(failed) {
        modified.already = reversed(&text, &hunks, explicit, work);
        None
    } else {
        let composed = composed(&text, &hunks, &outcomes, sections, explicit);
        composed
            .map_err(|failure| modified.failures.push(failure))
            .ok()
    };
    verdicts(&mut modified, sections, (&text, &hunks), &outcomes, work);
    if let Some(composed) = composed {
        finish(&mut modified, composed, &hunks, strict);
    }
    modified
}

// The numbers that the hunks of each section have in it.
pub(super) fn numbers(sections: &[&FilePatch<'_>]) -> impl Iterator<Item = usize> {
    let counts = sections.iter().map(|section| match &section.body {
        Body::Hunks(list) => list.len(),
        _ => 0,
    });
    counts.flat_map(|count| 1..=count)
}

fn hunks_of<'h, 'a>(sections: &[&'h FilePatch<'a>]) -> Cow<'h, [Hunk<'a>]> {
    let list = |section: &&'h FilePatch<'a>| match &section.body {
        Body::Hunks(list) => list.as_slice(),
        _ => &[],
    };
    match sections {
        [one] => Cow::Borrowed(list(one)),
        several => several.iter().flat_map(list).cloned().collect(),
    }
}

// The content with all hunks placed, unless there is doubt that it is what was meant.
fn composed(
    text: &Text<'_>,
    hunks: &[Hunk<'_>],
    outcomes: &[Placement<'_, '_>],
    sections: &[&FilePatch<'_>],
    explicit: bool,
) -> Result<Composed, (u64, Refusal)> {
    let placed = outcomes.iter().filter_map(|outcome| match outcome {
        Placement::Placed(placed) => Some(&*placed.lines),
        Placement::Failed(_) => None,
    });
    if let Some(doubt) = damaged(text, &placed.collect::<Vec<_>>(), sections) {
        return Err(doubt);
    }
    let line = |hunk: Option<&Hunk<'_>>| hunk.map_or(0, |hunk| u64::from(hunk.line));
    let composed = compose(text, outcomes, !explicit)
        .map_err(|(index, failure)| (line(hunks.get(index)), failure))?;
    if composed.doubtful_end && !explicit && !proven(sections, &composed.bytes) {
        return Err((line(hunks.last()), newline_lost()));
    }
    Ok(composed)
}

// What is said of each hunk, and the mends that its place took.
fn verdicts(
    modified: &mut Modified,
    sections: &[&FilePatch<'_>],
    (text, hunks): (&Text<'_>, &[Hunk<'_>]),
    outcomes: &[Placement<'_, '_>],
    work: &Work,
) {
    let explicit = sections.iter().any(|it| it.headers.explicit.is_some());
    let mut diagnosed = 0;
    for ((outcome, hunk), index) in outcomes.iter().zip(hunks).zip(numbers(sections)) {
        let stated = hunk.old.map(|(line, _)| u64::from(line));
        let mut verdict = HunkVerdict::new(index, stated);
        match outcome {
            Placement::Placed(placed) => {
                let at = placed.at() as u64 + 1;
                verdict.applied_at = Some(at);
                let moved = moved(hunk, at, explicit);
                for note in &placed.mends {
                    modified
                        .mends
                        .push(mend(note.code, note.safety, hunk, note.message));
                }
                if !placed.mends.is_empty() || (moved.is_some() && stated.is_some()) {
                    verdict.verdict = Verdict::AppliesMended;
                }
                modified.mends.extend(moved);
            }
            Placement::Failed(_) if modified.already.is_some() => {
                verdict.verdict = Verdict::AlreadyApplied;
                "its new side already stands in the file".clone_into(&mut verdict.message);
            }
            Placement::Failed(failure) => {
                let mut failure = failure.clone();
                if diagnosed < MAX_DIAGNOSED {
                    diagnose(&mut failure, text, hunk, work);
                    diagnosed += 1;
                }
                verdict.fail(&failure);
                if diagnosed <= MAX_DIAGNOSED {
                    modified.failures.push((u64::from(hunk.line), failure));
                }
            }
        }
        modified.hunks.push(verdict);
    }
}

/// Hunks of a file for which is searched why they do not fit.
const MAX_DIAGNOSED: usize = 8;

// What is said of a hunk that stands elsewhere than it says, or that says nothing.
fn moved(hunk: &Hunk<'_>, at: u64, explicit: bool) -> Option<Mend> {
    let statement = match hunk.old {
        Some((stated, _)) => {
            let is_pure = hunk.old_lines().next().is_none();
            let elsewhere = u64::from(stated) != at && !is_pure;
            elsewhere.then(|| format!("says {stated}"))?
        }
        None if !explicit => "names none".to_owned(),
        None => return None,
    };
    let message = format!("placed at line {at}, the only one that fits; the patch {statement}");
    Some(mend(Code::M401, Safety::Safe, hunk, &message))
}

fn finish(modified: &mut Modified, composed: Composed, hunks: &[Hunk<'_>], strict: bool) {
    if let Some(hunk) = hunks.last().filter(|_| composed.ignored_marks) {
        let message = "ignored `\\ No newline at end of file` where the file has one";
        modified
            .mends
            .push(mend(Code::M411, Safety::Lossy, hunk, message));
    }
    if !strict || modified.mends.is_empty() {
        modified.after = Some((composed.bytes.into(), composed.edits));
    } else if let Some(first) = modified.mends.first() {
        let message = format!("it would have to be mended: {}", first.message);
        let failure = Refusal::new(Code::P309, message);
        modified.failures.push((first.patch_line, failure));
    }
}

pub(super) fn mend(code: Code, safety: Safety, hunk: &Hunk<'_>, message: &str) -> Mend {
    Mend::new(code, safety, hunk.line, message)
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
    let outcomes = place(text, &back, work);
    let is_exact = |outcome: &Placement<'_, '_>| matches!(outcome, Placement::Placed(it) if it.mends.is_empty());
    if !outcomes.iter().all(is_exact) {
        return None;
    }
    compose(text, &outcomes, !explicit)
        .ok()
        .map(|composed| composed.bytes)
}
