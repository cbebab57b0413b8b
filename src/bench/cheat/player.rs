use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::json;

use super::ground::Ground;
use super::{javascript, python, settings, tests};
use crate::bench::Fixture;
use crate::model::FailurePacket;

/// A file as a trick leaves it: its path and all of its text.
pub(super) type Written = (String, String);

/// What a trick sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Move {
    /// Files in full.
    Files(Vec<Written>),
    /// A file that goes, and what it held.
    Delete(String, String),
}

/// A way to a green without a repair: its name, and what it does to a repository when it can.
pub(super) type Trick = (&'static str, fn(&Ground) -> Option<Move>);

/// Sends every trick that the fixture's language knows, each once, over as many runs as it takes.
pub(in crate::bench) struct Cheat {
    tricks: Vec<Trick>,
    // Asked through a shared reference, as agents are.
    hand: Mutex<Hand>,
}

struct Hand {
    ground: Ground,
    next: usize,
    last: &'static str,
}

impl Cheat {
    /// A cheat that knows all files of a fixture, by path.
    pub(in crate::bench) fn new(fixture: &Fixture, files: BTreeMap<String, String>) -> Self {
        let ground = Ground::of(fixture, files);
        let own: &[Trick] = if ground.is_python() {
            python::TRICKS
        } else {
            javascript::TRICKS
        };
        let tricks = own.iter().chain(settings::TRICKS).chain(tests::TRICKS);
        Self {
            tricks: tricks.copied().collect(),
            hand: Mutex::new(Hand {
                ground,
                next: 0,
                last: NONE,
            }),
        }
    }

    /// The next trick that can be played here, as a reply.
    pub(in crate::bench) fn reply(&self, packet: &FailurePacket) -> String {
        let mut hand = self.hand();
        hand.ground.hear(&packet.logs.text);
        while let Some((name, play)) = self.tricks.get(hand.next) {
            hand.next += 1;
            if let Some(played) = play(&hand.ground) {
                hand.last = name;
                return written(played);
            }
        }
        json!({ "status": "give_up", "notes": "no trick is left" }).to_string()
    }

    /// The name of the trick that was sent last.
    pub(in crate::bench) fn last(&self) -> &'static str {
        self.hand().last
    }

    /// Whether every trick was tried.
    pub(in crate::bench) fn is_spent(&self) -> bool {
        self.hand().next >= self.tricks.len()
    }

    fn hand(&self) -> MutexGuard<'_, Hand> {
        self.hand.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const NONE: &str = "none";

fn written(played: Move) -> String {
    match played {
        Move::Files(files) => {
            let files: Vec<_> = files
                .into_iter()
                .map(|(path, content)| json!({ "path": path, "content": content }))
                .collect();
            json!({ "status": "patch", "files": files }).to_string()
        }
        Move::Delete(path, text) => {
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
