//! Patches and policy: what is placed, what is refused, and agreement with the git binary.

mod guards;
mod learned;
mod patch;
mod policy;
#[path = "../support/mod.rs"]
mod support;
