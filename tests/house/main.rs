//! The shape of the source: layers, sole users of crates, codes, caps, command lines in the docs.

mod budget;
mod docs;
mod sources;
mod tidy;
