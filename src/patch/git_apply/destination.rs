//! The worktree, index and settings that `git apply` works on.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};

use super::line_ends::{LineEnds, Settings};
use crate::git::{Attribute, Attributes, GitError, Repository, Staged, Staging};
use crate::model::file_name;
use crate::patch::change::FileState;
use crate::patch::strict::Rules;
use crate::patch::structure::parent_paths;
use crate::patch::write::{Directory, is_absent};

/// Where patches are applied: the worktree, the index, and what the configuration says.
pub(super) struct Destination<'r> {
    pub(super) repository: Option<&'r Repository>,
    /// The index, when there is a repository.
    pub(super) staging: Option<Staging>,
    /// The folder that names in the patch are relative to.
    pub(super) root: PathBuf,
    pub(super) tree: Directory,
    attributes: Option<RefCell<Attributes>>,
    line_ends: Settings,
    rules: Rules,
    /// Whether the executable bit of files is to be believed.
    pub(super) trusts_mode: bool,
}

impl<'r> Destination<'r> {
    pub(super) fn open(repository: Option<&'r Repository>, root: &Path) -> Result<Self, GitError> {
        let staging = repository.map(Repository::staging).transpose()?;
        let attributes = repository.map(Repository::attributes).transpose()?;
        let [auto_crlf, eol, white_space] =
            ["core.autocrlf", "core.eol", "core.whitespace"].map(|key| repository?.setting(key));
        let tree = Directory::open(root).map_err(|error| {
            GitError::Unreadable(format!("cannot open `{}`: {error}", root.display()))
        })?;
        Ok(Self {
            repository,
            staging,
            root: root.to_owned(),
            tree,
            attributes: attributes.map(RefCell::new),
            line_ends: Settings { auto_crlf, eol },
            rules: white_space.map_or_else(Rules::default, |names| Rules::parse(&names)),
            trusts_mode: repository
                .and_then(|repository| repository.setting_flag("core.fileMode"))
                .unwrap_or(true),
        })
    }

    fn attributes(&self, path: &str) -> [Attribute; 4] {
        match &self.attributes {
            Some(attributes) => attributes.borrow_mut().for_path(path),
            None => std::array::from_fn(|_| Attribute::Unspecified),
        }
    }

    /// What the index has at a path.
    pub(super) fn staged(&self, path: &str) -> Option<Staged> {
        self.staging.as_ref()?.entry(path)
    }

    /// The white space rules of a path.
    pub(super) fn rules(&self, path: &str) -> Rules {
        let [.., white_space] = self.attributes(path);
        match white_space {
            Attribute::Unspecified => self.rules,
            Attribute::Set => self.rules.all(),
            Attribute::Unset => Rules::NONE,
            Attribute::Value(text) => Rules::parse(&text),
        }
    }

    pub(super) fn line_ends(&self, path: &str) -> LineEnds {
        let [text, eol, crlf, _] = self.attributes(path);
        LineEnds::choose(&text, &eol, &crlf, &self.line_ends)
    }

    /// Looks at a file or link without following links; a directory counts as nothing.
    pub(super) fn look_up(&self, name: &str) -> io::Result<Option<FileState>> {
        let parent = self.tree.parent(name, false);
        match parent.and_then(|parent| parent.look(file_name(name))) {
            Ok(found) => Ok(found.map(|(bytes, mode)| FileState::new(bytes, mode))),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a name is a link in the worktree.
    pub(super) fn is_link(&self, name: &str) -> bool {
        let found = self.root.join(name).symlink_metadata();
        found.is_ok_and(|metadata| metadata.is_symlink())
    }

    /// Whether a directory above a name is a link.
    pub(super) fn is_beyond_link(&self, name: &str) -> bool {
        parent_paths(name).any(|above| self.is_link(above))
    }
}
