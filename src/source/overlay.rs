//! A source with edits on top, so that a patch can be checked before it is written.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Entry, EntryKind, Listing, ReadError, Source};
use crate::model::{BlobId, RepoPath};

/// The new state of a file; `None` deletes it.
pub type Edit = Option<(EntryKind, Arc<[u8]>)>;

/// Edits on top of another source: the tree as it would be after a patch.
pub struct Overlay<'a> {
    base: &'a dyn Source,
    edits: BTreeMap<RepoPath, Edit>,
    listing: Listing,
}

impl<'a> Overlay<'a> {
    /// Lays `edits` over `base`; `None` removes a file. A file stays executable if it was.
    pub fn new(
        base: &'a dyn Source,
        edits: impl IntoIterator<Item = (RepoPath, Option<Arc<[u8]>>)>,
    ) -> Self {
        let edits = edits.into_iter().map(|(path, bytes)| {
            let entry = base.listing().get(path.as_str());
            let executable =
                entry.is_some_and(|entry| entry.kind == EntryKind::File { executable: true });
            (
                path,
                bytes.map(|bytes| (EntryKind::File { executable }, bytes)),
            )
        });
        Self::with_kinds(base, edits.collect())
    }

    /// The same, with the kind that each file is to have.
    pub fn with_kinds(base: &'a dyn Source, edits: BTreeMap<RepoPath, Edit>) -> Self {
        let kept = base
            .listing()
            .entries()
            .iter()
            .filter(|entry| !edits.contains_key(&entry.path))
            .cloned();
        let written = edits.iter().filter_map(|(path, bytes)| {
            let (kind, bytes) = bytes.as_ref()?;
            Some(Entry {
                path: path.clone(),
                kind: kind.clone(),
                bytes: bytes.len() as u64,
            })
        });
        let listing = Listing::new(
            kept.chain(written).collect(),
            base.listing().skipped().to_vec(),
        );
        Self {
            base,
            edits,
            listing,
        }
    }
}

impl Source for Overlay<'_> {
    fn listing(&self) -> &Listing {
        &self.listing
    }

    fn read(&self, path: &RepoPath) -> Result<Arc<[u8]>, ReadError> {
        match self.edits.get(path) {
            Some(Some((EntryKind::File { .. }, bytes))) => Ok(bytes.clone()),
            Some(Some(_)) => Err(ReadError::NotAFile),
            Some(None) => Err(ReadError::NotFound),
            None => self.base.read(path),
        }
    }

    fn blob_id(&self, path: &RepoPath) -> Option<BlobId> {
        match self.edits.get(path) {
            Some(Some((EntryKind::File { .. }, bytes))) => Some(BlobId::from_content(bytes)),
            Some(_) => None,
            None => self.base.blob_id(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Overlay;
    use crate::model::RepoPath;
    use crate::source::{Memory, Source};

    #[test]
    fn overlay_hides_lower_source() {
        let path = |text| RepoPath::new(text).unwrap();
        let base = Memory::new([
            (path("a"), b"1".to_vec()),
            (path("b"), b"2".to_vec()),
            (path("c"), b"3".to_vec()),
        ]);
        let edits = [
            (path("a"), Some(b"11".to_vec().into())),
            (path("b"), None),
            (path("d/e"), Some(b"4".to_vec().into())),
        ];
        let after = Overlay::new(&base, edits);
        let listed: Vec<_> = after
            .listing()
            .files()
            .map(|entry| (entry.path.as_str(), entry.bytes))
            .collect();
        assert_eq!(listed, [("a", 2), ("c", 1), ("d/e", 1)]);
        assert_eq!(&*after.read(&path("a")).unwrap(), b"11");
        assert_eq!(after.blob_id(&path("c")), base.blob_id(&path("c")));
        assert!(after.read(&path("b")).is_err() && after.blob_id(&path("b")).is_none());
    }
}
