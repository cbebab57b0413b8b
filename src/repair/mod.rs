//! Floor 7: the loop. What to do next is data ([`plan`]); [`repair`] does it in an isolated copy and writes it into the
//! run's folder, so that an interrupted run goes on where it was.
//!
//! A run is three structs: [`Setup`] (what was asked), `Stage` (where it happens), `Findings` (what was seen). `run`
//! drives them, `attempt` makes one attempt, `prove` and `mutation` show that it holds.

mod alone;
mod attempt;
mod call;
mod commands;
mod error;
mod failure;
mod findings;
mod history;
mod journal;
mod limits;
mod minimal;
mod mutation;
mod observe;
mod outcome;
mod outputs;
mod packet;
mod plan;
mod progress;
mod prove;
mod read_run;
mod result;
mod resume;
mod run;
mod setup;
mod split;
mod stage;
mod task;
mod test_code;
mod test_names;
mod traced;

pub use alone::{is_path, last_runner};
pub use commands::{CommandsAt, CommandsRun};
pub use error::RepairError;
pub use journal::{RunLock, digest, in_utc, read_json, write_atomically};
pub use limits::RunLimit;
pub use observe::test_result;
pub use plan::Policy;
pub use read_run::read_run;
pub use resume::files_digest;
pub use run::repair;
pub use setup::{Agent, AgentCommand, Commands, Setup};
pub use split::{Part, SplitInput, split};
pub use task::Task;
pub use traced::run_traced;
