use super::super::change::{FileState, recorded_mode};
use super::super::compose::one_edit;
use super::super::content::{Modified, modify};
use super::super::set::{Body, FilePatch};
use super::super::structure;
use super::super::structure::PathChange;
use super::super::target::Target;
use super::run::Judging;
use super::section::SectionOutcome;
use crate::model::{Code, HunkVerdict, Mend, Operation, PatchProblem, Refusal, Safety, refuse};

impl Judging<'_, '_> {
    pub(super) fn group(
        &mut self,
        target: &Target,
        group: &[usize],
        done: Option<(FileState, Modified)>,
        hunks: &mut Vec<HunkVerdict>,
    ) -> Result<SectionOutcome, Refusal> {
        let sections: Vec<&FilePatch<'_>> = group
            .iter()
            .filter_map(|index| self.set.files.get(*index))
            .collect();
        let (before, modified) = if let Some(done) = done {
            done
        } else {
            structure::ancestors(self.source.listing(), &self.slots, &target.new)?;
            let before = self.existing(&target.new)?;
            let modified = modify(&before, &sections, self.options.strict, &self.work);
            (before, modified)
        };
        let mode = sections
            .iter()
            .filter_map(|section| section.headers.new_mode)
            .next_back()
            .map(|mode| recorded_mode(mode & 0o777));
        self.settle(target, &sections, before, modified, mode, hunks)
    }

    pub(super) fn existing(&self, path: &str) -> Result<FileState, Refusal> {
        match self.current(path)? {
            Some(state) => Ok(state),
            None if self.slots.contains_key(path) => refuse(
                Code::P513,
                "the patch deletes or moves this file before it changes it",
            ),
            None => {
                let suggestions = structure::suggestions(self.source.listing(), path, &self.work);
                let message = format!("there is no file `{}`", path.escape_debug());
                let refusal = Refusal::new(Code::P501, message);
                Err(if suggestions.is_empty() {
                    refusal
                } else {
                    refusal.hint(format!("did you mean {}?", suggestions.join(" or ")))
                })
            }
        }
    }

    pub(super) fn settle(
        &mut self,
        target: &Target,
        sections: &[&FilePatch<'_>],
        before: FileState,
        modified: Modified,
        mode: Option<u32>,
        hunks: &mut Vec<HunkVerdict>,
    ) -> Result<SectionOutcome, Refusal> {
        hunks.extend(modified.hunks);
        let (bytes, edits) = match modified.after {
            Some(after) => after,
            None if modified.already.is_some() => {
                return Ok(SectionOutcome::Already {
                    origin: modified.already,
                    sure: true,
                });
            }
            None => {
                let Some(made) = self.merged(sections, &before) else {
                    self.hunk_problems(target, modified.failures);
                    return Ok(SectionOutcome::Failed);
                };
                let edits = one_edit(&before.bytes, &made);
                (made.into(), edits)
            }
        };
        self.verdict.mends.extend(modified.mends);
        let after = FileState::new(bytes, mode.unwrap_or(before.mode));
        let changes = sections.iter().any(|section| {
            matches!(&section.body, Body::Hunks(hunks) if hunks.iter().any(crate::patch::set::Hunk::changes_something))
        });
        if after == before {
            if changes {
                return Ok(SectionOutcome::ALREADY);
            }
            if mode.is_none() {
                let message = "the patch changes nothing in this file";
                if self.options.strict {
                    return refuse(Code::P305, message);
                }
                if sections.iter().any(|section| lost_its_end(section)) {
                    let message = "the patch seems to be cut off before its first change";
                    return refuse(Code::P104, message);
                }
                let problem = PatchProblem::new(Code::P305, message).as_warning();
                let line = sections.first().map_or(0, |it| u64::from(it.line));
                self.verdict
                    .problems
                    .push(problem.at(Some(&target.new), line));
                return Ok(SectionOutcome::Unchanged);
            }
        }
        self.store(
            target,
            Some(before),
            Some(after),
            edits,
            sections.first().map_or(0, |it| it.line),
        );
        if let Some(slot) = self.slots.get_mut(&target.new) {
            slot.is_exact = modified.is_exact;
        }
        self.check_link(target, SectionOutcome::Applied)
    }

    pub(super) fn hunk_problems(&mut self, target: &Target, failures: Vec<(u64, Refusal)>) {
        for (line, failure) in failures {
            self.problem(failure.problem(Some(&target.new), line));
        }
    }

    // The patch may be for an older state of the file that the object database still has.
    pub(super) fn merged(
        &mut self,
        sections: &[&FilePatch<'_>],
        before: &FileState,
    ) -> Option<Vec<u8>> {
        let objects = self.options.objects?;
        let [section] = sections else {
            return None;
        };
        let id = std::str::from_utf8(section.headers.index?.old).ok()?;
        let base = objects.find(id)?;
        if *base == *before.bytes {
            return None;
        }
        let state = FileState::new(base, before.mode);
        let (theirs, _) = modify(&state, sections, true, &self.work).after?;
        let merged = objects.merge(&before.bytes, &state.bytes, &theirs);
        let clean = merged.is_some();
        if self.options.three_way && clean {
            let message = "merged with what the file has become since the patch was made";
            let mend = Mend::new(Code::M413, Safety::OptIn, section.line, message);
            self.verdict.mends.push(mend);
            return merged;
        }
        let how = if clean {
            "; a three-way merge is clean (`--three-way`)"
        } else {
            "; a three-way merge has conflicts"
        };
        let message = format!("the patch was made for an older state of the file ({id}){how}");
        let problem = PatchProblem::new(Code::P408, message);
        self.problem(problem.at(None, u64::from(section.line)));
        None
    }

    pub(super) fn store(
        &mut self,
        target: &Target,
        before: Option<FileState>,
        after: Option<FileState>,
        edits: Vec<crate::patch::compose::LineEdit>,
        line: u32,
    ) {
        let earlier = self.slots.remove(&target.new);
        let moved = matches!(target.operation, Operation::Rename | Operation::Copy);
        let slot = match earlier {
            // A second change of one path is told as one.
            Some(first) if !moved => {
                let bytes = |it: &Option<FileState>| it.clone().unwrap_or_default().bytes;
                let edits = one_edit(&bytes(&first.before), &bytes(&after));
                PathChange {
                    is_exact: false,
                    operation: match (&first.before, &after) {
                        (None, Some(_)) => Operation::Create,
                        (_, None) => Operation::Delete,
                        _ if first.from.is_some() => first.operation,
                        _ => Operation::Modify,
                    },
                    before: first.before,
                    from: first.from,
                    after,
                    edits,
                    line: first.line,
                }
            }
            _ => PathChange {
                is_exact: false,
                before,
                after,
                from: moved.then(|| target.old.clone()),
                operation: target.operation,
                edits,
                line,
            },
        };
        self.slots.insert(target.new.clone(), slot);
    }
}

// Whether the input ends in a hunk that has fewer lines than its header promises.
fn lost_its_end(section: &FilePatch<'_>) -> bool {
    let Body::Hunks(hunks) = &section.body else {
        return false;
    };
    hunks.last().is_some_and(|hunk| {
        let promised = hunk.old.map_or(0, |(_, count)| count as usize);
        hunk.ends_input && promised > hunk.old_lines().count()
    })
}
