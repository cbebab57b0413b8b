//! Layer 0: the nouns that cross a border. Plain data and serde, no input or output, no other module.
//!
//! Whatever the program prints as JSON, keeps in the folder of a run or hands to an agent is a type of this module; there
//! is a file for each document. [`DOCUMENTS`] lists them, and the hidden command `schema` prints the schema of each. Their field
//! names are a contract: a field is added freely, and not renamed.
//!
//! Four types are everywhere. [`RepoPath`] is a path that cannot leave the repository. [`Code`] is the stable name of a
//! reason, such as `P401`; what follows from one is a row of `codes.toml`, its page is in `codes/`. [`FailureKind`] says
//! what went wrong in a log, [`StopReason`] how an attempt at a fix ended.

// `Display` as the documents spell it.
macro_rules! spelled_as_in_json {
    ($($kind:ty),*) => {$(
        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                serde::Serialize::serialize(self, f)
            }
        }
    )*};
}

mod bench;
mod code;
mod context;
mod event;
mod facts;
mod failure;
mod healing;
mod imports;
mod level;
mod patch;
mod path;
mod proof;
mod repair;
mod run;
mod schema;
mod traced;
mod verdict;
mod why;

pub use bench::*;
pub use code::*;
pub use context::*;
pub use event::*;
pub use facts::*;
pub use failure::*;
pub use healing::*;
pub use imports::*;
pub use level::*;
pub use patch::*;
pub use path::*;
pub use proof::*;
pub use repair::*;
pub use run::*;
pub use schema::*;
pub use traced::*;
pub use verdict::*;
pub use why::*;

spelled_as_in_json!(Code, Operation, Profile, Severity, Verdict);
spelled_as_in_json!(FileMode, FixtureResult, Role, TestRunner, Wall);

/// Reads a table of the sources, as the build wrote it.
pub(crate) use serde_json::from_str as read_table;

/// Reads a table of the sources whose rows have one name.
pub(crate) fn parse_rows<R: serde::Deserialize<'static>>(table: &'static str) -> Vec<R> {
    #[expect(clippy::expect_used, reason = "embedded and tested")]
    let parts: std::collections::BTreeMap<String, Vec<R>> = read_table(table).expect("a table");
    parts.into_values().next().unwrap_or_default()
}

/// Version of every JSON document this program writes.
pub const SCHEMA_VERSION: u32 = 1;
