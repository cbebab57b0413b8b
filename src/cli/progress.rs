//! Prints progress: one line that is redrawn on a terminal, otherwise a line each minute.

use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

use crate::model::{Event, EventKind, StopReason};

/// Says that something long still goes on, and how long it has: a line each minute in which nothing
/// else was said, or on a terminal one line that is drawn anew each second.
pub(crate) struct Heartbeat {
    state: Arc<Mutex<State>>,
    every: Duration,
    drawn: bool,
    write: fn(&str),
    started: Once,
}

struct State {
    doing: Option<(String, Instant)>,
    wrote: Instant,
    on_screen: bool,
}

impl Heartbeat {
    pub(crate) fn new(drawn: bool, write: fn(&str)) -> Self {
        let every = Duration::from_secs(if drawn { 1 } else { 60 });
        Self::with_interval(every, drawn, write)
    }

    fn with_interval(every: Duration, drawn: bool, write: fn(&str)) -> Self {
        Self {
            state: Arc::new(Mutex::new(State {
                doing: None,
                wrote: Instant::now(),
                on_screen: false,
            })),
            every,
            drawn,
            write,
            started: Once::new(),
        }
    }

    /// Takes what goes on from now; `None` when it has ended.
    pub(crate) fn doing(&self, what: Option<&str>) {
        self.speak_with(|| {}).doing = what.map(|what| (what.to_owned(), Instant::now()));
        self.started.call_once(|| self.start());
    }

    /// Writes something else, for which the line on the screen makes room.
    pub(crate) fn write_between(&self, write: impl FnOnce()) {
        drop(self.speak_with(write));
    }

    fn speak_with(&self, write: impl FnOnce()) -> MutexGuard<'_, State> {
        let mut state = lock_state(&self.state);
        if std::mem::take(&mut state.on_screen) {
            (self.write)("\r\x1b[K");
        }
        state.wrote = Instant::now();
        write();
        state
    }

    fn start(&self) {
        let shared = self.state.clone();
        let (every, drawn, write) = (self.every, self.drawn, self.write);
        // Without a thread nothing is said, and all else goes on.
        let _ = std::thread::Builder::new().name("heartbeat".to_owned()).spawn(move || {
            loop {
                std::thread::sleep(every.min(Duration::from_millis(250)));
                let mut state = lock_state(&shared);
                let Some((what, since)) = &state.doing else {
                    continue;
                };
                if state.wrote.elapsed() < every {
                    continue;
                }
                let seconds = since.elapsed().as_secs();
                if drawn {
                    write(&format!("\r\x1b[K{what}, {seconds} s"));
                } else {
                    write(&format!("note: still {what}, {seconds} s\n"));
                }
                state.on_screen = drawn;
                state.wrote = Instant::now();
            }
        });
    }
}

fn lock_state(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns what begins with an event and may take long; `Some(None)` when such a thing has ended.
pub(super) fn long_step(event: &Event) -> Option<Option<&'static str>> {
    Some(match &event.kind {
        EventKind::CommandStarted { .. } | EventKind::HealStarted { .. } => {
            Some("running the tests")
        }
        EventKind::AttemptStarted { .. } => Some("asking the agent and testing its reply"),
        EventKind::CommandEnded { .. }
        | EventKind::AttemptEnded { .. }
        | EventKind::PartEnded { .. }
        | EventKind::RunEnded { .. } => None,
        _ => return None,
    })
}

/// Returns what a person who watches wants to know of an event.
pub(super) fn line_of(event: &Event) -> Option<String> {
    Some(match &event.kind {
        EventKind::CommandStarted { what, why, .. } if what == "baseline-again" => {
            format!("running the tests again: {why}")
        }
        EventKind::HealStarted { what, .. } => format!("trying: {what}"),
        EventKind::AttemptStarted {
            attempt,
            context_level,
            ..
        } => format!("attempt {attempt}: asking the agent at level {context_level}"),
        EventKind::AttemptEnded {
            attempt,
            stop_reason,
            why,
            ..
        } if *stop_reason != StopReason::Fixed => {
            format!("attempt {attempt} did not fix it: {why}")
        }
        EventKind::AgentSettings { code, dropped } => {
            let paths = dropped.join(", ~/");
            format!("{code}: discarded what the agent wrote to its home: ~/{paths}")
        }
        EventKind::TimeoutAutoSplitFailed(split) | EventKind::ComplexitySplitFailed(split) => {
            let why = split.error.as_deref().unwrap_or_default();
            format!("the task cannot be split: {why}")
        }
        EventKind::Workplace { kind, why } if kind != "overlay" => {
            format!("running in {kind}: {why}")
        }
        EventKind::Sandbox { code, sandbox, .. } if sandbox == "partial" => {
            format!("{code}: the sandbox is only partly active; protected paths may be written")
        }
        EventKind::Sandbox { code, .. } => {
            format!("{code}: the sandbox is not active; commands and agents may write anywhere")
        }
        EventKind::SandboxRefused(refused) => {
            let flag = if refused.agent { "agent" } else { "allow" };
            let path = &refused.path;
            format!("mendit's sandbox refused writing {path}; --{flag}-write {path}")
        }
        EventKind::PartStarted { number, title, .. } => format!("part {number}: {title}"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::{Duration, Instant};

    use super::Heartbeat;

    static SAID: Mutex<String> = Mutex::new(String::new());

    fn keep(text: &str) {
        SAID.lock().unwrap().push_str(text);
    }

    #[test]
    fn repeats_a_long_step_until_it_ends() {
        let beat = Heartbeat::with_interval(Duration::from_millis(5), false, keep);
        beat.doing(Some("asking the agent"));
        let end = Instant::now() + Duration::from_secs(20);
        let lines = || SAID.lock().unwrap().matches("still asking the agent, 0 s\n").count();
        while lines() < 2 {
            assert!(Instant::now() < end);
            std::thread::sleep(Duration::from_millis(2));
        }
        beat.doing(None);
        let written = SAID.lock().unwrap().clone();
        std::thread::sleep(Duration::from_millis(30));
        assert_eq!(*SAID.lock().unwrap(), written);
    }
}
