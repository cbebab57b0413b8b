//! Bounds the comparisons of a patch, so that hostile input is refused instead of stalling.

use std::cell::Cell;

/// Bounds the comparisons of one patch, all its files together, so hostile input ends in a refusal and not in a wait.
#[derive(Debug)]
pub(in crate::patch) struct Work {
    left: Cell<u64>,
}

impl Work {
    pub(in crate::patch) fn new() -> Self {
        Self {
            left: Cell::new(200_000_000),
        }
    }

    /// Whether the bound is used up.
    pub(in crate::patch) fn is_done(&self) -> bool {
        self.left.get() == 0
    }

    pub(in crate::patch) fn spend(&self, compares: u64) -> bool {
        self.left.set(self.left.get().saturating_sub(compares));
        !self.is_done()
    }
}
