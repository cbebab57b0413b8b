use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use crate::exec::ended::ReportedEnd;

/// A command and what it starts, in a process group. What leaves the group is out of reach.
pub(in crate::exec) struct Group {
    child: Child,
}

impl Group {
    pub(in crate::exec) fn spawn(mut command: Command) -> io::Result<Self> {
        let child = command.process_group(0).spawn()?;
        Ok(Self { child })
    }

    /// How the command itself ended, once it has.
    pub(in crate::exec) fn try_wait(&mut self) -> io::Result<Option<ReportedEnd>> {
        let status = self.child.try_wait()?;
        Ok(status.map(|status| match (status.code(), status.signal()) {
            (Some(code), _) => ReportedEnd::Exit(code),
            (None, Some(signal)) => ReportedEnd::Signal(signal),
            (None, None) => ReportedEnd::Failed("ended in an unknown way".to_owned()),
        }))
    }

    pub(in crate::exec) fn ask_to_end(&mut self) {
        if let Some(group) = self.id() {
            let _ = kill_process_group(group, Signal::TERM);
            let _ = kill_process_group(group, Signal::CONT);
        }
    }

    pub(in crate::exec) fn kill(&mut self) {
        if let Some(group) = self.id() {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.kill();
    }

    /// Kills what the ended command left, when there is something. How many they were cannot be
    /// told: none is 0, some are 1.
    pub(in crate::exec) fn end_rest(&mut self) -> u32 {
        let Some(group) = self.id() else {
            return 0;
        };
        let end = Instant::now() + SETTLE;
        while test_kill_process_group(group).is_ok() {
            if Instant::now() >= end {
                let _ = kill_process_group(group, Signal::KILL);
                return 1;
            }
            thread::sleep(TICK);
        }
        0
    }

    fn id(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.child.id()).ok()?)
    }
}

const TICK: Duration = Duration::from_millis(5);
const SETTLE: Duration = Duration::from_millis(200);
