//! What a line of a log means: tables of rules as TOML, one file per group of tools.

mod builtin;
mod engine;
mod rule;
mod user;

pub(super) use builtin::BUILTIN;
pub use user::UserRules;
