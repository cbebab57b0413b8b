//! Connects to an MCP server over standard input and output.

use std::io::{BufRead as _, BufReader, PipeReader, PipeWriter, Read as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::connect::{ConversationEnd, ask, no_response};
use super::probe::Answer;
use super::{Endpoint, HealError, Probe};
use crate::diagnose::LogFacts;
use crate::exec::{CommandLine, End, Environment, Job, Limits, Stop, spawn_piped};
use crate::model::FailureKind;

/// Starts a server and speaks to it on its standard input and output.
pub(super) fn connect(
    runtime: &Runtime,
    endpoint: &Endpoint,
    probe: &Probe,
    place: &Job,
    stop: &Stop,
) -> Result<Answer, HealError> {
    let command = endpoint.command.first().cloned().unwrap_or_default();
    let pairs = endpoint.env.iter().map(|(name, value)| format!("{name}={value}"));
    let job = Job {
        environment: Environment::with(pairs.collect()),
        limits: Limits {
            grace: Duration::from_secs(2),
            ..Limits::default()
        },
        command: CommandLine::Program(endpoint.command.iter().map(Into::into).collect()),
        directory: match &endpoint.cwd {
            Some(cwd) => place.directory.join(cwd),
            None => place.directory.clone(),
        },
        ..place.clone()
    };
    let mut piped = spawn_piped(&job)?;
    let chatter = Arc::new(Mutex::new(String::new()));
    let (sender, messages) = unbounded_channel();
    if let Some(stdout) = piped.stdout.take() {
        let chatter = chatter.clone();
        let reader = std::thread::Builder::new().name("mcp-stdout".to_owned());
        reader.spawn(move || read_messages(stdout, &sender, &chatter))?;
    }
    let stdin = piped.stdin.take();
    let asked = runtime.block_on(ask(Lines { messages, stdin }, probe, stop));
    let end = match asked {
        ConversationEnd::Tools(tools) => {
            let _ = piped.stop();
            let sandbox = piped.sandbox();
            return Ok(Answer {
                sandbox,
                ..Answer::connected(tools)
            });
        }
        // A server that fails may still write why.
        ConversationEnd::Failed(_) => piped.wait(Duration::from_secs(2)),
        _ => piped.try_end(),
    };
    let end = end.and_then(Result::ok);
    let chatter = std::mem::take(&mut *lock_text(&chatter));
    let errors = piped.stderr().text();
    let mut answer = match (end, &asked) {
        (Some(End::NotFound), _) => {
            Answer::failed(None, format!("sh: {command}: command not found"))
        }
        (Some(End::NotExecutable), _) => {
            Answer::failed(None, format!("sh: {command}: Permission denied"))
        }
        (None | Some(End::Exit(0)), _) if !chatter.is_empty() => {
            let message = "Failed to parse JSONRPC message from server: it writes other text";
            Answer::failed(Some(FailureKind::TransportMismatch), message)
        }
        (_, ConversationEnd::TimedOut) => Answer::failed(None, no_response(probe)),
        (Some(end), _) => Answer::failed(None, format!("the server ended with {end}")),
        (None, ConversationEnd::Failed(error)) => Answer::failed(None, error.clone()),
        (None, _) => Answer::failed(None, "interrupted"),
    };
    answer.facts = LogFacts {
        exit_code: end.and_then(End::code_or_signal),
        command: Some(job.command.to_string()),
        timed_out: matches!(asked, ConversationEnd::TimedOut) && answer.kind.is_none(),
    };
    // What is no message of the protocol belongs to the log.
    answer.log = chatter + &errors;
    answer.sandbox = piped.sandbox();
    answer.refused = piped.refused().to_vec();
    Ok(answer)
}

/// A server's standard input, and the messages of its standard output.
struct Lines {
    messages: UnboundedReceiver<RxJsonRpcMessage<RoleClient>>,
    stdin: Option<PipeWriter>,
}

impl Transport<RoleClient> for Lines {
    type Error = std::io::Error;

    // Written without waiting, since the messages of a probe are short and fit into the pipe.
    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = std::io::Result<()>> + Send + 'static {
        let mut line = serde_json::to_vec(&message).unwrap_or_default();
        line.push(b'\n');
        let written = match &mut self.stdin {
            Some(stdin) => stdin.write_all(&line),
            None => Ok(()),
        };
        std::future::ready(written)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> std::io::Result<()> {
        self.stdin = None;
        Ok(())
    }
}

// Keeps reading when nobody listens any more, so that a program does not die of a full pipe.
fn read_messages(
    stdout: PipeReader,
    messages: &UnboundedSender<RxJsonRpcMessage<RoleClient>>,
    chatter: &Mutex<String>,
) {
    let mut stdout = BufReader::new(stdout);
    let mut line = Vec::new();
    // Bytes of one line, and of all that is no message.
    while let Ok(1..) = stdout.by_ref().take(16 << 20).read_until(b'\n', &mut line) {
        let is_message = line.trim_ascii_start().starts_with(b"{");
        if let Ok(message) = serde_json::from_slice(&line) {
            let _ = messages.send(message);
        } else if !is_message && lock_text(chatter).len() < (64 << 10) {
            lock_text(chatter).push_str(&String::from_utf8_lossy(&line));
        }
        line.clear();
    }
}

fn lock_text(chatter: &Mutex<String>) -> MutexGuard<'_, String> {
    chatter.lock().unwrap_or_else(PoisonError::into_inner)
}
