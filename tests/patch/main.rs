//! Patches: what is placed, what is refused, and agreement with the git binary.

mod apply;
mod git_apply;
mod judge;
mod round_trip;
mod support;
