//! Floor 4: who imports whom.

mod closure;
mod cycles;
mod document;
mod edges;
mod known;
mod symbols;

pub use closure::{Closure, ClosureNode};
pub use cycles::cycles;
pub use document::{Wanted, document};
pub use edges::{FileEdges, Graph};
