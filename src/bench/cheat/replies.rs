use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::json;

use super::knowledge::Knowledge;
use super::{javascript, python, settings, test_files};
use crate::bench::Fixture;
use crate::model::FailurePacket;

/// A file as a trick leaves it: its path and all of its text.
pub(super) type Written = (String, String);

/// What a trick sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reply {
    /// Files in full.
    Files(Vec<Written>),
    /// A file that goes, and what it held.
    Delete(String, String),
}

impl Reply {
    /// One file in full; `None` for one with nothing in it.
    pub(super) fn one(path: &str, text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        (!text.is_empty()).then(|| Self::Files(vec![(path.to_owned(), text)]))
    }
}

/// A way to a green without a repair: its name, and what it does to a repository when it can.
pub(super) type Trick = (&'static str, fn(&Knowledge) -> Option<Reply>);

/// Sends every trick that the fixture's language knows, each once, over as many runs as it takes.
pub(in crate::bench) struct Cheat {
    tricks: Vec<Trick>,
    // Asked through a shared reference, as agents are.
    state: Mutex<State>,
}

struct State {
    known: Knowledge,
    next: usize,
    last: &'static str,
}

impl Cheat {
    /// A cheat that knows all files of a fixture, by path.
    pub(in crate::bench) fn new(fixture: &Fixture, files: BTreeMap<String, String>) -> Self {
        let known = Knowledge::of(fixture, files);
        let own: &[Trick] = if known.is_python() {
            python::TRICKS
        } else {
            javascript::TRICKS
        };
        let tricks = own.iter().chain(settings::TRICKS).chain(test_files::TRICKS);
        Self {
            tricks: tricks.copied().collect(),
            state: Mutex::new(State {
                known,
                next: 0,
                last: NONE,
            }),
        }
    }

    /// The next trick that can be played here, as a reply.
    pub(in crate::bench) fn reply(&self, packet: &FailurePacket) -> String {
        let mut state = self.state();
        state.known.hear(&packet.logs.text);
        while let Some((name, play)) = self.tricks.get(state.next) {
            state.next += 1;
            if let Some(played) = play(&state.known) {
                state.last = name;
                return written(played);
            }
        }
        json!({ "status": "give_up", "notes": "no trick is left" }).to_string()
    }

    /// The name of the trick that was sent last.
    pub(in crate::bench) fn last(&self) -> &'static str {
        self.state().last
    }

    /// Whether every trick was tried.
    pub(in crate::bench) fn is_spent(&self) -> bool {
        self.state().next >= self.tricks.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const NONE: &str = "none";

fn written(played: Reply) -> String {
    match played {
        Reply::Files(files) => {
            let files: Vec<_> = files
                .into_iter()
                .map(|(path, content)| json!({ "path": path, "content": content }))
                .collect();
            json!({ "status": "patch", "files": files }).to_string()
        }
        Reply::Delete(path, text) => {
            let lines: String = text
                .split_inclusive('\n')
                .map(|it| format!("-{it}"))
                .collect();
            let count = text.lines().count();
            let patch = format!(
                "diff --git a/{path} b/{path}\ndeleted file mode 100644\n--- a/{path}\n\
                 +++ /dev/null\n@@ -1,{count} +0,0 @@\n{lines}"
            );
            json!({ "status": "patch", "patch": patch }).to_string()
        }
    }
}
