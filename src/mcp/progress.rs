use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Tells a caller how far a tool is, and the tool whether anybody still waits.
pub(super) struct Progress {
    sender: UnboundedSender<String>,
}

impl Progress {
    pub(super) fn new() -> (Self, UnboundedReceiver<String>) {
        let (sender, receiver) = unbounded_channel();
        (Self { sender }, receiver)
    }
}

impl crate::app::Progress for Progress {
    // Nobody receives any more when the call was cancelled.
    fn step(&self, what: &str) -> bool {
        self.sender.send(what.to_owned()).is_ok()
    }

    fn note(&self, text: &str) {
        self.step(text);
    }
}
