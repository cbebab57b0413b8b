//! Supervision of a command, on Linux and on macOS.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;
mod protocol;
mod refused;
mod signals;
mod supervise;
mod supervised;
mod tree;
mod writable;

#[cfg(not(target_os = "linux"))]
use elsewhere as host;
#[cfg(target_os = "linux")]
use linux as host;

pub use host::guard_environment;
pub(super) use refused::refused;
pub(super) use signals::listen;
pub use supervise::supervise;
pub use supervised::set_supervisor;
pub(super) use supervised::{Supervisor, launch_supervised};
