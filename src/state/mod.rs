//! Floor 1: what this program keeps between its runs, where no repository, no command and no agent
//! can write.

mod error;
mod home;
mod runs;
mod store;

pub use error::StateError;
pub use home::{RepositoryState, StateHome};
pub use runs::{RunId, Runs};
pub use store::{Key, Known, Store};
