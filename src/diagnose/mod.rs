//! Floor 4: log text to a diagnosis. Pure, linear, and at a loss rather than guessing.
//!
//! A log is read as what it is: `normalise` undresses its lines, `steps` says what the service ran
//! and how it ended, `quiet` takes out what tells of no failure, `runners` read which tests failed
//! and why, `rules` say what a line means, and `decide` weighs them.

mod claimed;
mod condense;
mod confidence;
mod cues;
mod decide;
mod derive;
mod directories;
mod document;
mod envelope;
mod facts;
mod failures;
mod line;
mod locate;
mod log;
mod masked;
mod mention;
mod messages;
mod normalise;
mod prefix;
mod providers;
mod quiet;
mod read;
mod reported;
mod retries;
mod rules;
mod runners;
mod speakers;
mod special;
mod steps;
mod success;
mod verdict;
mod votes;

pub use claimed::diagnose_in;
pub use derive::{GO_ON, NEXT_LEVEL, REVIEW, Retry, category, retry, suggested_actions, words};
pub use document::diagnose;
pub use facts::LogFacts;
pub use locate::Scene;
pub use log::Log;
pub use masked::diagnose_masked;
pub use normalise::{plain_lines, telling_lines};
pub use rules::{RuleProblem, UserRules, rule_page, subkind_page};
pub use speakers::jobs;
