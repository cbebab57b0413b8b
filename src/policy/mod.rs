//! Floor 3: what may be read, sent and changed.

mod change;
mod path_safety;
mod protected;

pub use change::{ChangeLimits, ChangedFile, Finding, judge_change};
pub use path_safety::{UnsafePath, check_path, is_invisible};
pub use protected::{Allowed, Guard, When, guard, is_test};
