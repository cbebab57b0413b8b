//! Layer 5: an undefined name to its import. Evidence comes from the repository's own imports, from definitions,
//! the standard library and manifests; a suggestion is certain or says why it is not.

mod certainty;
mod choose;
mod evidence;
mod exports;
mod fix;
mod import_style;
mod modules;
mod outside;
mod python;
mod query;
mod script;
mod similar;
mod suggest;
mod wanted;

pub use exports::{rename_name, replace_words};
pub use fix::fix;
pub use query::{Answer, Ask, Query, answers};
pub use similar::{distance, only_near};
pub use suggest::suggest;
pub use wanted::{Wanted, lacked_names, lacking, wanted};
