//! mendit makes automatic code repair dependable: it diagnoses a failing log, packs the files that
//! a repair needs under hard caps, and judges and applies the patches that come back.
//!
//! # The house
//!
//! Data flows one way: from the bytes of a repository to a packet, from a reply to a judged patch.
//! A module imports only from floors below it; `tests/tidy.rs` holds this.
//!
//! | floor | module | what |
//! |---|---|---|
//! | 0 | [`model`] | the nouns that cross a border: paths, ids, levels, packets, codes |
//! | 1 | [`config`] | settings, each with its origin |
//! | 1 | [`junit`] | reports of tests, as the runners of many languages write them |
//! | 1 | [`source`] | where bytes come from: worktree, memory, edits on top |
//! | 1 | [`exec`] | a child process inside limits |
//! | 1 | [`report`] | values of the model as text |
//! | 1 | [`state`] | what is kept between runs, out of reach of what is run |
//! | 2 | [`git`] | the only user of gix: repositories, trees, the index |
//! | 2 | [`languages`] | the only user of tree-sitter: what a language is, a folder for each; bytes to facts about a file, specifier and importer to file |
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
//! | 7 | [`repair`] | the loop: what to do next as data, and doing it in a copy |
//! | 8 | [`mod@bench`] | broken repositories with a known repair, and how often the loop repairs them |
//! | 9 | [`app`] | one task for each command, from a request to a document |
//! | 10 | `mcp` | the tasks as tools of an MCP server |
//! | 11 | [`cli`] | the tasks as commands: the only user of clap and of standard output |
//!
//! # Habits
//!
//! - Rules that comments cite, such as R45 or conflict 8, stand in `docs/design`.
//! - The core is pure and cannot fail: reading a file's imports gives facts and problems, choosing
//!   a level is a function over values. Only [`source`], [`git`], the writing
//!   part of [`patch`], [`exec`], [`repair`] and [`cli`] touch the world. Modules that are functions over
//!   values are marked below: `clippy.toml` says what these may not call.
//! - The next step of the loop is data: [`repair::next`] gives it from what happened and what is
//!   allowed, and a table test holds it.
//! - Everything refused is a value with a [`model::Code`] that `mendit explain` explains.
//! - Parallel in two places, the walk and the wave of a closure; both return sorted.
//! - Repository content is data: nothing it names is run, no link in it is followed.

#[cfg_attr(not(test), deny(clippy::disallowed_methods))]
pub mod languages;
#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg_attr(not(test), deny(clippy::disallowed_methods))]
pub mod model;
pub mod patch;
#[cfg_attr(not(test), deny(clippy::disallowed_methods))]
pub mod policy;
#[cfg_attr(not(test), deny(clippy::disallowed_methods))]
pub mod report;
pub mod source;

cfg_if::cfg_if! {
    if #[cfg(feature = "program")] {
        pub mod agent;
        pub mod app;
        pub mod bench;
        pub mod cli;
        pub mod config;
        #[cfg_attr(not(test), deny(clippy::disallowed_methods))]
        pub mod context;
        #[cfg_attr(not(test), deny(clippy::disallowed_methods))]
        pub mod diagnose;
        pub mod exec;
        pub mod git;
        pub mod graph;
        pub mod heal;
        #[cfg_attr(not(test), deny(clippy::disallowed_methods))]
        pub mod hint;
        #[cfg_attr(not(test), deny(clippy::disallowed_methods))]
        pub mod junit;
        #[cfg_attr(not(test), deny(clippy::disallowed_methods))]
        pub mod proof;
        #[cfg_attr(not(test), deny(clippy::disallowed_methods))]
        pub mod rank;
        pub mod repair;
        pub mod state;
        pub mod workplace;
        pub mod workspace;
    }
}

pub use patch::Judge;
