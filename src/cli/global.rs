use std::path::PathBuf;

use clap::Args;

use crate::app::settings::Color;

/// Flags that every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Work as if started in DIR
    #[arg(hide_short_help = true, short = 'C', value_name = "DIR", global = true)]
    pub(crate) directory: Option<PathBuf>,
    /// Read this configuration file instead of the nearest mendit.toml
    #[arg(
        hide_short_help = true,
        long,
        value_name = "FILE",
        global = true,
        env = "MENDIT_CONFIG"
    )]
    pub(crate) config: Option<PathBuf>,
    /// Let the repository's own configuration file run commands and loosen rules
    #[arg(hide_short_help = true, long, global = true)]
    pub(crate) trust_config: bool,
    /// When to use color [default: auto] [setting: output.color]
    #[arg(hide_short_help = true, long, value_enum, global = true)]
    pub(crate) color: Option<Color>,
    /// Print only errors
    #[arg(
        hide_short_help = true,
        short,
        long,
        global = true,
        conflicts_with = "verbose"
    )]
    pub(crate) quiet: bool,
    /// Log each step to stderr; -vv logs details, `MENDIT_LOG=git=debug,exec=info` selects modules
    #[arg(hide_short_help = true, short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Use N threads; the output does not depend on it [setting: output.threads]
    #[arg(hide_short_help = true, long, value_name = "N", global = true, value_parser = parse_threads)]
    pub(crate) threads: Option<usize>,
    /// Hide progress
    #[arg(hide_short_help = true, long, global = true)]
    pub(crate) no_progress: bool,
}

fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=1024) => Ok(threads),
        _ => Err("a number from 1 to 1024 is expected".to_owned()),
    }
}
