//! Floor 7: the loop. What to do next is data ([`next`]); [`repair`] performs it in a scratch copy
//! and writes it down, so that an interrupted run goes on where it was.

mod agent_call;
mod alone;
mod ask;
mod commands;
mod counter_proof;
mod disguise;
mod error;
mod failure;
mod history;
mod journal;
mod lessen;
mod limits;
mod load_check;
mod missing;
mod observe;
mod outputs;
mod own_place;
mod parts;
mod plan;
#[cfg(test)]
mod plan_gates;
#[cfg(test)]
mod plan_table;
mod progress;
mod prove;
mod read_run;
mod record;
mod run;
mod session;
mod setup;
mod skipped;
mod snapshots;
mod split;
mod task;
mod test_names;
mod traced;
mod trial;

pub use alone::is_path;
pub use commands::{CommandsRun, run_commands};
pub use error::RepairError;
pub use journal::{RunLock, read_json};
pub use limits::RunLimit;
pub use own_place::own_place;
pub use plan::{Policy, may_pass_again};
pub use read_run::read_run;
pub use run::{files_digest, in_utc, repair};
pub use setup::{Agent, Before, Commands, LastRun, Setup};
pub use split::{Split, SplitInput, split};
pub use task::{Estimate, Task};
pub use traced::{TraceRun, run_traced};
pub use trial::digest;
