//! Floor 2: bytes of a source file to what the file says about itself. The only user of tree-sitter.

mod bindings;
mod calls;
mod dotted;
mod embedded;
mod exports;
mod facts;
mod free;
mod jsdoc;
mod literal;
mod meddling;
mod outline;
mod parse;
mod path;
mod python;
mod python_names;
mod quiet;
mod reference;
#[cfg(test)]
mod reference_queries;
mod script;
mod skeleton;
mod specifier;
mod uses;

pub use facts::{facts, reading, syntax_errors};
pub use free::free_names;
pub use meddling::{Meddles, Meddling, is_test_runner, meddling};
pub use outline::{Definition, Outline, outline};
pub use skeleton::skeleton;
pub use uses::{Uses, uses};
