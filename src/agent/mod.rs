//! Floor 6: the external agent. Calls any command by one of three protocols and reads its reply;
//! what the reply says is data, and nothing it names is run.

mod adapter;
mod call;
mod live;
mod reply;
mod settings;
mod settings_guard;
mod trouble;

pub use adapter::Adapter;
pub use call::{Call, Places, call};
pub use live::Live;
pub use reply::{Reply, read_reply};
pub use settings::settings_folders;
pub use settings_guard::SettingsGuard;
pub use trouble::{in_words, retry_after, trouble};
