use std::io::PipeReader;
use std::sync::mpsc::Sender;
#[cfg(unix)]
use std::sync::{Arc, Mutex, PoisonError};

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
#[derive(Clone)]
pub(super) enum Control {
    #[cfg(unix)]
    Supervisor(Arc<Mutex<std::os::unix::net::UnixStream>>),
    Thread(Sender<Ask>),
}

impl Control {
    /// The request to end, grace, then the kill.
    pub(super) fn stop(&self) {
        match self {
            #[cfg(unix)]
            Self::Supervisor(_) => {
                self.send(super::protocol::STOP, &[]);
            }
            Self::Thread(asks) => {
                let _ = asks.send(Ask::Stop);
            }
        }
    }

    /// The kill at once.
    pub(super) fn kill(&self) {
        match self {
            #[cfg(unix)]
            Self::Supervisor(_) => {
                self.send(super::protocol::KILL, &[]);
            }
            Self::Thread(asks) => {
                let _ = asks.send(Ask::Kill);
            }
        }
    }

    /// One frame for the supervisor. Whether it still listens.
    #[cfg(unix)]
    pub(super) fn send(&self, tag: u8, payload: &[u8]) -> bool {
        match self {
            Self::Supervisor(socket) => {
                let socket = socket.lock().unwrap_or_else(PoisonError::into_inner);
                super::protocol::write_frame(&*socket, tag, payload).is_ok()
            }
            Self::Thread(_) => false,
        }
    }
}

/// What a command without a supervisor can be told.
pub(super) enum Ask {
    Stop,
    Kill,
}

/// Bytes read at once.
pub(super) const CHUNK: usize = 64 << 10;
