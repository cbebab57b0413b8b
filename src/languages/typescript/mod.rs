//! TypeScript and JavaScript: what only they have.

mod calls;
mod embedded;
mod imports;
mod installed;
mod language;
mod manifest;
mod packages;
mod probe;
mod projects;
mod resolve;
mod rules;
mod spelling;
mod style;
mod tsconfig;
mod workspace;

pub use language::TYPESCRIPT;
pub use packages::package_part;
pub(super) use projects::Projects;
pub use rules::ModuleRules;
pub(crate) use style::ScriptStyle;
