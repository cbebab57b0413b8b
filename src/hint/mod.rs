//! Floor 5: an undefined name to the import that was meant: how the repository imports it, what
//! defines it, the standard library, manifests; certain or abstaining.

mod answers;
mod choose;
mod entity;
mod evidence;
mod exports;
mod fix;
mod idiom;
mod modules;
mod outside;
mod proof;
mod python;
mod query;
mod recovery;
mod script;
mod similar;
mod suggest;
mod wanted;
mod words;

pub use answers::{Answer, Ask, answers};
pub use exports::missing_exports;
pub use fix::{Fix, fix};
pub use modules::{missing_modules, near_packages, own_packages};
pub use query::Query;
pub use recovery::{hint_lines, recovery_context, recovery_hint};
pub use similar::distance;
pub use suggest::suggest;
pub use wanted::{Wanted, lacked, lacking, undefined, wanted};
