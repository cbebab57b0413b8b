//! Floor 6: from a failure to a packet. Ladder level, candidates, caps, snapshots, omissions.

mod build;
mod bundle;
mod candidate;
mod candidates;
mod change;
mod contract;
mod decode;
mod delta;
mod digest;
mod error;
mod fill;
mod focus;
mod hints;
mod ladder;
mod leftover;
mod log;
mod manifests;
mod packet;
mod repo_index;
mod request;
mod requested;
mod setup;
mod shares;
mod snapshot;
mod targets;
mod tokens;

pub use build::{Built, build, build_on};
pub use bundle::{bundle_listing, bundle_tar};
pub use change::change_under_test;
pub use error::ContextError;
pub use ladder::{LevelChoice, Retry, choose_level};
pub use packet::failure_packet;
pub use request::{CapOverrides, Request};
pub use setup::{add_history, base_request};
pub use targets::{expand_target, nearest_paths};
pub use tokens::estimate_tokens;
