//! The commands `doctor`, `init`, `config` and `mcp`.

use super::args::{Form, Global, plain_forms};
use super::{AppError, Exit, Output, open_app};
use crate::app::{
    CleanRequest, HealRequest, InitRequest, KeptRow, SettingRow, check_up, clean, heal_probes,
    init_names, init_target, show_settings,
};
use crate::report::{diff_text, healing_text, table};

/// Check tools, packages, the sandbox and agents; start MCP servers and repair their configuration
///
/// Without `--test` and `--mcp`, doctor runs nothing of the repository and prints the command that fixes each problem.
/// With them, it starts the test command, or each MCP server of the file; when one does not respond, it diagnoses the
/// failure, changes a copy of the configuration and retries. Commands that appear only in a log are never run or
/// installed.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/doctor.txt").trim_ascii_end())]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    request: HealRequest,
    /// Output format
    #[arg(long, value_parser = plain_forms(), default_value = "text")]
    format: Form,
}

impl DoctorArgs {
    pub(crate) fn run(&self, global: &Global, output: &Output) -> Result<Exit, AppError> {
        let request = &self.request;
        let app = open_app(global, request, output)?;
        let (result, exit) = if request.test.is_none() && request.mcp.is_none() {
            let result = check_up(&app)?;
            let exit = [Exit::PersonMustAct, Exit::Yes][usize::from(result.fixed)];
            (result, exit)
        } else {
            heal_probes(&app, request)?
        };
        output.print_document(self.format, &result, |_, color| {
            healing_text(&result, color)
        })?;
        Ok(exit)
    }
}

/// Connect an agent, an editor or a CI host to mendit
///
/// Writes the files that the named tool reads: how to run tests through mendit, a command, the MCP server, or a
/// workflow. An existing text file gets a marked block; other existing files are left unchanged and listed. Without a
/// name, the supported names are listed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mendit init claude                     skill, command and MCP server of Claude Code
  mendit init codex --dry-run            show the changes and write nothing
  mendit init github --test 'npm test'   a workflow that reports failed runs
  mendit init claude --remove            remove the same files and entries

Exit codes: 0 done · 2 it could not be written · 4 a file was left unchanged")]
pub(crate) struct InitArgs {
    #[command(flatten)]
    request: InitRequest,
}

impl InitArgs {
    pub(crate) fn run(&self, global: &Global, output: &Output) -> Result<Exit, AppError> {
        let request = &self.request;
        if request.name.is_none() {
            output.print_text(&format!("{}\n", init_names().join("\n")))?;
            return Ok(Exit::Yes);
        }
        let files = init_target(&open_app(global, &(), output)?, request)?;
        let mut exit = Exit::Yes;
        let mut rows = Vec::new();
        for file in &files {
            if request.dry_run && !file.diff.is_empty() {
                output.print_painted(|color| diff_text(&file.diff, color))?;
            }
            let outcome = match file.left {
                Some(why) => {
                    exit = Exit::PersonMustAct;
                    format!("left unchanged: {why}")
                }
                None if file.diff.is_empty() => "unchanged".to_owned(),
                None if request.remove => "removed".to_owned(),
                None => "written".to_owned(),
            };
            rows.push([file.path.clone(), outcome]);
        }
        if !request.dry_run || exit != Exit::Yes {
            output.print_text(&table(&rows))?;
        }
        Ok(exit)
    }
}

/// Show the effective settings, or delete stored data
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    action: Option<ConfigAction>,
    /// Output format
    #[arg(long, value_parser = plain_forms(), default_value = "text", global = true)]
    format: Form,
}

#[derive(Debug, Clone, Copy, clap::Subcommand)]
enum ConfigAction {
    /// Print each setting, its value and its origin
    Show,
    /// List the data stored between runs, and delete it
    ///
    /// Runs, journals, isolated copies and caches are kept outside the repository, by worktree. Nothing is
    /// deleted while a fix uses it. Without a flag, nothing is deleted.
    Clean(CleanRequest),
}

impl ConfigArgs {
    pub(crate) fn run(&self, global: &Global, output: &Output) -> Result<Exit, AppError> {
        let app = open_app(global, &(), output)?;
        match self.action.unwrap_or(ConfigAction::Show) {
            ConfigAction::Show => {
                let rows = show_settings(&app);
                output.print_document(self.format, &rows, |_, _| {
                    rows.iter().map(setting_text).collect()
                })?;
            }
            ConfigAction::Clean(what) => {
                let kept = clean(&app, what)?;
                output.print_document(self.format, &kept, |_, _| kept_text(&kept))?;
            }
        }
        Ok(Exit::Yes)
    }
}

fn setting_text(row: &SettingRow) -> String {
    let value = row.value.as_ref().and_then(|value| serde_json::to_string(value).ok());
    let value = value.as_deref().unwrap_or("(unset)");
    format!("{} = {value}  # {}\n", row.key, row.origin)
}

fn kept_text(kept: &[KeptRow]) -> String {
    if kept.is_empty() {
        return "nothing is stored\n".to_owned();
    }
    let rows = kept.iter().map(|row| {
        let state = match (row.removed, row.there) {
            (true, _) => "  removed",
            (_, false) => "  gone",
            _ => "",
        };
        [
            format!("{} MB", row.bytes / 1_000_000),
            format!("{}{state}", row.root),
        ]
    });
    let rows: Vec<_> = rows.collect();
    table(&rows)
}

/// Serve the commands as tools of an MCP server, on standard input and output
///
/// Tools: `diagnose`, `build_context`, `find_import`, `imports`, `check_patch`, with --allow-write `apply_patch`,
/// with --run or --run-last `run_tests`, `find_cause` and `fix_tests`.
/// It works in the directory it was started in.
#[derive(Debug, clap::Args)]
pub(crate) struct McpArgs {
    /// Offer the tool that applies patches to the worktree
    #[arg(long)]
    allow_write: bool,
    /// Offer `run_tests`, `find_cause` and `fix_tests` for this command; repeatable
    #[arg(long, value_name = "CMD")]
    run: Vec<String>,
    /// Offer them for the command of the last `mendit run` here
    #[arg(long)]
    run_last: bool,
    /// Allow changes to protected files that match; repeatable
    #[arg(long, value_name = "GLOB")]
    allow_protected: Vec<String>,
}

impl McpArgs {
    #[cfg(not(feature = "mcp"))]
    pub(crate) fn run(&self, _: &Global, _: &Output) -> Result<Exit, AppError> {
        let error = AppError::new(crate::model::Code::R303, "this build has no MCP server");
        Err(error.hint("install a build with the feature `mcp`"))
    }

    #[cfg(feature = "mcp")]
    pub(crate) fn run(&self, global: &Global, output: &Output) -> Result<Exit, AppError> {
        use std::io::IsTerminal as _;

        use crate::mcp::{Server, ServerOptions, serve_stdio};
        use crate::model::Code;

        // Opened now, so that wrong settings are reported before the first call.
        let app = open_app(global, &(), output)?;
        let server = Server::new(ServerOptions {
            directory: app.directory().to_owned(),
            settings: global.settings_choice(),
            allow_write: self.allow_write,
            commands: self.run.clone(),
            last: self.run_last,
            allow_protected: self.allow_protected.clone(),
            threads: global.threads,
        });
        if std::io::stdin().is_terminal() {
            output.note("waiting for an MCP client on standard input; stop with Ctrl-C");
        }
        serve_stdio(server).map_err(|error| {
            AppError::new(Code::U305, format!("the server stopped: {error}")).hint(
                "an MCP client starts this server and sends the first message; see docs/agents.md",
            )
        })?;
        Ok(Exit::Yes)
    }
}
