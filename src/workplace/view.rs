use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{BlobId, RepoPath};
use crate::patch::FileState;
use crate::source::{Entry, EntryKind, Listing, ReadError, Source};

/// Files as they are to be; `None` for one that is to be gone.
pub(super) type Edits = BTreeMap<RepoPath, Option<FileState>>;

/// The files of a workplace: those below it, with edits on top.
pub(super) struct View<'s> {
    base: &'s dyn Source,
    edits: Edits,
    listing: Listing,
}

impl<'s> View<'s> {
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only an overlay makes one")
    )]
    pub(super) fn new(base: &'s dyn Source, edits: Edits) -> Self {
        let kept = base.listing().entries().iter();
        let kept = kept.filter(|entry| !edits.contains_key(&entry.path));
        let written = edits.iter().filter_map(|(path, state)| {
            let state = state.as_ref()?;
            Some(Entry {
                path: path.clone(),
                kind: kind_of(state),
                bytes: state.bytes.len() as u64,
            })
        });
        let listing = Listing::new(
            kept.cloned().chain(written).collect(),
            base.listing().skipped().to_vec(),
        );
        Self {
            base,
            edits,
            listing,
        }
    }
}

fn kind_of(state: &FileState) -> EntryKind {
    match state.mode {
        0o120_000 => EntryKind::Symlink {
            target: String::from_utf8_lossy(&state.bytes).into_owned(),
        },
        mode => EntryKind::File {
            executable: mode == 0o100_755,
        },
    }
}

impl Source for View<'_> {
    fn listing(&self) -> &Listing {
        &self.listing
    }

    fn read(&self, path: &RepoPath) -> Result<Arc<[u8]>, ReadError> {
        match self.edits.get(path) {
            Some(Some(state)) if state.mode == 0o120_000 => Err(ReadError::NotAFile),
            Some(Some(state)) => Ok(state.bytes.clone()),
            Some(None) => Err(ReadError::NotFound),
            None => self.base.read(path),
        }
    }

    fn blob_id(&self, path: &RepoPath) -> Option<BlobId> {
        match self.edits.get(path) {
            Some(Some(state)) if state.mode == 0o120_000 => None,
            Some(state) => state.as_ref().map(|state| BlobId::of(&state.bytes)),
            None => self.base.blob_id(path),
        }
    }
}
