//! Floor 5: which file matters for this failure. Each of `signals` gives a ranking;
//! the rankings are fused. All arithmetic is exact or correctly rounded, so that the order is the
//! same on every machine.

mod fuse;
mod issue;
mod name;
mod outlines;
mod people;
mod pool;
mod query;
mod scan;
mod signals;
mod terms;
mod units;
mod weights;
mod worth;

pub use fuse::{RankInput, Ranked, rank};
pub use issue::{Issue, IssueInput, Ranking, Rarity, rank_issue};
pub use outlines::known_outline;
pub use pool::Pool;
pub use signals::Commit;
pub use units::{Unit, units};
pub use worth::{Piece, Question, Wording, worth};
