//! Commands inside limits: nothing survives them, nothing leaks into them, nothing floods us.
#![cfg(target_os = "linux")]

#[path = "../support/mod.rs"]
mod support;

mod limits;
mod orphans;
mod packet;
mod sandbox;
mod world;
