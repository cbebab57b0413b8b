//! Layer 1: a child process inside limits. The only user of `std::process`.
//!
//! Each command runs below a helper process of its own, the supervisor: this program again, started
//! as `mendit __sup`. It leads a session without a terminal, adopts whatever the command leaves
//! behind, and kills all of it when the command ends, when a limit is reached, or when the process
//! that asked for the command is gone, however it went. The supervisor gets its orders over a socket; the
//! end of that socket is the sign that nobody waits any more.
//!
//! A program that uses this library names the supervisor with [`set_supervisor`]. On macOS nothing
//! adopts: a child that leaves the process group survives. What only Linux has is in `unix/linux`,
//! its replacement for macOS in `unix/elsewhere`.

mod captured;
mod environment;
mod error;
mod job;
mod launch;
mod outcome;
mod piped;
mod private;
mod run;
mod sandbox;
mod stop;
mod temporary;
mod unix;

pub use captured::Captured;
pub use environment::Environment;
pub use error::ExecError;
pub use job::{CommandLine, Job, Limits, Overlay, Stdin};
pub use launch::{is_program, on_path, own_program};
pub use outcome::{End, Outcome};
pub use piped::spawn_piped;
pub use run::{Discard, Sink, Stream, run};
pub use sandbox::{Sandbox, SandboxState};
pub use stop::Stop;
pub use temporary::Temporary;
pub use unix::{guard_environment, set_supervisor, supervise};
