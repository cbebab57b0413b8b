use super::ended::{Report, ReportedEnd};
use super::launch::{Input, Launched, Orders};
use super::system::Group;
use super::{ExecError, Job, Limits, SandboxState};
use crate::model::{NotConfined, SandboxMode, Wall};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{PipeReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// Starts a job in a process group of its own, without a supervisor.
pub(super) fn launch(
    job: &Job,
    command: &[OsString],
    variables: &BTreeMap<OsString, OsString>,
    input: Input,
    ended: impl FnOnce(Option<Report>) + Send + 'static,
) -> Result<Launched, ExecError> {
    if job.sandbox.no_network || job.sandbox.mode == SandboxMode::Require {
        return Err(ExecError::Sandbox(
            "only a supervisor can confine a command, and none is set".to_owned(),
        ));
    }
    if !job.overlays.is_empty() {
        return Err(ExecError::Place(
            "only a supervisor can lay one folder over another, and none is set".to_owned(),
        ));
    }
    let [(stdout, stdout_writer), (stderr, stderr_writer)] = job.terminal.channels()?;
    let (asks, requests) = mpsc::channel();
    let (program, arguments) = command.split_first().ok_or(ExecError::Empty)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(variables)
        .current_dir(&job.directory)
        .stdin(match input {
            Input::Nothing => Stdio::null(),
            Input::Bytes(bytes) => Stdio::from(feed_pipe(bytes)?),
            Input::Pipe(pipe) => Stdio::from(pipe),
        })
        .stdout(stdout_writer)
        .stderr(stderr_writer);
    match Group::spawn(command) {
        Ok(child) => {
            let limits = job.limits;
            thread::Builder::new()
                .name("waiter".to_owned())
                .spawn(move || ended(Some(wait_for(child, limits, &requests))))?;
        }
        Err(error) => {
            let end = ReportedEnd::of_refusal(&error).ok_or(error)?;
            ended(Some(Report::unstarted(end)));
        }
    }
    Ok(Launched {
        control: Arc::new(asks),
        stdout,
        stderr,
    })
}

/// What a command without a supervisor can be told.
enum Ask {
    Stop,
    Kill,
}

impl Orders for Sender<Ask> {
    fn stop(&self) {
        let _ = self.send(Ask::Stop);
    }

    fn kill(&self) {
        let _ = self.send(Ask::Kill);
    }
}

// Writes the bytes in a thread; a command that does not read them all is no error.
fn feed_pipe(bytes: Vec<u8>) -> Result<PipeReader, ExecError> {
    let (reader, mut writer) = std::io::pipe()?;
    thread::Builder::new()
        .name("stdin".to_owned())
        .spawn(move || {
            let _ = writer.write_all(&bytes);
        })?;
    Ok(reader)
}

fn wait_for(mut child: Group, limits: Limits, requests: &Receiver<Ask>) -> Report {
    let from_now = |limit| Instant::now().checked_add(limit);
    let mut deadline = limits.timeout.and_then(from_now);
    let mut reason = None;
    let mut listening = true;
    let end = loop {
        match child.try_wait() {
            Ok(Some(status)) => break reason.unwrap_or(status),
            Ok(None) => {}
            Err(error) => break ReportedEnd::Failed(error.to_string()),
        }
        let ask = if listening {
            requests.recv_timeout(TICK)
        } else {
            thread::sleep(TICK);
            Err(RecvTimeoutError::Timeout)
        };
        let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        match ask {
            Ok(Ask::Stop) if reason.is_none() => {
                child.ask_to_end();
                reason = Some(ReportedEnd::Stopped);
                deadline = from_now(limits.grace);
            }
            Ok(Ask::Kill) => {
                child.kill();
                reason = reason.or(Some(ReportedEnd::Stopped));
            }
            _ if late && reason.is_none() => {
                child.ask_to_end();
                reason = Some(ReportedEnd::TimedOut);
                deadline = from_now(limits.grace);
            }
            _ if late => child.kill(),
            Err(RecvTimeoutError::Disconnected) => listening = false,
            _ => {}
        }
    };
    Report {
        end,
        leaked: child.end_rest(),
        sandbox: SandboxState::None,
        not_confined: vec![NotConfined::new(
            Wall::Files,
            "only a supervisor can confine a command, and none is set",
        )],
        shut: Vec::new(),
    }
}

const TICK: Duration = Duration::from_millis(5);
