//! Floor 1: a child process inside limits. The only user of `std::process`.
//!
//! Each command runs below a helper process of its own, the supervisor: this program again, started
//! as `mendit __sup`. It leads a session without a terminal, adopts whatever the command leaves
//! behind, and kills all of it when the command ends, when a limit is reached, or when the process
//! that asked for the command is gone, however it went. The supervisor is told over a socket; the
//! end of that socket is the sign that nobody waits any more.
//!
//! A program that uses this library without having a supervisor ([`set_supervisor`]) gets the
//! command in a process group of its own, without adoption: a child that leaves the group survives.
//! The same holds on macOS, where there is nothing that adopts. On Windows there is no supervisor; a
//! command and all it starts are in a job object, which nothing leaves.

mod captured;
#[cfg(target_os = "linux")]
mod confine;
#[cfg(all(unix, not(target_os = "linux")))]
#[path = "unconfined.rs"]
mod confine;
mod control;
mod direct;
mod ended;
#[cfg(unix)]
mod entered;
mod environment;
mod error;
#[cfg(unix)]
mod group;
#[cfg(windows)]
#[path = "job_object.rs"]
mod group;
mod guard;
mod job;
mod launch;
mod log;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(all(unix, not(target_os = "linux")))]
#[path = "unmounted.rs"]
mod mounts;
mod outcome;
mod piped;
mod private;
#[cfg(unix)]
mod protocol;
#[cfg(unix)]
mod refused;
#[cfg(not(unix))]
#[path = "unrefused.rs"]
mod refused;
mod run;
mod sandbox;
mod stop;
#[cfg(unix)]
mod supervise;
#[cfg(unix)]
mod supervised;
#[cfg(target_os = "linux")]
mod temporary;
mod terminal;
#[cfg(unix)]
mod tree;
#[cfg_attr(
    not(unix),
    expect(dead_code, reason = "only a supervisor holds a command to it")
)]
mod writable;

pub use captured::Captured;
pub use environment::Environment;
pub use error::ExecError;
pub use guard::guard_environment;
pub use job::Overlay;
pub use job::{CommandLine, Job, Limits, Stdin};
pub use launch::{own_program, set_supervisor};
pub use outcome::{End, Outcome, TimeLimit};
pub use piped::{Piped, spawn_piped};
pub use run::{Discard, Sink, Stream, run};
pub use sandbox::{Sandbox, SandboxMode, SandboxState};
pub use stop::Stop;
#[cfg(unix)]
pub use supervise::supervise;
pub use terminal::Terminal;
pub use writable::own_corner;
