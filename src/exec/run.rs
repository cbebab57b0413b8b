//! Runs a job to its end: streams output, enforces limits, stops on request.

use std::io::{PipeReader, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::captured::Ring;
use super::launch::{CHUNK, Input, Launched, launch_job};
use super::outcome::Report;
use super::unix::{Supervisor, refused};
use super::{End, ExecError, Job, Outcome, Stdin, Stop};

/// Where output goes as it comes, besides the [`Outcome`].
pub trait Sink {
    /// Takes the next bytes of a stream. While this waits, the command's output waits too.
    fn output(&mut self, stream: Stream, bytes: &[u8]);
}

/// A sink that takes nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Discard;

impl Sink for Discard {
    fn output(&mut self, _: Stream, _: &[u8]) {}
}

/// One of the two streams a command writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Runs a job to its end, with everything it started.
///
/// # Errors
/// An [`ExecError`] when the command could not be run or watched. A command that fails, is missing,
/// runs into a limit or is stopped is an [`Outcome`].
pub fn run(job: &Job, stop: &Stop, sink: &mut dyn Sink) -> Result<Outcome, ExecError> {
    let started = Instant::now();
    // A full queue makes the command wait, so that memory stays bounded.
    let (sender, messages) = mpsc::sync_channel(16);
    let input = match &job.stdin {
        Stdin::Closed => Input::Nothing,
        Stdin::Bytes(bytes) => Input::Bytes(bytes.clone()),
    };
    let ended = sender.clone();
    let Launched {
        control,
        stdout,
        stderr,
    } = launch_job(job, input, move |report| {
        let _ = ended.send(Message::Ended(report));
    })?;
    let reading = read(Stream::Stdout, stdout, sender.clone())
        .and_then(|()| read(Stream::Stderr, stderr, sender));
    let stream_kept = 1 << 20;
    let output_head = 256 << 10;
    let output_tail = 512 << 10;
    let mut watch = Watch {
        job,
        stop,
        sink,
        control,
        output: Ring::new(output_head, output_tail),
        stdout: Ring::new(stream_kept, stream_kept),
        stderr: Ring::new(stream_kept, stream_kept),
        total: 0,
        heard: started,
        reason: None,
        forced: false,
        failure: None,
    };
    if let Err(error) = reading {
        watch.fail_with(error.into());
    }
    let report = watch.until_end(&messages);
    watch.outcome(report, started.elapsed())
}

enum Message {
    Output(Stream, Vec<u8>),
    Closed,
    Ended(Option<Report>),
}

fn read(stream: Stream, mut pipe: PipeReader, sender: SyncSender<Message>) -> std::io::Result<()> {
    thread::Builder::new().name("output".to_owned()).spawn(move || {
        let mut chunk = vec![0; CHUNK];
        while let Ok(count @ 1..) = pipe.read(&mut chunk) {
            let bytes = chunk.get(..count).unwrap_or_default().to_vec();
            if sender.send(Message::Output(stream, bytes)).is_err() {
                return;
            }
        }
        let _ = sender.send(Message::Closed);
    })?;
    Ok(())
}

struct Watch<'a> {
    job: &'a Job,
    stop: &'a Stop,
    sink: &'a mut dyn Sink,
    control: Arc<Supervisor>,
    output: Ring,
    stdout: Ring,
    stderr: Ring,
    total: u64,
    // When output came last.
    heard: Instant,
    // Why this side asked the command to end.
    reason: Option<End>,
    forced: bool,
    failure: Option<ExecError>,
}

impl Watch<'_> {
    fn until_end(&mut self, messages: &Receiver<Message>) -> Option<Report> {
        let mut report = None;
        // How long output may still be waited for, once the command is gone; a sink that takes its time
        // costs none of it.
        let mut left: Option<Duration> = None;
        let mut open = 2;
        loop {
            let waiting = Instant::now();
            // Poll for a request to stop.
            let message = messages.recv_timeout(left.unwrap_or(Duration::from_millis(25)));
            left = left.map(|left| left.saturating_sub(waiting.elapsed()));
            match message {
                Ok(Message::Output(stream, bytes)) => self.take_output(stream, &bytes),
                Ok(Message::Closed) => open -= 1,
                Ok(Message::Ended(how)) => {
                    report = how;
                    // Output may arrive shortly after all processes have ended.
                    left = Some(Duration::from_millis(200));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return report,
            }
            if left.is_some_and(|left| open == 0 || left.is_zero() || self.is_full()) {
                return report;
            }
            self.decide_end();
        }
    }

    fn take_output(&mut self, stream: Stream, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        self.output.push(bytes);
        match stream {
            Stream::Stdout => self.stdout.push(bytes),
            Stream::Stderr => self.stderr.push(bytes),
        }
        if !self.is_full() {
            self.sink.output(stream, bytes);
        }
        // After it: a sink that waits is no silence of the command.
        self.heard = Instant::now();
    }

    fn is_full(&self) -> bool {
        self.total > self.job.limits.max_output
    }

    fn decide_end(&mut self) {
        let silence = self.job.limits.idle_timeout;
        if self.reason.is_none() && self.failure.is_none() {
            if self.stop.requested() {
                self.reason = Some(End::Interrupted);
            } else if self.is_full() {
                self.reason = Some(End::OutputLimit);
            } else if silence.is_some_and(|limit| self.heard.elapsed() >= limit) {
                self.reason = Some(End::TimedOut);
            }
            if let Some(reason) = self.reason {
                tracing::info!("stopping the command: {reason}");
                self.control.stop();
            }
        }
        if self.stop.forced() && !self.forced {
            tracing::info!("killing the command after a second request to stop");
            self.forced = true;
            self.reason.get_or_insert(End::Interrupted);
            self.control.kill();
        }
    }

    fn fail_with(&mut self, error: ExecError) {
        self.failure.get_or_insert(error);
        self.control.kill();
    }

    fn outcome(self, report: Option<Report>, duration: Duration) -> Result<Outcome, ExecError> {
        if let Some(error) = self.failure {
            return Err(error);
        }
        let report = report.ok_or(ExecError::SupervisorGone)?;
        let output = self.output.captured();
        let refused = refused(self.job, &output.text(), &report);
        let reported = report.end?;
        Ok(Outcome {
            refused,
            end: self.reason.unwrap_or(reported),
            leaked: report.leaked,
            duration,
            output,
            stdout: self.stdout.captured(),
            stderr: self.stderr.captured(),
            sandbox: report.sandbox,
            not_confined: report.not_confined,
        })
    }
}
