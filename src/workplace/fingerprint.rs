use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::git::{Repository, Stamp};
use crate::source::Source;

/// What stands outside a workplace and must not change while something runs in it: the files of
/// the worktree, and of its repository what decides how it behaves and what it holds.
#[derive(Debug, PartialEq, Eq)]
pub struct Fingerprint {
    stamps: BTreeMap<PathBuf, Stamp>,
}

impl Fingerprint {
    /// As it is now.
    #[must_use]
    pub fn of(root: &Path, source: &dyn Source, git: Option<&Repository>) -> Self {
        let mut stamps = BTreeMap::new();
        for entry in source.listing().entries() {
            take(&mut stamps, root.join(entry.path.as_str()));
        }
        if let Some(git) = git {
            let mut homes = vec![git.git_dir().to_owned(), git.common_dir()];
            homes.dedup();
            for home in homes {
                for name in WATCHED {
                    below(&mut stamps, &home.join(name));
                }
            }
        }
        Self { stamps }
    }

    /// The first path that is not as it was.
    #[must_use]
    pub fn differs<'a>(&'a self, now: &'a Self) -> Option<&'a Path> {
        let changed = self
            .stamps
            .iter()
            .find(|(path, stamp)| now.stamps.get(*path) != Some(stamp));
        let made = || now.stamps.keys().find(|it| !self.stamps.contains_key(*it));
        changed
            .map(|(path, _)| path)
            .or_else(made)
            .map(PathBuf::as_path)
    }
}

const WATCHED: &[&str] = &[
    "HEAD",
    "index",
    "config",
    "config.worktree",
    "hooks",
    "info",
    "packed-refs",
    "refs",
    "modules",
];

fn below(stamps: &mut BTreeMap<PathBuf, Stamp>, at: &Path) {
    take(stamps, at.to_owned());
    if at.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        for entry in fs::read_dir(at).into_iter().flatten().flatten() {
            below(stamps, &entry.path());
        }
    }
}

fn take(stamps: &mut BTreeMap<PathBuf, Stamp>, at: PathBuf) {
    if let Ok(found) = at.symlink_metadata() {
        stamps.insert(at, Stamp::of(&found));
    }
}
