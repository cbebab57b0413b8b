//! mendit makes automatic code repair dependable: it says which change made a test fail, diagnoses the log,
//! packs the files that a repair needs under hard caps, judges and applies the patches that come back, and
//! proves what is fixed.
//!
//! # The house
//!
//! Data flows one way: from the bytes of a repository to a packet, from a reply to a judged patch.
//! A module imports only from floors below it; `tests/house/tidy.rs` holds this.
//!
//! | floor | module | what |
//! |---|---|---|
//! | 0 | [`model`] | the nouns that cross a border: paths, ids, levels, packets, codes |
//! | 1 | [`config`] | settings, each with its origin |
//! | 1 | [`junit`] | reports of tests, as the runners of many languages write them |
//! | 1 | [`source`] | where bytes come from: worktree, memory, edits on top |
//! | 1 | [`exec`] | a child process inside limits |
//! | 1 | [`runners`] | what the runners of tests take: chosen tests alone |
//! | 1 | [`report`] | values of the model as text |
//! | 1 | [`state`] | what is kept between runs, out of reach of what is run |
//! | 2 | [`git`] | the only user of gix: repositories, trees, the index |
//! | 2 | [`languages`] | the only user of tree-sitter: what a language is, a folder for each; bytes to facts about a file, specifier and importer to file |
//! | 2 | [`trace`] | which lines of the repository ran while tests did |
//! | 3 | [`policy`] | what may be read and shown; secrets |
//! | 3 | [`workspace`] | the repository one works on, and where in it one stands |
//! | 4 | [`diagnose`] | log text to a diagnosis |
//! | 4 | [`graph`] | who imports whom |
//! | 4 | [`patch`] | read, mend, place and judge a patch; write it all or nothing |
//! | 4 | [`proof`] | what stands behind a green run |
//! | 5 | [`workplace`] | where commands and agents run: what runs there is what was changed |
//! | 5 | [`rank`] | which file matters for this failure |
//! | 5 | [`hint`] | an undefined name to the import that was meant |
//! | 6 | [`agent`] | one call of an agent, and its reply read |
//! | 6 | [`context`] | ladder level, candidates, caps, snapshots, packets |
//! | 6 | [`heal`] | what must answer first: start, diagnose, change, start again |
//! | 6 | [`remedies`] | what may mend a failure without a model: one list |
//! | 7 | [`repair`] | the loop: what to do next as data, and doing it in a copy |
//! | 8 | [`why`] | finds the change that broke the tests: hunks, their order, trials |
//! | 8 | [`mod@bench`] | broken repositories with a known repair, and how often the loop repairs them |
//! | 9 | [`app`] | one task for each command, from a request to a document |
//! | 10 | `mcp` | the tasks as tools of an MCP server |
//! | 11 | [`cli`] | the tasks as commands: the only user of clap and of standard output |
//!
//! # A failure, from its log to `fixed`
//!
//! **The log.** [`diagnose::Log`] keeps what may tell of megabytes to gigabytes. `diagnose/normalise` takes
//! timestamps and colours off its lines; `steps` finds the steps of the CI job and which failed; `quiet` marks
//! what tells of no failure. `runners` read the failing tests in each runner's spelling, `rules` what a line
//! means, as a table; each hit is a `Finding` with a weight and a line. `decide` weighs them to one kind with
//! a confidence, `locate` finds the files that are meant. [`model::Diagnosis`] is masked before anybody sees it.
//!
//! **The cause.** [`app::find_cause`] asks [`git`] for states at which the command may have passed. [`why`] cuts
//! the difference from one of them into hunks and puts them in an order: what the failing tests ran by [`trace`],
//! what they name, what the log points at. [`why::next`] says which hunks to take back, a [`workplace`] has the
//! files so, the failing tests run; what makes them pass twice, and no less, is the cause.
//!
//! **The remedies.** [`remedies`] is one list of what needs no model: imports that [`hint`] finds and proves, what
//! a tool proposes itself, what a witness in the log names. The loop lays each in and runs the command.
//!
//! **An attempt.** [`repair::next`] looks at the history and says `Ask`. `repair/ask` has [`context`] build a
//! packet: candidates from the graph and the log, [`rank`] orders them, bytes are shared out by worth, secrets
//! masked. [`agent`] calls the command in a [`workplace`] and reads its reply. `repair/trial` judges the patch,
//! lays it in, runs the commands; `repair/observe` and `progress` compare what fails now with what failed
//! before.
//!
//! **The proof.** `prove` asks [`proof`] what the runner itself said, without the changes to tests too;
//! `load_check` looks whether what was changed is what ran. `counter_proof` changes what the formerly failing
//! tests expect, in a copy, and runs them: a test that then still passes tells nothing. The change is kept or
//! taken back, and the result is one line more of the history.
//!
//! # Two walks below
//!
//! **A patch.** Bytes come in through [`app::check_patch`] or [`app::apply_patch`]. `patch/read` finds out the
//! format and gives a [`patch::PatchSet`]: files, hunks, lines with their numbers in the patch, mends that
//! reading took. `patch/target` says which files of the listing the names mean. `patch/judge` takes the
//! sections of one file together; `patch/content` asks `patch/place` where each hunk's pre-image stands in the
//! file and what of it had to be mended, so that each file has its bytes before and after. [`policy`] judges
//! the changes one by one and together, `patch/after` reads the after-image for syntax and imports. What comes
//! out is [`patch::Judged`]: a verdict with codes and lines, and [`patch::Change`]s. Only when it applies does
//! `patch/write` take them: a journal outside the worktree, every file beside its place, then renamed.
//!
//! **A specifier.** [`languages::facts`] parses a file by its language's grammar and gives a
//! [`model::FileFacts`]; each [`model::Import`] has its specifier and names. [`languages::Resolver`] asks the
//! language: Node's and TypeScript's rules, or Python's roots, over the listing, never the disk. The answer is
//! a file, something external, or what was tried. [`graph::Graph`] goes on from there: closures in waves,
//! importers, a name through barrels to the file that defines it. `state` keeps facts by blob id.
//!
//! # Habits
//!
//! - The core is pure and cannot fail: reading a file's imports gives facts and problems, choosing
//!   a level is a function over values. Only [`source`], [`git`], the writing
//!   part of [`patch`], [`exec`], [`repair`] and [`cli`] touch the world. Modules that are functions over
//!   values are marked below: `clippy.toml` says what these may not call.
//! - The next step of the loop is data: [`repair::next`] gives it from what happened and what is
//!   allowed, and a table test holds it.
//! - Everything refused is a value with a [`model::Code`] that `mendit explain` explains.
//! - Parallel are the walk, the wave of a closure and the files of a patch; all return what one thread would.
//! - Repository content is data: nothing it names is run, no link in it is followed.

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

/// The text of a table of the sources as JSON, by its path below `src`.
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
        #[cfg_attr(not(test), deny(clippy::disallowed_methods))]
        mod hint;
        #[cfg_attr(not(test), deny(clippy::disallowed_methods))]
        mod junit;
        #[cfg_attr(not(test), deny(clippy::disallowed_methods))]
        mod proof;
        #[cfg_attr(not(test), deny(clippy::disallowed_methods))]
        mod rank;
        #[cfg_attr(not(test), deny(clippy::disallowed_methods))]
        mod remedies;
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
        pub use crate::patch::{After, Body, JudgeOptions, Judged, ReadOptions, judge, read};
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
        pub use crate::report::{failure_text, parse_failure_text};
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
                Stdin, Stop, Stream, Terminal, TimeLimit, run, set_supervisor, spawn_piped,
            };
        }
        pub mod graph {
            pub use crate::graph::{Graph, closure, cycles};
        }
        pub mod hint {
            pub use crate::hint::{Query, fix, suggest};
        }
    }
}
