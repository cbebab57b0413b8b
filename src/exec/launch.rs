use std::io::{PipeReader, Write};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::mpsc::Sender;
#[cfg(unix)]
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::ended::Report;
use super::{ExecError, Job, direct};

static SUPERVISOR: OnceLock<PathBuf> = OnceLock::new();

/// Names the program whose `__sup` command is [`super::supervise`]. The first call counts. Without
/// one, commands run in a process group of their own and nothing adopts what leaves it.
pub fn set_supervisor(program: PathBuf) {
    let _ = SUPERVISOR.set(program);
}

/// The running program itself, also when its file was replaced meanwhile.
#[must_use]
pub fn own_program() -> Option<PathBuf> {
    let link = PathBuf::from("/proc/self/exe");
    if cfg!(target_os = "linux") && link.symlink_metadata().is_ok() {
        return Some(link);
    }
    std::env::current_exe().ok()
}

/// Keeps other processes of the same user from reading this one's environment and memory. The
/// superuser can all the same; nothing changes on systems other than Linux.
pub fn guard_environment() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// A command under way.
pub(super) struct Launched {
    pub(super) control: Control,
    pub(super) stdout: PipeReader,
    pub(super) stderr: PipeReader,
}

/// What a command reads.
pub(super) enum Input {
    Nothing,
    Bytes(Vec<u8>),
    Pipe(PipeReader),
}

/// Takes orders for a command under way. One that has ended takes none and minds none.
#[derive(Clone)]
pub(super) enum Control {
    #[cfg(unix)]
    Supervisor(Arc<Mutex<std::os::unix::net::UnixStream>>),
    Thread(Sender<direct::Ask>),
}

impl Control {
    /// The request to end, grace, then the kill.
    pub(super) fn stop(&self) {
        match self {
            #[cfg(unix)]
            Self::Supervisor(_) => {
                self.send(super::protocol::STOP, &[]);
            }
            Self::Thread(asks) => {
                let _ = asks.send(direct::Ask::Stop);
            }
        }
    }

    /// The kill at once.
    pub(super) fn kill(&self) {
        match self {
            #[cfg(unix)]
            Self::Supervisor(_) => {
                self.send(super::protocol::KILL, &[]);
            }
            Self::Thread(asks) => {
                let _ = asks.send(direct::Ask::Kill);
            }
        }
    }

    /// One frame for the supervisor. Whether it still listens.
    #[cfg(unix)]
    pub(super) fn send(&self, tag: u8, payload: &[u8]) -> bool {
        match self {
            Self::Supervisor(socket) => {
                let socket = socket.lock().unwrap_or_else(PoisonError::into_inner);
                super::protocol::write_frame(&*socket, tag, payload).is_ok()
            }
            Self::Thread(_) => false,
        }
    }
}

/// Starts a job. `ended` is called once, from another thread or before this returns: with `None`
/// when whoever waited for the command is gone.
pub(super) fn launch(
    job: &Job,
    input: Input,
    ended: impl FnOnce(Option<Report>) + Send + 'static,
) -> Result<Launched, ExecError> {
    let command = job.command.arguments();
    if command.first().is_none_or(|program| program.is_empty()) {
        return Err(ExecError::Empty);
    }
    let directory = std::fs::metadata(&job.directory);
    let reason = match directory {
        Ok(found) if found.is_dir() => None,
        Ok(_) => Some(std::io::ErrorKind::NotADirectory),
        Err(error) => Some(error.kind()),
    };
    if let Some(reason) = reason {
        return Err(ExecError::Directory {
            path: job.directory.clone(),
            reason,
        });
    }
    let variables = job.environment.variables(std::env::vars_os());
    #[cfg(unix)]
    if let Some(program) = SUPERVISOR.get() {
        return super::supervised::launch(program, job, &command, &variables, input, ended);
    }
    direct::launch(job, &command, &variables, input, ended)
}

/// Writes the bytes in a thread; a command that does not read them all is no error.
pub(super) fn feed_pipe(bytes: Vec<u8>) -> Result<PipeReader, ExecError> {
    let (reader, mut writer) = std::io::pipe()?;
    thread::Builder::new()
        .name("stdin".to_owned())
        .spawn(move || {
            let _ = writer.write_all(&bytes);
        })?;
    Ok(reader)
}

/// Bytes read at once.
pub(super) const CHUNK: usize = 64 << 10;
