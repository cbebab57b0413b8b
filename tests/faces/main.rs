//! One task behind every door: command line, MCP, CI, settings, documents.

#![recursion_limit = "256"]

mod ci;
mod contract;
mod doors;
mod installing;
mod log;
mod mcp;
mod remedies;
mod schemas;
mod settings;
mod setup;
#[path = "../support/mod.rs"]
mod support;
