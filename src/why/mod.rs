//! Floor 8: finds the change that broke the tests. From two states of the files to their difference in hunks,
//! from a failure to their order, from what was tried to the set that is reverted next; and the trials.

mod case;
mod clues;
mod difference;
mod failures;
mod find;
mod range;
mod rank;
mod search;
mod trials;

pub use case::{Answer, holds_failing_test};
pub use clues::clues;
use difference::What;
pub use difference::{Difference, Hunk};
pub use find::{FindCause, WhyError, find_cause, submodules};
use rank::words_of;
pub use rank::{Clues, Suspect, rank};
use search::{Outcomes, Step, bisect, next};
pub use trials::{RedRun, States, TrialLimits, TrialSetup, TrialStart, Trials};
