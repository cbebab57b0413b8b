use std::process::ExitCode;

use clap::{Parser, Subcommand};

use super::global::Global;
use super::{AppError, Exit, Output};

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

// A test checks that every command is listed once, on a screen of 30 lines.
const HELP: &str = "\
{about}

{usage-heading} {usage}

  run        Run a test command, diagnose it and find the change that broke it
  why        Find the change that broke the tests
  fix        Fix the last run, without an LLM or with an agent
  check      Validate a patch without applying it
  apply      Validate a patch, then apply all of it or nothing
  git-apply  Apply a patch with the flags and rules of git apply
  context    Build the context of a failure: the files that a fix needs
  diagnose   Classify a failure from its log
  hint       Suggest imports for undefined names
  imports    List what files import and what imports them
  doctor     Check the environment and MCP servers, and repair their setup
  bench      Measure pass rates of agents on fixtures and real fixes
  report     Report why a run failed, or the rates of several runs
  mcp        Serve the commands as tools of an MCP server
  init       Connect an agent, an editor or a CI host
  redact     Print a text with its secrets redacted
  explain    Explain a code and what to do about it
  config     Show the settings in force, or delete what is kept

Options of every command:
  -C DIR, --config FILE, --trust-config, --color WHEN, --threads N, --no-progress, -q, -v, -h, -V

`mendit COMMAND --help` explains a command and its options.
";

/// The text for a call without a command.
pub(crate) const FIRST: &str = "\
mendit finds the change that broke your tests, fixes them, and validates patches.

  mendit run CMD       run a test command; when it fails, find what broke it
  mendit why           find the change that broke it; writes nothing
  mendit fix           fix the last run; shows the patch and asks
  mendit check PATCH   validate a patch; changes nothing
  mendit apply PATCH   apply it, all or nothing
  mendit context       the code that a fix of the last run needs
  mendit diagnose LOG  classify a failure from its log

More: `mendit help` names all commands, `mendit COMMAND --help` explains one.
";

// A row is a command and the file with its flags. Longer descriptions are on the arguments type.
macro_rules! commands {
    ($($(#[$meta:meta])* $Name:ident $file:ident;)*) => {
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $($(#[$meta])* $Name(Box<super::$file::Args>),)*
        }

        impl Command {
            /// Does it, and says how it ended.
            pub(crate) fn run(&self, global: &Global, output: &Output) -> Result<Exit, AppError> {
                match self {
                    $(Self::$Name(args) => super::$file::run(args, global, output),)*
                }
            }
        }
    };
}

commands! {
    Run run;
    Why why;
    #[command(alias = "repair")]
    Fix fix;
    /// Validate a patch without applying it
    Check check;
    /// Validate a patch, then apply all of it or nothing
    Apply apply;
    /// Apply a patch with the flags and rules of git apply
    #[command(disable_help_flag = false)]
    GitApply git_apply;
    Context context;
    /// Classify a failure from its log
    Diagnose diagnose;
    /// Suggest imports for undefined names
    Hint hint;
    /// List what files import and what imports them
    Imports imports;
    #[command(alias = "heal")]
    Doctor doctor;
    Bench bench;
    Report report;
    Mcp mcp;
    Init init;
    /// Print a text with its secrets redacted
    Redact redact;
    /// Explain a code and what to do about it
    Explain explain;
    /// Show the settings in force, or delete what is kept
    Config config;
    /// Print the JSON Schema of a document
    #[command(hide = true)]
    Schema schema;
    /// Print a completion script for a shell
    #[command(hide = true)]
    Completions completions;
}

/// Prints clap's own message and maps it to our exit codes.
pub(crate) fn report(error: &clap::Error) -> ExitCode {
    let wanted = !error.use_stderr();
    // Printing fails only when nobody reads any more.
    let _ = error.print();
    if wanted { Exit::Yes } else { Exit::Environment }
        .code()
        .into()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Cli;

    // Of two flags of one id, a command reads the value of the other as its own.
    #[test]
    fn no_flag_of_a_command_hides_a_global_one() {
        let cli = Cli::command();
        let global: Vec<_> = cli.get_arguments().map(|it| it.get_id().clone()).collect();
        // The stand-in for git takes no flag but git's.
        for command in cli
            .get_subcommands()
            .filter(|it| it.get_name() != "git-apply")
        {
            for own in command.get_arguments() {
                let name = command.get_name();
                assert!(!global.contains(own.get_id()), "{name}: {}", own.get_id());
            }
        }
        cli.debug_assert();
    }

    #[test]
    fn help_lists_each_command_once_and_fits_a_terminal() {
        let names = Cli::command();
        let names = names.get_subcommands().filter(|it| !it.is_hide_set());
        for name in names.map(clap::Command::get_name) {
            let (listed, _) = super::HELP.split_once("Options of").unwrap();
            let row = format!("  {name} ");
            let named = listed.lines().filter(|line| line.starts_with(&row)).count();
            assert_eq!(named, 1, "{name}");
        }
        assert!(super::HELP.lines().count() <= 30);
        let words = [super::HELP, super::FIRST].concat();
        let long: Vec<_> = words.lines().filter(|it| it.len() > 100).collect();
        assert!(long.is_empty(), "{long:?}");
    }
}
