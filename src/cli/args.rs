//! The command line: commands, global flags and the grouped help.

use std::io::{self, Write as _};
use std::num::NonZeroU16;
use std::ops::Deref;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue};
use clap::{ArgMatches, CommandFactory as _, FromArgMatches, Parser, Subcommand, ValueEnum};

use super::{AppError, Exit, Output};
use super::{analyze, bench, fix, git_apply, patch, reference, report, run, setup};
use crate::app::settings::Color;
use crate::app::{SettingsChoice, word};

/// Finds the change that broke your tests, fixes them, and validates patches.
#[derive(Debug, Parser)]
#[command(
    name = "mendit",
    version = env!("MENDIT_VERSION"),
    max_term_width = 100,
    infer_subcommands = false,
    help_template = HELP
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

// Written by hand, so that it fits a screen of 30 lines; a test checks that every command is listed once.
const HELP: &str = include_str!("help/all.txt");

/// The text for a call without a command.
pub(crate) const FIRST: &str = include_str!("help/first.txt");

// A row is a command and its flags, whose comment is the description.
macro_rules! commands {
    ($($(#[$meta:meta])* $Name:ident $Args:ty;)*) => {
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $($(#[$meta])* $Name($Args),)*
        }

        impl Command {
            /// Does it, and says how it ended.
            pub(crate) fn run(&self, global: &Global, output: &Output) -> Result<Exit, AppError> {
                match self {
                    $(Self::$Name(args) => args.run(global, output),)*
                }
            }
        }
    };
}

/// The flags of a command, built only for the command in use: building all took half of the start-up time. Those of
/// `git-apply` are excluded, because they hide global ones.
#[derive(Debug)]
pub(crate) struct Late<A>(Box<A>);

impl<A> Deref for Late<A> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.0
    }
}

impl<A: FromArgMatches> FromArgMatches for Late<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        A::from_arg_matches(matches).map(|args| Self(Box::new(args)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<A: clap::Args> clap::Args for Late<A> {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.defer(add_flags::<A>)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

// Global flags are there already, and are moved to the end.
fn add_flags<A: clap::Args>(command: clap::Command) -> clap::Command {
    let global: Vec<_> = command.get_arguments().map(|flag| flag.get_id().clone()).collect();
    let command = A::augment_args(command);
    global.into_iter().fold(command, |command, id| command.mut_arg(id, |flag| flag))
}

commands! {
    Run Late<run::RunArgs>;
    Why Late<analyze::WhyArgs>;
    #[command(alias = "repair")]
    Fix Late<fix::FixArgs>;
    Check Late<patch::CheckArgs>;
    Apply Late<patch::ApplyArgs>;
    /// Apply a patch with the flags and rules of git apply
    #[command(disable_help_flag = false)]
    GitApply Box<git_apply::Args>;
    Context Late<analyze::ContextArgs>;
    Diagnose Late<analyze::DiagnoseArgs>;
    Hint Late<analyze::HintArgs>;
    Imports Late<analyze::ImportsArgs>;
    #[command(alias = "heal")]
    Doctor Late<setup::DoctorArgs>;
    Bench Late<bench::BenchArgs>;
    Report Late<report::ReportArgs>;
    Mcp Late<setup::McpArgs>;
    Init Late<setup::InitArgs>;
    Redact Late<reference::RedactArgs>;
    Explain Late<reference::ExplainArgs>;
    Config Late<setup::ConfigArgs>;
    #[command(hide = true)]
    Schema Late<reference::SchemaArgs>;
    #[command(hide = true)]
    Completions Late<reference::CompletionsArgs>;
}

/// Flags that every command takes.
#[derive(Debug, clap::Args)]
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
    #[arg(hide_short_help = true, long, value_name = "auto|always|never", value_parser = word::<Color>, global = true)]
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
    /// Log each step to stderr; -vv logs details
    #[arg(hide_short_help = true, short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Use N threads; the output does not depend on it [setting: output.threads]
    #[arg(hide_short_help = true, long, value_name = "N", global = true)]
    pub(crate) threads: Option<NonZeroU16>,
    /// Hide progress
    #[arg(hide_short_help = true, long, global = true)]
    pub(crate) no_progress: bool,
}

impl Global {
    /// What the flags say of the settings' file.
    pub(crate) fn settings_choice(&self) -> SettingsChoice {
        SettingsChoice {
            file: self.config.clone(),
            trust: self.trust_config,
        }
    }
}

/// How a document is printed: for people, for programs, for a comment or an agent, as workflow commands of GitHub
/// Actions, for code scanning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    Text,
    Json,
    Markdown,
    Github,
    Sarif,
}

/// The forms of every document.
pub(super) fn plain_forms() -> impl TypedValueParser<Value = Form> {
    form_parser(&["text", "json"])
}

/// The output forms of commands whose result may also be posted as a comment.
pub(super) fn comment_forms() -> impl TypedValueParser<Value = Form> {
    form_parser(&["text", "json", "markdown"])
}

/// The forms of what has places in files.
pub(super) fn place_forms() -> impl TypedValueParser<Value = Form> {
    form_parser(&["text", "json", "github", "sarif"])
}

fn form_parser(words: &'static [&'static str]) -> impl TypedValueParser<Value = Form> {
    PossibleValuesParser::new(words).map(|word| Form::from_str(&word, false).unwrap_or(Form::Text))
}

/// Prints clap's own message and maps it to our exit codes.
pub(crate) fn report_usage(error: &clap::Error) -> ExitCode {
    let wanted = !error.use_stderr();
    // Printing fails only when nobody reads any more.
    let _ = error.print();
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && error.get(ContextKind::SuggestedSubcommand).is_none()
        && let Some(name) = nearest_command(word)
    {
        let _ = writeln!(io::stderr(), "\nDid you mean `mendit {name}`?");
    }
    if wanted { Exit::Yes } else { Exit::Environment }.code().into()
}

// The command that a mistyped one resembles.
fn nearest_command(word: &str) -> Option<String> {
    let cli = Cli::command();
    let names = cli.get_subcommands().map(clap::Command::get_name);
    let nearest = names.min_by_key(|name| strsim::osa_distance(word, name))?;
    (strsim::osa_distance(word, nearest) <= 2).then(|| nearest.to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Cli;

    // When two flags share an id, a command reads the value of the other as its own; clap says so.
    #[test]
    fn no_flag_of_a_command_hides_a_global_one() {
        Cli::command().debug_assert();
    }

    #[test]
    fn help_lists_each_command_once_and_fits_a_terminal() {
        let names = Cli::command();
        let names = names.get_subcommands().filter(|command| !command.is_hide_set());
        for name in names.map(clap::Command::get_name) {
            let (listed, _) = super::HELP.split_once("Options of").unwrap();
            let row = format!("  {name} ");
            let named = listed.lines().filter(|line| line.starts_with(&row)).count();
            assert_eq!(named, 1, "{name}");
        }
        assert!(super::HELP.lines().count() <= 30);
        let words = [super::HELP, super::FIRST].concat();
        let long: Vec<_> = words.lines().filter(|line| line.len() > 100).collect();
        assert!(long.is_empty(), "{long:?}");
    }
}
