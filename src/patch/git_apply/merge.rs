use super::check::Checker;
use super::options::Verbosity;
use crate::patch::canonical::is_binary;
use crate::patch::strict::{SectionResult, is_submodule};

impl<'a> Checker<'_, 'a> {
    /// Merges the change of the blob that the patch was made for into the current content; `false` when
    /// no three-way merge is possible.
    pub(super) fn merge_section(
        &mut self,
        done: &mut SectionResult<'a>,
        before: &[u8],
        is_taken: bool,
    ) -> bool {
        let section = &done.section;
        let modes = [section.old_mode, section.new_mode];
        let is_pure_rename = section.is_rename && section.hunks.is_empty();
        if section.deletes()
            || modes.into_iter().any(is_submodule)
            || section.creates() && !is_taken
            || is_pure_rename
        {
            return false;
        }
        let creates = section.creates();
        let Some(base) = self.find_base(done) else {
            let message = "repository lacks the necessary blob to perform 3-way merge.";
            self.messages.error(message);
            return false;
        };
        let speaks = self.options.verbosity > Verbosity::Quiet;
        if speaks && is_taken {
            self.messages.line("Performing three-way merge...");
        }
        let mut theirs = SectionResult::from(done.section.clone());
        if self.make_directly(&mut theirs, &base).is_err() {
            return false;
        }
        let name = done.section.target().to_owned();
        let ours = if is_taken {
            let Ok(Some(state)) = self.read_staged(&name) else {
                let message = format!("cannot read the current contents of '{name}'");
                self.messages.error(&message);
                return false;
            };
            state.bytes.to_vec()
        } else {
            before.to_vec()
        };
        let sides = [&ours[..], &base, &theirs.after];
        let repository = self.destination.repository;
        let (after, has_conflicts) = if base == ours {
            (theirs.after.clone(), false)
        } else if let Some(repository) = repository.filter(|_| !sides.into_iter().any(is_binary)) {
            repository.merge_texts(sides, self.options.settled)
        } else {
            return false;
        };
        done.after = after;
        if has_conflicts {
            let base = (!creates).then_some(base);
            done.conflict = Some([base, Some(ours), Some(theirs.after)]);
        }
        if speaks {
            let how = if has_conflicts { "with conflicts" } else { "cleanly" };
            self.messages.line(&format!("Applied patch to '{name}' {how}."));
        }
        true
    }

    fn find_base(&self, done: &SectionResult<'a>) -> Option<Vec<u8>> {
        if done.section.creates() {
            return Some(Vec::new());
        }
        let id = std::str::from_utf8(done.section.old_id).ok()?;
        self.destination.repository?.find_blob(id)
    }
}
