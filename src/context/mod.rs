//! Layer 6: from a failure to a packet. Ladder level, candidates, caps, snapshots, omissions.

mod build;
mod candidates;
mod change;
mod choose;
mod digest;
mod evidence;
mod failure;
mod fill;
mod hints;
mod inputs;
mod ladder;
mod leftover;
mod manifests;
mod pack;
mod packet;
mod repo_index;
mod request;
mod requested;
mod targets;
mod tokens;

pub use build::build;
pub use change::change_under_test;
pub use hints::{hint_lines, recovery_hint};
pub use ladder::{LevelChoice, Retry, choose_level};
pub use packet::failure_packet;
pub use request::{ContextError, Request, add_history, base_request};
pub use targets::expand_target;
pub use tokens::estimate_tokens;
