//! Floor 1: settings. Flags beat environment, environment beats the file, the file beats defaults;
//! every value knows where it comes from.

mod defaults;
mod discover;
mod keys;
mod settings;

pub use defaults::commented_defaults;
pub use discover::{FILE_NAMES, find};
pub use keys::{KEYS, Key, Kind};
pub use settings::{ConfigError, Origin, Settings, Value};
