use super::global::Global;
use super::{AppError, Exit, Output};
#[cfg(feature = "mcp")]
use super::{choice, open};

/// Serve the commands as tools of an MCP server, on standard input and output.
///
/// Tools: `diagnose`, `build_context`, `find_import`, `imports`, `check_patch`, `redact`, `explain`,
/// with --allow-write `apply_patch`, with --run or --run-last `run_tests`, `find_cause` and `fix_tests`.
/// A prompt, `fix-tests`.
/// Resources: the schemas of the documents and the files of the last run.
/// It works in the directory it was started in, or in a root of the client below it. Over HTTP a
/// caller needs the token that is printed, or that of the variable `MENDIT_MCP_TOKEN`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Serve streamable HTTP at http://127.0.0.1:PORT/mcp instead; 0 takes a free port
    #[arg(long, value_name = "PORT")]
    http: Option<u16>,
    /// Let web pages of this origin call it, such as `http://localhost:6274`; can be given again
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    allow_origin: Vec<String>,
    /// Offer the tool that applies patches to the worktree
    #[arg(long)]
    allow_write: bool,
    /// Offer `run_tests`, `find_cause` and `fix_tests` for this command; can be given again
    #[arg(long, value_name = "CMD")]
    run: Vec<String>,
    /// Offer them for the command of the last `mendit run` here
    #[arg(long)]
    run_last: bool,
    /// Let patches change protected files that match; can be given again
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

    // Wrong settings are told now, not at the first call.
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
    let served = match args.http {
        None => {
            if std::io::stdin().is_terminal() {
                output.note("an MCP client is expected on standard input; Ctrl-C ends this");
            }
            serve_stdio(server)
        }
        #[cfg(feature = "http")]
        Some(port) => over_http(args, port, &server, output)?,
        #[cfg(not(feature = "http"))]
        Some(_) => return Err(AppError::not_built("http")),
    };
    served.map_err(|error| {
        AppError::new(Code::U305, format!("the server stopped: {error}")).hint(
            if args.http.is_some() {
                "`--http 0` takes a free port"
            } else {
                "an MCP client starts it and speaks first; docs/mcp.md shows how to name it there"
            },
        )
    })?;
    Ok(Exit::Yes)
}

#[cfg(feature = "http")]
fn over_http(
    args: &Args,
    port: u16,
    server: &crate::mcp::Server,
    output: &Output,
) -> Result<std::io::Result<()>, AppError> {
    use crate::app::Stop;
    use crate::mcp::{HttpOptions, new_token, serve_http};

    let stop = Stop::install()
        .map_err(|error| AppError::environment(format!("cannot listen to Ctrl-C: {error}")))?;
    let token = match std::env::var("MENDIT_MCP_TOKEN") {
        Ok(token) if !token.is_empty() => token,
        _ => new_token()
            .map_err(|error| AppError::environment(format!("no token can be made: {error}")))?,
    };
    let shown = token.clone();
    let options = HttpOptions {
        port,
        token,
        allow_origins: args.allow_origin.clone(),
        stop: &stop,
    };
    Ok(serve_http(server, &options, |address| {
        let message = format!("listening on http://{address}/mcp\nauthorization: Bearer {shown}\n");
        output.raw_error(message.as_bytes());
    }))
}
