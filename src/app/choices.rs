use crate::agent::Protocol;
use crate::config::{AgentProtocol, Confine, Place};
use crate::exec::SandboxMode;
use crate::workplace::{Choice, Kind};

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

impl From<Place> for Choice {
    fn from(chosen: Place) -> Self {
        match chosen {
            Place::Auto => Self::Auto,
            Place::Overlay => Self::Exactly(Kind::Overlay),
            Place::Copy => Self::Exactly(Kind::Copy),
            Place::InPlace => Self::Exactly(Kind::InPlace),
        }
    }
}
