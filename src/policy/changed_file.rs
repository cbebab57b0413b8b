use crate::model::Operation;

/// What the policy looks at: one path before and after.
#[derive(Debug, Clone, Copy)]
pub struct ChangedFile<'a> {
    /// The path.
    pub path: &'a str,
    /// What happens to it.
    pub operation: Operation,
    /// Its bytes before; `None` when it is new.
    pub before: Option<&'a [u8]>,
    /// Its bytes after; `None` when it goes.
    pub after: Option<&'a [u8]>,
    /// git's modes before and after; 0 where there is none.
    pub modes: (u32, u32),
}
