use crate::languages::{Outline, outline, reading};
use crate::model::{BlobId, RepoPath};
use crate::state::{Key, Store};

/// The outline of a text, from what is known, else by parsing it; then it is known.
#[must_use]
pub fn known_outline(outlines: &Store, path: &RepoPath, text: &[u8]) -> Outline {
    // What is shown may differ from the file: secrets are masked.
    let key = reading(path).filter(|_| outlines.keeps());
    let Some(key) = key.map(|reading| Key::new(BlobId::from_content(text).as_bytes(), reading))
    else {
        return outline(path, text);
    };
    let cached = outlines.get(&key);
    if let Some(cached) = cached.and_then(|it| serde_json::from_slice(&it).ok()) {
        return cached;
    }
    let found = outline(path, text);
    if let Ok(data) = serde_json::to_vec(&found) {
        outlines.put(key, data);
    }
    found
}
