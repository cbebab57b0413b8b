//! mendit finds the change that broke your tests, diagnoses logs, packs the context that a repair needs, validates
//! and applies patches, and confirms that a fix is one.
//!
//! The library has two entry points: [`Judge`] validates a patch against files in memory, [`diagnose_log`] classifies
//! the failure in a log. Their results are the types of [`documents`], which the program prints as JSON too.
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
//! | 6 | `heal` | checks that commands and MCP servers start, and repairs their set-up |
//! | 6 | `fixes` | fixes that need no LLM |
//! | 7 | `repair` | the loop: plan, trial, proof, journal |
//! | 8 | `why` | finds the change that broke the tests: hunks, their order, trials |
//! | 8 | `bench` | fixtures, real fixes, comparison |
//! | 9 | `app` | one task per command: request to document |
//! | 10 | `mcp` | the tasks as MCP tools |
//! | 11 | `cli` | the tasks as commands: the only user of clap and stdout |
//!
//! # A failure, step by step
//!
//! Somebody types `mendit run pytest`. `cli` reads the words, `app` opens the folder: `workspace` finds the repository with
//! `git`, and the settings in force. `exec` starts the command as a child process inside limits of time, output and
//! writing, and keeps what it prints.
//!
//! The command ends with 1. `policy` makes plain text of the output and masks secrets in it; from here on nobody sees
//! anything else. `diagnose` reads the text: it strips what a CI service wrote around it, finds the step that failed, has
//! each test runner's results read by `runners`, and lets a table of rules say what a line means. The findings are weighed,
//! paths in the text become files of the repository, and what the files contradict is not believed. The result is a
//! `Diagnosis`: a kind of failure, the lines that show it, the failing tests.
//!
//! Which change broke them? `why` compares the files with a good state, cuts the difference into hunks and orders them by
//! what is near the failure. It reverts some of them in an isolated copy, which `workplace` makes, and runs the failing
//! tests there; what passes and fails decides which hunks come next, until the smallest set is left whose revert makes the
//! tests pass twice.
//!
//! Fixes that need no LLM come first. `hint` looks for the import of an undefined name in the repository's own imports,
//! its definitions and the tables of libraries; `fixes` puts these and other candidates in one list.
//!
//! For everything else an agent needs to see the right files. `languages` parses a file to facts, and answers what an
//! import means by the rules of Node, TypeScript or Python; `graph` follows imports from file to file; `trace` says which
//! lines ran. `rank` orders the parts of files by all of that, `context` fills a packet with the best of them up to a number
//! of tokens. The packet is a document of `model`, like everything that crosses a border.
//!
//! # A patch, step by step
//!
//! The agent's reply is any text, so `patch::read` goes over all of it and says what each stretch is: a diff, a search and
//! replace block, an edit call, a whole file. Nothing that looks like a change is dropped unsaid. A reply in two forms that
//! disagree is refused.
//!
//! Every diff goes to git's own rules first. If its lines are where it says, or at one place only, that is the answer.
//! Otherwise `place` aligns the lines that are to be replaced with the file: a difference in blanks, an offset, a missing
//! line of context cost something, and the cheapest place wins only if no other is near it. Where two places are as good,
//! the patch is refused and shown both: a refusal costs one more call, a wrong place costs trust.
//!
//! Then the change is checked in memory. `policy` looks at paths, at protected files, at manifests by the keys that differ, at
//! tests that say less than before, at lines that make tests pass without a repair. `after` parses the files as they would
//! be and resolves their imports: errors that were not there before are reported. The outcome is a verdict with a code for
//! each problem, and feedback that the agent can act on.
//!
//! A patch that applies is tried. `repair` lays it into the isolated copy and runs the commands; `proof` reads the runner's
//! report. The patch counts as a fix when the tests that failed are reported as passed, none is missing or newly skipped,
//! and a test fails once an assertion of it expects something else. Otherwise the next packet shows the agent the outcome.
//! `repair::next` decides what to do from the history alone, which is why a run that was killed can go on.
//!
//! At the end the patch is shown, and `patch::write` puts it into the worktree: all files or none, with a journal from which
//! a crash is undone.
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

        #[doc(hidden)]
        pub use cli::main as run_program;
        pub use facade::{LogOptions, diagnose_log};
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
        pub use crate::policy::{Redactor, sanitize_log, text_warnings, to_base64};
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
            pub use crate::graph::{Graph, Wanted, cycles, document};
        }
        pub mod hint {
            pub use crate::hint::{Ask, Query, fix, suggest};
        }
    }
}
