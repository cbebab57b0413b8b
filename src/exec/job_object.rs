use std::io;
use std::os::windows::io::AsRawHandle as _;
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use win32job::{ExtendedLimitInfo, Job, JobError};

use super::ended::ReportedEnd;

/// A command and all it starts, in a job object: what is in it cannot leave it.
pub(super) struct Group {
    child: Child,
    // All in it ends when this is dropped.
    job: Option<Job>,
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
static OWN: OnceLock<Result<Job, JobError>> = OnceLock::new();

const SETTLE: Duration = Duration::from_millis(50);

fn ending_job() -> Result<Job, JobError> {
    Job::create_with_limit_info(ExtendedLimitInfo::new().limit_kill_on_job_close())
}
