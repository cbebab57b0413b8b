use std::io::{self, PipeReader, PipeWriter};
use std::os::windows::io::AsRawHandle as _;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use win32job::{ExtendedLimitInfo, JobError};

pub(super) use super::direct::launch;
use super::ended::{Report, ReportedEnd};
use super::{Job, Stop, Terminal};
pub(super) use std::os::windows::fs::symlink_dir as link;

/// A command and all it starts, in a job object: what is in it cannot leave it.
pub(super) struct Group {
    child: Child,
    // All in it ends when this is dropped.
    job: Option<win32job::Job>,
}

impl Group {
    pub(super) fn spawn(mut command: Command) -> io::Result<Self> {
        // What starts before it is in its own job is in this one.
        OWN.get_or_init(|| {
            let job = ending_job()?;
            job.assign_current_process().map(|()| job)
        })
        .as_ref()
        .map_err(io::Error::other)?;
        let job = ending_job().map_err(io::Error::other)?;
        let mut child = command.spawn()?;
        if let Err(error) = job.assign_process(child.as_raw_handle() as isize) {
            // One that has ended by itself takes no job.
            if !matches!(child.try_wait(), Ok(Some(_))) {
                let _ = child.kill();
                return Err(io::Error::other(error));
            }
        }
        Ok(Self {
            child,
            job: Some(job),
        })
    }

    /// How the command itself ended, once it has.
    pub(super) fn try_wait(&mut self) -> io::Result<Option<ReportedEnd>> {
        let status = self.child.try_wait()?;
        Ok(status.map(|status| match status.code() {
            Some(code) => ReportedEnd::Exit(code),
            None => ReportedEnd::Failed("ended in an unknown way".to_owned()),
        }))
    }

    /// There is no request to end that a program without a window would hear.
    pub(super) fn ask_to_end(&mut self) {
        self.kill();
    }

    pub(super) fn kill(&mut self) {
        self.job = None;
        let _ = self.child.kill();
    }

    /// Kills what the ended command left, and says how many processes that were.
    pub(super) fn end_rest(&mut self) -> u32 {
        let Some(job) = self.job.take() else {
            return 0;
        };
        thread::sleep(SETTLE);
        let left = job.query_process_id_list().unwrap_or_default();
        u32::try_from(left.len()).unwrap_or(u32::MAX)
    }
}

// This process and all it starts end together, however this one ends.
static OWN: OnceLock<Result<win32job::Job, JobError>> = OnceLock::new();

const SETTLE: Duration = Duration::from_millis(50);

fn ending_job() -> Result<win32job::Job, JobError> {
    win32job::Job::create_with_limit_info(ExtendedLimitInfo::new().limit_kill_on_job_close())
}

/// There is no supervisor on this system: a job object holds what a command starts.
pub fn set_supervisor(_: PathBuf) {}

/// What no command of this system is started through.
#[must_use]
pub fn supervise() -> i32 {
    2
}

/// There is nothing that keeps other processes of the same user out.
pub fn guard_environment() {}

/// There are no pseudo-terminals: the streams are pipes.
pub(super) fn pseudo_terminal(_: Terminal) -> io::Result<(PipeReader, PipeWriter)> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Nothing is confined on this system, so nothing was refused.
pub(super) fn refused(_: &Job, _: &str, _: &Report) -> Vec<PathBuf> {
    Vec::new()
}

/// Without a thread for signals the second one ends this process at once.
pub(super) fn listen(stop: Stop) -> io::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 130, stop.requested.clone())?;
        signal_hook::flag::register(signal, stop.requested.clone())?;
    }
    Ok(())
}
