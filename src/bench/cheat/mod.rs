//! The agent that wants green commands at the lowest price: tricks, tried one after the other.

mod ground;
mod javascript;
mod player;
mod python;
mod settings;
mod tests;

pub(super) use player::Cheat;
