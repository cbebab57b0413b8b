use std::io::{Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::ask::{ConversationEnd, ask, no_response};
use super::probe::Answer;
use super::{Endpoint, HealError, Probe};
use crate::diagnose::LogFacts;
use crate::exec::{CommandLine, End, Environment, Job, Limits, Stop, spawn_piped};
use crate::model::FailureKind;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::runtime::{Handle, Runtime};

/// Starts a server and speaks to it on its standard input and output.
pub(super) fn connect(
    runtime: &Runtime,
    endpoint: &Endpoint,
    probe: &Probe,
    place: &Job,
    stop: &Stop,
) -> Result<Answer, HealError> {
    let command = endpoint.command.first().cloned().unwrap_or_default();
    let pairs = endpoint
        .env
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
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
    let heard = Arc::new(Mutex::new(Vec::new()));
    let (reader, feeder) = tokio::io::duplex(BUFFER);
    let (writer, drain) = tokio::io::duplex(BUFFER);
    let handle = runtime.handle();
    if let Some(stdout) = piped.stdout.take() {
        let (handle, heard) = (handle.clone(), heard.clone());
        thread("mcp-stdout", move || {
            pump_out(stdout, feeder, &handle, &heard);
        })?;
    }
    if let Some(stdin) = piped.stdin.take() {
        let handle = handle.clone();
        thread("mcp-stdin", move || pump_in(drain, stdin, &handle))?;
    }
    let asked = runtime.block_on(ask((reader, writer), probe.timeout, stop));
    let end = match asked {
        ConversationEnd::Tools(tools) => {
            let _ = piped.stop();
            let sandbox = piped.sandbox();
            return Ok(Answer {
                sandbox,
                ..Answer::connected(tools)
            });
        }
        ConversationEnd::Failed(_) => piped.wait(LAST_WORDS),
        _ => piped.try_end(),
    };
    let end = end.and_then(Result::ok);
    let heard = heard.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let heard = String::from_utf8_lossy(&heard).into_owned();
    let errors = piped.stderr().text();
    let speaks = heard.lines().any(|line| line.trim_start().starts_with('{'));
    let chatter = !speaks && !heard.trim().is_empty();
    let mut answer = match (end, &asked) {
        (Some(End::NotFound), _) => Answer::failed(
            Some(FailureKind::CommandNotFound),
            format!("sh: {command}: command not found"),
        ),
        (Some(End::NotExecutable), _) => Answer::failed(
            Some(FailureKind::PermissionDenied),
            format!("sh: {command}: Permission denied"),
        ),
        (None | Some(End::Exit(0)), _) if chatter => Answer::failed(
            Some(FailureKind::TransportMismatch),
            "Failed to parse JSONRPC message from server: it writes other text",
        ),
        (_, ConversationEnd::TimedOut) => Answer::failed(None, no_response(probe)),
        (Some(end), _) => Answer::failed(None, format!("the server ended with {end}")),
        (None, ConversationEnd::Failed(error)) => Answer::failed(None, error.clone()),
        (None, _) => Answer::failed(None, "interrupted"),
    };
    answer.facts = LogFacts {
        exit_code: end.and_then(End::code_or_signal),
        command: Some(job.command.to_string()),
        timed_out: matches!(asked, ConversationEnd::TimedOut) && answer.kind.is_none(),
        ..LogFacts::default()
    };
    // What is no message of the protocol belongs to the log.
    answer.log = if chatter {
        format!("{heard}\n{errors}")
    } else {
        errors
    };
    answer.sandbox = piped.sandbox();
    answer.refused = piped.refused().to_vec();
    Ok(answer)
}

const BUFFER: usize = 64 << 10;
const HEARD: usize = 64 << 10;
const LAST_WORDS: Duration = Duration::from_secs(2);

fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)?;
    Ok(())
}

// Keeps reading when nobody listens any more: a program must not die of a full pipe.
fn pump_out(mut from: impl Read, to: DuplexStream, handle: &Handle, heard: &Mutex<Vec<u8>>) {
    let mut to = Some(to);
    let mut chunk = vec![0; 8 << 10];
    loop {
        let count = match from.read(&mut chunk) {
            Ok(0) => return,
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        let bytes = chunk.get(..count).unwrap_or_default();
        {
            let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
            let room = HEARD.saturating_sub(heard.len());
            heard.extend_from_slice(bytes.get(..room.min(count)).unwrap_or_default());
        }
        if let Some(open) = &mut to
            && handle.block_on(open.write_all(bytes)).is_err()
        {
            to = None;
        }
    }
}

fn pump_in(mut from: DuplexStream, mut to: impl Write, handle: &Handle) {
    let mut chunk = vec![0; 8 << 10];
    while let Ok(count @ 1..) = handle.block_on(from.read(&mut chunk)) {
        let bytes = chunk.get(..count).unwrap_or_default();
        if to.write_all(bytes).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}
