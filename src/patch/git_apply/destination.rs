use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};

use super::line_ends::{LineEnds, Settings};
use crate::git::{Attribute, Attributes, GitError, Repository, Staging};
use crate::model::RepoPath;
use crate::patch::strict::Rules;
use crate::patch::write::{Directory, is_absent};

/// Where patches are applied: the worktree, the index, and what the configuration says.
pub(super) struct Destination {
    /// The index, when there is a repository.
    pub(super) staging: Option<Staging>,
    /// What names of the patch are relative to.
    pub(super) root: PathBuf,
    /// Where files are written: `root`, or the whole file system for unsafe paths.
    pub(super) base: PathBuf,
    tree: Directory,
    attributes: Option<RefCell<Attributes>>,
    line_ends: Settings,
    rules: Rules,
    /// Whether the executable bit of files is to be believed.
    pub(super) trusts_mode: bool,
}

/// What stands at a path of the worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OnDisk {
    Nothing,
    /// A file or link: its bytes and git's mode.
    File(Vec<u8>, u32),
    Directory,
}

impl Destination {
    pub(super) fn open(
        repository: Option<&Repository>,
        root: &Path,
        anywhere: bool,
        with_attributes: bool,
    ) -> Result<Self, GitError> {
        let staging = repository.map(Repository::staging).transpose()?;
        let attributes = repository
            .filter(|_| with_attributes)
            .map(Repository::attributes)
            .transpose()?;
        let setting = |key: &str| repository.and_then(|it| it.setting(key));
        let base = if anywhere {
            PathBuf::from("/")
        } else {
            root.to_owned()
        };
        let tree = Directory::open(&base).map_err(|error| {
            GitError::Unreadable(format!("cannot open `{}`: {error}", base.display()))
        })?;
        Ok(Self {
            staging,
            root: root.to_owned(),
            base,
            tree,
            attributes: attributes.map(RefCell::new),
            line_ends: Settings {
                auto_crlf: setting("core.autocrlf"),
                eol: setting("core.eol"),
            },
            rules: setting("core.whitespace").map_or_else(Rules::default, |it| Rules::parse(&it)),
            trusts_mode: repository
                .and_then(|it| it.setting_flag("core.fileMode"))
                .unwrap_or(true),
        })
    }

    fn attributes(&self, path: &str) -> [Attribute; 4] {
        match &self.attributes {
            Some(attributes) => attributes.borrow_mut().for_path(path),
            None => std::array::from_fn(|_| Attribute::Unspecified),
        }
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

    /// The path below `base` that a name leads to; `None` when there is none.
    pub(super) fn on_disk(&self, name: &str) -> Option<String> {
        if self.base == self.root {
            return Some(name.to_owned());
        }
        let path = RepoPath::resolve("", self.root.join(name).to_str()?).ok()?;
        Some(path.as_str().to_owned())
    }

    /// Looks at a path without following links.
    pub(super) fn look(&self, name: &str) -> io::Result<OnDisk> {
        let Some(path) = self.on_disk(name) else {
            return Ok(OnDisk::Nothing);
        };
        if self.base.join(&path).is_dir() && !self.is_link(&path) {
            return Ok(OnDisk::Directory);
        }
        let parent = match self.tree.parent(&path, false) {
            Ok(parent) => parent,
            Err(error) if is_absent(&error) => return Ok(OnDisk::Nothing),
            Err(error) => return Err(error),
        };
        let file = path.rsplit('/').next().unwrap_or(&path);
        match parent.look(file) {
            Ok(Some((bytes, mode))) => Ok(OnDisk::File(bytes, mode)),
            Ok(None) => Ok(OnDisk::Nothing),
            Err(error) if is_absent(&error) => Ok(OnDisk::Nothing),
            Err(error) => Err(error),
        }
    }

    fn is_link(&self, path: &str) -> bool {
        let found = self.base.join(path).symlink_metadata();
        found.is_ok_and(|metadata| metadata.is_symlink())
    }

    /// Whether a name itself is a link in the worktree.
    pub(super) fn is_link_name(&self, name: &str) -> bool {
        self.on_disk(name).is_some_and(|path| self.is_link(&path))
    }

    /// Whether a directory above a name is a link.
    pub(super) fn is_beyond_link(&self, name: &str) -> bool {
        let Some(path) = self.on_disk(name) else {
            return false;
        };
        path.match_indices('/')
            .any(|(at, _)| path.get(..at).is_some_and(|above| self.is_link(above)))
    }

    pub(super) fn tree(&self) -> &Directory {
        &self.tree
    }
}
