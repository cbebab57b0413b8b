//! mendit
pub mod cli;
pub mod config;
pub mod diagnose;
pub mod git;
pub mod graph;
pub mod lang;
pub mod model;
pub mod policy;
pub mod resolve;
pub mod source;
