use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::exec::{Limits, Overlay, Sandbox};
use crate::model::SandboxMode;

/// What the supervisor is asked to do: the first frame on its standard input.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    /// Program and arguments, not all of which are UTF-8.
    pub(super) command: Vec<OsString>,
    /// Whether standard input comes over the socket; else it is `/dev/null`.
    pub(super) stdin: bool,
    /// Where the command starts.
    pub(super) directory: PathBuf,
    pub(super) limits: Limits,
    /// With all that may be written.
    pub(super) sandbox: Sandbox,
    /// Writable too, unless one of them holds what is closed and mounts cannot be had.
    pub(super) common: Vec<PathBuf>,
    /// Folders that all programs share: private to the command where mounts can be had, else not
    /// writable.
    pub(super) temporary: Vec<PathBuf>,
    pub(super) overlays: Vec<Overlay>,
}

impl Order {
    pub(super) fn is_confined(&self) -> bool {
        self.sandbox.mode != SandboxMode::Off
    }
}

pub(super) const ORDER: u8 = b'O';
pub(super) const STDIN: u8 = b'I';
pub(super) const STDIN_END: u8 = b'E';
pub(super) const STOP: u8 = b'T';
pub(super) const KILL: u8 = b'K';
pub(super) const REPORT: u8 = b'R';

const MAX_FRAME: usize = 64 << 20;

pub(super) fn write_frame(mut out: impl Write, tag: u8, payload: &[u8]) -> io::Result<()> {
    let length = u32::try_from(payload.len())
        .ok()
        .filter(|length| *length as usize <= MAX_FRAME)
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut frame = Vec::with_capacity(payload.len() + 5);
    frame.push(tag);
    frame.extend_from_slice(&length.to_le_bytes());
    frame.extend_from_slice(payload);
    out.write_all(&frame)
}

/// The next frame; `None` when the other side is gone.
pub(super) fn read_frame(mut input: impl Read) -> Option<(u8, Vec<u8>)> {
    let mut head = [0; 5];
    input.read_exact(&mut head).ok()?;
    let [tag, length @ ..] = head;
    let length = usize::try_from(u32::from_le_bytes(length)).ok()?;
    if length > MAX_FRAME {
        return None;
    }
    let mut payload = vec![0; length];
    input.read_exact(&mut payload).ok()?;
    Some((tag, payload))
}
