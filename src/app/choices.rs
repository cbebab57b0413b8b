use crate::agent::Protocol;
use crate::config::{AgentProtocol, Confine};
use crate::exec::SandboxMode;

impl From<Confine> for SandboxMode {
    fn from(chosen: Confine) -> Self {
        match chosen {
            Confine::Auto => Self::Auto,
            Confine::Require => Self::Require,
            Confine::Off => Self::Off,
        }
    }
}

impl From<AgentProtocol> for Protocol {
    fn from(chosen: AgentProtocol) -> Self {
        match chosen {
            AgentProtocol::Json => Self::Json,
            AgentProtocol::Prompt => Self::Prompt,
            AgentProtocol::Edit => Self::Edit,
        }
    }
}
