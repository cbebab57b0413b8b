//! What each weight of the one weight table buys: for every signal a small repository in which the
//! file that is needed is among the first ten, and falls out of them without that signal.

use mendit::documents::RepoPath;
use mendit::internals::Store;
use mendit::internals::rank::{Commit, RankInput, Signal, WEIGHTS, Weight, rank_by};
use mendit::internals::source::Memory;

const TARGET: &str = "tests/zebra.test.ts";
const NEEDED: &str = "src/needed.ts";
const DAY: i64 = 86_400;

/// A repository of a target, a needed file and twelve others that come before it by name.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is what one signal is about"
)]
struct Case {
    log: &'static str,
    target: String,
    needed: &'static str,
    /// Text of one of the others; `#` stands for its number.
    other: &'static str,
    /// Where the needed file lies, when its name is what counts.
    path: Option<&'static str>,
    /// Commits, by the paths they change; `#` stands for the number of each of the others.
    commits: &'static [&'static [&'static str]],
    changed: bool,
    imported: bool,
    /// The failing tests run it.
    ran: bool,
    /// The fourth of the others lies in the folder of the needed file.
    beside: bool,
}

fn case(signal: Signal) -> Case {
    let none = Case::default();
    match signal {
        Signal::LogTerms => Case {
            log: "frobnicate failed",
            needed: "x.frobnicate()",
            ..none
        },
        // All of them hold the word; one defines it.
        Signal::LogDefinitions => Case {
            log: "frobnicate failed",
            needed: "function frobnicate() {}",
            other: "frobnicate() {}",
            ..none
        },
        Signal::TargetTerms => Case {
            target: "x.frobnicate()".to_owned(),
            needed: "x.frobnicate()",
            ..none
        },
        Signal::TargetDefinitions => Case {
            target: "frobnicate()".to_owned(),
            needed: "function frobnicate() {}",
            other: "frobnicate() {}",
            ..none
        },
        // Each file shares one word with the target; one of these words the target defines.
        Signal::TargetUses => Case {
            target: (0..12).fold("function frobnicate() {}".to_owned(), |text, n| {
                format!("{text}\nword{n:02}()")
            }),
            needed: "frobnicate()",
            other: "word#()",
            ..none
        },
        Signal::Name => Case {
            path: Some("src/zebra.ts"),
            ..none
        },
        Signal::CoChange => Case {
            commits: &[&["src/a#.ts"], &[TARGET, NEEDED]],
            ..none
        },
        Signal::Recency => Case {
            commits: &[&[NEEDED]],
            ..none
        },
        Signal::Change => Case {
            changed: true,
            ..none
        },
        Signal::Hops => Case {
            imported: true,
            ..none
        },
        Signal::Trace => Case { ran: true, ..none },
        // The log leads to one file, which lies beside the needed one.
        Signal::Vicinity => Case {
            log: "word03 failed",
            other: "word#()",
            path: Some("zoo/needed.ts"),
            beside: true,
            ..none
        },
        // The log leads to one file, and that file's history to the needed one.
        Signal::NearCoChange => Case {
            log: "word03 failed",
            other: "word#()",
            commits: &[&["src/a#.ts"], &["src/a03.ts", NEEDED]],
            ..none
        },
    }
}

fn place_of_needed(case: &Case, weights: &[Weight]) -> usize {
    let path = |text: &str| RepoPath::new(text).unwrap();
    let needed = path(case.path.unwrap_or(NEEDED));
    let others = (0..12).map(|n| {
        let text = case.other.replace('#', &format!("{n:02}"));
        let folder = if case.beside && n == 3 { "zoo" } else { "src" };
        (path(&format!("{folder}/a{n:02}.ts")), text.into_bytes())
    });
    let files = others.chain([
        (path(TARGET), case.target.clone().into_bytes()),
        (needed.clone(), case.needed.into()),
    ]);
    let source = Memory::new(files);
    let mut commits = Vec::new();
    for paths in case.commits {
        let numbers = if paths.iter().any(|it| it.contains('#')) {
            12
        } else {
            1
        };
        for n in 0..numbers {
            let paths = paths
                .iter()
                .map(|it| path(&it.replace('#', &format!("{n:02}"))));
            commits.push(Commit {
                time: 10 * DAY,
                paths: paths.collect(),
            });
        }
    }
    let hops = if case.imported {
        vec![(needed.clone(), 1)]
    } else {
        Vec::new()
    };
    let changed = if case.changed {
        vec![needed.clone()]
    } else {
        Vec::new()
    };
    let ran = if case.ran {
        vec![(needed.clone(), 1.0)]
    } else {
        Vec::new()
    };
    let ranked = rank_by(
        weights,
        &source,
        &RankInput {
            log: case.log,
            asking: &[],
            targets: &[path(TARGET)],
            hops: &hops,
            commits: &commits,
            changed: &changed,
            ran: &ran,
            words: &Store::nothing(),
            may_read: &|_| true,
        },
    );
    ranked.iter().position(|it| it.path == needed).unwrap()
}

#[test]
fn every_signal_brings_in_a_file_that_falls_out_without_it() {
    for Weight { signal, .. } in WEIGHTS {
        let case = case(signal);
        let with = place_of_needed(&case, &WEIGHTS);
        let others: Vec<Weight> = WEIGHTS
            .into_iter()
            .filter(|it| it.signal != signal)
            .collect();
        let without = place_of_needed(&case, &others);
        let name = signal.as_str();
        assert!(with < 10, "{name}: place {with} with it");
        assert!(without >= 10, "{name}: place {without} without it");
    }
}

#[test]
fn an_example_s_own_files_are_candidates_and_leave_room_for_the_product() {
    let path = |text: &str| RepoPath::new(text).unwrap();
    let own = (0..20).map(|n| {
        (
            path(&format!("examples/shop/cart{n:02}.ts")),
            b"cart()".into(),
        )
    });
    let product = (0..20).map(|n| (path(&format!("src/m{n:02}.ts")), Vec::new()));
    let elsewhere = [(path("examples/chat/cart.ts"), b"cart()".into())];
    let target = path("examples/shop/cart.test.ts");
    let source = Memory::new(
        own.chain(product)
            .chain(elsewhere)
            .chain([(target.clone(), b"cart()".into())]),
    );
    let ranked = rank_by(
        &WEIGHTS,
        &source,
        &RankInput {
            log: "cart failed",
            asking: &[],
            targets: &[target],
            hops: &[],
            commits: &[],
            changed: &[],
            ran: &[],
            words: &Store::nothing(),
            may_read: &|_| true,
        },
    );
    let paths: Vec<&str> = ranked.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths.len(), 40, "{paths:?}");
    assert!(!paths.contains(&"examples/chat/cart.ts"));
    let own_first = paths[..12]
        .iter()
        .filter(|it| it.starts_with("examples/"))
        .count();
    assert_eq!(own_first, 3, "{paths:?}");
}
