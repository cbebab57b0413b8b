//! Runs the checks after placing: policy, syntax, imports, size.

use super::After;
use super::report::Report;
use super::section::{Placing, read_original};
use crate::model::{Code, Operation, PatchProblem, RepoPath, TestChanges};
use crate::patch::after::after_image;
use crate::patch::change::{Change, FileState};
use crate::patch::intent::{find_unmeant, matches_announced_id};
use crate::patch::set::{FilePatch, LineKind, PatchSet};
use crate::patch::structure::{self, FileChange};
use crate::patch::whole::reject_lost_rest;
use crate::policy::{ChangeRules, ChangedFile, judge_change, judge_together};

type Check = fn(&PatchSet<'_>, &Placing<'_>, &mut Report);

/// The checks of what a patch would change, in their order; each runs while none has refused.
const CHECKS: [Check; 4] = [
    check_whole_files, check_intent, check_structure, check_policy,
];

/// Runs every check and returns the changes to write.
pub(super) fn run_checks(
    set: &PatchSet<'_>,
    mut placing: Placing<'_>,
    report: &mut Report,
) -> Vec<Change> {
    for check in CHECKS {
        if !report.goes_on() {
            return Vec::new();
        }
        check(set, &placing, report);
    }
    if !report.goes_on() {
        return Vec::new();
    }
    let changes = take_changes(&mut placing);
    if placing.options.after != After::Ignored {
        check_after_image(set, &placing, &changes, report);
    }
    changes
}

/// Looks for what shows that the writer meant something else than the bytes say.
fn check_intent(set: &PatchSet<'_>, placing: &Placing<'_>, report: &mut Report) {
    if placing.options.as_written {
        return;
    }
    for (path, slot) in &placing.slots {
        let after = slot.after.as_ref().filter(|state| state.mode != 0o120_000);
        let Some(after) = after.filter(|_| !slot.is_exact) else {
            continue;
        };
        // A matching blob id needs no check, because it proves that nothing was lost.
        let mut sections = set.files.iter().filter(|file| file.line == slot.line);
        if slot.before.as_ref().is_some_and(|state| state.bytes == after.bytes)
            || sections.any(|section| matches_announced_id(section, &after.bytes))
        {
            continue;
        }
        if let Some((_, refusal)) = find_unmeant(path, slot.before.as_ref(), after) {
            report.add(refusal.problem(Some(path), u64::from(slot.line)));
        }
    }
}

/// Refuses whole files that leave out what nothing in the patch takes.
fn check_whole_files(_: &PatchSet<'_>, placing: &Placing<'_>, report: &mut Report) {
    let slots = &placing.slots;
    for path in &placing.wholes {
        let line = slots.get(path).map_or(0, |slot| u64::from(slot.line));
        let lost = reject_lost_rest(path, slots).filter(|_| !placing.options.as_written);
        if let Some(refusal) = lost {
            report.add(refusal.problem(Some(path), line));
        }
    }
}

fn check_structure(_: &PatchSet<'_>, placing: &Placing<'_>, report: &mut Report) {
    for problem in structure::check_all(placing.source, &placing.slots) {
        report.add(problem);
    }
}

fn check_policy(_: &PatchSet<'_>, placing: &Placing<'_>, report: &mut Report) {
    let options = placing.options;
    let rules = ChangeRules {
        allowed: &options.allowed,
        dependencies: options.dependencies,
        run: &options.run,
        tests_refused: options.tests == TestChanges::Refused,
    };
    let slots = &placing.slots;
    let mut grown: u64 = 0;
    for (path, slot) in slots {
        grown += byte_count(slot.after.as_ref()).saturating_sub(byte_count(slot.before.as_ref()));
        let mut findings = judge_change(&changed_file(path, slot), &rules);
        if slot.operation == Operation::Copy
            && let Some(from) = &slot.from
        {
            let source = ChangedFile {
                path: from,
                operation: Operation::Copy,
                before: None,
                after: None,
                modes: (0, 0),
            };
            findings.extend(judge_change(&source, &rules));
        }
        let most = options.limits.file_bytes;
        if byte_count(slot.after.as_ref()) > most {
            let message = format!("the file would have more than {most} bytes");
            findings.push(PatchProblem::new(Code::P705, message));
        }
        for finding in findings {
            report.add(finding.at(Some(path), u64::from(slot.line)));
        }
    }
    let files: Vec<_> = slots.iter().map(|(path, slot)| changed_file(path, slot)).collect();
    let lines: Vec<u32> = slots.values().map(|slot| slot.line).collect();
    for (at, finding) in judge_together(&files, &rules) {
        if let (Some(file), Some(line)) = (files.get(at), lines.get(at)) {
            report.add(finding.at(Some(file.path), u64::from(*line)));
        }
    }
    let most = options.limits.grown_bytes;
    if grown > most {
        report.add_plain(Code::P705, format!("the patch adds more than {most} bytes"));
    }
}

fn byte_count(state: Option<&FileState>) -> u64 {
    state.map_or(0, |state| state.bytes.len() as u64)
}

fn changed_file<'s>(path: &'s str, slot: &'s FileChange) -> ChangedFile<'s> {
    let before = slot.before.as_ref().filter(|_| slot.from.is_none());
    let modes = [&slot.before, &slot.after];
    let [old, new] = modes.map(|state| state.as_ref().map_or(0, |state| state.mode));
    ChangedFile {
        path,
        operation: match slot.after {
            None => Operation::Delete,
            Some(_) => slot.operation,
        },
        before: before.map(|state| &*state.bytes),
        after: slot.after.as_ref().map(|state| &*state.bytes),
        modes: (old, new),
    }
}

/// Looks at the tree as it would be: syntax, and imports that lead nowhere.
fn check_after_image(
    set: &PatchSet<'_>,
    placing: &Placing<'_>,
    changes: &[Change],
    report: &mut Report,
) {
    let options = placing.options;
    let with_imports = options.after != After::Parses;
    let found = after_image(placing.source, changes, with_imports);
    if set.files.last().is_some_and(|file| {
        is_cut(file) && (!found.syntax.is_empty() || announces_another(file, changes))
    }) {
        let message = "the patch seems to be cut off inside its last line: the file would not parse, or would not match its `index` line";
        report.add_plain(Code::P104, message);
    } else if let Some(first) = found.broken.first().filter(|_| !options.as_written) {
        let (error, line) = (&first.message, first.line);
        let message = format!(
            "the file parses now but would not after the patch: {error} (line {line} of the result)"
        );
        report.add(PatchProblem::new(first.code, message).at(Some(&first.path), 0));
    } else if options.after == After::Enforced
        && let Some(first) = found.syntax.iter().chain(&found.imports).next()
    {
        report.add_plain(first.code, first.message.clone());
    }
    report.gains_imports = found.gains_imports;
    report.verdict.new_syntax_errors = found.syntax;
    report.verdict.new_unresolved_imports = found.imports;
}

/// Whether a patch ends in the middle of an added line, which may have lost its rest.
fn is_cut(file: &FilePatch<'_>) -> bool {
    let last = file.hunks().last().filter(|hunk| hunk.cut).and_then(|hunk| hunk.lines.last());
    last.is_some_and(|line| line.kind == LineKind::Add)
}

/// Whether the blob id that a section announces is that of no file after the patch.
fn announces_another(file: &FilePatch<'_>, changes: &[Change]) -> bool {
    let mut made = changes.iter().filter_map(|change| change.after.as_ref());
    let is_announced = file.announced_ids().is_some_and(|(_, new)| new.len() >= 7);
    is_announced && !made.any(|after| matches_announced_id(file, &after.bytes))
}

fn take_changes(placing: &mut Placing<'_>) -> Vec<Change> {
    let changes = std::mem::take(&mut placing.slots).into_iter().filter_map(|(path, slot)| {
        let from = slot.from.as_deref();
        let from = from.and_then(|from| RepoPath::new(from).ok());
        if slot.after.is_none() && slot.before.is_none() {
            return None;
        }
        Some(Change {
            standing: match from {
                None => slot.before.clone(),
                Some(_) => read_original(placing.source, &path).ok().flatten(),
            },
            path: RepoPath::new(&path).ok()?,
            from,
            operation: slot.operation,
            before: slot.before,
            after: slot.after,
            new_permissions: false,
        })
    });
    changes.collect()
}
