//! What is read: logs, imports, names, and the packets made of them.

mod context;
mod diagnose;
mod diagnose_logs;
mod hint;
mod imports;
#[path = "../support/mod.rs"]
mod support;
