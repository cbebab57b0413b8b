//! Python: what only it has.

mod collapse;
mod imports;
mod installed;
mod language;
mod layout;
mod part;
pub(crate) mod requirements;
mod resolve;
mod roots;
pub(crate) mod spelling;

pub use language::PYTHON;
pub(super) use roots::ImportPaths;
