use std::io::{self, PipeReader, PipeWriter};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

use crate::exec::Terminal;

/// What is read from and what a command writes to. Bytes pass through as they are written: the
/// watcher's terminal does what there is to do to them.
pub(in crate::exec) fn pseudo_terminal(terminal: Terminal) -> io::Result<(PipeReader, PipeWriter)> {
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
        ws_row: terminal.rows,
        ws_col: terminal.columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&theirs, size)?;
    Ok((PipeReader::from(ours), PipeWriter::from(theirs)))
}
