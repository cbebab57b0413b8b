//! Floor 5: which file matters for this failure. Each signal is a file of its own and gives a
//! ranking; the rankings are fused. All arithmetic is exact or correctly rounded, so that the
//! order is the same on every machine.

mod bm25;
mod change;
mod cochange;
mod fuse;
mod hops;
mod name;
mod pool;
mod query;
mod scan;
mod score;
mod symbols;
mod terms;
mod units;
mod vicinity;
mod weights;
mod worth;

pub use cochange::Commit;
pub use fuse::{RankInput, Ranked, rank, rank_by};
pub use pool::{Pool, Standing};
pub use units::{Unit, units};
pub use weights::{Signal, WEIGHTS, Weight};
pub use worth::{Piece, Question, worth};
