//! Sends progress to an MCP client. The last message is repeated, because clients give up on silence.

use std::time::{Duration, Instant};

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::app::{AppError, Progress, Stop};

/// The tool's end: sends what it does, and learns whether anybody still waits.
pub(super) struct ToolProgress {
    sender: UnboundedSender<String>,
    stop: Stop,
}

impl ToolProgress {
    pub(super) fn new(stop: Stop) -> (Self, UnboundedReceiver<String>) {
        let (sender, receiver) = unbounded_channel();
        (Self { sender, stop }, receiver)
    }
}

impl Progress for ToolProgress {
    // Nobody receives any more when the call was canceled.
    fn step(&self, what: &str) -> bool {
        self.sender.send(what.to_owned()).is_ok()
    }

    fn note(&self, text: &str) {
        self.step(text);
    }

    fn stop(&self) -> Result<Stop, AppError> {
        Ok(self.stop.clone())
    }
}

/// The client's end: passes steps on at once, and repeats the last word before a client gives up on silence.
pub(super) struct Notifier {
    peer: Peer<RoleServer>,
    // Optional, since a client that reads no progress still gets its answer.
    token: Option<ProgressToken>,
    count: u32,
    last: String,
    since: Instant,
}

/// Clients give up on a call that is silent for long; the contract promises a word every 5 seconds.
pub(super) const SILENCE: Duration = Duration::from_secs(4);

impl Notifier {
    pub(super) fn new(context: &RequestContext<RoleServer>) -> Self {
        Self {
            peer: context.peer.clone(),
            token: context.meta.get_progress_token(),
            count: 0,
            last: String::new(),
            since: Instant::now(),
        }
    }

    /// Passes on what the tool sends.
    pub(super) async fn hear(&mut self, step: String) {
        self.last.clone_from(&step);
        self.tell(step).await;
    }

    pub(super) async fn repeat(&mut self) {
        let seconds = self.since.elapsed().as_secs();
        self.tell(format!("{seconds} s: {}", self.last)).await;
    }

    async fn tell(&mut self, message: String) {
        self.count += 1;
        if let Some(token) = &self.token {
            let mut note = ProgressNotificationParam::new(token.clone(), self.count.into());
            note.message = Some(message);
            let _ = self.peer.notify_progress(note).await;
        }
    }
}
