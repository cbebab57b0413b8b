use super::super::change::FileState;
use super::super::compose::one_edit;
use super::super::content::modify;
use super::super::damage::proven;
use super::super::set::{Body, FilePatch, Side};
use super::super::target::Target;
use super::binary::binary;
use super::run::{Judging, UndoneCopy};
use super::section::SectionOutcome;
use crate::model::{Code, HunkVerdict, PatchProblem, Refusal};

impl Judging<'_, '_> {
    /// Deletes what a copy made, when nothing but the copy's own change would be lost.
    pub(super) fn undo_copy(
        &mut self,
        file: &FilePatch<'_>,
        target: &Target,
        before: FileState,
        hunks: &mut Vec<HunkVerdict>,
    ) -> Result<SectionOutcome, Refusal> {
        // The names are the plain ones of the copy lines; all else is as in any git section.
        let mut plain = file.clone();
        plain.headers.explicit = None;
        let origin = match &file.body {
            Body::Hunks(_) => {
                let mut modified = modify(&before, &[&plain], self.options.strict, &self.work);
                hunks.extend(modified.hunks.drain(..).flatten());
                let Some((bytes, _)) = modified.after else {
                    for (line, failure) in modified.failures {
                        self.hunk_problem(target, line, failure);
                    }
                    return Ok(SectionOutcome::Failed);
                };
                self.verdict.mends.extend(modified.mends);
                bytes.to_vec()
            }
            Body::Binary(forward, _) => binary(file, &before.bytes, forward)?,
            _ => before.bytes.to_vec(),
        };
        if !proven(&[file], &origin) {
            let name = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
            let copy = file.headers.minus.as_ref().and_then(Side::name).map(name);
            let root = copy.and_then(|copy| target.old.strip_suffix(&copy));
            let from = file.headers.copied_from.as_deref().map(name);
            self.undone.push(UndoneCopy {
                path: target.old.clone(),
                source: format!("{}{}", root.unwrap_or_default(), from.unwrap_or_default()),
                bytes: origin,
                line: file.line,
            });
        }
        let edits = one_edit(&before.bytes, b"");
        self.store(target, Some(before), None, edits, file.line);
        Ok(SectionOutcome::Applied)
    }

    /// Without a blob id, the file that was copied has to show that nothing else is lost.
    pub(super) fn weigh_undone_copies(&mut self) {
        for copy in std::mem::take(&mut self.undone) {
            let source = self.current(&copy.source).ok().flatten();
            if source.is_some_and(|source| *source.bytes == *copy.bytes) {
                continue;
            }
            let message = format!(
                "the patch undoes a copy of `{}`, and the file has changed since",
                copy.source.escape_debug()
            );
            let line = u64::from(copy.line);
            self.problem(PatchProblem::new(Code::P208, message).at(Some(&copy.path), line));
        }
    }
}
