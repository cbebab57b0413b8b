//! Commands inside limits: nothing survives them, nothing leaks into them, nothing floods us.
#![cfg(target_os = "linux")]

mod limits;
mod orphans;
mod packet;
mod sandbox;
mod taken_away;
mod walls;
mod world;
