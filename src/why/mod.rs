//! Finds the change that broke the tests. Two states of the files become a difference in hunks, the
//! failure an order of them (`clues`, `rank`), the outcomes so far the hunks that are reverted next (`search`).
//! `trials` runs the failing tests in an isolated copy, `failures` keeps an outcome for each of them, `find` searches
//! the uncommitted changes, `commits` the history.

mod answer;
mod commits;
mod failures;
mod find;
mod known;
mod rank;
mod search;
mod state_pair;
mod test_files;
mod trials;

use crate::workplace::{Difference, Hunk, States, What};
pub use find::{FindCause, WhyError};
pub use known::{Facts, KeptCause, known_cause};
pub use rank::list_suspects;
use rank::{Suspect, is_new_lock_file, rank_suspects};
use search::{SearchStep, bisect_range, next};
pub use trials::{RedRun, TrialLimits, TrialStart};
