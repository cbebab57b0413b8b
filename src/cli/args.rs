use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use super::global::Global;
use super::mistakes::advice;
use super::{AppError, Exit, Output};

/// Makes a failing test pass, and shows what it did and why.
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

// What most people need stands first; a test holds that every command is named, on a screen of 30 lines.
const HELP: &str = "\
{about}

{usage-heading} {usage}

  run        Run a test command; say what broke, where, and what to type next
  why        Say which change made it fail, by taking it back and trying
  fix        Mend what the last run failed with
  check      Judge a patch and change nothing
  apply      Judge a patch, then apply all of it or nothing
  context    Build the context for an agent: the files that a repair needs
  diagnose   Say what a log tells about a failure

More commands:
  failures   hint, imports, explain, report
  repairs    repair, split, git-apply, redact
  set-up     doctor, init, agent, hook, mcp, ci, fix-ci
  figures    bench, stats
  own files  config, clean, schema, completions, man

Options of every command:
  -C DIR, --config FILE, --trust-config, --color WHEN, --threads N, --no-progress, -q, -v, -h, -V

`mendit COMMAND --help` says more about a command and its options.
";

/// What stands there when no command is named.
pub(crate) const FIRST: &str = "\
mendit makes a failing test pass, and shows what it did and why.

  mendit run CMD       run a test command; when it fails, say what broke and where
  mendit why           say which change made it fail; nothing is written
  mendit fix           mend what the last run failed with; the change is shown first
  mendit check PATCH   say whether a patch applies, and if not why; changes nothing
  mendit apply PATCH   write it, all or nothing
  mendit context       the code that a repair of the last run needs
  mendit diagnose LOG  say what a log tells about a failure

More: `mendit help` names all commands, `mendit COMMAND --help` explains one.
";

// A row: a command, where its flags and what it does stand. One that has more to say than a line says it at
// its arguments.
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
    Fix fix;
    Repair repair;
    Context context;
    /// Say what a log tells about a failure
    Diagnose diagnose;
    /// Find imports for undefined names
    Hint hint;
    /// Judge a patch and change nothing
    Check check;
    /// Judge a patch, then apply all of it or nothing
    Apply apply;
    /// A drop-in for `git apply`: its flags and its rules
    #[command(disable_help_flag = false)]
    GitApply git_apply;
    /// List what files import and what imports them
    Imports imports;
    #[command(name = "doctor", visible_alias = "heal")]
    Doctor heal;
    Split split;
    Report report;
    Stats stats;
    Bench bench;
    Clean clean;
    /// Print a text with its secrets masked
    Redact redact;
    /// Say what a code means and what to do about it
    Explain explain;
    Mcp mcp;
    /// Show the settings in force and where each comes from
    Config config;
    Init init;
    Agent agent;
    Hook hook;
    Ci ci;
    FixCi fix_ci;
    /// Print the JSON Schema of a document
    Schema schema;
    /// Print a completion script for a shell
    Completions completions;
    /// Print the manual page, or write one for each command
    Man man;
}

/// Prints clap's own message and maps it to our exit codes.
pub(crate) fn report(error: &clap::Error) -> ExitCode {
    let wanted = !error.use_stderr();
    // Printing fails only when nobody reads any more.
    let _ = match advice(error) {
        Some(advice) => std::io::stderr().lock().write_all(advice.as_bytes()),
        None => error.print(),
    };
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
            let listed = super::HELP.split("Options of").next().unwrap_or_default();
            let (first, more) = listed.split_once("More commands:").unwrap();
            let first = first
                .lines()
                .filter(|row| row.trim_start().starts_with(&format!("{name} ")));
            let more = more
                .lines()
                .flat_map(|row| row.split(',').flat_map(|it| it.split("  ")));
            let named = first.count() + more.filter(|it| it.trim() == name).count();
            assert_eq!(named, 1, "{name}");
        }
        assert!(super::HELP.lines().count() <= 30);
        let words = [super::HELP, super::FIRST].concat();
        let long: Vec<_> = words.lines().filter(|it| it.len() > 100).collect();
        assert!(long.is_empty(), "{long:?}");
    }
}
