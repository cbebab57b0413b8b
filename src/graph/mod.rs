//! Floor 4: who imports whom.

mod closure;
mod document;
mod edges;
mod known;
mod symbols;

pub use closure::{Closure, ClosureNode};
pub use document::{Wanted, document};
pub use edges::Graph;
