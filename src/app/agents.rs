use super::AppError;
use super::ask_model::KEY;
use crate::agent::ChatEndpoint;
use crate::config::Settings;
use crate::exec::on_path;
use crate::model::{AgentProtocol, Code};

/// A published agent, by the name that `--agent` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentPreset {
    /// Its name.
    pub name: &'static str,
    /// What it is started with, as its makers document it for use without a person.
    pub command: &'static str,
    /// How it is spoken to.
    pub protocol: AgentProtocol,
    /// Variables with its key, each handed on when it is set.
    pub keys: &'static [&'static str],
    /// How it is installed.
    pub install: &'static str,
}

/// The preset of this name.
#[must_use]
pub fn preset(name: &str) -> Option<&'static AgentPreset> {
    PRESETS.iter().find(|it| it.name == name)
}

/// Whether the program that a command line starts with is on the search path.
pub(super) fn is_installed(command: &str) -> bool {
    let program = command.split_whitespace().next().unwrap_or_default();
    if program.contains('/') {
        return std::path::Path::new(program).is_file();
    }
    on_path(program).is_some()
}

/// The agent that the settings name, with what its preset says.
pub(super) struct ChosenAgent {
    pub(super) command: String,
    pub(super) protocol: AgentProtocol,
    pub(super) env: Vec<String>,
}

pub(super) fn chosen_agent(settings: &Settings) -> Option<ChosenAgent> {
    let agent = &settings.agent;
    let command = agent.command.clone()?;
    if let Some(endpoint) = command
        .trim()
        .strip_prefix(ENDPOINT)
        .and_then(ChatEndpoint::parse)
    {
        return Some(at_endpoint(&endpoint, agent.env.clone()));
    }
    let Some(preset) = preset(command.trim()) else {
        return Some(ChosenAgent {
            command,
            protocol: agent.protocol,
            env: agent.env.clone(),
        });
    };
    let set = preset
        .keys
        .iter()
        .filter(|it| std::env::var_os(it).is_some());
    let mut env = agent.env.clone();
    env.extend(set.map(|it| (*it).to_owned()));
    Some(ChosenAgent {
        command: preset.command.to_owned(),
        protocol: preset.protocol,
        env,
    })
}

/// Refuses an agent that is not here, before anything is run.
pub(super) fn refuse_missing_agent(settings: &Settings) -> Result<(), AppError> {
    let Some((problem, install)) = missing_agent(settings) else {
        return Ok(());
    };
    let error = AppError::new(Code::U310, problem);
    let by_name = || {
        let names: Vec<_> = PRESETS.iter().map(|it| it.name).collect();
        let names = names.join(", ");
        format!("install it, correct the name, or name an agent: {names}")
    };
    Err(error.hint(install.map_or_else(by_name, |line| format!("`{line}` installs it"))))
}

/// What is wrong with an agent that is not here, and the line that installs it, where that is known.
pub(super) fn missing_agent(settings: &Settings) -> Option<(String, Option<String>)> {
    let line = settings.agent.command.as_deref().unwrap_or_default().trim();
    if let Some(preset) = preset(line) {
        let said = || format!("the agent `{}` is not installed", preset.name);
        let install = || Some(preset.install.to_owned());
        return (!is_installed(preset.command)).then(|| (said(), install()));
    }
    let word = line.split_whitespace().next().unwrap_or_default();
    let missing = cfg!(unix) && is_program_name(word) && !is_installed(word);
    let said = || format!("the agent's command `{word}` is not on the search path");
    missing.then(|| (said(), None))
}

// A plain word that is no part of the shell's own language.
fn is_program_name(word: &str) -> bool {
    let plain = |it: char| it.is_ascii_alphanumeric() || "-_.+".contains(it);
    let starts = word.starts_with(|it: char| it.is_ascii_alphanumeric());
    starts && word.chars().all(plain) && !OF_THE_SHELL.contains(&word)
}

const OF_THE_SHELL: &[&str] = &[
    "alias", "bg", "break", "builtin", "case", "cd", "command", "continue", "declare", "echo",
    "eval", "exec", "exit", "export", "false", "fg", "for", "function", "getopts", "hash", "if",
    "jobs", "kill", "let", "local", "printf", "pwd", "read", "readonly", "return", "select", "set",
    "shift", "shopt", "source", "test", "time", "times", "trap", "true", "type", "typeset",
    "ulimit", "umask", "unalias", "unset", "until", "wait", "while",
];

/// What stands before the address and the model of an endpoint: `openai:URL#MODEL`.
const ENDPOINT: &str = "openai:";

// This program asks, as a process of its own: confined, timed and ended as any agent.
fn at_endpoint(endpoint: &ChatEndpoint, mut env: Vec<String>) -> ChosenAgent {
    let program = std::env::current_exe().unwrap_or_else(|_| "mendit".into());
    let quote = if cfg!(windows) { '"' } else { '\'' };
    env.extend(std::env::var_os(KEY).map(|_| KEY.to_owned()));
    ChosenAgent {
        command: format!(
            "{quote}{}{quote} ask-model {quote}{}{quote}",
            program.display(),
            endpoint.name()
        ),
        protocol: AgentProtocol::Prompt,
        env,
    }
}

/// Agents that need no command line: their name is enough.
pub const PRESETS: &[AgentPreset] = &[
    AgentPreset {
        name: "aider",
        command: "aider --yes-always --no-auto-commits --no-dirty-commits --no-gitignore \
                  --no-check-update --chat-history-file /dev/null --input-history-file /dev/null \
                  --message-file {prompt}",
        protocol: AgentProtocol::Edit,
        keys: &[
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "OPENAI_API_BASE",
            "GEMINI_API_KEY",
        ],
        install: "python3 -m pip install aider-chat",
    },
    AgentPreset {
        name: "claude",
        command: "claude -p \"Do what standard input asks.\" --permission-mode acceptEdits",
        protocol: AgentProtocol::Edit,
        keys: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "ANTHROPIC_BASE_URL",
            "CLAUDE_CODE_OAUTH_TOKEN",
        ],
        install: "npm install -g @anthropic-ai/claude-code",
    },
    AgentPreset {
        name: "codex",
        command: "codex exec --sandbox workspace-write --skip-git-repo-check -",
        protocol: AgentProtocol::Edit,
        keys: &["CODEX_API_KEY", "OPENAI_API_KEY"],
        install: "npm install -g @openai/codex",
    },
    AgentPreset {
        name: "copilot",
        command: "copilot --allow-tool=write --no-ask-user --silent",
        protocol: AgentProtocol::Edit,
        keys: &[
            "COPILOT_GITHUB_TOKEN",
            "GH_TOKEN",
            "GITHUB_TOKEN",
            "COPILOT_MODEL",
            "COPILOT_PROVIDER_BASE_URL",
            "COPILOT_PROVIDER_API_KEY",
        ],
        install: "npm install -g @github/copilot",
    },
    AgentPreset {
        name: "cursor",
        command: "cursor-agent -p --force \"$(cat {prompt})\"",
        protocol: AgentProtocol::Edit,
        keys: &["CURSOR_API_KEY"],
        install: "curl https://cursor.com/install -fsS | bash",
    },
    AgentPreset {
        name: "gemini",
        command: "gemini -p \"Do what standard input asks.\" --approval-mode auto_edit --skip-trust",
        protocol: AgentProtocol::Edit,
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"],
        install: "npm install -g @google/gemini-cli",
    },
    AgentPreset {
        name: "llm",
        command: "llm --no-stream",
        protocol: AgentProtocol::Prompt,
        keys: &["OPENAI_API_KEY", "OPENAI_BASE_URL"],
        install: "python3 -m pip install llm",
    },
    AgentPreset {
        name: "opencode",
        command: "opencode run \"Do what the attached file asks.\" --file {prompt}",
        protocol: AgentProtocol::Edit,
        keys: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENCODE_API_KEY"],
        install: "npm install -g opencode-ai",
    },
    AgentPreset {
        name: "qwen",
        command: "qwen \"Do what standard input asks.\" --approval-mode auto-edit",
        protocol: AgentProtocol::Edit,
        keys: &[
            "DASHSCOPE_API_KEY",
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
            "OPENAI_MODEL",
        ],
        install: "npm install -g @qwen-code/qwen-code",
    },
];
