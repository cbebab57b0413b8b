use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

/// Says that something long still goes on, and how long it has: a line each minute in which nothing
/// else was said, or on a terminal one line that is drawn anew each second.
pub(crate) struct Heartbeat {
    shared: Arc<(Mutex<State>, Condvar)>,
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
    /// One that draws, or says a line a minute.
    pub(crate) fn new(drawn: bool, write: fn(&str)) -> Self {
        let every = Duration::from_secs(if drawn { 1 } else { 60 });
        Self::with(every, drawn, write)
    }

    fn with(every: Duration, drawn: bool, write: fn(&str)) -> Self {
        let state = State {
            doing: None,
            wrote: Instant::now(),
            on_screen: false,
        };
        Self {
            shared: Arc::new((Mutex::new(state), Condvar::new())),
            every,
            drawn,
            write,
            started: Once::new(),
        }
    }

    /// What goes on from now; `None` when it has ended.
    pub(crate) fn doing(&self, what: Option<&str>) {
        let mut state = self.lock();
        self.clear(&mut state);
        state.doing = what.map(|it| (it.to_owned(), Instant::now()));
        state.wrote = Instant::now();
        drop(state);
        self.started.call_once(|| self.start());
    }

    /// Writes something else, for which the line on the screen makes room.
    pub(crate) fn speak(&self, write: impl FnOnce()) {
        let mut state = self.lock();
        self.clear(&mut state);
        state.wrote = Instant::now();
        write();
    }

    fn clear(&self, state: &mut State) {
        if std::mem::take(&mut state.on_screen) {
            (self.write)("\r\x1b[K");
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self) {
        let shared = self.shared.clone();
        let (every, drawn, write) = (self.every, self.drawn, self.write);
        // Without a thread nothing is said, and all else goes on.
        let _ = std::thread::Builder::new()
            .name("heartbeat".to_owned())
            .spawn(move || {
                let (state, changed) = &*shared;
                let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                loop {
                    let waited = changed.wait_timeout(state, every.min(Duration::from_millis(250)));
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                    let Some((what, since)) = &state.doing else {
                        continue;
                    };
                    if state.wrote.elapsed() < every {
                        continue;
                    }
                    let seconds = since.elapsed().as_secs();
                    if drawn {
                        write(&format!("\r\x1b[K{what}, {seconds} s"));
                        state.on_screen = true;
                    } else {
                        write(&format!("note: still {what}, {seconds} s\n"));
                    }
                    state.wrote = Instant::now();
                }
            });
    }
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
    fn what_takes_long_is_said_again_until_it_ends() {
        let beat = Heartbeat::with(Duration::from_millis(5), false, keep);
        beat.doing(Some("asking the agent"));
        let end = Instant::now() + Duration::from_secs(20);
        let lines = || {
            SAID.lock()
                .unwrap()
                .matches("still asking the agent, 0 s\n")
                .count()
        };
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
