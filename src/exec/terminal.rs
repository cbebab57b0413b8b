use std::io::{PipeReader, PipeWriter};

use super::unix;

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

    /// For both streams, what is read from and what the command writes to.
    pub(super) fn channels(self) -> std::io::Result<[(PipeReader, PipeWriter); 2]> {
        let channel = |wanted: bool| {
            let terminal = wanted.then(|| unix::pseudo_terminal(self).ok());
            terminal.flatten().map_or_else(std::io::pipe, Ok)
        };
        Ok([channel(self.stdout)?, channel(self.stderr)?])
    }
}
