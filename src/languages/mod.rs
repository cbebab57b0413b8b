//! Floor 2: what a language is. One folder for each: how its files are read, what an import in them
//! means and how one is written; beside them what all have in common. The only user of tree-sitter.

mod bindings;
mod facts;
mod files;
mod finder;
mod language;
mod literal;
mod meddling;
mod outline;
mod parse;
pub(crate) mod python;
#[cfg(test)]
mod reference_queries;
mod resolver;
mod skeleton;
pub(crate) mod typescript;
mod uses;

pub use facts::{facts, syntax_errors};
pub use language::{LANGUAGES, Language, Outside, reading};
pub use meddling::{Meddles, Meddling, is_test_runner, meddling};
pub use outline::{Definition, Outline, outline};
pub use python::PYTHON;
pub use resolver::{FactsReader, Resolution, Resolver, parsed};
pub use skeleton::skeleton;
pub use typescript::{ModuleRules, TYPESCRIPT, package_part};
pub use uses::{Uses, free_names, is_word, uses, words};
