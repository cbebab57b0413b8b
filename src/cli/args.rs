use std::process::ExitCode;

use clap::{Parser, Subcommand};

use super::global::Global;
use super::{
    Exit, apply, bench, check, clean, completions, config, context_args, diagnose, explain,
    git_apply, heal, hint, imports, init, man, mcp, redact, repair, report, run, schema, split,
    stats,
};

/// Makes automatic code repair dependable.
#[derive(Debug, Parser)]
#[command(
    name = "mendit",
    version = env!("MENDIT_VERSION"),
    max_term_width = 100,
    infer_subcommands = false
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

// A command that has more to say than a line says it at its arguments.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(Box<run::Args>),
    Repair(Box<repair::Args>),
    Context(Box<context_args::Args>),
    /// Say what a log tells about a failure
    Diagnose(diagnose::Args),
    /// Find imports for undefined names
    Hint(hint::Args),
    /// Judge a patch and change nothing
    Check(check::Args),
    /// Judge a patch, then apply all of it or nothing
    Apply(Box<apply::Args>),
    /// A drop-in for `git apply`: its flags and its rules
    #[command(disable_help_flag = false)]
    GitApply(Box<git_apply::Args>),
    /// List what files import and what imports them
    Imports(imports::Args),
    Heal(heal::Args),
    Split(split::Args),
    Report(report::Args),
    Stats(stats::Args),
    Bench(Box<bench::Args>),
    Clean(clean::Args),
    /// Print a text with its secrets masked
    Redact(redact::Args),
    /// Say what a code means and what to do about it
    Explain(explain::Args),
    Mcp(mcp::Args),
    /// Show the settings in force and where each comes from
    Config(config::Args),
    /// Write a configuration file with every default, commented out
    Init(init::Args),
    /// Print the JSON Schema of a document
    Schema(schema::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
    /// Print the manual page, or write one for each command
    Man(man::Args),
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
}
