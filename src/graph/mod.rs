//! Layer 4: who imports whom.
//!
//! A [`Graph`] is computed where it is asked for. [`Graph::file`] gives one file with the meaning of each of its imports;
//! [`Graph::imported`] follows them outwards hop by hop, [`Graph::importing`] asks who leads to a file, and for that reads
//! every file. [`Graph::defining`] follows a name through barrels, stars and packages to the file that defines it.
//! [`cycles`] finds files that import each other as they are loaded. [`document`] writes what `mendit imports` prints.
//!
//! Files are read in parallel, and every answer is sorted: it is the same for any number of threads. [`Graph::with_fact_cache`]
//! takes the facts of files that have not changed from the store of an earlier run.

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
