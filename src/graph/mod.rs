//! Floor 4: who imports whom.

mod closure;
mod edges;

pub use closure::{Closure, ClosureNode, closure};
pub use edges::{FileEdges, Graph};
