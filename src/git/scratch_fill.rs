use std::fs;
use std::path::Path;

use super::ScratchError;
use super::disk_entry::{Stamp, failed, remove, stamp, write_entry};
use super::index::object_id;
use super::scratch::{Held, Scratch, ScratchPlan};
use crate::model::{BlobId, RepoPath};
use crate::source::{Entry, EntryKind, ReadError};

impl Scratch {
    pub(super) fn copy(
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
            return self.put(path, target.as_bytes(), mode);
        }
        match plan.from.read(path) {
            Ok(bytes) => self.put(path, &bytes, mode),
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
                && stamp(&self.at(path)) == Some(held.stamp)
                && self.store.local().has_object(object_id(id))
        })
    }

    pub(super) fn put(
        &mut self,
        path: &RepoPath,
        bytes: &[u8],
        mode: u32,
    ) -> Result<(), ScratchError> {
        let at = self.at(path);
        self.clear_way(path)?;
        write_entry(&at, bytes, mode).map_err(|error| failed(&at, &error))?;
        self.hold(path, bytes, mode)
    }

    /// Takes what stands at `path`, of these bytes, for what the copy holds there.
    pub(super) fn hold(
        &mut self,
        path: &RepoPath,
        bytes: &[u8],
        mode: u32,
    ) -> Result<(), ScratchError> {
        let id = self.store.store_blob(bytes)?;
        self.hold_id(path, mode, Some(id.to_string()))
    }

    // Too large to be read whole: the system copies it, and it is known by its stamp alone.
    fn put_large(&mut self, path: &RepoPath, mode: u32) -> Result<(), ScratchError> {
        let at = self.at(path);
        self.clear_way(path)?;
        fs::copy(self.original.join(path.as_str()), &at).map_err(|error| failed(&at, &error))?;
        self.hold_id(path, mode, None)
    }

    fn hold_id(
        &mut self,
        path: &RepoPath,
        mode: u32,
        id: Option<String>,
    ) -> Result<(), ScratchError> {
        let at = self.at(path);
        let metadata = at.symlink_metadata().map_err(|error| failed(&at, &error))?;
        let stamp = Stamp::from_metadata(&metadata);
        self.held.insert(path.clone(), Held { id, mode, stamp });
        Ok(())
    }

    // Whatever a command put where the file or one of its directories belongs.
    fn clear_way(&self, path: &RepoPath) -> Result<(), ScratchError> {
        let mut directories: Vec<&str> = path.ancestors().filter(|it| !it.is_empty()).collect();
        directories.sort_by_key(|directory| directory.len());
        for directory in directories {
            let at = self.root.join(directory);
            match at.symlink_metadata() {
                Ok(metadata) if metadata.is_dir() => continue,
                Ok(_) => remove(&at)?,
                Err(_) => {}
            }
            fs::create_dir(&at).map_err(|error| failed(&at, &error))?;
        }
        remove(&self.at(path))
    }

    // Removes all that is not held. Links are removed, never followed.
    pub(super) fn sweep(&self) -> Result<(), ScratchError> {
        self.each_unknown(|at, _| remove(at))
    }

    /// What is not held, the topmost of it.
    pub(super) fn unknown(&self) -> Result<Vec<RepoPath>, ScratchError> {
        let mut found = Vec::new();
        self.each_unknown(|_, path| {
            found.extend(path.and_then(|path| RepoPath::new(path).ok()));
            Ok(())
        })?;
        Ok(found)
    }

    fn each_unknown<Take>(&self, mut take: Take) -> Result<(), ScratchError>
    where
        Take: FnMut(&Path, Option<&str>) -> Result<(), ScratchError>,
    {
        let mut directories: std::collections::HashSet<&str> = std::collections::HashSet::new();
        for path in self.held.keys().chain(&self.apart) {
            directories.extend(path.ancestors());
        }
        let mut open = vec![String::new()];
        while let Some(directory) = open.pop() {
            let at = self.root.join(&directory);
            let Ok(entries) = fs::read_dir(&at) else {
                continue;
            };
            for entry in entries.filter_map(Result::ok) {
                let name = entry.file_name();
                if directory.is_empty() && name == ".git" {
                    continue;
                }
                let Some(name) = name.to_str() else {
                    take(&entry.path(), None)?;
                    continue;
                };
                let path = if directory.is_empty() {
                    name.to_owned()
                } else {
                    format!("{directory}/{name}")
                };
                if self.is_apart(&path) {
                    continue;
                }
                let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_directory && directories.contains(path.as_str()) {
                    open.push(path);
                } else if is_directory
                    || !RepoPath::new(&path).is_ok_and(|path| self.held.contains_key(&path))
                {
                    take(&entry.path(), Some(&path))?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn is_apart(&self, path: &str) -> bool {
        self.apart.iter().any(|folder| {
            let rest = path.strip_prefix(folder.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}
