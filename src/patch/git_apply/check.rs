//! Checks sections by the rules of `git apply`.

use super::destination::Destination;
use super::messages::Messages;
use super::options::{GitApplyOptions, Verbosity};
use super::table::{State, Table};
use crate::git::Staged;
use crate::model::{BlobId, Code};
use crate::patch::change::FileState;
use crate::patch::strict::{
    Fatal, Section, SectionResult, differ_in_type, is_submodule, said_name,
};
use crate::policy::check_path;

/// Checks one section after another by git's rules.
pub(super) struct Checker<'c, 'a> {
    pub(super) destination: &'c Destination<'c>,
    pub(super) options: &'c GitApplyOptions,
    pub(super) table: &'c Table,
    /// The sections so far.
    pub(super) done: &'c [SectionResult<'a>],
    /// What messages call the patch.
    pub(super) file: &'c str,
    /// The patch has errors of white space.
    pub(super) has_errors: bool,
    pub(super) messages: &'c mut Messages,
}

/// Why a section is not applied; the words are said already.
pub(super) enum Refusal {
    /// It does not apply.
    Section,
    /// Nothing goes on.
    Fatal(Fatal),
}

/// The result of one validation step.
pub(super) type Checked<T> = Result<T, Refusal>;

impl<'a> Checker<'_, 'a> {
    pub(super) fn check_section(&mut self, done: &mut SectionResult<'a>) -> Checked<()> {
        if self.options.verbosity > Verbosity::Normal {
            let names = said_name(&done.section);
            self.messages.line(&format!("Checking patch {names}..."));
        }
        done.refused = true;
        let before = self.read_preimage(&mut done.section)?;
        let is_taken = self.check_target(done)?;
        self.check_paths(&done.section)?;
        if self.make_content(done, &before, is_taken).is_err() {
            let name = done.section.name().to_owned();
            return self.refuse(&format!("{name}: patch does not apply"));
        }
        done.refused = false;
        Ok(())
    }

    pub(super) fn refuse<T>(&mut self, messages: &str) -> Checked<T> {
        self.messages.error(messages);
        Err(Refusal::Section)
    }

    // What an earlier section has made of the old path; renames and copies look at the tree
    // before the patch.
    fn find_previous(&mut self, section: &Section<'_>) -> Checked<Option<usize>> {
        if section.is_copy || section.is_rename {
            return Ok(None);
        }
        match self.table.state(section.old_name.as_deref()) {
            None | Some(State::WillGo) => Ok(None),
            Some(State::Made(number)) => Ok(Some(number)),
            Some(State::Gone) => {
                let name = section.name().to_owned();
                self.refuse(&format!("path {name} has been renamed/deleted"))
            }
        }
    }

    /// Returns what the old path has, which must be what the patch says it is.
    fn read_preimage(&mut self, section: &mut Section<'a>) -> Checked<Vec<u8>> {
        let Some(name) = section.old_name.clone() else {
            return Ok(Vec::new());
        };
        let uses_index = self.options.uses_index();
        let found = match self.find_previous(section)? {
            Some(number) => self.done.get(number).map(|done| {
                let bytes = done.after.clone();
                FileState::new(bytes, done.section.new_mode)
            }),
            None if uses_index => self.read_staged(&name)?,
            None => self.read_standing(&name, section)?,
        };
        let Some(FileState { bytes, mode }) = found else {
            if section.is_new.is_some() {
                let place = if uses_index {
                    "does not exist in index"
                } else {
                    "No such file or directory"
                };
                return self.refuse(&format!("{name}: {place}"));
            }
            (section.is_new, section.is_delete) = (Some(true), Some(false));
            section.old_name = None;
            return Ok(Vec::new());
        };
        section.is_new.get_or_insert(false);
        if section.old_mode == 0 {
            section.old_mode = mode;
        }
        if differ_in_type(mode, section.old_mode) {
            return self.refuse(&format!("{name}: wrong type"));
        }
        if mode != section.old_mode && self.options.verbosity > Verbosity::Quiet {
            let expected = section.old_mode;
            self.messages
                .warning(&format!("{name} has type {mode:o}, expected {expected:o}"));
        }
        if section.new_mode == 0 && !section.deletes() {
            section.new_mode = mode;
        }
        Ok(bytes.to_vec())
    }

    // What the index has at a path, with which the worktree must agree when it is changed too.
    pub(super) fn read_staged(&mut self, name: &str) -> Checked<Option<FileState>> {
        let staging = self.destination.staging.as_ref();
        let Some((staging, entry)) = staging.and_then(|index| Some((index, index.entry(name)?)))
        else {
            return Ok(None);
        };
        let bytes = if is_submodule(entry.mode) {
            Ok(format!("Subproject commit {}\n", entry.id).into_bytes())
        } else {
            staging.blob(entry.id)
        };
        if !self.options.cached {
            let seen = self.look_up(name)?;
            if !self.matches_index(name, seen.as_ref(), &entry) {
                return self.refuse(&format!("{name}: does not match index"));
            }
        }
        match bytes {
            Ok(bytes) => Ok(Some(FileState::new(bytes, entry.mode))),
            Err(_) => self.refuse_reading(name, &format!("failed to read {name}")),
        }
    }

    // What the worktree has at a path, as the repository would have it.
    fn read_standing(&mut self, name: &str, section: &Section<'_>) -> Checked<Option<FileState>> {
        let Some(mut state) = self.look_up(name)? else {
            if self.destination.is_beyond_link(name) {
                let why = format!("reading from '{name}' beyond a symbolic link");
                return self.refuse_reading(name, &why);
            }
            return Ok(None);
        };
        let is_file = state.mode & 0o170_000 == 0o100_000;
        if is_file && !section.cr_in_old {
            state.bytes = self.destination.line_ends(name).to_git(&state.bytes).into();
        }
        if is_file && !self.destination.trusts_mode && section.old_mode != 0 {
            state.mode = section.old_mode;
        }
        Ok(Some(state))
    }

    fn look_up(&mut self, name: &str) -> Checked<Option<FileState>> {
        let seen = self.destination.look_up(name);
        seen.or_else(|error| self.refuse(&format!("{name}: {error}")))
    }

    fn refuse_reading<T>(&mut self, name: &str, why: &str) -> Checked<T> {
        self.messages.error(why);
        self.refuse(&format!("{name}: patch does not apply"))
    }

    /// Whether what is in the worktree is what the index has. What is not there would be
    /// checked out.
    fn matches_index(&self, name: &str, seen: Option<&FileState>, entry: &Staged) -> bool {
        let Some(state) = seen else {
            return !entry.intent_to_add;
        };
        if entry.intent_to_add
            || differ_in_type(state.mode, entry.mode)
            || (self.destination.trusts_mode && state.mode != entry.mode)
        {
            return false;
        }
        let staging = self.destination.staging.as_ref();
        if staging.is_some_and(|index| index.is_fresh(name, &self.destination.root.join(name))) {
            return true;
        }
        let bytes = self.destination.line_ends(name).to_git(&state.bytes);
        BlobId::from_content(&bytes) == entry.id
    }

    // The new path must be free, unless the patch itself frees it; where two are to be merged, returns whether
    // it is taken.
    fn check_target(&mut self, done: &mut SectionResult<'a>) -> Checked<bool> {
        let section = &mut done.section;
        let mut is_taken = false;
        if let Some(new) = section.new_name.clone()
            && (section.creates() || section.is_rename || section.is_copy)
        {
            let entry = self.destination.staged(&new);
            // The files of a submodule would be lost.
            let loses = entry.is_some_and(|entry| differ_in_type(entry.mode, section.new_mode))
                && entry.is_some_and(|entry| is_submodule(entry.mode));
            if loses && self.options.uses_index() {
                return self.refuse(&format!("{new}: it is a submodule"));
            }
            let occupant = self.find_occupant(&new, self.table.frees_path(&new));
            is_taken = occupant.is_some();
            if let Some(text) = occupant.filter(|_| !self.options.three_way) {
                return self.refuse(&text);
            }
            if section.new_mode == 0 {
                section.new_mode = if section.creates() { 0o100_644 } else { section.old_mode };
            }
        }
        let (old_mode, new_mode) = (section.old_mode, section.new_mode);
        if let (Some(old), Some(new)) = (&section.old_name, &section.new_name) {
            if new_mode == 0 {
                section.new_mode = old_mode;
            } else if differ_in_type(old_mode, new_mode) {
                let of = if old == new { String::new() } else { format!(" of {old}") };
                let text = format!(
                    "new mode ({new_mode:o}) of {new} does not match old mode ({old_mode:o}){of}"
                );
                return self.refuse(&text);
            }
        }
        Ok(is_taken)
    }

    fn find_occupant(&self, new: &str, frees: bool) -> Option<String> {
        if self.options.uses_index() {
            let entry = self.destination.staged(new);
            if let Some(entry) = entry.filter(|_| !frees) {
                if !entry.intent_to_add {
                    return Some(format!("{new}: already exists in index"));
                }
                if !self.options.cached {
                    return Some(format!("{new}: does not match index"));
                }
            }
        }
        if self.options.cached || frees {
            return None;
        }
        match self.destination.look_up(new) {
            Ok(None) => None,
            Ok(Some(_)) => Some(format!("{new}: already exists in working directory")),
            Err(error) => Some(format!("{new}: {error}")),
        }
    }

    // Nothing is read or written outside the tree, in git's own directory or through a link.
    fn check_paths(&mut self, section: &Section<'_>) -> Checked<()> {
        for name in [&section.old_name, &section.new_name].into_iter().flatten() {
            let unsafe_path = check_path(name, false).is_err_and(|found| found.code != Code::P508)
                || name.contains('\0');
            if unsafe_path {
                return Err(Refusal::Fatal(Fatal(format!("invalid path '{name}'"))));
            }
        }
        if let Some(new) = section.new_name.as_deref().filter(|_| !section.deletes()) {
            let is_beyond_link = self.table.is_beyond_link(new, |path: &str| {
                if self.options.uses_index() {
                    let entry = self.destination.staged(path);
                    entry.is_some_and(|entry| entry.mode == 0o120_000)
                } else {
                    self.destination.is_link(path)
                }
            });
            if is_beyond_link {
                return self.refuse(&format!("affected file '{new}' is beyond a symbolic link"));
            }
        }
        Ok(())
    }
}
