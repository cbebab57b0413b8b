use super::super::change::FileState;
use super::refusal::refuse;
use crate::model::{Code, Refusal};
use crate::source::{EntryKind, ReadError, Source};

// What stands at a path before the patch.
pub(super) fn original(source: &dyn Source, path: &str) -> Result<Option<FileState>, Refusal> {
    let listing = source.listing();
    let Some(entry) = listing.get(path) else {
        return Ok(None);
    };
    match &entry.kind {
        EntryKind::File { executable } => match source.read(&entry.path) {
            Ok(bytes) => Ok(Some(FileState {
                bytes,
                mode: if *executable { 0o100_755 } else { 0o100_644 },
            })),
            Err(ReadError::TooLarge { bytes, limit }) => {
                let message = format!("the file has {bytes} bytes, more than {limit}");
                refuse(Code::P705, message)
            }
            Err(error) => refuse(Code::P901, format!("the file cannot be read: {error}")),
        },
        EntryKind::Symlink { target } => Ok(Some(FileState {
            bytes: target.clone().into_bytes().into(),
            mode: 0o120_000,
        })),
        EntryKind::Submodule { .. } => refuse(Code::P506, "the path is a submodule"),
        EntryKind::Special => refuse(Code::P505, "the path is a pipe, socket or device"),
        EntryKind::NotCheckedOut => refuse(Code::P511, "the file is tracked and not checked out"),
    }
}
