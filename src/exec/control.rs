use std::io::PipeReader;
use std::sync::Arc;

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
pub(super) type Control = Arc<dyn Orders + Send + Sync>;

pub(super) trait Orders {
    /// The request to end, grace, then the kill.
    fn stop(&self);

    /// The kill at once.
    fn kill(&self);
}

/// Bytes read at once.
pub(super) const CHUNK: usize = 64 << 10;
