//! What a command line runs: its files, and those that scripts, rules and other files name in turn.

mod files;
mod packages;
mod programs;
mod recipes;
mod shell;
mod walk;

pub use files::CommandFiles;
