use super::check::Checker;
use super::image::Image;
use super::options::{MergeSide, Verbosity};
use crate::git::{Conflicts, merge_texts};
use crate::patch::canonical::is_binary;
use crate::patch::strict::{SectionResult, Sides, is_submodule};

impl<'a> Checker<'_, 'a> {
    /// Merges with the blob that the patch was made for; `None` when that cannot be done and the
    /// hunks are to be placed instead.
    pub(super) fn merge(&mut self, done: &mut SectionResult<'a>, before: &[u8]) -> Option<Vec<u8>> {
        let section = &done.section;
        let pure_rename = section.is_rename && section.added == 0 && section.deleted == 0;
        if section.deletes()
            || is_submodule(section.old_mode)
            || is_submodule(section.new_mode)
            || (section.creates() && !done.straight_to_merge)
            || pure_rename
        {
            return None;
        }
        let base = if section.creates() {
            Vec::new()
        } else {
            let staging = self.destination.staging.as_ref();
            let id = std::str::from_utf8(section.old_id).unwrap_or_default();
            let Some((_, bytes)) = staging.and_then(|staging| staging.find(id)) else {
                self.messages
                    .error("repository lacks the necessary blob to perform 3-way merge.");
                return None;
            };
            bytes
        };
        if self.options.verbosity > Verbosity::Quiet && done.straight_to_merge {
            self.messages.line("Performing three-way merge...");
        }
        let theirs = self.theirs(done, &base)?;
        let ours = if done.straight_to_merge {
            self.current(done)?
        } else {
            before.to_vec()
        };
        let name = done.section.target().to_owned();
        let (after, conflicted) = self.merged(&name, &ours, &base, &theirs);
        let how = if conflicted {
            "with conflicts"
        } else {
            "cleanly"
        };
        if conflicted {
            done.conflict = Some(Sides {
                base: (!done.section.creates()).then_some(base),
                ours,
                theirs,
            });
        }
        if self.options.verbosity > Verbosity::Quiet {
            self.messages
                .line(&format!("Applied patch to '{name}' {how}."));
        }
        Some(after)
    }

    // What the patch makes of the blob it was made for.
    fn theirs(&mut self, done: &SectionResult<'a>, base: &[u8]) -> Option<Vec<u8>> {
        if done.section.is_binary {
            let staging = self.destination.staging.as_ref();
            let reverse = self.options.reverse;
            return super::binary::apply(&done.section, base, reverse, staging)
                .map_err(|messages| self.messages.error(&messages))
                .ok();
        }
        let mut image = Image::new(base);
        self.hunks(&done.section, &mut image).ok()?;
        Some(image.to_bytes())
    }

    // What stands where the patch wants to create a file.
    fn current(&mut self, done: &SectionResult<'a>) -> Option<Vec<u8>> {
        let name = done.section.target().to_owned();
        let staging = self.destination.staging.as_ref()?;
        let Some(entry) = staging.entry(&name) else {
            self.messages
                .error(&format!("{name}: does not exist in index"));
            self.messages
                .error(&format!("cannot read the current contents of '{name}'"));
            return None;
        };
        if !self.options.cached {
            let seen = self.destination.look(&name).ok()?;
            if !self.agrees(&name, &seen, &entry) {
                self.messages
                    .error(&format!("{name}: does not match index"));
                self.messages
                    .error(&format!("cannot read the current contents of '{name}'"));
                return None;
            }
        }
        staging.blob(entry.id).ok()
    }

    fn merged(&mut self, name: &str, ours: &[u8], base: &[u8], theirs: &[u8]) -> (Vec<u8>, bool) {
        if base == ours {
            return (theirs.to_vec(), false);
        }
        if base == theirs || ours == theirs {
            return (ours.to_vec(), false);
        }
        if [ours, base, theirs].into_iter().any(is_binary) {
            return match self.options.favour {
                MergeSide::Ours => (ours.to_vec(), false),
                MergeSide::Theirs => (theirs.to_vec(), false),
                MergeSide::Nobody | MergeSide::Union => {
                    self.messages.warning(&format!(
                        "Cannot merge binary files: {name} (ours vs. theirs)"
                    ));
                    (ours.to_vec(), true)
                }
            };
        }
        let style = self
            .destination
            .repository
            .and_then(|repository| repository.setting("merge.conflictStyle"));
        let conflicts = match (self.options.favour, style.as_deref()) {
            (MergeSide::Ours, _) => Conflicts::Ours,
            (MergeSide::Theirs, _) => Conflicts::Theirs,
            (MergeSide::Union, _) => Conflicts::Union,
            (MergeSide::Nobody, Some("diff3")) => Conflicts::MarkWithBase,
            (MergeSide::Nobody, Some("zdiff3")) => Conflicts::MarkZealously,
            (MergeSide::Nobody, _) => Conflicts::Mark,
        };
        merge_texts(ours, base, theirs, conflicts)
    }
}
