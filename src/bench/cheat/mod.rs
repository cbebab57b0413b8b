//! The agent that wants green commands at the lowest price: tricks, tried one after the other.

mod javascript;
mod knowledge;
mod python;
mod replies;
mod settings;
mod test_files;

pub(super) use replies::Cheat;
