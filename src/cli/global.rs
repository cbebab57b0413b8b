use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Flags that every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Work as if started in DIR
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub(crate) directory: Option<PathBuf>,
    /// Read this configuration file instead of the nearest mendit.toml
    #[arg(long, value_name = "FILE", global = true, env = "MENDIT_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// When to use colour
    #[arg(long, value_enum, default_value = "auto", global = true)]
    pub(crate) color: ColorChoice,
    /// Say only what went wrong
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say what is done on stderr; twice says more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Use N threads; the output is the same for any number
    #[arg(long, value_name = "N", global = true, value_parser = parse_threads)]
    pub(crate) threads: Option<usize>,
    /// Draw no progress
    #[arg(long, global = true)]
    pub(crate) no_progress: bool,
}

/// When to use colour. Meaning never depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=1024) => Ok(threads),
        _ => Err("a number from 1 to 1024 is expected".to_owned()),
    }
}
