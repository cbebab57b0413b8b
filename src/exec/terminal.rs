use std::io::{PipeReader, PipeWriter};

/// Which of its streams the command finds to be a terminal, because whoever watches has one there: it
/// colours and redraws as it would alone. Nothing can be typed into it, and it controls no session.
/// Where the system has no pseudo-terminals, the streams are pipes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Terminal {
    /// Standard output is one.
    pub stdout: bool,
    /// Standard error is one.
    pub stderr: bool,
    /// Characters in a line, 0 when unknown.
    pub columns: u16,
    /// Lines, 0 when unknown.
    pub rows: u16,
}

impl Terminal {
    /// Whether either stream is one.
    #[must_use]
    pub const fn any(self) -> bool {
        self.stdout || self.stderr
    }

    /// What is read from and what the command writes to.
    pub(super) fn stdout(self) -> std::io::Result<(PipeReader, PipeWriter)> {
        self.channel(self.stdout)
    }

    /// The same for standard error.
    pub(super) fn stderr(self) -> std::io::Result<(PipeReader, PipeWriter)> {
        self.channel(self.stderr)
    }

    fn channel(self, wanted: bool) -> std::io::Result<(PipeReader, PipeWriter)> {
        #[cfg(unix)]
        if wanted && let Ok(pair) = self.pseudo_terminal() {
            return Ok(pair);
        }
        let _ = wanted;
        std::io::pipe()
    }

    // Bytes pass through as they are written: the watcher's terminal does what there is to do to them.
    #[cfg(unix)]
    fn pseudo_terminal(self) -> rustix::io::Result<(PipeReader, PipeWriter)> {
        use rustix::fs::{Mode, OFlags};
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        use rustix::termios::{OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        rustix::io::fcntl_setfd(&ours, rustix::io::FdFlags::CLOEXEC)?;
        grantpt(&ours)?;
        unlockpt(&ours)?;
        let name = ptsname(&ours, Vec::new())?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let theirs = rustix::fs::open(&*name, flags, Mode::empty())?;
        let mut modes = tcgetattr(&theirs)?;
        modes.make_raw();
        tcsetattr(&theirs, OptionalActions::Now, &modes)?;
        let size = Winsize {
            ws_row: self.rows,
            ws_col: self.columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&theirs, size)?;
        Ok((PipeReader::from(ours), PipeWriter::from(theirs)))
    }
}
