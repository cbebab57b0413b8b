use std::io;
use std::process::Command;
use std::thread;
use std::time::Duration;

use process_wrap::std::{ChildWrapper, CommandWrap, JobObject, KillOnDrop};

use super::ended::ReportedEnd;

/// A command and all it starts, in a job object: what is in it cannot leave it, and all of it ends
/// when this process does.
pub(super) struct Group {
    child: Box<dyn ChildWrapper>,
}

impl Group {
    pub(super) fn spawn(command: Command) -> io::Result<Self> {
        let mut command = CommandWrap::from(command);
        let child = command.wrap(KillOnDrop).wrap(JobObject).spawn()?;
        Ok(Self { child })
    }

    /// How the command itself ended, once it has.
    pub(super) fn try_wait(&mut self) -> io::Result<Option<ReportedEnd>> {
        // The outer wrapper waits for the whole job.
        let status = self.child.inner_mut().try_wait()?;
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
        let _ = self.child.start_kill();
    }

    /// Kills what the ended command left, when there is something. How many they were is not told:
    /// none is 0, some are 1.
    pub(super) fn end_rest(&mut self) -> u32 {
        thread::sleep(SETTLE);
        let is_empty = matches!(self.child.try_wait(), Ok(Some(_)));
        self.kill();
        u32::from(!is_empty)
    }
}

const SETTLE: Duration = Duration::from_millis(50);
