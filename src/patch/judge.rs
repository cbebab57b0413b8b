use std::collections::{BTreeMap, HashMap, HashSet};

use rayon::prelude::*;

use super::change::{Change, FileState};
use super::compose::one_edit;
use super::content::{Modified, apply_delta, created, edited, modify};
use super::place::{Failure, Work};
use super::read::{ReadOptions, read};
use super::reverse::reverse;
use super::set::{Binary, Body, FilePatch, LineKind, PatchSet};
use super::structure;
use super::target::{Naming, Target, targets};
use crate::model::{
    BlobId, Code, FileVerdict, HunkVerdict, Mend, Operation, PatchProblem, PatchVerdict, RepoPath,
    Severity, Verdict,
};
use crate::policy::{Allowed, ChangeLimits, ChangedFile, judge_change};
use crate::source::{EntryKind, ReadError, Source};

/// How to judge.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct JudgeOptions<'a> {
    /// Mend nothing.
    pub strict: bool,
    /// Leading components to strip from names; `None` finds out.
    pub strip: Option<usize>,
    /// Put before every path.
    pub directory: &'a str,
    /// Apply the other way round.
    pub reverse: bool,
    /// Merge with what the file has become, when the blob the patch was made for is known.
    pub three_way: bool,
    /// Paths that a person allowed by name.
    pub allowed: Allowed,
    /// Look at what the tree would be: new syntax errors and imports that lead nowhere.
    pub after: bool,
    /// Let what that finds stop the patch.
    pub strict_after: bool,
    /// Limits on size.
    pub limits: ChangeLimits,
    /// Limits of reading.
    pub read: ReadOptions,
    /// Contents by blob id, when there is an object database.
    pub objects: Option<&'a dyn Objects>,
}

/// Contents by blob id.
pub trait Objects: Sync {
    /// Whether there is a blob with this id.
    fn has(&self, id: BlobId) -> bool;
    /// The blob with this id, which may be abbreviated.
    fn find(&self, hex: &str) -> Option<Vec<u8>>;
    /// `ours` with what leads from `base` to `theirs`; `None` when they conflict.
    fn merge(&self, ours: &[u8], base: &[u8], theirs: &[u8]) -> Option<Vec<u8>>;
}

/// A verdict and, when it applies, what to write.
pub struct Judged {
    /// The verdict; without `canonical_patch`, which [`Judged::canonical_patch`] writes.
    pub verdict: PatchVerdict,
    /// What to write, in the order of paths; empty unless the verdict applies.
    pub changes: Vec<Change>,
}

impl Judged {
    /// The same change as a git patch with true line numbers, modes and blob ids.
    #[must_use]
    pub fn canonical_patch(&self) -> Vec<u8> {
        super::canonical::canonical(&self.changes)
    }
}

/// Judges a patch against a source. Reads files, writes nothing.
pub fn judge(input: &[u8], source: &dyn Source, options: &JudgeOptions<'_>) -> Judged {
    let judged = read(input, &options.read, |set| {
        let set = if options.reverse { reverse(set) } else { set };
        Judge::new(&set, source, options).run()
    });
    judged.unwrap_or_else(|unread| {
        let mut verdict = PatchVerdict::new(Verdict::Malformed, None);
        verdict.error_code = Some(unread.code());
        verdict.problems.push(PatchProblem {
            code: unread.code(),
            severity: Severity::Error,
            path: None,
            patch_line: 0,
            message: unread.to_string(),
            hint: None,
        });
        verdict.feedback = super::feedback::feedback(&verdict);
        Judged {
            verdict,
            changes: Vec::new(),
        }
    })
}

struct Judge<'j, 'a> {
    set: &'j PatchSet<'a>,
    source: &'j dyn Source,
    options: &'j JudgeOptions<'j>,
    work: Work,
    slots: BTreeMap<String, Slot>,
    vacated: HashSet<String>,
    worst: Option<Verdict>,
    verdict: PatchVerdict,
    standing: Vec<Standing>,
    stale: Vec<String>,
}

// What the patch has made of one path so far.
pub(super) struct Slot {
    pub(super) before: Option<FileState>,
    pub(super) after: Option<FileState>,
    pub(super) from: Option<String>,
    pub(super) operation: Operation,
    pub(super) edits: Vec<super::compose::LineEdit>,
    pub(super) line: u32,
}

// How one section relates to the tree.
enum Standing {
    Applied,
    // Its new side stands there already; where known, the content it would have started from.
    Already { origin: Option<Vec<u8>>, sure: bool },
    Failed,
}

struct Refusal {
    verdict: Verdict,
    code: &'static str,
    message: String,
    hint: Option<String>,
}

fn refuse<T>(
    verdict: Verdict,
    code: &'static str,
    message: impl Into<String>,
) -> Result<T, Refusal> {
    Err(Refusal {
        verdict,
        code,
        message: message.into(),
        hint: None,
    })
}

impl<'j, 'a> Judge<'j, 'a> {
    fn new(set: &'j PatchSet<'a>, source: &'j dyn Source, options: &'j JudgeOptions<'j>) -> Self {
        let mut verdict = PatchVerdict::new(Verdict::Applies, Some(set.format));
        verdict.mends.clone_from(&set.mends);
        Self {
            set,
            source,
            options,
            work: Work::new(),
            slots: BTreeMap::new(),
            vacated: HashSet::new(),
            worst: None,
            verdict,
            standing: Vec::new(),
            stale: Vec::new(),
        }
    }

    fn run(mut self) -> Judged {
        for problem in &self.set.problems {
            self.problem(Verdict::Malformed, problem.clone());
        }
        let naming = Naming {
            strip: self.options.strip,
            directory: self.options.directory,
            strict: self.options.strict,
        };
        let mut problems = Vec::new();
        let mut mends = Vec::new();
        let targets = targets(
            self.set,
            self.source.listing(),
            &naming,
            &mut mends,
            &mut problems,
        );
        for problem in problems {
            let verdict = match problem.code.as_str() {
                "P503" | "P504" | "P505" | "P506" | "P508" => Verdict::Unsafe,
                "P509" => Verdict::Ambiguous,
                _ => Verdict::Malformed,
            };
            self.problem(verdict, problem);
        }
        self.verdict.mends.extend(mends);
        if self.set.files.len() > self.options.limits.files {
            let message = format!(
                "the patch names more than {} files",
                self.options.limits.files
            );
            self.plain("P705", Verdict::Refused, &message);
        } else {
            self.sections(&targets);
        }
        self.finish()
    }

    fn plain(&mut self, code: &'static str, verdict: Verdict, message: &str) {
        self.problem(
            verdict,
            PatchProblem {
                code: Code::new(code),
                severity: Severity::Error,
                path: None,
                patch_line: 0,
                message: message.to_owned(),
                hint: None,
            },
        );
    }

    fn problem(&mut self, verdict: Verdict, problem: PatchProblem) {
        if problem.severity == Severity::Error {
            let rank = |verdict: Verdict| match verdict {
                Verdict::Unsafe => 9,
                Verdict::Refused => 8,
                Verdict::Malformed => 7,
                Verdict::ContextNotFound => 6,
                Verdict::Stale => 5,
                Verdict::Ambiguous => 4,
                Verdict::Reversed => 3,
                Verdict::AlreadyApplied => 2,
                Verdict::AppliesMended => 1,
                Verdict::Applies => 0,
            };
            if self.worst.is_none_or(|worst| rank(verdict) > rank(worst)) {
                self.worst = Some(verdict);
                self.verdict.error_code = Some(problem.code);
            }
        }
        self.verdict.problems.push(problem);
    }

    fn sections(&mut self, targets: &[Option<Target>]) {
        for target in targets.iter().flatten() {
            if matches!(target.operation, Operation::Delete | Operation::Rename) {
                self.vacated.insert(target.old.clone());
            }
        }
        // Sections of one path that only change lines are taken together.
        let mut groups: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut uses: HashMap<&str, usize> = HashMap::new();
        for (index, target) in targets.iter().enumerate() {
            let (Some(target), Some(file)) = (target, self.set.files.get(index)) else {
                continue;
            };
            *uses.entry(target.new.as_str()).or_default() += 1;
            if target.old != target.new {
                *uses.entry(target.old.as_str()).or_default() += 1;
            }
            if target.operation == Operation::Modify && matches!(file.body, Body::Hunks(_)) {
                groups.entry(target.new.as_str()).or_default().push(index);
            }
        }
        groups.retain(|path, group| uses.get(path) == Some(&group.len()));
        let mut ready = self.in_parallel(&groups);
        for (index, target) in targets.iter().enumerate() {
            let Some(file) = self.set.files.get(index) else {
                continue;
            };
            let Some(target) = target else {
                self.standing.push(Standing::Failed);
                continue;
            };
            let mut hunks = Vec::new();
            let standing = match groups.get(target.new.as_str()) {
                Some(group) if group.first() == Some(&index) => {
                    let done = ready.remove(target.new.as_str());
                    self.group(target, group, done, &mut hunks)
                }
                Some(_) => Ok(Standing::Applied),
                None => self.section(file, target, &mut hunks),
            };
            let standing = standing.unwrap_or_else(|refusal| {
                self.section_problem(file, target, refusal);
                Standing::Failed
            });
            self.standing.push(standing);
            let moved = matches!(target.operation, Operation::Rename | Operation::Copy);
            self.verdict.files.push(FileVerdict {
                path: target.new.clone(),
                old_path: moved.then(|| target.old.clone()),
                operation: target.operation,
                mode: target
                    .mode
                    .filter(|_| target.operation != Operation::Delete)
                    .map(|mode| format!("{mode:06o}")),
                hunks,
            });
        }
    }

    fn section_problem(&mut self, file: &FilePatch<'_>, target: &Target, refusal: Refusal) {
        let hint = refusal.hint.clone();
        let problem = PatchProblem {
            code: Code::new(refusal.code),
            severity: Severity::Error,
            path: Some(target.new.clone()),
            patch_line: u64::from(file.line),
            message: refusal.message,
            hint,
        };
        self.problem(refusal.verdict, problem);
    }

    // The bulk of a large patch: files that are changed once and nothing else.
    fn in_parallel(
        &self,
        groups: &HashMap<&str, Vec<usize>>,
    ) -> HashMap<String, (FileState, Modified)> {
        if groups.len() < 8 {
            return HashMap::new();
        }
        let mut list: Vec<(&&str, &Vec<usize>)> = groups.iter().collect();
        list.sort();
        list.into_par_iter()
            .filter_map(|(path, group)| {
                let before = original(self.source, path).ok().flatten()?;
                let sections: Vec<&FilePatch<'_>> = group
                    .iter()
                    .filter_map(|index| self.set.files.get(*index))
                    .collect();
                let work = Work::new();
                let modified = modify(&before, &sections, self.options.strict, &work);
                Some(((*path).to_owned(), (before, modified)))
            })
            .collect()
    }

    // What stands at a path now, the patch so far included.
    fn current(&self, path: &str) -> Result<Option<FileState>, Refusal> {
        match self.slots.get(path) {
            Some(slot) => Ok(slot.after.clone()),
            None => original(self.source, path),
        }
    }

    fn group(
        &mut self,
        target: &Target,
        group: &[usize],
        done: Option<(FileState, Modified)>,
        hunks: &mut Vec<HunkVerdict>,
    ) -> Result<Standing, Refusal> {
        let sections: Vec<&FilePatch<'_>> = group
            .iter()
            .filter_map(|index| self.set.files.get(*index))
            .collect();
        let (before, modified) = if let Some(done) = done {
            done
        } else {
            structure::ancestors(self.source.listing(), &self.slots, &target.new)
                .or_else(|(code, message)| refuse(Verdict::Unsafe, code, message))?;
            let before = self.existing(&target.new)?;
            let modified = modify(&before, &sections, self.options.strict, &self.work);
            (before, modified)
        };
        let mode = sections
            .iter()
            .filter_map(|section| section.headers.new_mode)
            .next_back()
            .map(|mode| {
                if mode & 0o100 == 0 {
                    0o100_644
                } else {
                    0o100_755
                }
            });
        self.mode_notes(&sections, target, &before);
        self.settle(target, &sections, before, modified, mode, hunks)
    }

    // Modes that are not those of the file are worth a word, no more.
    fn mode_notes(&mut self, sections: &[&FilePatch<'_>], target: &Target, before: &FileState) {
        for section in sections {
            let told = section
                .headers
                .old_mode
                .or(section.headers.index.and_then(|it| it.mode));
            if let Some(told) = told.filter(|told| *told != before.mode) {
                self.verdict.problems.push(PatchProblem {
                    code: Code::new("P206"),
                    severity: Severity::Warning,
                    path: Some(target.new.clone()),
                    patch_line: u64::from(section.line),
                    message: format!(
                        "the patch takes the file mode for {told:06o}; it is {:06o}",
                        before.mode
                    ),
                    hint: None,
                });
            }
        }
    }

    fn existing(&self, path: &str) -> Result<FileState, Refusal> {
        match self.current(path)? {
            Some(state) => Ok(state),
            None if self.slots.contains_key(path) => refuse(
                Verdict::Malformed,
                "P507",
                "the patch deletes or moves this file before it changes it",
            ),
            None => {
                let suggestions = structure::suggestions(self.source.listing(), path);
                Err(Refusal {
                    verdict: Verdict::ContextNotFound,
                    code: "P501",
                    message: format!("there is no file `{}`", path.escape_debug()),
                    hint: (!suggestions.is_empty())
                        .then(|| format!("did you mean {}?", suggestions.join(" or "))),
                })
            }
        }
    }

    fn settle(
        &mut self,
        target: &Target,
        sections: &[&FilePatch<'_>],
        before: FileState,
        modified: Modified,
        mode: Option<u32>,
        hunks: &mut Vec<HunkVerdict>,
    ) -> Result<Standing, Refusal> {
        hunks.extend(modified.hunks.into_iter().flatten());
        let (bytes, edits) = match modified.after {
            Some(after) => after,
            None if modified.already.is_some() => {
                return Ok(Standing::Already {
                    origin: modified.already,
                    sure: true,
                });
            }
            None => {
                if let Some(merged) = self.merged(sections, &before) {
                    let edits = one_edit(&before.bytes, &merged);
                    (merged.into(), edits)
                } else {
                    for (line, failure) in modified.failures {
                        self.hunk_problem(target, line, failure);
                    }
                    return Ok(Standing::Failed);
                }
            }
        };
        self.verdict.mends.extend(modified.mends);
        let after = FileState {
            bytes,
            mode: mode.unwrap_or(before.mode),
        };
        let changes = sections.iter().any(|section| {
            matches!(&section.body, Body::Hunks(hunks) if hunks.iter().any(super::set::Hunk::changes_something))
        });
        if after == before {
            if changes {
                return Ok(Standing::Already {
                    origin: None,
                    sure: true,
                });
            }
            if mode.is_none() {
                return refuse(
                    Verdict::Malformed,
                    "P305",
                    "the patch changes nothing in this file",
                );
            }
        }
        self.store(
            target,
            Some(before),
            Some(after),
            edits,
            sections.first().map_or(0, |it| it.line),
        );
        Ok(Standing::Applied)
    }

    fn hunk_problem(&mut self, target: &Target, line: u64, failure: Failure) {
        let hint = failure.hint.clone();
        let problem = PatchProblem {
            code: failure.code,
            severity: Severity::Error,
            path: Some(target.new.clone()),
            patch_line: line,
            message: failure.message,
            hint,
        };
        self.problem(failure.verdict, problem);
    }

    // The patch may be for an older state of the file that the object database still has.
    fn merged(&mut self, sections: &[&FilePatch<'_>], before: &FileState) -> Option<Vec<u8>> {
        let objects = self.options.objects?;
        let [section] = sections else {
            return None;
        };
        let id = std::str::from_utf8(section.headers.index?.old).ok()?;
        let base = objects.find(id)?;
        if *base == *before.bytes {
            return None;
        }
        let state = FileState {
            bytes: base.into(),
            mode: before.mode,
        };
        let (theirs, _) = modify(&state, sections, true, &self.work).after?;
        let merged = objects.merge(&before.bytes, &state.bytes, &theirs);
        let clean = merged.is_some();
        if self.options.three_way && clean {
            self.verdict.mends.push(Mend {
                code: Code::new("M413"),
                safety: crate::model::Safety::OptIn,
                patch_line: u64::from(section.line),
                message: "merged with what the file has become since the patch was made".to_owned(),
            });
            return merged;
        }
        let how = if clean {
            "; a three-way merge is clean (`--three-way`)"
        } else {
            "; a three-way merge has conflicts"
        };
        self.stale.push(how.to_owned());
        self.problem(
            Verdict::Stale,
            PatchProblem {
                code: Code::new("P408"),
                severity: Severity::Error,
                path: None,
                patch_line: u64::from(section.line),
                message: format!("the patch was made for an older state of the file ({id}){how}"),
                hint: None,
            },
        );
        None
    }

    fn store(
        &mut self,
        target: &Target,
        before: Option<FileState>,
        after: Option<FileState>,
        edits: Vec<super::compose::LineEdit>,
        line: u32,
    ) {
        let known = self.slots.remove(&target.new);
        let moved = matches!(target.operation, Operation::Rename | Operation::Copy);
        let slot = match known {
            // A second change of one path is told as one.
            Some(first) if !moved => {
                let edits = match (&first.before, &after) {
                    (Some(before), Some(after)) => one_edit(&before.bytes, &after.bytes),
                    (None, Some(after)) => one_edit(b"", &after.bytes),
                    (Some(before), None) => one_edit(&before.bytes, b""),
                    (None, None) => Vec::new(),
                };
                Slot {
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
            _ => Slot {
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

    fn section(
        &mut self,
        file: &FilePatch<'_>,
        target: &Target,
        hunks: &mut Vec<HunkVerdict>,
    ) -> Result<Standing, Refusal> {
        for path in [&target.old, &target.new] {
            structure::ancestors(self.source.listing(), &self.slots, path)
                .or_else(|(code, message)| refuse(Verdict::Unsafe, code, message))?;
        }
        match target.operation {
            Operation::Create => self.create(file, target),
            Operation::Delete => self.delete(file, target, hunks),
            Operation::Modify => {
                let before = self.existing(&target.new)?;
                self.mode_notes(&[file], target, &before);
                self.content(file, target, before, hunks)
            }
            Operation::Rename | Operation::Copy => self.transfer(file, target, hunks),
        }
    }

    fn create(&mut self, file: &FilePatch<'_>, target: &Target) -> Result<Standing, Refusal> {
        let mode = target.mode.unwrap_or(0o100_644);
        let (bytes, mends) = match &file.body {
            Body::Binary(forward, _) => (binary(file, b"", forward)?, Vec::new()),
            body => created(body).or_else(|failure| {
                refuse(failure.verdict, failure.code.as_str(), failure.message)
            })?,
        };
        let after = FileState {
            bytes: bytes.into(),
            mode,
        };
        if mode == 0o120_000 {
            structure::link(&target.new, &after.bytes)
                .or_else(|(code, message)| refuse(Verdict::Unsafe, code, message))?;
        }
        if self
            .slots
            .get(&target.new)
            .is_some_and(|slot| slot.after.is_some())
        {
            return refuse(
                Verdict::Malformed,
                "P507",
                "the patch makes the same file twice",
            );
        }
        let leaves = self.vacated.contains(&target.new);
        match original(self.source, &target.new)? {
            Some(now) if now.bytes == after.bytes && !leaves => {
                return Ok(Standing::Already {
                    origin: None,
                    sure: true,
                });
            }
            Some(_) if !leaves => {
                return refuse(
                    Verdict::ContextNotFound,
                    "P502",
                    "the file is said to be new and is already there",
                );
            }
            Some(_) if !self.slots.contains_key(&target.new) => {
                return refuse(
                    Verdict::Malformed,
                    "P507",
                    "the patch makes this file before it takes the old one away",
                );
            }
            _ => {}
        }
        self.verdict.mends.extend(mends);
        let edits = one_edit(b"", &after.bytes);
        self.store(target, None, Some(after), edits, file.line);
        Ok(Standing::Applied)
    }

    fn delete(
        &mut self,
        file: &FilePatch<'_>,
        target: &Target,
        hunks: &mut Vec<HunkVerdict>,
    ) -> Result<Standing, Refusal> {
        if self.current(&target.old)?.is_none() && !self.slots.contains_key(&target.old) {
            let was_there = file
                .headers
                .index
                .and_then(|index| std::str::from_utf8(index.old).ok())
                .zip(self.options.objects)
                .is_some_and(|(id, objects)| objects.find(id).is_some());
            let refusal = self.existing(&target.old).err();
            if was_there || refusal.as_ref().is_some_and(|it| it.hint.is_none()) {
                return Ok(Standing::Already {
                    origin: None,
                    sure: was_there,
                });
            }
        }
        let before = self.existing(&target.old)?;
        let partial = || {
            refuse(
                Verdict::ContextNotFound,
                "P208",
                "the patch deletes the file, and the file has more than the patch knows of",
            )
        };
        match &file.body {
            Body::Hunks(_) => {
                let mut modified = modify(&before, &[file], self.options.strict, &self.work);
                hunks.extend(modified.hunks.drain(..).flatten());
                match modified.after {
                    Some((bytes, _)) if bytes.is_empty() => {
                        // A hunk that removes every line has no other place to go.
                        modified.mends.retain(|mend| mend.code != Code::new("M401"));
                        self.verdict.mends.extend(modified.mends);
                    }
                    Some(_) => return partial(),
                    None => {
                        for (line, failure) in modified.failures {
                            self.hunk_problem(target, line, failure);
                        }
                        return Ok(Standing::Failed);
                    }
                }
            }
            Body::Binary(forward, _) => {
                if !binary(file, &before.bytes, forward)?.is_empty() {
                    return partial();
                }
            }
            Body::Empty if before.bytes.is_empty() || file.headers.explicit.is_some() => {}
            _ => return partial(),
        }
        let edits = one_edit(&before.bytes, b"");
        self.store(target, Some(before), None, edits, file.line);
        Ok(Standing::Applied)
    }

    fn transfer(
        &mut self,
        file: &FilePatch<'_>,
        target: &Target,
        hunks: &mut Vec<HunkVerdict>,
    ) -> Result<Standing, Refusal> {
        let is_rename = target.operation == Operation::Rename;
        let occupied = self.current(&target.new)?.is_some();
        let source = original(self.source, &target.old)?;
        if source.is_none() && occupied && is_rename && !self.slots.contains_key(&target.new) {
            let pure = matches!(file.body, Body::Empty);
            let there = self.existing(&target.new)?;
            let already = pure || modify(&there, &[file], true, &self.work).already.is_some();
            if already {
                return Ok(Standing::Already {
                    origin: None,
                    sure: true,
                });
            }
        }
        if self
            .slots
            .get(&target.old)
            .is_some_and(|slot| slot.from.is_none() && slot.before.is_some())
        {
            return refuse(
                Verdict::Malformed,
                "P507",
                "the patch changes this file before it moves or copies it",
            );
        }
        let Some(before) = source else {
            return self
                .existing(&target.old)
                .map(|_| Standing::Failed)
                .and_then(|_| {
                    refuse(
                        Verdict::Malformed,
                        "P507",
                        "the patch makes this file before it moves or copies it",
                    )
                });
        };
        let leaves = self.vacated.contains(&target.new)
            && self
                .slots
                .get(&target.new)
                .is_none_or(|slot| slot.after.is_none());
        if occupied && !leaves {
            return refuse(
                Verdict::ContextNotFound,
                "P502",
                "the new path is already taken",
            );
        }
        if before.mode == 0o120_000 {
            structure::link(&target.new, &before.bytes)
                .or_else(|(code, message)| refuse(Verdict::Unsafe, code, message))?;
        }
        let standing = self.content(file, target, before.clone(), hunks)?;
        if is_rename
            && matches!(standing, Standing::Applied)
            && !self.slots.contains_key(&target.old)
        {
            self.slots.insert(
                target.old.clone(),
                Slot {
                    before: Some(before),
                    after: None,
                    from: None,
                    operation: Operation::Rename,
                    edits: Vec::new(),
                    line: file.line,
                },
            );
        }
        Ok(standing)
    }

    // A change of content of any kind, with `before` as what it starts from.
    fn content(
        &mut self,
        file: &FilePatch<'_>,
        target: &Target,
        before: FileState,
        hunks: &mut Vec<HunkVerdict>,
    ) -> Result<Standing, Refusal> {
        let moved = target.operation != Operation::Modify;
        let mode = target.mode.unwrap_or(before.mode);
        if (mode == 0o120_000) != (before.mode == 0o120_000) {
            return refuse(
                Verdict::Malformed,
                "P206",
                "the mode does not go with what the file is",
            );
        }
        let bytes = match &file.body {
            Body::Hunks(_) => {
                let modified = modify(&before, &[file], self.options.strict, &self.work);
                let standing =
                    self.settle(target, &[file], before, modified, target.mode, hunks)?;
                return self.check_link(target, standing);
            }
            Body::Empty => before.bytes.to_vec(),
            Body::Whole(bytes) => bytes.clone(),
            Body::Edits(edits) => {
                let (verdicts, result, already) = edited(&before.bytes, edits);
                hunks.extend(verdicts);
                match result {
                    Ok(bytes) => bytes,
                    Err(_) if already => {
                        return Ok(Standing::Already {
                            origin: None,
                            sure: true,
                        });
                    }
                    Err(failure) => {
                        self.hunk_problem(target, u64::from(file.line), failure);
                        return Ok(Standing::Failed);
                    }
                }
            }
            Body::Binary(forward, _) => binary(file, &before.bytes, forward)?,
            Body::BinaryWithoutData => {
                return refuse(
                    Verdict::Malformed,
                    "P602",
                    "the patch says that a binary file differs and has no data",
                );
            }
        };
        let after = FileState {
            bytes: bytes.into(),
            mode,
        };
        if !moved && after == before {
            if target.mode.is_some() || matches!(file.body, Body::Whole(_)) {
                return Ok(Standing::Already {
                    origin: None,
                    sure: true,
                });
            }
            return refuse(
                Verdict::Malformed,
                "P305",
                "the patch changes nothing in this file",
            );
        }
        let edits = one_edit(&before.bytes, &after.bytes);
        self.store(target, Some(before), Some(after), edits, file.line);
        self.check_link(target, Standing::Applied)
    }

    fn check_link(&self, target: &Target, standing: Standing) -> Result<Standing, Refusal> {
        if let Some(after) = self
            .slots
            .get(&target.new)
            .and_then(|slot| slot.after.as_ref())
            && after.mode == 0o120_000
        {
            structure::link(&target.new, &after.bytes)
                .or_else(|(code, message)| refuse(Verdict::Unsafe, code, message))?;
        }
        Ok(standing)
    }

    fn finish(mut self) -> Judged {
        if self.set.files.is_empty() && self.worst.is_none() {
            self.plain("P102", Verdict::Malformed, "there is no patch in the input");
        }
        if self.work.is_done() {
            self.plain(
                "P308",
                Verdict::Malformed,
                "the patch takes too many comparisons to place",
            );
        }
        let already = self.weigh_already();
        if self.worst.is_none() && !already {
            self.structure_and_policy();
        }
        let mut changes = Vec::new();
        if self.worst.is_none() && !already {
            changes = self.changes();
            if self.options.after {
                self.look_after(&changes);
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
        self.verdict.feedback = super::feedback::feedback(&self.verdict);
        Judged {
            verdict: self.verdict,
            changes,
        }
    }

    fn look_after(&mut self, changes: &[Change]) {
        let found = super::after::after_image(self.source, changes);
        // A patch that ends in the middle of an added line may have lost the rest of that line.
        let cut = self.set.files.last().is_some_and(|file| match &file.body {
            Body::Hunks(hunks) => hunks.last().is_some_and(|hunk| {
                hunk.cut && hunk.lines.last().is_some_and(|it| it.kind == LineKind::Add)
            }),
            _ => false,
        });
        if cut && !found.syntax.is_empty() {
            let message = "the patch seems to be cut off inside its last line: the file would not parse";
            self.plain("P104", Verdict::Malformed, message);
        } else if self.options.strict_after {
            let first = found.syntax.iter().chain(&found.imports).next().cloned();
            if let Some(first) = first {
                self.plain(first.code.as_str(), Verdict::Refused, &first.message);
            }
        }
        self.verdict.new_syntax_errors = found.syntax;
        self.verdict.new_unresolved_imports = found.imports;
    }

    // Whether all of it is there already; `worst` is set when only some is, or it is reversed.
    fn weigh_already(&mut self) -> bool {
        let (mut there, mut sure, mut applied) = (0, 0, 0);
        let mut origins = Vec::new();
        for standing in &self.standing {
            match standing {
                Standing::Applied => applied += 1,
                Standing::Already {
                    origin,
                    sure: is_sure,
                } => {
                    there += 1;
                    sure += usize::from(*is_sure);
                    origins.push(origin.as_deref());
                }
                Standing::Failed => {}
            }
        }
        let slots = !self.slots.is_empty();
        if there == 0 || self.worst.is_some() {
            return false;
        }
        if sure == 0 {
            self.plain(
                "P501",
                Verdict::ContextNotFound,
                "the file to delete is not there",
            );
            return false;
        }
        if slots && applied > 0 {
            self.plain(
                "P406",
                Verdict::ContextNotFound,
                "a part of the patch is already applied, another is not",
            );
            return false;
        }
        let known: Vec<&[u8]> = origins.iter().flatten().copied().collect();
        if let Some(objects) = self.options.objects
            && known.len() == origins.len()
            && !known.iter().any(|origin| objects.has(BlobId::of(origin)))
        {
            let message = "the files hold the new side of the patch, and its old side was never in this repository: the patch seems to be reversed";
            self.plain("P407", Verdict::Reversed, message);
            return false;
        }
        true
    }

    fn structure_and_policy(&mut self) {
        for (code, path, line, message) in structure::whole(self.source.listing(), &self.slots) {
            self.problem(
                Verdict::Unsafe,
                PatchProblem {
                    code: Code::new(code),
                    severity: Severity::Error,
                    path: Some(path),
                    patch_line: u64::from(line),
                    message,
                    hint: None,
                },
            );
        }
        let mut found = Vec::new();
        let mut grown: u64 = 0;
        for (path, slot) in &self.slots {
            let bytes =
                |state: &Option<FileState>| state.as_ref().map_or(0, |it| it.bytes.len() as u64);
            grown += bytes(&slot.after).saturating_sub(bytes(&slot.before));
            let is_copy = slot.operation == Operation::Copy;
            let before = slot.before.as_ref().filter(|_| slot.from.is_none());
            let mode = |state: Option<&FileState>| state.map_or(0, |it| it.mode);
            let changed = ChangedFile {
                path,
                operation: if slot.after.is_none() {
                    Operation::Delete
                } else {
                    slot.operation
                },
                before: before.map(|it| &*it.bytes),
                after: slot.after.as_ref().map(|it| &*it.bytes),
                modes: (mode(slot.before.as_ref()), mode(slot.after.as_ref())),
            };
            let mut findings = judge_change(&changed, &self.options.allowed);
            if is_copy && let Some(from) = &slot.from {
                let source = ChangedFile {
                    path: from,
                    operation: Operation::Copy,
                    before: None,
                    after: None,
                    modes: (0, 0),
                };
                findings.extend(judge_change(&source, &self.options.allowed));
            }
            if bytes(&slot.after) > self.options.limits.file_bytes {
                findings.push(crate::policy::ChangeFinding {
                    code: Code::new("P705"),
                    severity: Severity::Error,
                    message: format!(
                        "the file would have more than {} bytes",
                        self.options.limits.file_bytes
                    ),
                });
            }
            found.extend(findings.into_iter().map(|finding| PatchProblem {
                code: finding.code,
                severity: finding.severity,
                path: Some(path.clone()),
                patch_line: u64::from(slot.line),
                message: finding.message,
                hint: None,
            }));
        }
        for problem in found {
            self.problem(Verdict::Refused, problem);
        }
        if grown > self.options.limits.grown_bytes {
            let message = format!(
                "the patch adds more than {} bytes",
                self.options.limits.grown_bytes
            );
            self.plain("P705", Verdict::Refused, &message);
        }
    }

    fn changes(&mut self) -> Vec<Change> {
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
                })
            })
            .collect()
    }
}

// What stands at a path before the patch.
fn original(source: &dyn Source, path: &str) -> Result<Option<FileState>, Refusal> {
    let listing = source.listing();
    let Some(entry) = listing.get(path) else {
        return Ok(None);
    };
    match &entry.kind {
        EntryKind::File { executable } => match source.read(&entry.path) {
            Ok(bytes) => Ok(Some(FileState {
                bytes,
                mode: if *executable { 0o100_755 } else { 0o100_644 },
            })),
            Err(ReadError::TooLarge { bytes, limit }) => {
                let message = format!("the file has {bytes} bytes, more than {limit}");
                refuse(Verdict::Refused, "P705", message)
            }
            Err(error) => refuse(
                Verdict::ContextNotFound,
                "P901",
                format!("the file cannot be read: {error}"),
            ),
        },
        EntryKind::Symlink { target } => Ok(Some(FileState {
            bytes: target.clone().into_bytes().into(),
            mode: 0o120_000,
        })),
        EntryKind::Submodule { .. } => refuse(Verdict::Unsafe, "P506", "the path is a submodule"),
        EntryKind::Special => refuse(
            Verdict::Unsafe,
            "P505",
            "the path is a pipe, socket or device",
        ),
        EntryKind::NotCheckedOut => refuse(
            Verdict::ContextNotFound,
            "P511",
            "the file is tracked and not checked out",
        ),
    }
}

// The content that a binary patch leads to; both ids have to prove it.
fn binary(file: &FilePatch<'_>, before: &[u8], data: &Binary) -> Result<Vec<u8>, Refusal> {
    let id = |text: &[u8]| {
        let full = text.len() == 40 && text.iter().all(u8::is_ascii_hexdigit);
        full.then(|| String::from_utf8_lossy(text).to_ascii_lowercase())
    };
    let Some((old, new)) = file.headers.index.and_then(|it| id(it.old).zip(id(it.new))) else {
        return refuse(
            Verdict::Malformed,
            "P603",
            "a binary patch needs full blob ids in its index line",
        );
    };
    let zero = "0".repeat(40);
    let is = |bytes: &[u8], id: &str| {
        BlobId::of(bytes).to_string() == id || (bytes.is_empty() && id == zero)
    };
    if !is(before, &old) {
        return refuse(
            Verdict::ContextNotFound,
            "P604",
            "the file is not the one the binary patch was made for",
        );
    }
    let after = match data {
        Binary::Literal(bytes) => Some(bytes.clone()),
        Binary::Delta(delta) => apply_delta(before, delta),
    };
    match after {
        Some(after) if is(&after, &new) => Ok(after),
        Some(_) => refuse(
            Verdict::Malformed,
            "P605",
            "the binary patch does not lead to the content it announces",
        ),
        None => refuse(Verdict::Malformed, "P601", "the binary delta is damaged"),
    }
}
