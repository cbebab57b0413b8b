//! Records what earlier sections did to each path, since a later one may build on it.

use crate::patch::strict::{Section, is_link};
use crate::patch::structure::parent_paths;
use std::collections::{HashMap, HashSet};

/// What the patch has done to paths so far, and will do.
#[derive(Debug, Default)]
pub(super) struct Table {
    paths: HashMap<String, State>,
    /// Links that it makes.
    links: HashSet<String>,
}

/// What has become of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// A later section takes it away.
    WillGo,
    /// An earlier section took it away.
    Gone,
    /// The state that the section of this number made.
    Made(usize),
}

impl Table {
    pub(super) fn new(sections: &[Section<'_>]) -> Self {
        let mut table = Self::default();
        for section in sections {
            let leaves = section.new_name.is_none() || section.is_rename;
            if let Some(old) = section.old_name.as_ref().filter(|_| leaves) {
                table.paths.insert(old.clone(), State::WillGo);
            }
            table.note_links(section);
        }
        table
    }

    // The mode of what is only renamed or copied is known once it has been looked at.
    fn note_links(&mut self, section: &Section<'_>) {
        let made = section.new_name.clone();
        self.links.extend(made.filter(|_| is_link(section.new_mode)));
    }

    /// Whether the patch takes away what was at a path.
    pub(super) fn frees_path(&self, path: &str) -> bool {
        matches!(self.state(Some(path)), Some(State::Gone | State::WillGo))
    }

    pub(super) fn state(&self, path: Option<&str>) -> Option<State> {
        self.paths.get(path?).copied()
    }

    /// Notes that a section has been dealt with.
    pub(super) fn note_section(&mut self, section: &Section<'_>, number: usize) {
        self.note_links(section);
        if let Some(new) = &section.new_name {
            self.paths.insert(new.clone(), State::Made(number));
        }
        if let Some(old) = &section.old_name
            && (section.new_name.is_none() || section.is_rename)
        {
            self.paths.insert(old.clone(), State::Gone);
        }
    }

    /// Checks whether a directory above a path will be a link; `is_link` answers for those that the patch
    /// does not touch.
    pub(super) fn is_beyond_link(&self, path: &str, is_link: impl Fn(&str) -> bool) -> bool {
        parent_paths(path).any(|directory| {
            self.links.contains(directory) || !self.frees_path(directory) && is_link(directory)
        })
    }
}
