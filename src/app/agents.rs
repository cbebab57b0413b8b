//! Turns the value of `--agent` into a command: a known name, or any command line.

use super::{AppError, Result};
use crate::agent::{PRESETS, preset};
use crate::config::Settings;
use crate::exec::on_path;
use crate::model::Code;
use crate::repair::AgentCommand;

/// Whether the program that a command line starts with is on the search path.
pub(super) fn is_installed(command: &str) -> bool {
    let program = command.split_whitespace().next().unwrap_or_default();
    let is_path = program.contains('/');
    is_path && std::path::Path::new(program).is_file() || on_path(program).is_some()
}

/// The first published agent that is installed here.
pub(super) fn installed_agent() -> Option<&'static str> {
    let mut presets = PRESETS.iter();
    let found = presets.find(|preset| is_installed(&preset.command))?;
    Some(&found.name)
}

/// Resolves a name or a command line: the only place where names of agents are read.
pub(super) fn resolve_agent(command: &str, settings: &Settings) -> AgentCommand {
    let own = &settings.agent;
    let mut agent = AgentCommand {
        command: command.to_owned(),
        protocol: own.protocol,
        adapter: None,
        environment: own.env.clone(),
        writable: own.write.clone(),
    };
    if let Some(preset) = preset(command.trim()) {
        agent.command.clone_from(&preset.command);
        agent.protocol = preset.protocol;
        agent.adapter = Some(&preset.adapter);
        let set = preset.keys.iter().filter(|key| std::env::var_os(key).is_some());
        agent.environment.extend(set.cloned());
    }
    agent
}

/// Refuses an agent that is not here, before anything is run.
///
/// # Errors
/// `U310`.
pub(super) fn refuse_missing_agent(settings: &Settings) -> Result<()> {
    let line = settings.agent.command.as_deref().unwrap_or_default().trim();
    if let Some(preset) = preset(line) {
        let name = &preset.name;
        if !is_installed(&preset.command) {
            let error = AppError::new(Code::U310, format!("the agent `{name}` is not installed"));
            return Err(error.hint(format!("`{}` installs it", preset.install)));
        }
        // Refused, because a limit that nothing can reach would only seem to protect.
        if preset.adapter.cost_usd.is_empty() && settings.limits.budget_usd.is_some() {
            let message = format!("`{name}` reports no cost, so `--budget-usd` cannot limit it");
            let error = AppError::usage(message);
            return Err(error.hint("limit it with `--max-attempts` and `--budget-seconds`"));
        }
        return Ok(());
    }
    // A line with other characters is for the shell, which finds its commands itself.
    let is_plain = line.chars().all(|char| char.is_ascii_alphanumeric() || " -_.+".contains(char));
    if line.is_empty() || !is_plain || is_installed(line) {
        return Ok(());
    }
    let message = format!("the agent's command is not on the search path: `{line}`");
    let hint = "install it, or correct the command; `mendit fix --help` lists the built-in agents";
    Err(AppError::new(Code::U310, message).hint(hint))
}

#[cfg(test)]
mod tests {
    use super::preset;

    #[test]
    fn presets_are_read() {
        assert!(preset("claude").is_some_and(|found| found.command.starts_with("claude -p \"")));
    }
}
