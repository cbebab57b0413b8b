//! Reads `.gitattributes`.

use gix::attrs::StateRef;

use super::{GitError, Repository};

/// What `.gitattributes` and the configuration say of paths.
pub struct Attributes {
    repo: gix::Repository,
    stack: gix::worktree::Stack,
    outcome: gix::attrs::search::Outcome,
}

/// The state of one attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attribute {
    /// Not mentioned.
    Unspecified,
    /// Set without a value.
    Set,
    /// Taken away with `-`.
    Unset,
    /// Set to a value.
    Value(String),
}

const NAMES: [&str; 4] = ["text", "eol", "crlf", "whitespace"];

impl Repository {
    /// Opens the attribute files and the index.
    ///
    /// # Errors
    /// [`GitError::Unreadable`] for a damaged index or attribute file.
    pub fn attributes(&self) -> Result<Attributes, GitError> {
        let repo = self.local();
        let index = repo.index_or_empty().map_err(GitError::unreadable)?;
        let source = gix::worktree::stack::state::attributes::Source::WorktreeThenIdMapping;
        let stack = repo.attributes_only(&index, source).map_err(GitError::unreadable)?;
        let outcome = stack.selected_attribute_matches(NAMES);
        let stack = stack.detach();
        drop(index);
        Ok(Attributes {
            repo,
            stack,
            outcome,
        })
    }

    /// A setting as text.
    pub fn setting(&self, key: &str) -> Option<String> {
        let value = self.local().config_snapshot().string(key)?;
        Some(String::from_utf8_lossy(&value).into_owned())
    }

    /// A setting that is on or off.
    pub fn setting_flag(&self, key: &str) -> Option<bool> {
        self.local().config_snapshot().boolean(key)
    }
}

impl Attributes {
    /// The attributes `text`, `eol`, `crlf` and `whitespace` of a path.
    pub fn for_path(&mut self, path: &str) -> [Attribute; 4] {
        let mut found = NAMES.map(|_| Attribute::Unspecified);
        let relative = std::path::Path::new(path);
        let Ok(platform) = self.stack.at_path(relative, None, &self.repo.objects) else {
            return found;
        };
        self.outcome.reset();
        if !platform.matching_attributes(&mut self.outcome) {
            return found;
        }
        for (slot, one) in found.iter_mut().zip(self.outcome.iter_selected()) {
            *slot = match one.assignment.state {
                StateRef::Set => Attribute::Set,
                StateRef::Unset => Attribute::Unset,
                StateRef::Value(value) => {
                    Attribute::Value(String::from_utf8_lossy(value.as_bstr()).into_owned())
                }
                StateRef::Unspecified => Attribute::Unspecified,
            };
        }
        found
    }
}
