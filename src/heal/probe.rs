//! A probe: a command or MCP server that must answer, and why it could not be tried.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::diagnose::{LogFacts, diagnose};
use crate::exec::{ExecError, SandboxState};
use crate::model::{Code, Diagnosis, FailureKind, shell_word};
use crate::policy::Redactor;
use crate::source::Listing;

/// Something that must answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// `test`, or the server's name.
    pub name: String,
    /// What to start or call.
    pub target: Target,
    /// How long it may take.
    pub timeout: Duration,
}

/// What a probe starts or calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A line for the shell.
    Command(String),
    /// An MCP server.
    Server(Endpoint),
}

/// Where an MCP server is. A configuration may name both a program and an address; `transport` says
/// which is used. Values may hold `${NAME}`, which represents a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Which of the two is used.
    pub transport: Transport,
    /// The program and its arguments; empty when the configuration names none.
    pub command: Vec<String>,
    /// Variables the program needs besides the usual ones.
    pub env: BTreeMap<String, String>,
    /// Where the program runs; the directory of the probe when missing.
    pub cwd: Option<String>,
    /// The address; `None` when the configuration names none.
    pub url: Option<String>,
    /// Headers to send to the address.
    pub headers: BTreeMap<String, String>,
}

/// How an MCP server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// On standard input and output of the program.
    Stdio,
    /// By streamable HTTP at the address.
    Http,
}

impl Endpoint {
    /// Every text that may hold a variable.
    pub(super) fn texts(&mut self) -> impl Iterator<Item = &mut String> {
        let values = self.env.values_mut().chain(self.headers.values_mut());
        let places = self.cwd.iter_mut().chain(self.url.iter_mut());
        self.command.iter_mut().chain(values).chain(places)
    }
}

impl Probe {
    /// The program of its command line; `None` for an address, or where a shell has to find it.
    pub fn program(&self) -> Option<&str> {
        let shell = ['|', '&', ';', '<', '>', '$', '`', '(', '"', '\''];
        match &self.target {
            Target::Command(line) => line.split_ascii_whitespace().next(),
            Target::Server(_) if self.url().is_some() => None,
            Target::Server(endpoint) => endpoint.command.first().map(String::as_str),
        }
        .filter(|word| !word.contains(shell))
    }

    /// The server's address, when that is what is used.
    pub fn url(&self) -> Option<&str> {
        match &self.target {
            Target::Server(endpoint) if endpoint.transport == Transport::Http => {
                endpoint.url.as_deref()
            }
            _ => None,
        }
    }

    /// The same probe with other words in place of its program. `None` for an address.
    pub fn with_front(&self, front: &[&str]) -> Option<Self> {
        let mut changed = self.clone();
        match &mut changed.target {
            Target::Command(line) => {
                let (_, rest) = line.trim_start().split_once([' ', '\t']).unwrap_or_default();
                let rest = rest.trim_start();
                let mut words: Vec<_> = front.iter().map(|word| shell_word(word)).collect();
                words.extend((!rest.is_empty()).then_some(rest.into()));
                *line = words.join(" ");
            }
            Target::Server(_) if self.url().is_some() => return None,
            Target::Server(endpoint) => {
                let front = front.iter().map(|&word| word.to_owned());
                endpoint.command.splice(..1, front);
            }
        }
        Some(changed)
    }
}

/// The result of one start of a probe.
#[derive(Default)]
pub(super) struct Answer {
    /// Whether it answered.
    pub(super) answered: bool,
    /// One sentence about it.
    pub(super) message: String,
    /// The tools a server listed.
    pub(super) tools: Vec<String>,
    /// Its output.
    pub(super) log: String,
    /// How it ended.
    pub(super) facts: LogFacts,
    /// The kind of failure, where that does not rest on the log. `message` says it in the words
    /// that the rules of diagnosis know.
    pub(super) kind: Option<FailureKind>,
    /// How far it was confined, once that is known.
    pub(super) sandbox: Option<SandboxState>,
    /// What the sandbox refused to be written.
    pub(super) refused: Vec<PathBuf>,
}

impl Answer {
    /// A server that lists these tools.
    #[cfg(feature = "mcp")]
    pub(super) fn connected(tools: Vec<String>) -> Self {
        Self {
            answered: true,
            message: match tools.len() {
                1 => "Connected. 1 tool available.".to_owned(),
                count => format!("Connected. {count} tools available."),
            },
            tools,
            ..Self::default()
        }
    }

    /// A failure in one sentence.
    #[cfg(feature = "mcp")]
    pub(super) fn failed(kind: Option<FailureKind>, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            ..Self::default()
        }
    }

    /// Diagnoses its output and message. Secrets are masked first.
    pub(super) fn diagnosis(&self, redactor: &Redactor, listing: Option<&Listing>) -> Diagnosis {
        let both = format!("{}\n{}\n", self.log.trim_end(), self.message);
        let whole = diagnose(&redactor.redact(&both).text, &self.facts, listing);
        let Some(kind) = self.kind.filter(|kind| *kind != whole.kind) else {
            return whole;
        };
        let facts = LogFacts {
            exit_code: None,
            ..self.facts.clone()
        };
        let mut alone = diagnose(&redactor.redact(&self.message).text, &facts, listing);
        alone.kind = kind;
        alone
    }

    /// Its last lines, with secrets masked.
    pub(super) fn tail(&self, redactor: &Redactor) -> String {
        let whole = format!("{}\n{}", self.log.trim_end(), self.message);
        let shown = redactor.redact(&whole);
        let lines: Vec<&str> = shown.text.lines().filter(|line| !line.trim().is_empty()).collect();
        let from = lines.len().saturating_sub(9);
        lines.get(from..).unwrap_or_default().join("\n")
    }
}

/// Why something could not be probed at all. That it does not answer is no error.
#[derive(Debug, thiserror::Error)]
pub enum HealError {
    /// The file is no configuration of servers, for this reason.
    #[error("`{0}` is not a configuration of MCP servers: {1}")]
    Config(String, String),
    /// The file has no server of that name; the names there are, joined.
    #[error("no server `{0}`; the file names {1}")]
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
    pub fn code(&self) -> Code {
        match self {
            Self::Config(..) | Self::UnknownServer(..) => Code::R301,
            Self::NotBuilt(_) => Code::R303,
            Self::Exec(error) => error.code(),
            Self::Start(_) => Code::R103,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Probe, Target};

    fn line(text: &str) -> Probe {
        Probe {
            name: "test".to_owned(),
            target: Target::Command(text.to_owned()),
            timeout: Duration::from_secs(30),
        }
    }

    #[test]
    fn replaces_start_of_line() {
        let probe = line("pytest -q 'a b' && echo $X");
        assert_eq!(probe.program(), Some("pytest"));
        let changed = probe.with_front(&["/opt/my env/pytest"]).unwrap();
        let expected = "'/opt/my env/pytest' -q 'a b' && echo $X";
        assert_eq!(changed.target, Target::Command(expected.to_owned()));
        let changed = line("jest").with_front(&["npx", "jest"]).unwrap();
        assert_eq!(changed.target, Target::Command("npx jest".to_owned()));
    }
}
