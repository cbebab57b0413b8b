//! Which parts of a repository matter for a question.
//!
//! A [`Question`] is read from a log or from an issue. [`rank_files`] scores every source file by
//! its words, [`score_parts`] scores the parts (definitions, else windows) of the best files, and
//! one table of weights serves both. All arithmetic is addition, multiplication and division,
//! so that the order is the same on every machine.

mod files;
mod index;
mod issue;
mod parts;
mod pool;
mod question;
mod terms;
mod units;
mod weights;

pub use files::{FileEvidence, FileInput, RankedFile, rank_files};
pub use index::known_outline;
pub use parts::{PartFile, score_parts};
pub use pool::Pool;
pub use question::Question;
pub use units::{Lines, Unit};
pub use weights::Evidence;
