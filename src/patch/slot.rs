use super::change::FileState;
use super::compose::LineEdit;
use crate::model::Operation;

// What the patch has made of one path so far.
pub(super) struct Slot {
    pub(super) before: Option<FileState>,
    pub(super) after: Option<FileState>,
    pub(super) from: Option<String>,
    pub(super) operation: Operation,
    pub(super) edits: Vec<LineEdit>,
    pub(super) line: u32,
}
