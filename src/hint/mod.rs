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
mod load_order;
mod missing;
mod outside;
mod passed_on;
mod promised;
mod proof;
mod python;
mod query;
mod recovery;
mod renamed;
mod restored;
mod script;
mod similar;
mod slip;
mod subject;
mod suggest;
mod wanted;
mod words;

pub use answers::{Answer, Ask, answers, fix_all};
pub use fix::{Fix, fix};
pub use history::MOST_IN_DOUBT;
pub use missing::{gone_files, moved_modules, near_packages, own_packages};
pub use passed_on::{PassedOn, passed_on};
pub use query::Query;
pub use recovery::{hint_lines, recovery_context, recovery_hint};
pub use renamed::{Earlier, renamed_exports};
pub use similar::distance;
pub use suggest::suggest;
pub use wanted::{Wanted, lacking, undefined, wanted};
