//! mendit finds the change that broke your tests, diagnoses logs, packs the context that a repair needs, validates
//! and applies patches, and confirms that a fix is one.
//!
//! The library has four entry points. [`Judge`] validates a patch against files in memory. [`ImportGraph`] answers
//! who imports whom. [`diagnose_log`] classifies the failure in a log. [`PacketBuilder`] packs what a model needs to
//! repair a failure. Their results are the types of [`documents`], which the program prints as JSON too.
//!
//! Everything else is private. This is what contributors need to know of it.
//!
//! # Layers
//!
//! Data flows one way: from a log and a repository to a diagnosis, a culprit and a packet; from a reply to a validated
//! patch. A module imports only from lower layers; `tests/house` checks that.
//!
//! | layer | module | |
//! |---|---|---|
//! | 0 | `model` | documents that cross a border, serde only: paths, ids, levels, packets, verdicts, codes |
//! | 1 | `config` | settings, each with its origin |
//! | 1 | `source` | where bytes come from: worktree, memory, overlay |
//! | 1 | `exec` | a child process inside limits |
//! | 1 | `runners`, `junit` | test runners: how chosen tests run alone; test reports |
//! | 1 | `state` | what is kept between runs, outside the repository |
//! | 1 | `report` | documents as text, markdown, SARIF and HTML |
//! | 2 | `git` | the only user of gix: trees and index, diffs, history |
//! | 2 | `languages` | the only user of tree-sitter: bytes to facts, imports to files |
//! | 2 | `trace` | which lines a test executed |
//! | 3 | `policy` | what may be read, shown (secrets) and changed |
//! | 3 | `workspace` | the repository a command works on |
//! | 4 | `diagnose` | a log to a diagnosis |
//! | 4 | `graph` | who imports whom |
//! | 4 | `patch` | read, place and validate a patch; write it all-or-nothing |
//! | 4 | `proof` | what a test runner reported |
//! | 5 | `workplace` | isolated copies in which commands and agents run |
//! | 5 | `rank` | which files and definitions matter |
//! | 5 | `hint` | an undefined name to its import |
//! | 6 | `context` | level, candidates, caps, packet |
//! | 6 | `agent` | one call of an agent, its reply read |
//! | 7 | `inventory` | what is declared against what is present |
//! | 6 | `heal` | what must start first: commands and MCP servers |
//! | 6 | `fixes` | fixes that need no model |
//! | 7 | `repair` | the loop: plan, trial, proof, journal |
//! | 8 | `why` | finds the change that broke the tests: hunks, their order, trials |
//! | 8 | `bench` | fixtures, real fixes, comparison |
//! | 9 | `app` | one task per command: request to document |
//! | 10 | `mcp` | the tasks as MCP tools |
//! | 11 | `cli` | the tasks as commands: the only user of clap and stdout |
//!
//! # Pipelines
//!
//! **Log to diagnosis** (`diagnose`): `normalise` strips timestamps and colors, `steps` finds the failed step of a CI
//! job, `runners` read failing tests, `rules` (a table) say what a line means, `decide` weighs the findings, `locate`
//! maps paths into the repository.
//!
//! **Failure to culprit** (`why`): the difference from a good state is cut into hunks and ordered by the trace, the
//! log and names. `why::next` chooses the hunks to revert, a workplace runs the failing tests, until the smallest set
//! is known whose revert makes them pass twice.
//!
//! **Failure to packet** (`context`): candidates from the graph and the log, ordered by `rank`, within the caps of a
//! level, secrets masked.
//!
//! **Reply to patch** (`patch`): `read` finds the format and gives hunks, `target` the files, `place` the position of
//! each hunk; `policy` checks the change, `after` the syntax and imports of the result; `write` applies it with a
//! journal, all-or-nothing.
//!
//! **Attempt** (`repair`): `repair::next` is a function from the history to the next step. A change is laid in, the
//! commands run, and `proof` and the mutation check decide whether the formerly failing tests were observed to pass.
//!
//! **Import to file** (`languages`, `graph`): a file is parsed to facts, which `state` keeps by blob id; the resolver
//! follows the rules of Node, TypeScript or Python over the listing, never the disk.
//!
//! # Habits
//!
//! - The core is pure: `languages`, `diagnose`, `rank`, placement, `why::next` and `repair::next` are functions over
//!   values. Modules marked below may not touch the world: `clippy.toml` lists what they may not call.
//! - Everything refused is a value with a code that `mendit explain` explains.
//! - Only the walk of files, the waves of a closure and the files of a patch run in parallel; results are sorted.
//! - Repository content is data: no command it names is run without the user's word, no link in it is followed.
//!
//! `docs/design/decisions.md` says why.

#![allow(
    rustdoc::private_intra_doc_links,
    reason = "contributors read the private parts"
)]
#![cfg_attr(
    not(feature = "program"),
    allow(
        dead_code,
        unused_imports,
        reason = "parts that the program alone uses"
    )
)]

#[cfg(all(feature = "program", not(unix)))]
compile_error!(
    "the program supports Linux and macOS, and Windows through WSL; elsewhere only patch validation \
     compiles: --no-default-features --features judge"
);

/// Includes a table of the sources as JSON, by its path below `src`.
macro_rules! embedded {
    ($($path:tt)*) => {
        include_str!(concat!(env!("OUT_DIR"), "/", $($path)*, ".json"))
    };
}

#[cfg_attr(not(test), deny(clippy::disallowed_methods))]
mod languages;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg_attr(not(test), deny(clippy::disallowed_methods))]
mod model;
mod parallel;
mod patch;
#[cfg_attr(not(test), deny(clippy::disallowed_methods))]
mod policy;
#[cfg_attr(not(test), deny(clippy::disallowed_methods))]
mod report;
mod source;

cfg_if::cfg_if! {
    if #[cfg(feature = "program")] {
        mod agent;
        mod app;
        mod bench;
        mod cli;
        mod config;
        #[cfg_attr(not(test), deny(clippy::disallowed_methods))]
        mod context;
        #[cfg_attr(not(test), deny(clippy::disallowed_methods))]
        mod diagnose;
        mod exec;
        mod facade;
        mod git;
        mod graph;
        mod heal;
        mod inventory;
        #[cfg_attr(not(test), deny(clippy::disallowed_methods))]
        mod hint;
        #[cfg_attr(not(test), deny(clippy::disallowed_methods))]
        mod junit;
        #[cfg_attr(not(test), deny(clippy::disallowed_methods))]
        mod proof;
        #[cfg_attr(not(test), deny(clippy::disallowed_methods))]
        mod rank;
        #[cfg_attr(not(test), deny(clippy::disallowed_methods))]
        mod fixes;
        mod repair;
        #[cfg_attr(not(test), deny(clippy::disallowed_methods))]
        mod runners;
        mod state;
        mod trace;
        mod why;
        mod workplace;
        mod workspace;

        pub use app::AppError as Error;
        #[doc(hidden)]
        pub use cli::main as run_program;
        pub use facade::{ImportGraph, LogOptions, PacketBuilder, diagnose_log};
        pub use source::ReadError;
    }
}

pub use patch::{Change, Judge, Judged};

/// The documents that mendit reads and writes, with the types of their fields.
pub mod documents {
    pub use crate::model::*;
}

/// Parts that the project's own tests, benchmarks and fuzz targets call. No promise holds for them.
#[doc(hidden)]
pub mod internals {
    pub mod languages {
        pub use crate::languages::{Resolver, facts, syntax_errors};
    }
    pub mod patch {
        pub use crate::patch::{After, Body, JudgeOptions, Judged, judge, read};
    }
    pub mod policy {
        pub use crate::policy::{Allowed, CommandFiles, Dependencies, ReadPolicy, ReadRules};
        #[cfg(feature = "program")]
        pub use crate::policy::{Redactor, sanitize_log, text_warnings};
    }
    pub mod source {
        pub use crate::source::{Memory, Source};
    }
    #[cfg(feature = "program")]
    pub use program::*;

    #[cfg(feature = "program")]
    mod program {
        pub use crate::agent::read_reply;
        pub use crate::cli::parse as parse_command_line;
        pub use crate::heal::ServerConfig;
        pub use crate::source::Installed;
        pub use crate::state::Store;

        pub mod bench {
            pub use crate::bench::{
                BenchFile, Fixture, HIDDEN_PASSED, load_fixtures, load_sets, materialise,
                missing_programs,
            };
        }
        pub mod exec {
            pub use crate::exec::{
                CommandLine, Discard, End, ExecError, Job, Limits, Outcome, SandboxState, Sink,
                Stdin, Stop, Stream, run, set_supervisor, spawn_piped,
            };
        }
        pub mod graph {
            pub use crate::graph::{Graph, cycles};
        }
        pub mod hint {
            pub use crate::hint::{Ask, Query, fix, suggest};
        }
    }
}
