use super::global::Global;
use super::{AppError, Exit, Output};
#[cfg(feature = "mcp")]
use super::{choice, open};

/// Serve the commands as tools of an MCP server, on standard input and output.
///
/// Tools: `diagnose`, `build_context`, `find_import`, `imports`, `check_patch`, with --allow-write `apply_patch`,
/// with --run or --run-last `run_tests`, `find_cause` and `fix_tests`.
/// It works in the directory it was started in, or in a root of the client below it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Offer the tool that applies patches to the worktree
    #[arg(long)]
    allow_write: bool,
    /// Offer `run_tests`, `find_cause` and `fix_tests` for this command; repeatable
    #[arg(long, value_name = "CMD")]
    run: Vec<String>,
    /// Offer them for the command of the last `mendit run` here
    #[arg(long)]
    run_last: bool,
    /// Let patches change protected files that match; repeatable
    #[arg(long, value_name = "GLOB")]
    allow_protected: Vec<String>,
}

#[cfg(not(feature = "mcp"))]
pub(crate) fn run(_: &Args, _: &Global, _: &Output) -> Result<Exit, AppError> {
    Err(AppError::not_built("mcp"))
}

#[cfg(feature = "mcp")]
pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    use std::io::IsTerminal as _;

    use crate::mcp::{Server, ServerOptions, serve_stdio};
    use crate::model::Code;

    // Report wrong settings now, not at the first call.
    let app = open(global, &())?;
    let server = Server::new(ServerOptions {
        directory: app.directory().to_owned(),
        named: global.directory.is_some(),
        settings: choice(global),
        allow_write: args.allow_write,
        commands: args.run.clone(),
        last: args.run_last,
        allow_protected: args.allow_protected.clone(),
        threads: global.threads,
    });
    if std::io::stdin().is_terminal() {
        output.note("an MCP client is expected on standard input; Ctrl-C ends this");
    }
    serve_stdio(server).map_err(|error| {
        AppError::new(Code::U305, format!("the server stopped: {error}")).hint(
            "an MCP client starts it and speaks first; docs/agents.md shows its configuration",
        )
    })?;
    Ok(Exit::Yes)
}
