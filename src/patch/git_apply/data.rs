//! Applies the content of a section, text or binary, as git does.

use super::check::{Checked, Checker, Refusal};
use super::place::{Line, Placing, WORK, split_lines};
use crate::model;
use crate::patch::bodies::{apply_binary, expand_binary};
use crate::patch::strict::{Section, SectionResult};

impl<'a> Checker<'_, 'a> {
    /// What the section makes of it.
    pub(super) fn make_content(
        &mut self,
        done: &mut SectionResult<'a>,
        before: &[u8],
        is_taken: bool,
    ) -> Checked<()> {
        if !self.options.three_way || !self.merge_section(done, before, is_taken) {
            if is_taken {
                return Err(Refusal::Section);
            }
            if self.options.three_way {
                self.messages.line("Falling back to direct application...");
            }
            self.make_directly(done, before)?;
        }
        if done.section.deletes() && !done.after.is_empty() {
            return self.refuse("removal patch leaves file contents");
        }
        Ok(())
    }

    /// What the section makes of bytes by its hunks or its binary data.
    pub(super) fn make_directly(
        &mut self,
        done: &mut SectionResult<'a>,
        before: &[u8],
    ) -> Checked<()> {
        if done.section.is_binary {
            match self.make_binary(&done.section, before) {
                Ok(after) => done.after = after,
                Err(refusal) => {
                    let name = done.section.name();
                    return self.refuse(&format!("'{name}': {}", refusal.message));
                }
            }
        } else {
            let mut image = split_lines(before);
            done.rejected = self.apply_hunks(&done.section, &mut image)?;
            let lines: Vec<_> = image.into_iter().map(|line| line.text).collect();
            done.after = lines.concat();
        }
        Ok(())
    }

    fn make_binary(&self, section: &Section<'_>, before: &[u8]) -> Result<Vec<u8>, model::Refusal> {
        let ids = std::str::from_utf8(section.old_id)
            .ok()
            .zip(std::str::from_utf8(section.new_id).ok());
        apply_binary(ids, before, |new| {
            let staging = self.destination.staging.as_ref();
            if let Some(staging) = staging.filter(|staging| staging.has(new)) {
                return staging.blob(new).ok();
            }
            if new.as_bytes().iter().all(|byte| *byte == 0) {
                return Some(Vec::new());
            }
            let (forward, backward) = section.binary.as_ref()?;
            let is_reverse = self.options.reverse;
            expand_binary(
                if is_reverse { backward.as_ref()? } else { forward },
                before,
            )
        })
    }

    /// Applies the hunks of a section; gives which were left out, where that is asked for.
    fn apply_hunks<'i>(
        &mut self,
        section: &Section<'i>,
        image: &mut Vec<Line<'i>>,
    ) -> Checked<Vec<bool>> {
        let mut rejected = Vec::new();
        let mut placing = Placing {
            options: self.options,
            rules: section.rules,
            file: self.file,
            has_errors: self.has_errors,
            messages: self.messages,
            work: WORK,
        };
        for (hunk, number) in section.hunks.iter().zip(1..) {
            let fits = placing.apply_hunk(image, hunk, number);
            if !fits {
                let (name, start) = (section.name(), hunk.old_start);
                let message = format!("patch failed: {name}:{start}");
                placing.messages.error(&message);
                if !self.options.reject {
                    return Err(Refusal::Section);
                }
            }
            rejected.push(!fits);
        }
        Ok(rejected)
    }
}
