//! Layer 4: log text to a diagnosis. Pure and linear; `unknown` rather than a guess.
//!
//! `document::build_answer` is the pipeline. `normalise` restores lines, `steps` reads what the service ran and how it
//! ended, `quiet` marks what is no evidence, `runners` read which tests failed and why, `rules` classify a line,
//! `decide` weighs the findings, `remedy` quotes the tool's own advice, and `refute` asks the repository.

mod decide;
mod derive;
mod document;
mod failures;
mod findings;
mod line;
mod locate;
mod log;
mod masked;
mod mention;
mod normalise;
mod prefix;
mod providers;
mod quiet;
mod refute;
mod remedy;
mod reported;
mod rules;
mod runners;
mod steps;
mod success;
mod votes;

pub use decide::MAX_EVIDENCE;
pub use derive::{NEXT_LEVEL, REVIEW, category, suggested_actions, words};
pub use document::diagnose;
pub use locate::Scene;
pub use log::{Log, LogFacts};
pub use masked::diagnose_masked;
pub use normalise::{plain_lines, telling_lines};
pub use refute::diagnose_in;
