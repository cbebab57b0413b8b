//! Validates one section of a patch against the tree.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::JudgeOptions;
use super::report::Report;
use crate::model::{Code, Mend, Operation, Refusal, Safety, file_name, refuse};
use crate::patch::bodies::{apply_binary, as_hunks, edit_text, expand_binary};
use crate::patch::change::FileState;
use crate::patch::content::{Modified, modify_file};
use crate::patch::line_ends::as_the_file;
use crate::patch::place::Work;
use crate::patch::set::{Body, FilePatch, Hunk};
use crate::patch::structure::{self, FileChange};
use crate::patch::targets::{Target, has_old_lines};
use crate::source::{EntryKind, ReadError, Source};

/// The state of every path after the sections so far.
pub(super) struct Placing<'j> {
    pub(super) source: &'j dyn Source,
    pub(super) options: &'j JudgeOptions<'j>,
    pub(super) work: Work,
    pub(super) slots: BTreeMap<String, FileChange>,
    /// Paths that the patch gives as whole files.
    pub(super) wholes: BTreeSet<String>,
    vacated: HashSet<String>,
}

/// How one section relates to the tree.
#[derive(PartialEq, Eq)]
pub(super) enum SectionOutcome {
    Applied,
    /// Its new side is there already.
    Already,
    Failed,
}

type Outcome = Result<SectionOutcome, Refusal>;

impl<'j> Placing<'j> {
    pub(super) fn new(source: &'j dyn Source, options: &'j JudgeOptions<'j>) -> Self {
        Self {
            source,
            options,
            work: Work::new(),
            slots: BTreeMap::new(),
            wholes: BTreeSet::new(),
            vacated: HashSet::new(),
        }
    }

    pub(super) fn note_vacated(&mut self, targets: &[Option<Target>]) {
        let targets = targets
            .iter()
            .flatten()
            .filter(|target| matches!(target.operation, Operation::Delete | Operation::Rename));
        self.vacated = targets.map(|target| target.old.clone()).collect();
    }

    pub(super) fn place_section(
        &mut self,
        file: &FilePatch<'_>,
        target: &Target,
        report: &mut Report,
    ) -> Outcome {
        for path in [&target.old, &target.new] {
            structure::check_ancestors(self.source, &self.slots, path)?;
        }
        match target.operation {
            Operation::Create => self.create(file, target, report),
            Operation::Delete => self.delete_file(file, target, report),
            Operation::Modify => {
                let before = self.read_existing(&target.new)?;
                self.change_file(file, target, before, report)
            }
            Operation::Rename | Operation::Copy => self.transfer_file(file, target, report),
        }
    }

    fn create(&mut self, file: &FilePatch<'_>, target: &Target, report: &mut Report) -> Outcome {
        if has_old_lines(&file.body) {
            return refuse(Code::P205, "a new file can only have added lines");
        }
        let made = self.make_content(file, target, &FileState::default())?;
        let Some(bytes) = made.after else {
            return Ok(fail_section(target, made.failures, report));
        };
        let after = FileState::new(bytes, target.mode.unwrap_or(0o100_644));
        if after.mode == 0o120_000 {
            structure::check_link(&target.new, &after.bytes)?;
        }
        if self.find_made(&target.new).is_some() {
            return refuse(Code::P303, "the patch creates the same file twice");
        }
        let leaves = self.vacated.contains(&target.new);
        match read_original(self.source, &target.new)? {
            Some(now) if now.bytes == after.bytes && !leaves => return Ok(SectionOutcome::Already),
            Some(_) if !leaves => {
                return refuse(Code::P502, "the file to create is already there");
            }
            Some(_) if !self.slots.contains_key(&target.new) => {
                let message = "the patch creates this file before it deletes the old one";
                return refuse(Code::P303, message);
            }
            _ => {}
        }
        report.verdict.mends.extend(made.mends);
        self.store_state(target, None, Some(after), file.line);
        Ok(SectionOutcome::Applied)
    }

    fn delete_file(
        &mut self,
        file: &FilePatch<'_>,
        target: &Target,
        report: &mut Report,
    ) -> Outcome {
        let before = self.read_existing(&target.old)?;
        let is_whole = match &file.body {
            Body::Empty => before.bytes.is_empty() || file.headers.explicit.is_some(),
            Body::Hunks(_) | Body::Binary(..) => {
                let made = self.make_content(file, target, &before)?;
                report.hunks = made.hunks;
                let Some(left) = made.after else {
                    return Ok(fail_section(target, made.failures, report));
                };
                report.verdict.mends.extend(made.mends);
                left.is_empty()
            }
            _ => false,
        };
        if !is_whole {
            let message = "the patch deletes the file, but does not list all of its content";
            return refuse(Code::P208, message);
        }
        self.store_state(target, Some(before), None, file.line);
        Ok(SectionOutcome::Applied)
    }

    fn transfer_file(
        &mut self,
        file: &FilePatch<'_>,
        target: &Target,
        report: &mut Report,
    ) -> Outcome {
        let is_rename = target.operation == Operation::Rename;
        let occupied = self.read_current(&target.new)?;
        let source = read_original(self.source, &target.old)?;
        // A copy is made of what was there before the patch.
        let slot = self.slots.get(&target.old).filter(|slot| slot.from.is_none());
        if is_rename && slot.is_some_and(|slot| slot.before.is_some()) {
            return refuse(Code::P303, "the patch changes this file before it moves it");
        }
        let Some(before) = source else {
            self.read_existing(&target.old)?;
            let message = "the patch creates this file before it moves or copies it";
            return refuse(Code::P303, message);
        };
        let leaves = self.vacated.contains(&target.new) && self.find_made(&target.new).is_none();
        if occupied.is_some() && !leaves {
            return refuse(Code::P502, "the new path is already taken");
        }
        let outcome = self.change_file(file, target, before.clone(), report)?;
        if is_rename
            && matches!(outcome, SectionOutcome::Applied)
            && !self.slots.contains_key(&target.old)
        {
            let gone = FileChange {
                is_exact: false,
                before: Some(before),
                after: None,
                from: None,
                operation: Operation::Rename,
                line: file.line,
            };
            self.slots.insert(target.old.clone(), gone);
        }
        Ok(outcome)
    }

    /// Changes the content of a file in any way, with `before` as what it starts from.
    fn change_file(
        &mut self,
        file: &FilePatch<'_>,
        target: &Target,
        before: FileState,
        report: &mut Report,
    ) -> Outcome {
        let mode = target.mode.unwrap_or(before.mode);
        if (mode == 0o120_000) != (before.mode == 0o120_000) {
            return refuse(Code::P206, "the mode does not match the type of the file");
        }
        let made = self.make_content(file, target, &before)?;
        report.hunks = made.hunks;
        let Some(bytes) = made.after else {
            if made.is_there {
                return Ok(SectionOutcome::Already);
            }
            return Ok(fail_section(target, made.failures, report));
        };
        report.verdict.mends.extend(made.mends);
        let after = FileState::new(bytes, mode);
        let is_diff = matches!(file.body, Body::Hunks(_));
        if after == before && (is_diff || target.operation == Operation::Modify) {
            let is_meant = match &file.body {
                Body::Hunks(hunks) => hunks.iter().any(Hunk::changes_something),
                Body::Whole(_) => true,
                _ => target.mode.is_some(),
            };
            if is_meant || is_diff && target.mode.is_none() && !lost_its_end(file.hunks()) {
                return Ok(SectionOutcome::Already);
            }
            if !is_diff || target.mode.is_none() {
                return refuse(Code::P305, "the patch changes nothing in this file");
            }
        }
        if mode == 0o120_000 {
            structure::check_link(&target.new, &after.bytes)?;
        }
        self.store_state(target, Some(before), Some(after), file.line);
        if let Some(slot) = self.slots.get_mut(&target.new) {
            slot.is_exact = made.is_exact;
        }
        Ok(SectionOutcome::Applied)
    }

    /// Makes the new content of a file, whatever form the section has.
    fn make_content(
        &mut self,
        file: &FilePatch<'_>,
        target: &Target,
        before: &FileState,
    ) -> Result<Modified, Refusal> {
        let literally = self.options.as_written;
        let mut made = Modified::default();
        let bytes = match &file.body {
            Body::Hunks(_) => return Ok(modify_file(before, file, &self.work)),
            Body::Edits(edits) => {
                let made = edit_text(&before.bytes, edits, literally, &self.work);
                if made.failures.first().is_some_and(|failure| failure.1.code == Code::P401)
                    && edits.iter().all(|edit| edit.after.is_none())
                {
                    // Lines that only nearly are there are placed as those of a hunk are.
                    let body = Body::Hunks(as_hunks(edits));
                    let section = FilePatch {
                        body,
                        ..file.clone()
                    };
                    return Ok(modify_file(before, &section, &self.work));
                }
                return Ok(made);
            }
            Body::Empty => before.bytes.to_vec(),
            Body::Whole(bytes) => {
                self.wholes.insert(target.new.clone());
                let adapted = as_the_file(&before.bytes, bytes).filter(|_| !literally);
                if adapted.is_some() {
                    let message =
                        "gave the whole file the original's line endings and byte order mark";
                    let mend = Mend::new(Code::M411, Safety::Safe, file.line, message);
                    made.mends.push(mend);
                }
                adapted.unwrap_or_else(|| bytes.clone())
            }
            Body::Binary(forward, _) => apply_binary(file.announced_ids(), &before.bytes, |_| {
                expand_binary(forward, &before.bytes)
            })?,
            Body::BinaryWithoutData => {
                let message = "the patch reports that a binary file differs, but has no data";
                return refuse(Code::P601, message);
            }
        };
        made.after = Some(bytes.into());
        Ok(made)
    }

    fn read_existing(&self, path: &str) -> Result<FileState, Refusal> {
        if let Some(state) = self.read_current(path)? {
            return Ok(state);
        }
        if self.slots.contains_key(path) {
            let message = "the patch deletes or moves this file before it changes it";
            return refuse(Code::P303, message);
        }
        let name = file_name(path);
        let files = self.source.listing().files();
        let same = files.filter(|entry| file_name(entry.path.as_str()) == name);
        let same = same.map(|entry| format!("`{}`", entry.path.as_str()));
        let mut near: Vec<String> = same.take(3).collect();
        if near.is_empty() {
            let nearest = self.source.listing().nearest_paths(path, 1).into_iter();
            near.extend(nearest.map(|path| format!("`{path}`")));
        }
        let message = format!("there is no file `{}`", path.escape_debug());
        let mut refusal = Refusal::new(Code::P501, message);
        refusal.hint = (!near.is_empty()).then(|| format!("did you mean {}?", near.join(" or ")));
        Err(refusal)
    }

    fn store_state(
        &mut self,
        target: &Target,
        before: Option<FileState>,
        after: Option<FileState>,
        line: u32,
    ) {
        let earlier = self.slots.remove(&target.new);
        let moved = matches!(target.operation, Operation::Rename | Operation::Copy);
        let mut slot = FileChange {
            is_exact: false,
            before,
            after,
            from: moved.then(|| target.old.clone()),
            operation: target.operation,
            line,
        };
        // A second change of one path is reported as one.
        if let Some(first) = earlier.filter(|_| !moved) {
            slot.operation = match (&first.before, &slot.after) {
                (None, Some(_)) => Operation::Create,
                (_, None) => Operation::Delete,
                _ if first.from.is_some() => first.operation,
                _ => Operation::Modify,
            };
            (slot.before, slot.from, slot.line) = (first.before, first.from, first.line);
        }
        self.slots.insert(target.new.clone(), slot);
    }

    /// The state of a changed path after the sections so far.
    fn find_made(&self, path: &str) -> Option<&FileState> {
        self.slots.get(path)?.after.as_ref()
    }

    /// The state of a path after the sections so far, or in the tree when they leave it alone.
    fn read_current(&self, path: &str) -> Result<Option<FileState>, Refusal> {
        match self.slots.get(path) {
            Some(slot) => Ok(slot.after.clone()),
            None => read_original(self.source, path),
        }
    }
}

// Whether the input ends with fewer lines of context than were announced.
fn lost_its_end(hunks: &[Hunk<'_>]) -> bool {
    hunks.last().is_some_and(|hunk| {
        let announced = hunk.old.map_or(0, |(_, count)| count as usize);
        hunk.ends_input && announced > hunk.old_lines().count()
    })
}

fn fail_section(
    target: &Target,
    failures: Vec<(u64, Refusal)>,
    report: &mut Report,
) -> SectionOutcome {
    for (line, failure) in failures {
        report.add(failure.problem(Some(&target.new), line));
    }
    SectionOutcome::Failed
}

/// Returns what is at a path before the patch.
pub(in crate::patch) fn read_original(
    source: &dyn Source,
    path: &str,
) -> Result<Option<FileState>, Refusal> {
    let Some(entry) = source.entry(path) else {
        return Ok(None);
    };
    match &entry.kind {
        EntryKind::File { .. } => match source.read(&entry.path) {
            Ok(bytes) => Ok(entry.kind.mode().map(|mode| FileState::new(bytes, mode))),
            Err(ReadError::TooLarge { bytes, limit }) => {
                let message = format!("the file has {bytes} bytes, more than {limit}");
                refuse(Code::P705, message)
            }
            Err(error) => refuse(Code::P901, format!("the file cannot be read: {error}")),
        },
        EntryKind::Symlink { target } => {
            Ok(Some(FileState::new(target.clone().into_bytes(), 0o120_000)))
        }
        EntryKind::Submodule { .. } => refuse(Code::P506, "the path is a submodule"),
        EntryKind::Special => refuse(Code::P505, "the path is a pipe, socket or device"),
        EntryKind::NotCheckedOut => refuse(Code::P511, "the file is tracked but not checked out"),
    }
}
