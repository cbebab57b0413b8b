use std::ffi::OsString;
use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

use crate::model::SandboxMode;

/// What the supervisor is asked to do: the first frame on its standard input.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    /// Program and arguments. Paths are such strings too: not all of them are UTF-8.
    pub(super) command: Vec<OsString>,
    /// Whether standard input comes over the socket; else it is `/dev/null`.
    pub(super) stdin: bool,
    pub(super) timeout_ms: Option<u64>,
    pub(super) grace_ms: u64,
    pub(super) sandbox: SandboxMode,
    pub(super) writable: Vec<OsString>,
    /// Writable too, unless one of them holds what is closed and mounts cannot be had.
    pub(super) common: Vec<OsString>,
    /// Folders that all programs share: private to the command where mounts can be had, else not
    /// writable.
    pub(super) temporary: Vec<OsString>,
    pub(super) no_network: bool,
    /// Where the command starts.
    pub(super) directory: OsString,
    /// Must not be written, though what is above may be.
    pub(super) closed: Vec<OsString>,
    pub(super) overlays: Vec<OrderOverlay>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OrderOverlay {
    pub(super) at: OsString,
    pub(super) layers: Vec<OsString>,
    pub(super) upper: OsString,
    pub(super) work: OsString,
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
