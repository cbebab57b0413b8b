use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::diagnose::{LogFacts, diagnose};
use crate::exec::SandboxState;
use crate::model::{Diagnosis, FailureKind, ProbeTransport, shell_word};
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
/// which is used. Values may hold `${NAME}`, which stands for a variable.
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

impl Probe {
    /// How it is reached.
    #[must_use]
    pub fn transport(&self) -> ProbeTransport {
        match &self.target {
            Target::Command(_) => ProbeTransport::Command,
            Target::Server(endpoint) => match endpoint.transport {
                Transport::Stdio => ProbeTransport::Stdio,
                Transport::Http => ProbeTransport::Http,
            },
        }
    }

    /// The words of its command line: of a shell line the words up to the first that only a shell
    /// understands. Empty for an address.
    #[must_use]
    pub fn words(&self) -> Vec<&str> {
        match &self.target {
            Target::Command(line) => line
                .split_ascii_whitespace()
                .take_while(|word| {
                    !word.contains(['|', '&', ';', '<', '>', '$', '`', '(', '"', '\''])
                })
                .collect(),
            Target::Server(endpoint) => match endpoint.transport {
                Transport::Stdio => endpoint.command.iter().map(String::as_str).collect(),
                Transport::Http => Vec::new(),
            },
        }
    }

    /// Whether both start or call the same thing, and give it the same time.
    #[must_use]
    pub fn starts_as(&self, other: &Self) -> bool {
        let same = match (&self.target, &other.target) {
            (Target::Server(a), Target::Server(b)) => match (a.transport, b.transport) {
                (Transport::Stdio, Transport::Stdio) => {
                    (&a.command, &a.env, &a.cwd) == (&b.command, &b.env, &b.cwd)
                }
                (Transport::Http, Transport::Http) => (&a.url, &a.headers) == (&b.url, &b.headers),
                _ => false,
            },
            (a, b) => a == b,
        };
        same && self.timeout == other.timeout
    }

    /// The server's address, when that is what is used.
    #[must_use]
    pub fn url(&self) -> Option<&str> {
        match &self.target {
            Target::Server(endpoint) if endpoint.transport == Transport::Http => {
                endpoint.url.as_deref()
            }
            _ => None,
        }
    }

    /// The same server at this address, over HTTP.
    #[must_use]
    pub fn with_url(&self, url: impl Into<String>) -> Option<Self> {
        let Target::Server(endpoint) = &self.target else {
            return None;
        };
        Some(Self {
            target: Target::Server(Endpoint {
                transport: Transport::Http,
                url: Some(url.into()),
                ..endpoint.clone()
            }),
            ..self.clone()
        })
    }

    /// The same probe with other words at the front of its command line, in place of the first
    /// `count`. `None` for an address.
    #[must_use]
    pub fn with_front(&self, count: usize, front: &[&str]) -> Option<Self> {
        let target = match &self.target {
            Target::Command(line) => {
                let mut rest = line.trim_start();
                for _ in 0..count {
                    let end = rest.find(|it: char| it.is_ascii_whitespace());
                    rest = rest.get(end.unwrap_or(rest.len())..)?.trim_start();
                }
                let front = front.iter().map(|word| shell_word(word).into_owned());
                let words = front.chain((!rest.is_empty()).then(|| rest.to_owned()));
                Target::Command(words.collect::<Vec<_>>().join(" "))
            }
            Target::Server(endpoint) if endpoint.transport == Transport::Stdio => {
                let rest = endpoint.command.iter().skip(count).cloned();
                let front = front.iter().map(|&word| word.to_owned());
                Target::Server(Endpoint {
                    command: front.chain(rest).collect(),
                    ..endpoint.clone()
                })
            }
            Target::Server(_) => return None,
        };
        Some(Self {
            target,
            ..self.clone()
        })
    }
}

/// What one start of a probe gave.
#[derive(Default)]
pub(super) struct Answer {
    /// Whether it answered.
    pub(super) answered: bool,
    /// One sentence about it.
    pub(super) message: String,
    /// The tools a server listed.
    pub(super) tools: Vec<String>,
    /// What it wrote.
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

    /// What it says went wrong. Secrets are masked first.
    pub(super) fn diagnosis(&self, redactor: &Redactor, listing: Option<&Listing>) -> Diagnosis {
        let log = redactor.redact(&self.log);
        let message = redactor.redact(&self.message);
        let both = format!("{}\n{}\n", log.text.trim_end(), message.text);
        let whole = diagnose(&both, &self.facts, listing);
        match self.kind {
            Some(kind) if whole.kind != kind => {
                let facts = LogFacts {
                    exit_code: None,
                    ..self.facts.clone()
                };
                let mut alone = diagnose(&message.text, &facts, listing);
                alone.kind = kind;
                alone
            }
            _ => whole,
        }
    }

    /// Its last lines, with secrets masked.
    pub(super) fn tail(&self, redactor: &Redactor) -> String {
        let log = redactor.redact(&self.log);
        let lines: Vec<&str> = log
            .text
            .lines()
            .filter(|it| !it.trim().is_empty())
            .collect();
        let from = lines.len().saturating_sub(TAIL_LINES);
        let mut tail = lines.get(from..).unwrap_or_default().join("\n");
        if !self.message.is_empty() {
            tail.push('\n');
            tail.push_str(&redactor.redact(&self.message).text);
        }
        tail
    }
}

const TAIL_LINES: usize = 8;

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
    fn the_front_of_a_line_is_replaced_and_the_rest_stays_as_it_is() {
        let probe = line("pytest -q 'a b' && echo $X");
        assert_eq!(probe.words(), ["pytest", "-q"]);
        let changed = probe.with_front(1, &["/opt/my env/pytest"]).unwrap();
        let expected = "'/opt/my env/pytest' -q 'a b' && echo $X";
        assert_eq!(changed.target, Target::Command(expected.to_owned()));
        let changed = line("jest").with_front(1, &["npx", "jest"]).unwrap();
        assert_eq!(changed.target, Target::Command("npx jest".to_owned()));
    }
}
