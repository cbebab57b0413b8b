use crate::model::{Code, Operation, Severity};

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

/// One thing the policy says about a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeFinding {
    /// The stable code.
    pub code: Code,
    /// Whether it stops the patch.
    pub severity: Severity,
    /// What it found.
    pub message: String,
}

/// What stops the patch.
pub(super) fn stop(code: Code, message: String) -> ChangeFinding {
    ChangeFinding {
        code,
        severity: Severity::Error,
        message,
    }
}

/// What is worth saying and stops nothing.
pub(super) fn note(code: Code, message: String) -> ChangeFinding {
    ChangeFinding {
        severity: Severity::Warning,
        ..stop(code, message)
    }
}
