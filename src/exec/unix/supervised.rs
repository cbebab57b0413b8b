//! Starts the supervisor process and sends it orders.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::protocol::{
    KILL, ORDER, Order, REPORT, STDIN, STDIN_END, STOP, read_frame, write_frame,
};
use super::tree;
use super::writable::{common, writable};
use crate::exec::launch::{CHUNK, Input, Launched};
use crate::exec::outcome::Report;
use crate::exec::temporary::temporary;
use crate::exec::{ExecError, Job, Sandbox};

static SUPERVISOR: OnceLock<PathBuf> = OnceLock::new();

/// Names the program whose `__sup` command is `supervise`. The first call counts; without
/// one no command can be run.
pub fn set_supervisor(program: PathBuf) {
    let _ = SUPERVISOR.set(program);
}

/// Starts a job below the supervisor.
pub(in crate::exec) fn launch_supervised(
    job: &Job,
    command: &[OsString],
    variables: &BTreeMap<OsString, OsString>,
    input: Input,
    ended: impl FnOnce(Option<Report>) + Send + 'static,
) -> Result<Launched, ExecError> {
    let program = SUPERVISOR.get().ok_or_else(|| {
        std::io::Error::other("no supervisor is set (mendit::exec::set_supervisor)")
    })?;
    let (ours, theirs) = UnixStream::pair()?;
    let (stdout, stdout_writer) = std::io::pipe()?;
    let (stderr, stderr_writer) = std::io::pipe()?;
    let order = build_order(job, command, !matches!(input, Input::Nothing));
    let order = serde_json::to_vec(&order).map_err(std::io::Error::from)?;
    let mut supervisor = Command::new(program)
        .arg0("mendit")
        .arg("__sup")
        .env_clear()
        .envs(variables)
        .current_dir(&job.directory)
        .stdin(OwnedFd::from(theirs))
        .stdout(stdout_writer)
        .stderr(stderr_writer)
        .spawn()?;
    let mut socket = ours.try_clone()?;
    let control = Arc::new(Supervisor(Mutex::new(ours)));
    control.send_frame(ORDER, &order);
    thread::Builder::new().name("waiter".to_owned()).spawn(move || {
        let report = read_report(&mut socket);
        if report.is_none() {
            // Killed by its own command, perhaps: its session still names what it left.
            end_session(i32::try_from(supervisor.id()).unwrap_or(0));
        }
        let _ = supervisor.wait();
        ended(report);
    })?;
    feed_supervisor(input, control.clone())?;
    Ok(Launched {
        control,
        stdout,
        stderr,
    })
}

// Looks more than once, because a process that is started during one look may be missed.
fn end_session(session: i32) {
    // Bounded, because a command may start processes faster than they are found.
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        let members = tree::session_members(session);
        for member in &members {
            member.signal(Signal::KILL);
        }
        if members.is_empty() || Instant::now() >= end {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Sends orders to the supervisor of a command under way; after the command's end they do nothing.
pub(in crate::exec) struct Supervisor(Mutex<UnixStream>);

impl Supervisor {
    /// Requests the end; the supervisor kills what is left after the grace period.
    pub(in crate::exec) fn stop(&self) {
        self.send_frame(STOP, &[]);
    }

    /// Kills the command and everything it started.
    pub(in crate::exec) fn kill(&self) {
        self.send_frame(KILL, &[]);
    }

    // Returns whether the supervisor still listens.
    fn send_frame(&self, tag: u8, payload: &[u8]) -> bool {
        let socket = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        write_frame(&*socket, tag, payload).is_ok()
    }
}

fn build_order(job: &Job, command: &[OsString], stdin: bool) -> Order {
    let mut order = Order {
        command: command.to_vec(),
        stdin,
        directory: std::path::absolute(&job.directory).unwrap_or_default(),
        limits: job.limits,
        sandbox: Sandbox {
            writable: writable(job),
            ..job.sandbox.clone()
        },
        common: common(job),
        temporary: temporary(),
        overlays: job.overlays.clone(),
    };
    if !order.is_confined() {
        order.sandbox.writable.clear();
        order.sandbox.closed.clear();
        order.common.clear();
        order.temporary.clear();
    }
    order
}

fn read_report(socket: &mut UnixStream) -> Option<Report> {
    let (tag, payload) = read_frame(socket)?;
    (tag == REPORT).then(|| serde_json::from_slice(&payload).ok()).flatten()
}

fn feed_supervisor(input: Input, control: Arc<Supervisor>) -> Result<(), ExecError> {
    let mut reader: Box<dyn Read + Send> = match input {
        Input::Nothing => return Ok(()),
        Input::Bytes(bytes) => Box::new(std::io::Cursor::new(bytes)),
        Input::Pipe(pipe) => Box::new(pipe),
    };
    thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        let mut chunk = vec![0; CHUNK];
        while let Ok(count @ 1..) = reader.read(&mut chunk) {
            if !control.send_frame(STDIN, chunk.get(..count).unwrap_or_default()) {
                return;
            }
        }
        control.send_frame(STDIN_END, &[]);
    })?;
    Ok(())
}
