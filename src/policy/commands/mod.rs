//! Reads which files and programs a command line names.

mod files;
mod shell;

pub use files::CommandFiles;
