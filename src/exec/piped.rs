//! Starts a command whose standard input and output stay open, such as an MCP server.

use std::io::{PipeReader, PipeWriter, Read};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::captured::Ring;
use super::launch::{Input, Launched, launch_job};
use super::outcome::Report;
use super::unix::{Supervisor, refused};
use super::{Captured, End, ExecError, Job, SandboxState};

/// A command that is talked to while it runs, such as a server on standard input and output.
/// Dropping it kills it with everything it started.
pub struct Piped {
    /// Its standard input; dropping this is the end of it.
    pub stdin: Option<PipeWriter>,
    /// Its standard output.
    pub stdout: Option<PipeReader>,
    stderr: Arc<Mutex<Ring>>,
    control: Arc<Supervisor>,
    ended: Receiver<Option<Report>>,
    end: Option<Result<End, Arc<ExecError>>>,
    sandbox: Option<SandboxState>,
    refused: Vec<PathBuf>,
    job: Job,
}

/// Starts a job whose standard input and output stay with the caller. Its [`Job::stdin`]
/// and the limit on output do not apply; its standard error is kept.
///
/// # Errors
/// An [`ExecError`] when it could not be started. That the program is missing shows in
/// [`Piped::try_end`].
pub fn spawn_piped(job: &Job) -> Result<Piped, ExecError> {
    let (reader, stdin) = std::io::pipe()?;
    let (sender, ended) = mpsc::channel();
    let Launched {
        control,
        stdout,
        mut stderr,
    } = launch_job(job, Input::Pipe(reader), move |report| {
        let _ = sender.send(report);
    })?;
    let kept = Arc::new(Mutex::new(Ring::new(KEPT, KEPT)));
    let piped = Piped {
        stdin: Some(stdin),
        stdout: Some(stdout),
        stderr: kept.clone(),
        control,
        ended,
        end: None,
        sandbox: None,
        refused: Vec::new(),
        job: job.clone(),
    };
    thread::Builder::new().name("stderr".to_owned()).spawn(move || {
        let mut chunk = vec![0; 8 << 10];
        while let Ok(count @ 1..) = stderr.read(&mut chunk) {
            let mut ring = kept.lock().unwrap_or_else(PoisonError::into_inner);
            ring.push(chunk.get(..count).unwrap_or_default());
        }
    })?;
    Ok(piped)
}

impl Piped {
    /// Returns its standard error so far.
    pub fn stderr(&self) -> Captured {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner).captured()
    }

    /// How it ended; `None` while it runs.
    ///
    /// # Errors
    /// An [`ExecError`] when it was never run, or its end was not observed.
    pub fn try_end(&mut self) -> Option<Result<End, Arc<ExecError>>> {
        if self.end.is_none()
            && let Ok(report) = self.ended.try_recv()
        {
            self.take(report);
        }
        self.end.clone()
    }

    /// Waits for its end, but no longer than `limit`.
    ///
    /// # Errors
    /// As [`Piped::try_end`].
    pub fn wait(&mut self, limit: Duration) -> Option<Result<End, Arc<ExecError>>> {
        if self.end.is_none()
            && let Ok(report) = self.ended.recv_timeout(limit)
        {
            self.take(report);
        }
        self.end.clone()
    }

    /// Returns the sandbox layers that were in force; `None` while it runs.
    pub fn sandbox(&self) -> Option<SandboxState> {
        self.sandbox
    }

    /// Places that the sandbox refused to be written, as far as its standard error names them.
    pub fn refused(&self) -> &[PathBuf] {
        &self.refused
    }

    fn take(&mut self, report: Option<Report>) {
        if let Some(report) = &report {
            self.sandbox = Some(report.sandbox);
            self.refused = refused(&self.job, &self.stderr().text(), report);
        }
        self.end = Some(end_result(report));
    }

    /// Closes its input and asks it to end; after the job's grace it is killed.
    ///
    /// # Errors
    /// As [`Piped::try_end`].
    pub fn stop(&mut self) -> Option<Result<End, Arc<ExecError>>> {
        self.stdin = None;
        if self.end.is_none() {
            self.control.stop();
        }
        self.wait(self.job.limits.grace.saturating_add(GIVE_UP))
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        self.stdin = None;
        if self.end.is_none() {
            self.control.kill();
            let _ = self.wait(GIVE_UP);
        }
    }
}

fn end_result(report: Option<Report>) -> Result<End, Arc<ExecError>> {
    Ok(report.ok_or(ExecError::SupervisorGone)?.end.map_err(ExecError::from)?)
}

const KEPT: usize = 64 << 10;
const GIVE_UP: Duration = Duration::from_secs(15);
