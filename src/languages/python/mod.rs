//! Python: what only it has.

mod definitions;
mod dotted;
mod imports;
mod inserted;
mod language;
mod meddling;
mod meddling_names;
mod quiet;
mod resolve;
mod roots;
mod uses;

pub use language::PYTHON;
pub(super) use roots::ImportPaths;
