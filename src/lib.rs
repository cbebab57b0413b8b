//! mendit
pub mod cli;
pub mod config;
pub mod git;
pub mod model;
pub mod policy;
pub mod source;
