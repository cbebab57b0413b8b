//! Python: what only it has.

mod imports;
#[cfg(feature = "program")]
mod insert;
#[cfg(feature = "program")]
mod installed;
mod language;
mod layout;
#[cfg(feature = "program")]
pub(crate) mod requirements;
mod resolve;
mod roots;
#[cfg(feature = "program")]
pub(crate) mod spelling;

pub use language::PYTHON;
pub(super) use roots::ImportPaths;
