use std::collections::HashSet;

use super::super::change::{Change, FileState};
use super::super::damage::proven;
use super::super::definitions::{left_out, names};
use super::super::intent::{announces_another, unmeant};
use super::super::set::{Body, LineKind};
use super::super::structure;
use super::super::structure::PathChange;
use super::run::Judging;
use super::section::{SectionOutcome, original};
use super::{After, Judged};
use crate::model::{
    AfterProblem, BlobId, Code, Mend, Operation, PatchProblem, RepoPath, Safety, TestChanges,
    Verdict,
};
use crate::policy::{ChangeRules, ChangedFile, judge_change, judge_together};

fn changed_file<'s>(path: &'s str, slot: &'s PathChange) -> ChangedFile<'s> {
    let before = slot.before.as_ref().filter(|_| slot.from.is_none());
    let mode = |state: Option<&FileState>| state.map_or(0, |it| it.mode);
    ChangedFile {
        path,
        operation: if slot.after.is_none() {
            Operation::Delete
        } else {
            slot.operation
        },
        before: before.map(|it| &*it.bytes),
        after: slot.after.as_ref().map(|it| &*it.bytes),
        modes: (mode(slot.before.as_ref()), mode(slot.after.as_ref())),
    }
}

impl Judging<'_, '_> {
    pub(super) fn finish(mut self) -> Judged {
        if self.set.files.is_empty() && self.worst.is_none() {
            self.plain(Code::P102, "there is no patch in the input");
        }
        if self.work.is_done() {
            self.plain(Code::P308, "the patch takes too many comparisons to place");
        }
        let already = self.weigh_already();
        if self.worst.is_none() && !already && !self.options.as_written {
            self.weigh_intent();
        }
        if self.worst.is_none() && !already {
            self.structure_and_policy();
        }
        let mut changes = Vec::new();
        if self.worst.is_none() && !already {
            changes = self.changes();
            match self.options.after {
                After::Ignored => {}
                After::Parses => {
                    let broken = crate::patch::after::breaks(&changes);
                    if let Some(first) = broken.filter(|_| !self.options.as_written) {
                        self.broken(&first);
                    }
                }
                After::Reported | After::Enforced => self.look_after(&changes),
            }
        }
        let applies = self.worst.is_none() && !already;
        self.verdict.verdict = match self.worst {
            Some(worst) => worst,
            None if already => Verdict::AlreadyApplied,
            None if self.verdict.mends.is_empty() => Verdict::Applies,
            None => Verdict::AppliesMended,
        };
        if !applies {
            self.verdict.mends.retain(|_| already);
        }
        self.verdict.mends.sort_by_key(|mend| mend.patch_line);
        self.verdict
            .problems
            .sort_by_key(|problem| problem.patch_line);
        if !applies {
            changes.clear();
        }
        self.verdict.feedback = crate::patch::feedback::feedback(&self.verdict);
        Judged {
            verdict: self.verdict,
            changes,
            gains_imports: self.gains_imports,
        }
    }

    // What shows that the writer meant something else than the bytes say.
    fn weigh_intent(&mut self) {
        let slots = self.slots.iter();
        let found: Vec<PatchProblem> = slots
            .filter_map(|(path, slot)| {
                let after = slot.after.as_ref().filter(|it| it.mode != 0o120_000)?;
                if slot.is_exact {
                    return None;
                }
                if slot
                    .before
                    .as_ref()
                    .is_some_and(|it| it.bytes == after.bytes)
                {
                    return None;
                }
                // A machine wrote the id of these very bytes: nothing was lost on the way here.
                let mut sections = self.set.files.iter().filter(|it| it.line == slot.line);
                if sections.any(|section| proven(&[section], &after.bytes)) {
                    return None;
                }
                let (_, refusal) = unmeant(path, slot.before.as_ref(), after)?;
                Some(refusal.problem(Some(path), u64::from(slot.line)))
            })
            .collect();
        for problem in found.into_iter().chain(self.left_out()) {
            self.problem(problem);
        }
    }

    // Definitions that whole files leave out and no other file of the patch takes.
    fn left_out(&self) -> Vec<PatchProblem> {
        let problem = |path: &String| {
            let slot = self.slots.get(path)?;
            let (before, after) = (slot.before.as_ref()?, slot.after.as_ref()?);
            let mut lost = left_out(&RepoPath::new(path).ok()?, &before.bytes, &after.bytes);
            let others = self.slots.iter().filter(|it| it.0 != path);
            for (other, slot) in others {
                if lost.is_empty() {
                    return None;
                }
                let of = |state: &Option<FileState>| match (state, RepoPath::new(other)) {
                    (Some(state), Ok(path)) => names(&path, &state.bytes),
                    _ => HashSet::new(),
                };
                let (before, after) = (of(&slot.before), of(&slot.after));
                let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
                lost.retain(|name| before.contains(&last(name)) || !after.contains(&last(name)));
            }
            let named: Vec<String> = lost.iter().take(5).map(|it| format!("`{it}`")).collect();
            let more = match lost.len() - named.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let named = Some(named.join(", ")).filter(|it| !it.is_empty())?;
            let message =
                format!("the whole file leaves out {named}{more}, and nothing stands in the place");
            Some(PatchProblem::new(Code::P313, message).at(Some(path), u64::from(slot.line)))
        };
        self.wholes.iter().filter_map(problem).collect()
    }

    fn look_after(&mut self, changes: &[Change]) {
        let found = crate::patch::after::after_image(self.source, changes);
        // A patch that ends in the middle of an added line may have lost the rest of that line.
        let cut = self.set.files.last().is_some_and(|file| match &file.body {
            Body::Hunks(hunks) => hunks.last().is_some_and(|hunk| {
                hunk.cut && hunk.lines.last().is_some_and(|it| it.kind == LineKind::Add)
            }),
            _ => false,
        });
        if cut && (!found.syntax.is_empty() || self.announces_another(changes)) {
            let message = "the patch seems to be cut off inside its last line: the file would not parse, or \
                           not be the one that its `index` line announces";
            self.plain(Code::P104, message);
        } else if let Some(first) = found.broken.first().filter(|_| !self.options.as_written) {
            self.broken(first);
        } else if self.options.after == After::Enforced {
            let first = found.syntax.iter().chain(&found.imports).next().cloned();
            if let Some(first) = first {
                self.plain(first.code, &first.message);
            }
        }
        self.gains_imports = found.gains_imports;
        self.verdict.new_syntax_errors = found.syntax;
        self.verdict.new_unresolved_imports = found.imports;
    }

    fn broken(&mut self, first: &AfterProblem) {
        let message = format!(
            "the file parses now and would not after the patch: {} (line {} after it)",
            first.message, first.line
        );
        self.problem(PatchProblem::new(first.code, message).at(Some(&first.path), 0));
    }

    fn announces_another(&self, changes: &[Change]) -> bool {
        let Some(file) = self.set.files.last() else {
            return false;
        };
        let mut made = changes.iter().filter_map(|change| change.after.as_ref());
        changes.iter().any(|change| change.after.is_some())
            && made.all(|after| announces_another(file, &after.bytes))
    }

    // Whether all of it is there already; `worst` is set when only some is, or it is reversed.
    fn weigh_already(&mut self) -> bool {
        let unchanged = |it: &SectionOutcome| matches!(it, SectionOutcome::Unchanged);
        if self.worst.is_some() || self.standing.is_empty() {
            return false;
        }
        if self.standing.iter().all(unchanged) {
            return true;
        }
        let there = self.standing.iter().filter_map(|it| match it {
            SectionOutcome::Already { origin, sure } => Some((origin.clone(), *sure)),
            _ => None,
        });
        let (origins, sure): (Vec<_>, Vec<bool>) = there.unzip();
        if origins.is_empty() {
            return false;
        }
        if !sure.contains(&true) {
            self.plain(Code::P501, "the file to delete is not there");
            return false;
        }
        let applied = |it: &SectionOutcome| matches!(it, SectionOutcome::Applied);
        if !self.slots.is_empty() && self.standing.iter().any(applied) {
            if sure.contains(&false) || self.options.strict {
                let message = "a part of the patch is already applied, another is not";
                self.plain(Code::P406, message);
                return false;
            }
            let message = "left out files that are as the patch makes them already";
            let mend = Mend::new(Code::M304, Safety::Lossy, 1_u64, message);
            self.verdict.mends.push(mend);
            return false;
        }
        let sides: Vec<&Vec<u8>> = origins.iter().flatten().collect();
        if let Some(objects) = self.options.objects
            && sides.len() == origins.len()
            && !sides
                .iter()
                .any(|origin| objects.has(BlobId::from_content(origin)))
        {
            let message = "the files hold the new side of the patch, and its old side was never in this repository: the patch seems to be reversed";
            self.plain(Code::P407, message);
            return false;
        }
        true
    }

    fn structure_and_policy(&mut self) {
        for problem in structure::whole(self.source.listing(), &self.slots) {
            self.problem(problem);
        }
        let rules = ChangeRules {
            allowed: &self.options.allowed,
            dependencies: self.options.dependencies,
            run: &self.options.run,
            tests_refused: self.options.tests == TestChanges::Refused,
        };
        let mut found = Vec::new();
        let mut grown: u64 = 0;
        let mut files = Vec::with_capacity(self.slots.len());
        for (path, slot) in &self.slots {
            let bytes =
                |state: &Option<FileState>| state.as_ref().map_or(0, |it| it.bytes.len() as u64);
            grown += bytes(&slot.after).saturating_sub(bytes(&slot.before));
            let is_copy = slot.operation == Operation::Copy;
            let changed = changed_file(path, slot);
            let mut findings = judge_change(&changed, &rules);
            files.push((changed, slot.line));
            if is_copy && let Some(from) = &slot.from {
                let source = ChangedFile {
                    path: from,
                    operation: Operation::Copy,
                    before: None,
                    after: None,
                    modes: (0, 0),
                };
                findings.extend(judge_change(&source, &rules));
            }
            if bytes(&slot.after) > self.options.limits.file_bytes {
                let message = format!(
                    "the file would have more than {} bytes",
                    self.options.limits.file_bytes
                );
                findings.push(PatchProblem::new(Code::P705, message));
            }
            let line = u64::from(slot.line);
            let findings = findings.into_iter();
            found.extend(findings.map(|finding| finding.at(Some(path), line)));
        }
        let (files, lines): (Vec<ChangedFile<'_>>, Vec<u32>) = files.into_iter().unzip();
        for (at, finding) in judge_together(&files, &rules) {
            if let (Some(file), Some(line)) = (files.get(at), lines.get(at)) {
                found.push(finding.at(Some(file.path), u64::from(*line)));
            }
        }
        for problem in found {
            self.problem(problem);
        }
        if grown > self.options.limits.grown_bytes {
            let message = format!(
                "the patch adds more than {} bytes",
                self.options.limits.grown_bytes
            );
            self.plain(Code::P705, &message);
        }
    }

    pub(super) fn changes(&mut self) -> Vec<Change> {
        let slots = std::mem::take(&mut self.slots);
        let mut sources: HashSet<String> = HashSet::new();
        for slot in slots
            .values()
            .filter(|slot| slot.operation == Operation::Rename)
        {
            sources.extend(slot.from.clone());
        }
        slots
            .into_iter()
            .filter(|(_, slot)| slot.after.is_some() || slot.before.is_some())
            .filter_map(|(path, slot)| {
                let moved = slot.after.is_none() && sources.contains(&path);
                let standing = match &slot.from {
                    None => slot.before.clone(),
                    Some(_) => original(self.source, &path).ok().flatten(),
                };
                Some(Change {
                    standing,
                    path: RepoPath::new(&path).ok()?,
                    from: slot
                        .from
                        .as_deref()
                        .and_then(|from| RepoPath::new(from).ok()),
                    operation: if moved {
                        Operation::Rename
                    } else {
                        slot.operation
                    },
                    before: slot.before,
                    after: slot.after,
                    edits: slot.edits,
                    new_permissions: false,
                })
            })
            .collect()
    }
}
