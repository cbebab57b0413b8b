use super::check::{Checked, Checker};
use super::place::{Line, Placing, WORK, split_lines};
use crate::git::Staged;
use crate::model;
use crate::patch::bodies::{apply_binary, expand};
use crate::patch::strict::{Section, SectionResult};

impl<'a> Checker<'_, 'a> {
    /// What a section starts from, as the repository has it.
    pub(super) fn content(
        &mut self,
        done: &SectionResult<'a>,
        entry: Option<Staged>,
    ) -> Checked<Vec<u8>> {
        let section = &done.section;
        if let Some(previous) = self.previous(section)? {
            let previous = self.done.get(previous);
            return Ok(previous.map_or_else(Vec::new, |it| it.after.clone()));
        }
        let Some(name) = section.old_name.clone() else {
            return Ok(Vec::new());
        };
        self.load(&name, entry, section).or_else(|why| {
            self.messages.error(&why);
            let name = section.target();
            self.refuse(&format!("{name}: patch does not apply"))
        })
    }

    fn load(
        &self,
        name: &str,
        entry: Option<Staged>,
        section: &Section<'_>,
    ) -> Result<Vec<u8>, String> {
        let failed = || format!("failed to read {name}");
        if let Some(entry) = entry {
            let staging = self.destination.staging.as_ref().ok_or_else(failed)?;
            return staging.blob(entry.id).map_err(|_| failed());
        }
        if self.destination.is_beyond_link(name) {
            return Err(format!("reading from '{name}' beyond a symbolic link"));
        }
        let found = self.destination.look(name).ok().flatten();
        let state = found.ok_or_else(failed)?;
        if state.mode == 0o120_000 || section.cr_in_old {
            return Ok(state.bytes.to_vec());
        }
        Ok(self.destination.line_ends(name).to_git(&state.bytes))
    }

    /// What the section makes of it.
    pub(super) fn data(&mut self, done: &mut SectionResult<'a>, before: &[u8]) -> Checked<()> {
        if done.section.is_binary {
            match self.binary(&done.section, before) {
                Ok(after) => done.after = after,
                Err(refusal) => {
                    let name = done.section.name();
                    return self.refuse(&format!("'{name}': {}", refusal.message));
                }
            }
        } else {
            let mut image = split_lines(before);
            self.hunks(&done.section, &mut image)?;
            let lines: Vec<_> = image.into_iter().map(|line| line.text).collect();
            done.after = lines.concat();
        }
        if done.section.deletes() && !done.after.is_empty() {
            return self.refuse("removal patch leaves file contents");
        }
        Ok(())
    }

    fn binary(&self, section: &Section<'_>, before: &[u8]) -> Result<Vec<u8>, model::Refusal> {
        let id = |hex| std::str::from_utf8(hex).ok();
        let ids = id(section.old_id).zip(id(section.new_id));
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
            expand(
                if is_reverse {
                    backward.as_ref()?
                } else {
                    forward
                },
                before,
            )
        })
    }

    /// Applies the hunks of a section.
    fn hunks<'i>(&mut self, section: &Section<'i>, image: &mut Vec<Line<'i>>) -> Checked<()> {
        let mut work = WORK;
        for (number, hunk) in section.hunks.iter().enumerate() {
            let mut placing = Placing {
                options: self.options,
                rules: section.rules,
                file: self.file,
                has_errors: self.has_errors,
                messages: self.messages,
                work,
            };
            let fits = placing.apply(image, hunk, number + 1);
            work = placing.work;
            if !fits {
                let (name, start) = (section.name(), hunk.old_start);
                return self.refuse(&format!("patch failed: {name}:{start}"));
            }
        }
        Ok(())
    }
}
