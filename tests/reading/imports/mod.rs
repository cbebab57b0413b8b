//! `mendit imports`.

mod cli;
