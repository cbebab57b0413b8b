use super::Probe;

/// A change that may make a probe answer (R34).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// What it does, or what a person shall do, in one sentence.
    pub description: String,
    /// The changed probe; `None` when nothing can be changed without a person.
    pub new_config: Option<Probe>,
    /// A command that a person may want to run. Never run by this program.
    pub install_command: Option<String>,
    /// The variable that is missing.
    pub env_var_hint: Option<String>,
    /// Whether only a person can do it. Such a fix is never applied (R38).
    pub requires_user_action: bool,
}

impl Fix {
    /// A changed configuration to try.
    pub(super) fn change(description: impl Into<String>, probe: Probe) -> Self {
        Self {
            description: description.into(),
            new_config: Some(probe),
            install_command: None,
            env_var_hint: None,
            requires_user_action: false,
        }
    }

    /// Something that only a person can do.
    pub(super) fn person(description: impl Into<String>) -> Self {
        Self {
            description: description.into(),
            new_config: None,
            install_command: None,
            env_var_hint: None,
            requires_user_action: true,
        }
    }

    pub(super) fn run(mut self, command: impl Into<String>) -> Self {
        self.install_command = Some(command.into());
        self
    }

    pub(super) fn variable(mut self, name: Option<&str>) -> Self {
        self.env_var_hint = name.map(str::to_owned);
        self
    }
}
