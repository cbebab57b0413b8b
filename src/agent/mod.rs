//! Floor 6: the external agent. Calls any command by one of three protocols and reads its reply;
//! what the reply says is data, and nothing it names is run.

mod call;
mod reply;
mod template;

pub use call::{Answer, Call, Protocol, call};
pub use reply::{Reply, read_reply};
pub use template::{Places, fill_template};
