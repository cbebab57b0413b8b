//! Fills a scratch copy with files.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::ScratchError;
use super::disk_entry::{Stamp, read_stamp, remove_path, write_entry};
use super::index::object_id;
use super::scratch::{Held, Scratch, ScratchPlan};
use crate::model::{AtPath as _, BlobId, RepoPath};
use crate::source::{Entry, EntryKind, ReadError};

impl Scratch {
    pub(super) fn copy_entry(
        &mut self,
        entry: &Entry,
        plan: &ScratchPlan<'_>,
    ) -> Result<(), ScratchError> {
        let path = &entry.path;
        let Some(mode) = entry.kind.mode() else {
            return Ok(());
        };
        let id = match &entry.kind {
            EntryKind::Symlink { target } => Some(BlobId::from_content(target.as_bytes())),
            _ => plan.from.blob_id(path),
        };
        if id.is_some_and(|id| self.is_held(path, mode, id)) {
            return Ok(());
        }
        if let EntryKind::Symlink { target } = &entry.kind {
            return self.put_file(path, target.as_bytes(), mode);
        }
        match plan.from.read(path) {
            Ok(bytes) => self.put_file(path, &bytes, mode),
            Err(ReadError::TooLarge { .. }) => self.put_large(path, mode),
            // It vanished since it was listed.
            Err(ReadError::NotFound) => Ok(()),
            Err(source) => Err(ScratchError::Read {
                path: path.clone(),
                source,
            }),
        }
    }

    // The original may have lost an object that was borrowed from it.
    fn is_held(&self, path: &RepoPath, mode: u32, id: BlobId) -> bool {
        self.held.get(path).is_some_and(|held| {
            held.mode == mode
                && held.id.as_deref() == Some(&id.to_string())
                && read_stamp(&self.at(path)) == Some(held.stamp)
                && self.store.local().has_object(object_id(id))
        })
    }

    pub(super) fn put_file(
        &mut self,
        path: &RepoPath,
        bytes: &[u8],
        mode: u32,
    ) -> Result<(), ScratchError> {
        let at = self.at(path);
        self.clear_way(path)?;
        write_entry(&at, bytes, mode).at(&at)?;
        self.hold_file(path, bytes, mode)
    }

    /// Takes what is at `path`, of these bytes, for what the copy holds there.
    pub(super) fn hold_file(
        &mut self,
        path: &RepoPath,
        bytes: &[u8],
        mode: u32,
    ) -> Result<(), ScratchError> {
        let id = self.store.store_blob(bytes)?;
        self.hold_id(path, mode, Some(id.to_string()))
    }

    // Copied by the system and known by its stamp alone, because it is too large to read.
    fn put_large(&mut self, path: &RepoPath, mode: u32) -> Result<(), ScratchError> {
        let at = self.at(path);
        self.clear_way(path)?;
        fs::copy(self.original.join(path.as_str()), &at).at(&at)?;
        self.hold_id(path, mode, None)
    }

    fn hold_id(
        &mut self,
        path: &RepoPath,
        mode: u32,
        id: Option<String>,
    ) -> Result<(), ScratchError> {
        let at = self.at(path);
        let metadata = at.symlink_metadata().at(&at)?;
        let stamp = Stamp::from_metadata(&metadata);
        self.held.insert(path.clone(), Held { id, mode, stamp });
        Ok(())
    }

    // Whatever a command put where the file or one of its directories belongs.
    fn clear_way(&self, path: &RepoPath) -> Result<(), ScratchError> {
        let mut directories: Vec<&str> = path.ancestors().filter(|dir| !dir.is_empty()).collect();
        directories.sort_by_key(|directory| directory.len());
        for directory in directories {
            let at = self.root.join(directory);
            match at.symlink_metadata() {
                Ok(metadata) if metadata.is_dir() => continue,
                Ok(_) => remove_path(&at)?,
                Err(_) => {}
            }
            fs::create_dir(&at).at(&at)?;
        }
        remove_path(&self.at(path))
    }

    // Removes all that is not held. Links are removed, never followed.
    pub(super) fn sweep(&self) -> Result<(), ScratchError> {
        self.unknown().iter().try_for_each(|at| remove_path(at))
    }

    /// Returns what is not held, the topmost of it.
    pub(super) fn unknown(&self) -> Vec<PathBuf> {
        let known = self.held.keys().chain(&self.apart);
        let folders: HashSet<&str> = known.flat_map(|path| path.ancestors()).collect();
        let mut open = vec![self.root.clone()];
        let mut found = Vec::new();
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let at = entry.path();
                let path = at.strip_prefix(&self.root).ok().and_then(Path::to_str);
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                let held = path.filter(|_| !is_folder).and_then(|path| RepoPath::new(path).ok());
                if path.is_some_and(|path| path == ".git" || self.is_apart(path))
                    || held.is_some_and(|path| self.held.contains_key(&path))
                {
                    continue;
                }
                if is_folder && path.is_some_and(|path| folders.contains(path)) {
                    open.push(at);
                } else {
                    found.push(at);
                }
            }
        }
        found
    }

    pub(super) fn is_apart(&self, path: &str) -> bool {
        self.apart.iter().any(|folder| {
            let rest = path.strip_prefix(folder.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}
