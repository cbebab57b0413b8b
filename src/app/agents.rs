use std::path::PathBuf;
use std::sync::LazyLock;

use serde::Deserialize;

use super::{AppError, Result};
use crate::agent::Adapter;
use crate::config::Settings;
use crate::exec::on_path;
use crate::model::{AgentProtocol, Code};
use crate::repair::{Agent, AgentCommand};

/// A published agent, by the name that `--agent` takes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentPreset {
    /// Its name.
    pub name: String,
    /// What it is started with, as its makers document it for use without a person.
    pub command: String,
    /// How it is spoken to.
    pub protocol: AgentProtocol,
    /// Variables with its key, each handed on when it is set.
    pub keys: Vec<String>,
    /// How it is installed.
    pub install: String,
    /// What it takes where it is confined, and how its events are read.
    #[serde(default)]
    pub adapter: Adapter,
}

/// The preset of this name.
#[must_use]
pub fn preset(name: &str) -> Option<&'static AgentPreset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

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

/// The agent that the settings name, with what its preset says.
pub(super) struct ChosenAgent {
    pub(super) command: String,
    pub(super) protocol: AgentProtocol,
    pub(super) adapter: Option<&'static Adapter>,
    pub(super) env: Vec<String>,
}

impl ChosenAgent {
    /// As a repair calls it. `writable` is what it may write besides the workplace.
    pub(super) fn called<'a>(&'a self, writable: &'a [PathBuf]) -> Agent<'a> {
        Agent::Command(AgentCommand {
            command: &self.command,
            protocol: self.protocol,
            adapter: self.adapter,
            environment: &self.env,
            writable,
        })
    }
}

/// Resolves a name or a command line: the only place where names of agents are read.
pub(super) fn resolve_agent(command: &str, settings: &Settings) -> ChosenAgent {
    let mut env = settings.agent.env.clone();
    let Some(preset) = preset(command.trim()) else {
        return ChosenAgent {
            command: command.to_owned(),
            protocol: settings.agent.protocol,
            adapter: None,
            env,
        };
    };
    let keys = preset.keys.iter();
    let set = keys.filter(|key| std::env::var_os(key).is_some());
    env.extend(set.cloned());
    ChosenAgent {
        command: preset.command.clone(),
        protocol: preset.protocol,
        adapter: Some(&preset.adapter),
        env,
    }
}

/// Refuses an agent that is not here, before anything is run.
///
/// # Errors
/// `U310`.
pub(super) fn refuse_missing_agent(settings: &Settings) -> Result<()> {
    let line = settings.agent.command.as_deref().unwrap_or_default();
    let line = line.trim();
    if let Some(preset) = preset(line) {
        let name = &preset.name;
        if !is_installed(&preset.command) {
            let error = AppError::new(Code::U310, format!("the agent `{name}` is not installed"));
            return Err(error.hint(format!("`{}` installs it", preset.install)));
        }
        // A limit that nothing can reach holds nobody back.
        if preset.adapter.cost_usd.is_empty() && settings.limits.budget_usd.is_some() {
            let message = format!("`{name}` reports no cost, so `--budget-usd` would never end it");
            let error = AppError::usage(message);
            return Err(error.hint("limit it by `--max-attempts` and `--budget-seconds`"));
        }
        return Ok(());
    }
    // What holds more than words is a line for the shell, which finds its commands itself.
    let is_plain = |char: char| char.is_ascii_alphanumeric() || " -_.+".contains(char);
    if line.is_empty() || !line.chars().all(is_plain) || is_installed(line) {
        return Ok(());
    }
    let message = format!("the agent's command is not on the search path: `{line}`");
    let hint =
        "install it, or correct it; `mendit fix --help` names the agents that need no command";
    Err(AppError::new(Code::U310, message).hint(hint))
}

/// Agents that need no command line: their name is enough.
pub static PRESETS: LazyLock<Vec<AgentPreset>> = LazyLock::new(|| {
    let read = crate::model::read_table::<PresetFile>(embedded!("app/agents.toml"));
    read.map(|table| table.agent).unwrap_or_default()
});

#[derive(Deserialize)]
struct PresetFile {
    agent: Vec<AgentPreset>,
}

#[cfg(test)]
mod tests {
    use super::preset;

    #[test]
    fn presets_are_read() {
        assert!(preset("claude").is_some_and(|found| found.command.starts_with("claude -p \"")));
    }
}
