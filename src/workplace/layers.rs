//! Reads and writes the upper folder of an overlay.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{CWD, FileType, Mode, OFlags};

use super::WorkplaceError;
use super::extras::is_litter;
use super::plan::Edits;
use crate::git::{open_folder, write_entry};
use crate::model::{AtPath as _, RepoPath};
use crate::patch::FileState;
use crate::source::{EntryKind, Ignored, MAX_READ_BYTES, Source};

/// Reads from the folder over `below` what was changed: every file that is no litter, with its state now. `exclude` is
/// the text of `.git/info/exclude`.
///
/// # Errors
/// [`WorkplaceError::TooMuch`] when it is more than can be a patch.
pub(super) fn changed(
    upper: &Path,
    below: &dyn Source,
    exclude: &str,
) -> Result<Edits, WorkplaceError> {
    let mut walk = Walk {
        below,
        ignored: Ignored::new(below, exclude),
        edits: Edits::new(),
        bytes: 0,
    };
    walk.walk_folder(upper, "")?;
    Ok(walk.edits)
}

struct Walk<'a> {
    below: &'a dyn Source,
    ignored: Ignored<'a>,
    edits: Edits,
    bytes: u64,
}

impl Walk<'_> {
    fn walk_folder(&mut self, at: &Path, name: &str) -> Result<(), WorkplaceError> {
        open_folder(at);
        let entries = fs::read_dir(at).at(at)?;
        let mut seen = BTreeSet::new();
        for entry in entries {
            let entry = entry.at(at)?;
            // Skipped, because a name that is not UTF-8 cannot be in a patch.
            let Ok(file) = entry.file_name().into_string() else {
                continue;
            };
            let path = if name.is_empty() { file.clone() } else { format!("{name}/{file}") };
            seen.insert(path.clone());
            if file.eq_ignore_ascii_case(".git") || file == "node_modules" {
                continue;
            }
            self.walk_entry(&entry.path(), &path)?;
        }
        if is_opaque(at) {
            self.gone_below(name, &seen);
        }
        Ok(())
    }

    fn walk_entry(&mut self, at: &Path, name: &str) -> Result<(), WorkplaceError> {
        let found = at.symlink_metadata().at(at)?;
        let Ok(path) = RepoPath::new(name) else {
            return Ok(());
        };
        let below = self.below.listing().get(name).map(|entry| &entry.kind);
        let kind = found.file_type();
        if matches!(below, Some(EntryKind::Submodule { .. })) {
            return Ok(());
        }
        if kind.is_dir() {
            if below.is_some() {
                self.take(path, None)?;
            } else if at.join(".git").symlink_metadata().is_ok() && !self.has_below(name) {
                return Ok(());
            }
            return self.walk_folder(at, name);
        }
        if below.is_none() {
            self.gone_below(name, &BTreeSet::new());
            let is_file = kind.is_file() || kind.is_symlink();
            if !is_file || is_litter(name) || self.ignored.is_ignored(&path) {
                return Ok(());
            }
        }
        let state = if kind.is_symlink() {
            let target = fs::read_link(at).at(at)?;
            Some(FileState::new(
                target.to_string_lossy().as_bytes(),
                0o120_000,
            ))
        } else if kind.is_file() {
            Some(self.read_entry(at, name, &found)?)
        } else {
            // A whiteout, or something that is no file and so cannot stay in a patch.
            None
        };
        self.take(path, state)
    }

    fn read_entry(
        &mut self,
        at: &Path,
        name: &str,
        found: &fs::Metadata,
    ) -> Result<FileState, WorkplaceError> {
        let too_much = || WorkplaceError::TooMuch(format!("`{name}` became too large for a patch"));
        if found.len() > MAX_READ_BYTES {
            return Err(too_much());
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::open(at, flags, Mode::empty()).or_else(|_| {
            let _ = fs::set_permissions(at, fs::Permissions::from_mode(0o600));
            rustix::fs::open(at, flags, Mode::empty())
        });
        let opened = opened.at(at)?;
        let mut bytes = Vec::new();
        fs::File::from(opened).take(MAX_READ_BYTES + 1).read_to_end(&mut bytes).at(at)?;
        self.bytes += bytes.len() as u64;
        if bytes.len() as u64 > MAX_READ_BYTES || self.bytes > 64 << 20 {
            return Err(too_much());
        }
        let executable = found.permissions().mode() & 0o100 != 0;
        Ok(FileState::new(
            bytes,
            if executable { 0o100_755 } else { 0o100_644 },
        ))
    }

    fn take(&mut self, path: RepoPath, state: Option<FileState>) -> Result<(), WorkplaceError> {
        if state == FileState::read(self.below, &path) {
            return Ok(());
        }
        self.edits.insert(path, state);
        // More is no patch that anyone reads.
        let max_files = 5_000;
        if self.edits.len() > max_files {
            let message = format!("more than {max_files} files were changed or created");
            return Err(WorkplaceError::TooMuch(message));
        }
        Ok(())
    }

    fn has_below(&self, name: &str) -> bool {
        self.below.listing().has_directory(name)
    }

    // Everything that was below a folder and is not among `seen` any more.
    fn gone_below(&mut self, name: &str, seen: &BTreeSet<String>) {
        let prefix = if name.is_empty() { String::new() } else { format!("{name}/") };
        for entry in self.below.listing().entries() {
            let Some(rest) = entry.path.as_str().strip_prefix(&prefix) else {
                continue;
            };
            let top = rest.split('/').next().unwrap_or(rest);
            let is_file = matches!(
                entry.kind,
                EntryKind::File { .. } | EntryKind::Symlink { .. }
            );
            if is_file && !seen.contains(&format!("{prefix}{top}")) {
                self.edits.insert(entry.path.clone(), None);
            }
        }
    }
}

/// Writes edits into a fresh folder over `lower`, the folders that it covers, topmost first.
pub(super) fn write(upper: &Path, lower: &[&Path], edits: &Edits) -> Result<(), WorkplaceError> {
    let mut folders: HashSet<&str> = HashSet::new();
    for (path, _) in edits.iter().filter(|(_, state)| state.is_some()) {
        folders.extend(path.ancestors());
    }
    for (path, state) in edits {
        // What takes the place of a file, or of the folder that it was in, covers it already.
        let covered = folders.contains(path.as_str())
            || path.ancestors().any(|path| edits.get(path).is_some_and(Option::is_some));
        if state.is_none() && covered {
            continue;
        }
        let at = upper.join(path.as_str());
        let written = make_folders(upper, lower, path.directory()).and_then(|()| match state {
            Some(state) => write_entry(&at, &state.bytes, state.mode)
                .and_then(|()| outdate_entry(&at, lower, path.as_str())),
            None if lower.iter().any(|layer| exists(&layer.join(path.as_str()))) => white_out(&at),
            None => Ok(()),
        });
        written.at(&at)?;
    }
    Ok(())
}

/// Makes what lies below a path be gone.
fn white_out(at: &Path) -> io::Result<()> {
    let device = rustix::fs::makedev(0, 0);
    let kind = FileType::CharacterDevice;
    rustix::fs::mknodat(CWD, at, kind, Mode::empty(), device).map_err(io::Error::from)
}

// Python takes a compiled file for fresh by the size of its source and the second of its last change:
// a correction of the same size in the same second would run as it was before.
fn outdate_entry(at: &Path, lower: &[&Path], path: &str) -> io::Result<()> {
    let before: BTreeSet<u64> = lower
        .iter()
        .filter_map(|layer| layer.join(path).symlink_metadata().ok())
        .filter_map(|metadata| unix_second(metadata.modified().ok()?))
        .collect();
    let now = at.symlink_metadata()?;
    let written =
        unix_second(now.modified()?).filter(|time| now.is_file() && before.contains(time));
    let most = before.len() as u64 + 1;
    let later = written.and_then(|f| (f..=f + most).find(|second| !before.contains(second)));
    let time = later.and_then(|seconds| UNIX_EPOCH.checked_add(Duration::from_secs(seconds)));
    time.map_or(Ok(()), |time| File::open(at)?.set_modified(time))
}

fn unix_second(time: SystemTime) -> Option<u64> {
    time.duration_since(UNIX_EPOCH).map(|e| e.as_secs()).ok()
}

fn exists(at: &Path) -> bool {
    at.symlink_metadata().is_ok()
}

// A folder shows the rights of its topmost layer, so each is made as it is below.
fn make_folders(upper: &Path, lower: &[&Path], directory: &str) -> io::Result<()> {
    let mut ends: Vec<usize> = directory.match_indices('/').map(|(at, _)| at).collect();
    ends.push(directory.len());
    for end in ends.into_iter().filter(|end| *end > 0) {
        let part = directory.get(..end).unwrap_or_default();
        let at = upper.join(part);
        if at.is_dir() {
            continue;
        }
        fs::create_dir(&at)?;
        if let Some(model) = lower.iter().find_map(|layer| layer.join(part).symlink_metadata().ok())
        {
            match_metadata(&at, &model);
        }
    }
    Ok(())
}

/// Gives a folder the rights and, as far as the system lets, the owner of another. Best effort.
pub(super) fn match_metadata(at: &Path, model: &fs::Metadata) {
    if model.is_dir() {
        let _ = std::os::unix::fs::chown(at, Some(model.uid()), Some(model.gid()));
        let mode = model.permissions().mode() & 0o7777;
        let _ = fs::set_permissions(at, fs::Permissions::from_mode(mode | 0o700));
    }
}

fn is_opaque(at: &Path) -> bool {
    let mut value = [0_u8; 8];
    matches!(
        rustix::fs::lgetxattr(at, "user.overlay.opaque", &mut value[..]),
        Ok(1..) if value.first() == Some(&b'y')
    )
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::UNIX_EPOCH;

    use super::write;
    use crate::model::RepoPath;
    use crate::patch::FileState;

    #[test]
    fn edited_file_gets_another_mtime_second() {
        let folder = tempfile::tempdir().unwrap();
        let (upper, lower) = (folder.path().join("upper"), folder.path().join("lower"));
        fs::create_dir(&upper).unwrap();
        fs::create_dir(&lower).unwrap();
        fs::write(lower.join("a.py"), "claen()\n").unwrap();
        let state = FileState::new(b"clean()\n".to_vec(), 0o100_644);
        let edits = [(RepoPath::new("a.py").unwrap(), Some(state))].into();
        write(&upper, &[&lower], &edits).unwrap();
        let second = |at: std::path::PathBuf| {
            let time = fs::metadata(at).unwrap().modified().unwrap();
            time.duration_since(UNIX_EPOCH).unwrap().as_secs()
        };
        assert_ne!(second(upper.join("a.py")), second(lower.join("a.py")));
        assert_eq!(fs::read(upper.join("a.py")).unwrap(), b"clean()\n");
    }
    #[test]
    fn files_and_folders_take_the_place_of_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let (upper, lower) = (folder.path().join("upper"), folder.path().join("lower"));
        fs::create_dir(&upper).unwrap();
        fs::create_dir_all(lower.join("data")).unwrap();
        for path in ["conf", "data/x", "gone"] {
            fs::write(lower.join(path), "").unwrap();
        }
        let state = FileState::default();
        let edits = [
            ("conf", None),
            ("conf/a", Some(state.clone())),
            ("data", Some(state)),
            ("data/x", None),
            ("gone", None),
        ];
        let edits = edits.map(|(path, state)| (RepoPath::new(path).unwrap(), state));
        write(&upper, &[&lower], &edits.into()).unwrap();
        assert!(upper.join("conf/a").is_file() && upper.join("data").is_file());
        let gone = fs::symlink_metadata(upper.join("gone")).unwrap();
        assert!(!gone.is_file() && !gone.is_dir());
    }
}
