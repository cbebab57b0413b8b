//! Floor 5: an undefined name to the import that was meant: how the repository imports it, what
//! defines it, the standard library, manifests; certain or abstaining.

mod answers;
mod choose;
mod entity;
mod evidence;
mod fix;
mod history;
mod idiom;
mod injected;
mod missing;
mod outside;
mod proof;
mod python;
mod query;
mod recovery;
mod reexport;
mod renamed;
mod script;
mod similar;
mod slip;
mod suggest;
mod undo;
mod wanted;
mod words;

pub use answers::{Answer, Ask, answers, fix_all};
pub use fix::{Fix, fix};
pub use history::MOST_IN_DOUBT;
pub use missing::{gone_files, leads_to, moved_modules, near_packages, own_packages};
pub use query::Query;
pub use recovery::{hint_lines, recovery_context, recovery_hint};
pub use renamed::{Earlier, renamed_exports};
pub use similar::distance;
pub use suggest::suggest;
pub use undo::{Change, Run};
pub use wanted::{Wanted, lacked, lacking, undefined, wanted};
