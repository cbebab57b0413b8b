use super::judge::Objects;
use crate::git::ObjectStore;
use crate::model::BlobId;

impl Objects for ObjectStore {
    fn has(&self, id: BlobId) -> bool {
        Self::has(self, id)
    }

    fn find(&self, hex: &str) -> Option<Vec<u8>> {
        Self::find(self, hex)
    }

    fn merge(&self, ours: &[u8], base: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
        Self::merge(self, ours, base, theirs)
    }
}
