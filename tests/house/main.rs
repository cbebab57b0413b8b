//! The house itself: its shape, its pages, its examples, what is released.

mod budget;
mod docs;
mod examples;
mod release;
mod sources;
#[path = "../support/mod.rs"]
mod support;
mod tidy;
