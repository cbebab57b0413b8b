use std::sync::Arc;

use super::super::bodies::{apply_delta, as_hunks, created, edited};
use super::super::change::FileState;
use super::super::compose::one_edit;
use super::super::content::modify;
use super::super::intent::shrunk;
use super::super::line_ends::as_the_file;
use super::super::set::{Binary, Body, FilePatch};
use super::super::structure;
use super::super::structure::PathChange;
use super::super::target::Target;
use super::run::Judging;
use crate::model::{BlobId, Code, HunkVerdict, Mend, Operation, Refusal, Safety, refuse};
use crate::source::{EntryKind, ReadError, Source};

impl Judging<'_, '_> {
    pub(super) fn section(
        &mut self,
        file: &FilePatch<'_>,
        target: &Target,
        hunks: &mut Vec<HunkVerdict>,
    ) -> Result<SectionOutcome, Refusal> {
        for path in [&target.old, &target.new] {
            structure::ancestors(self.source.listing(), &self.slots, path)?;
        }
        match target.operation {
            Operation::Create => self.create(file, target),
            Operation::Delete => self.delete(file, target, hunks),
            Operation::Modify => {
                let before = self.existing(&target.new)?;
                self.content(file, target, before, hunks)
            }
            Operation::Rename | Operation::Copy => self.transfer(file, target, hunks),
        }
    }

    pub(super) fn create(
        &mut self,
        file: &FilePatch<'_>,
        target: &Target,
    ) -> Result<SectionOutcome, Refusal> {
        let mode = target.mode.unwrap_or(0o100_644);
        let (bytes, mends) = match &file.body {
            Body::Binary(forward, _) => (binary(file, b"", forward)?, Vec::new()),
            Body::Whole(bytes) => (bytes.clone(), Vec::new()),
            body => created(body)?,
        };
        let after = FileState::new(bytes, mode);
        if mode == 0o120_000 {
            structure::link(&target.new, &after.bytes)?;
        }
        if self.made(&target.new).is_some() {
            return refuse(Code::P513, "the patch makes the same file twice");
        }
        let leaves = self.vacated.contains(&target.new);
        match original(self.source, &target.new)? {
            Some(now) if now.bytes == after.bytes && !leaves => {
                return Ok(SectionOutcome::ALREADY);
            }
            Some(_) if !leaves => {
                return refuse(
                    Code::P502,
                    "the file is said to be new and is already there",
                );
            }
            Some(_) if !self.slots.contains_key(&target.new) => {
                return refuse(
                    Code::P513,
                    "the patch makes this file before it takes the old one away",
                );
            }
            _ => {}
        }
        self.verdict.mends.extend(mends);
        let edits = one_edit(b"", &after.bytes);
        self.store(target, None, Some(after), edits, file.line);
        Ok(SectionOutcome::Applied)
    }

    pub(super) fn delete(
        &mut self,
        file: &FilePatch<'_>,
        target: &Target,
        hunks: &mut Vec<HunkVerdict>,
    ) -> Result<SectionOutcome, Refusal> {
        if self.current(&target.old)?.is_none() && !self.slots.contains_key(&target.old) {
            let was_there = file
                .headers
                .index
                .and_then(|index| std::str::from_utf8(index.old).ok())
                .zip(self.options.objects)
                .is_some_and(|(id, objects)| objects.find(id).is_some());
            let refusal = self.existing(&target.old).err();
            if was_there || refusal.as_ref().is_some_and(|it| it.hint.is_none()) {
                return Ok(SectionOutcome::Already {
                    origin: None,
                    sure: was_there,
                });
            }
        }
        let before = self.existing(&target.old)?;
        let partial = || {
            refuse(
                Code::P208,
                "the patch deletes the file, and the file has more than the patch knows of",
            )
        };
        match &file.body {
            Body::Hunks(_) => {
                let Some((left, mut mends)) = self.left(file, target, &before, hunks) else {
                    return Ok(SectionOutcome::Failed);
                };
                if !left.is_empty() {
                    return partial();
                }
                // A hunk that removes every line has no other place to go.
                mends.retain(|mend| mend.code != Code::M401);
                self.verdict.mends.extend(mends);
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
        Ok(SectionOutcome::Applied)
    }

    fn transfer(
        &mut self,
        file: &FilePatch<'_>,
        target: &Target,
        hunks: &mut Vec<HunkVerdict>,
    ) -> Result<SectionOutcome, Refusal> {
        let is_rename = target.operation == Operation::Rename;
        let occupied = self.current(&target.new)?.is_some();
        let source = original(self.source, &target.old)?;
        if source.is_none() && occupied && is_rename && !self.slots.contains_key(&target.new) {
            let pure = matches!(file.body, Body::Empty);
            let there = self.existing(&target.new)?;
            let already = pure || modify(&there, &[file], true, &self.work).already.is_some();
            if already {
                return Ok(SectionOutcome::ALREADY);
            }
        }
        // A copy is made of what stood there before the patch.
        let changed = |slot: &PathChange| slot.from.is_none() && slot.before.is_some();
        if is_rename && self.slots.get(&target.old).is_some_and(changed) {
            return refuse(Code::P513, "the patch changes this file before it moves it");
        }
        let Some(before) = source else {
            self.existing(&target.old)?;
            let message = "the patch makes this file before it moves or copies it";
            return refuse(Code::P513, message);
        };
        let leaves = self.vacated.contains(&target.new) && self.made(&target.new).is_none();
        if occupied && !leaves {
            return refuse(Code::P502, "the new path is already taken");
        }
        if before.mode == 0o120_000 {
            structure::link(&target.new, &before.bytes)?;
        }
        let standing = self.content(file, target, before.clone(), hunks)?;
        if is_rename
            && matches!(standing, SectionOutcome::Applied)
            && !self.slots.contains_key(&target.old)
        {
            self.slots.insert(
                target.old.clone(),
                PathChange {
                    is_exact: false,
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

    fn literally(&self) -> bool {
        self.options.strict || self.options.as_written
    }

    // A change of content of any kind, with `before` as what it starts from.
    pub(super) fn content(
        &mut self,
        file: &FilePatch<'_>,
        target: &Target,
        before: FileState,
        hunks: &mut Vec<HunkVerdict>,
    ) -> Result<SectionOutcome, Refusal> {
        let moved = target.operation != Operation::Modify;
        let mode = target.mode.unwrap_or(before.mode);
        if (mode == 0o120_000) != (before.mode == 0o120_000) {
            return refuse(Code::P206, "the mode does not go with what the file is");
        }
        let bytes = match &file.body {
            Body::Hunks(_) => return self.place(file, target, before, hunks),
            Body::Empty => before.bytes.to_vec(),
            Body::Whole(bytes) => {
                self.wholes.insert(target.new.clone());
                if !self.options.as_written
                    && let Some(refusal) = shrunk(&before.bytes, bytes)
                {
                    return Err(refusal);
                }
                let adapted = as_the_file(&before.bytes, bytes).filter(|_| !self.literally());
                if adapted.is_some() {
                    let message = "gave the whole file the line ends and the mark of the file";
                    let mend = Mend::new(Code::M411, Safety::Safe, file.line, message);
                    self.verdict.mends.push(mend);
                }
                adapted.unwrap_or_else(|| bytes.clone())
            }
            Body::Edits(edits) => {
                let (work, literally) = (&self.work, self.literally());
                let mends = &mut self.verdict.mends;
                let (verdicts, result, already) =
                    edited(&before.bytes, edits, literally, work, mends);
                hunks.extend(verdicts);
                match result {
                    Ok(bytes) => bytes,
                    Err(_) if already => return Ok(SectionOutcome::ALREADY),
                    // Lines that only nearly stand there are placed as those of a hunk are.
                    Err(failure)
                        if failure.code == Code::P401
                            && !self.options.strict
                            && edits.iter().all(|edit| edit.after.is_none()) =>
                    {
                        hunks.clear();
                        let section = FilePatch {
                            body: Body::Hunks(as_hunks(edits)),
                            ..file.clone()
                        };
                        return self.place(&section, target, before, hunks);
                    }
                    Err(failure) => {
                        self.hunk_problems(target, vec![(u64::from(file.line), failure)]);
                        return Ok(SectionOutcome::Failed);
                    }
                }
            }
            Body::Binary(forward, _) => binary(file, &before.bytes, forward)?,
            Body::BinaryWithoutData => {
                return refuse(
                    Code::P602,
                    "the patch says that a binary file differs and has no data",
                );
            }
        };
        let after = FileState::new(bytes, mode);
        if !moved && after == before {
            if target.mode.is_some() || matches!(file.body, Body::Whole(_)) {
                return Ok(SectionOutcome::ALREADY);
            }
            return refuse(Code::P305, "the patch changes nothing in this file");
        }
        let edits = one_edit(&before.bytes, &after.bytes);
        self.store(target, Some(before), Some(after), edits, file.line);
        self.check_link(target, SectionOutcome::Applied)
    }

    // Hunks in what stands at the target's path.
    fn place(
        &mut self,
        file: &FilePatch<'_>,
        target: &Target,
        before: FileState,
        hunks: &mut Vec<HunkVerdict>,
    ) -> Result<SectionOutcome, Refusal> {
        let modified = modify(&before, &[file], self.options.strict, &self.work);
        self.settle(target, &[file], before, modified, target.mode, hunks)
    }

    // What the hunks of a file that is to go leave of it. Hunks that do not fit are told.
    fn left(
        &mut self,
        file: &FilePatch<'_>,
        target: &Target,
        before: &FileState,
        hunks: &mut Vec<HunkVerdict>,
    ) -> Option<(Arc<[u8]>, Vec<Mend>)> {
        let modified = modify(before, &[file], self.options.strict, &self.work);
        hunks.extend(modified.hunks);
        let Some((bytes, _)) = modified.after else {
            self.hunk_problems(target, modified.failures);
            return None;
        };
        Some((bytes, modified.mends))
    }

    pub(super) fn check_link(
        &self,
        target: &Target,
        standing: SectionOutcome,
    ) -> Result<SectionOutcome, Refusal> {
        if let Some(after) = self.made(&target.new).filter(|it| it.mode == 0o120_000) {
            structure::link(&target.new, &after.bytes)?;
        }
        Ok(standing)
    }

    // What the patch so far leaves at a path that it changes.
    fn made(&self, path: &str) -> Option<&FileState> {
        self.slots.get(path)?.after.as_ref()
    }
}

// How one section relates to the tree.
pub(super) enum SectionOutcome {
    Applied,
    // Its new side stands there already; where known, the content it would have started from.
    Already { origin: Option<Vec<u8>>, sure: bool },
    // It fits and changes nothing.
    Unchanged,
    Failed,
}

impl SectionOutcome {
    pub(super) const ALREADY: Self = Self::Already {
        origin: None,
        sure: true,
    };
}

// What stands at a path before the patch.
pub(super) fn original(source: &dyn Source, path: &str) -> Result<Option<FileState>, Refusal> {
    let listing = source.listing();
    let Some(entry) = listing.get(path) else {
        return Ok(None);
    };
    match &entry.kind {
        EntryKind::File { executable } => match source.read(&entry.path) {
            Ok(bytes) => Ok(Some(FileState::new(
                bytes,
                if *executable { 0o100_755 } else { 0o100_644 },
            ))),
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
        EntryKind::NotCheckedOut => refuse(Code::P511, "the file is tracked and not checked out"),
    }
}

// The content that a binary patch leads to; both ids have to prove it.
fn binary(file: &FilePatch<'_>, before: &[u8], data: &Binary) -> Result<Vec<u8>, Refusal> {
    let id = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<BlobId>().ok();
    let Some((old, new)) = file.headers.index.and_then(|it| id(it.old).zip(id(it.new))) else {
        return refuse(
            Code::P603,
            "a binary patch needs full blob ids in its index line",
        );
    };
    let zero = BlobId::from_bytes([0; 20]);
    let matches =
        |bytes: &[u8], id| BlobId::from_content(bytes) == id || (bytes.is_empty() && id == zero);
    if !matches(before, old) {
        return refuse(
            Code::P604,
            "the file is not the one the binary patch was made for",
        );
    }
    let after = match data {
        Binary::Literal(bytes) => Some(bytes.clone()),
        Binary::Delta(delta) => apply_delta(before, delta),
    };
    match after {
        Some(after) if matches(&after, new) => Ok(after),
        Some(_) => refuse(
            Code::P605,
            "the binary patch does not lead to the content it announces",
        ),
        None => refuse(Code::P601, "the binary delta is damaged"),
    }
}
