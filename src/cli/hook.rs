use super::global::Global;
use super::{AppError, Exit, Output, open};
use crate::app::{Input, answer_hook, awaited};

/// Answer a coding agent after it ran a command
///
/// The agent starts it as its hook and writes what happened to standard input, as Claude Code, Codex,
/// Gemini CLI and Cursor do after a tool was used, and the plugin for opencode does. When a test
/// command failed, the answer says what broke, where, and the code there, in less than 1,000 tokens; it
/// stands in the place of a longer log, and one line in that of a pass, where the agent lets it. The log
/// is kept as the last run. Everything else gets no answer.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "`mendit init AGENT` sets it up.\n\nExit codes: 0 always, so that no hook \
                        stops an agent"
)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    awaited("what a hook hands over", output);
    let payload = Input::standard().json().ok();
    let answer = payload.and_then(|payload| {
        let app = open(global, &()).ok()?;
        answer_hook(&app, &payload).ok()?
    });
    if let Some(answer) = answer {
        output.json(&answer)?;
    }
    Ok(Exit::Yes)
}
