//! The errors of probing.

use crate::exec::ExecError;
use crate::model::Code;

/// Why something could not be probed at all. That it does not answer is no error.
#[derive(Debug, thiserror::Error)]
pub enum HealError {
    /// The file is no configuration of servers, for this reason.
    #[error("`{0}` is not a configuration of MCP servers: {1}")]
    Config(String, String),
    /// The file has no server of that name; the names there are, joined.
    #[error("there is no server `{0}`; the file names {1}")]
    UnknownServer(String, String),
    /// This program was built without the feature of that name, which this needs.
    #[error("this program was built without the feature `{0}`")]
    NotBuilt(&'static str),
    /// Nothing could be started.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// Threads, pipes or sockets could not be had.
    #[error("cannot start the probe: {0}")]
    Start(#[from] std::io::Error),
}

impl HealError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Config(..) | Self::UnknownServer(..) => Code::R301,
            Self::NotBuilt(_) => Code::R303,
            Self::Exec(error) => error.code(),
            Self::Start(_) => Code::R103,
        }
    }
}
