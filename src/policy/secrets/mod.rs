//! Finds secrets in text. A rule is a row of `rules/*.toml`; the rest is how rules are asked
//! quickly, and what surrounds a value that makes it a secret.

mod anchors;
mod assignment;
mod block;
mod command;
mod encoded;
mod known;
mod layout;
mod name;
mod provider;
mod scan;
mod sheet;
mod table;
mod url;
mod user;
mod value;
mod view;
mod wrap;

pub use known::is_secret_name;
pub(super) use known::{Learned, LearnedFinder};
pub(super) use scan::{Given, Hit, scan, scan_learned};
pub use table::secret_rule_page;
pub use user::UserRuleError;
pub(super) use user::UserRules;
