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

    /// The same for what may be left out: nothing is spent when it is too much.
    pub(in crate::patch) fn afford(&self, compares: u64) -> bool {
        compares < self.left.get() && self.spend(compares)
    }

    /// How much it is to tell how alike two texts of these lengths are.
    pub(in crate::patch) fn of_alike(one: usize, two: usize) -> u64 {
        one as u64 * two as u64 / 8
    }
}
