//! Floor 3: a specifier and its importer to files of the repository, or to what is outside it.

mod builtin;
mod emitted;
mod files;
mod glob;
mod import;
mod inserted;
mod manifest;
mod memo;
mod package_name;
mod packages;
mod probe;
mod python;
mod resolver;
mod roots;
mod rules;
mod script;
mod spelling;
mod tsconfig;
mod workspace;

pub use resolver::{FactsReader, Resolution, Resolver, parsed};
pub use rules::ModuleRules;
pub use spelling::{is_standard, package_part};
