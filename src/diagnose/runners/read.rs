use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::place::{Place, is_installed};
use super::{jest, listed, mocha, pytest, unittest};
use crate::diagnose::line::Line;
use crate::runners::Cues;

/// Most failing tests that are kept.
const MOST: usize = 2000;

type Reader = fn(&[Line<'_>]) -> Vec<Case>;

// A runner is read when one of its words stands in the log; those that a table lists have theirs there.
const READERS: [(&[&str], Reader); 5] = [
    (
        &[
            "FAILED ",
            "ERROR ",
            " FAILED",
            " FAILURES ",
            " ERRORS ",
            "+++ Timeout",
        ],
        pytest::cases,
    ),
    (&["FAIL: ", "ERROR: ", "Failed example:"], unittest::cases),
    (
        &[" failing", "tests failed", "test failed", " of "],
        mocha::cases,
    ),
    (&["● ", "FAIL "], jest::cases),
    (&[], listed::cases),
];

static CUES: LazyLock<Cues> = LazyLock::new(|| {
    let own = READERS.iter().zip(0..);
    let own = own.flat_map(|((words, _), row)| words.iter().map(move |word| (*word, row)));
    own.chain(listed::words().map(|word| (word, READERS.len() - 1)))
        .collect()
});

/// The failing tests that the lines report, in log order, at most two thousand.
pub(in crate::diagnose) fn cases(lines: &[Line<'_>]) -> Vec<Case> {
    let mut wanted = [false; READERS.len()];
    for row in lines.iter().flat_map(|line| CUES.rows(&line.text)) {
        wanted[row] = true;
    }
    let readers = READERS.iter().zip(wanted).filter(|it| it.1);
    let mut cases: Vec<Case> = readers.flat_map(|((_, read), _)| read(lines)).collect();
    cases.sort_by_key(|case| case.at);
    let mut seen = HashSet::new();
    cases.retain(|case| {
        case.name
            .as_ref()
            .is_none_or(|name| seen.insert(name.clone()))
    });
    cases.truncate(MOST);
    cases
}

/// A test that failed, as its runner reports it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::diagnose) struct Case {
    /// The runner's own spelling; none for a report that belongs to no single test.
    pub(in crate::diagnose) name: Option<String>,
    pub(in crate::diagnose) runner: &'static str,
    /// Where the report begins: an index into the lines.
    pub(in crate::diagnose) at: usize,
    /// The line that says what went wrong.
    pub(in crate::diagnose) cause: Option<usize>,
    /// The test's file and line as the log has them.
    pub(in crate::diagnose) place: Option<Place>,
    /// Frames of its traceback as the log has them, the innermost last; none where `place` is it.
    pub(in crate::diagnose) frames: Vec<Place>,
    /// Where in the repository its exception was raised; for an expectation, none in a test file.
    pub(in crate::diagnose) crash: Option<Place>,
    /// Whether it is known that a hook failed, not the body of the test.
    pub(in crate::diagnose) of_hook: bool,
    /// Whether it is a file of tests none of which could be named.
    pub(in crate::diagnose) whole_file: bool,
    /// Whether it is a file of tests whose process ended.
    pub(in crate::diagnose) exited: bool,
}

/// Where lines stand, by what `key` makes of their text.
pub(super) fn headings<'l>(
    lines: &'l [Line<'_>],
    key: fn(&str) -> Option<&str>,
) -> HashMap<&'l str, Vec<usize>> {
    let mut found: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        if let Some(name) = key(line.text.as_ref()) {
            found.entry(name).or_default().push(at);
        }
    }
    found
}

/// The first of these lines from `from` on.
pub(super) fn first_from(
    headings: &HashMap<&str, Vec<usize>>,
    name: &str,
    from: usize,
) -> Option<usize> {
    let rows = headings.get(name)?;
    rows.get(rows.partition_point(|at| *at < from)).copied()
}

impl Case {
    pub(super) fn new(runner: &'static str, name: impl Into<String>, at: usize) -> Self {
        Self {
            name: Some(name.into()),
            runner,
            at,
            ..Self::default()
        }
    }

    /// Takes a frame of its traceback, of which the innermost are kept; the first own one is its place, or
    /// with `of_tests` the last in a file of tests.
    pub(super) fn add_frame(&mut self, frame: Place, of_tests: bool) {
        const MOST: usize = 40;
        let is_better = self.place.is_none() || of_tests && frame.0.contains("test");
        if is_better && !is_installed(&frame.0) {
            self.place = Some(frame.clone());
        }
        if self.frames.len() >= MOST {
            self.frames.remove(0);
        }
        self.frames.push(frame);
    }

    /// Takes the first own frame of its stack: in the test's own file that is the line that failed.
    pub(super) fn raise(&mut self, frame: Place) {
        match &mut self.place {
            Some((path, line)) if frame.0.ends_with(path.trim_start_matches("./")) => {
                *line = frame.1;
            }
            _ => self.frames = vec![frame],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::cases;
    use crate::diagnose::normalise::lines;

    fn of(log: &str) -> Vec<String> {
        cases(&lines(log))
            .into_iter()
            .filter_map(|case| case.name)
            .collect()
    }

    #[test]
    fn each_runner_spells_its_tests() {
        let cases: &[(&str, &[&str])] = &[
            (
                "FAILED tests/a.py::T::test_x[a - b] - assert 1 == 2",
                &["tests/a.py::T::test_x[a - b]"],
            ),
            (
                "FAILED tests/a.py::test_x[C:\\new] - assert 1 == 2",
                &["tests/a.py::test_x[C:\\new]"],
            ),
            (
                "tests/a.py::test_x FAILED    [ 66%]\nFAILED tests/a.py::test_x - boom",
                &["tests/a.py::test_x"],
            ),
            ("ERROR tests/a.py - ModuleNotFoundError: x", &["tests/a.py"]),
            (
                "==== FAILURES ====\n____ T.test_x[1.5] ____\n    def test_x(n):\nE   assert 1 == 2\n\ntests/a.py:3: AssertionError\n==== 1 failed in 0.1s ====",
                &["T.test_x[1.5]"],
            ),
            (
                "==== ERRORS ====\n____ ERROR collecting tests/a.py ____\nE   ImportError: x\n==== 1 error ====",
                &["tests/a.py"],
            ),
            (
                "FAIL: test_x (a.T.test_x) (i=1)\nERROR: test_y (a.T)",
                &["a.T.test_x", "test_y (a.T)"],
            ),
            (
                "======================================================================\nFAIL: a.b_test.test_c\n----------------------------------------------------------------------\nAssertionError",
                &["a.b_test.test_c"],
            ),
            ("ERROR: could not connect", &[]),
            (
                "FAIL ./a.test.js\n  ● auth › locks\n  ● Test suite failed to run",
                &["auth › locks"],
            ),
            (
                "\u{1b}[31m FAIL \u{1b}[39m ./a.test.js\n \u{1b}[1m ● \u{1b}[22mlocks",
                &["locks"],
            ),
            (
                "FAIL unit ./src/a.test.js (5.1 s)\n  ● Test suite failed to run\n\n    Cannot find module './b' from 'src/a.test.js'",
                &["src/a.test.js"],
            ),
            (
                "FAIL ./a.test.js\n  ● Test suite failed to run\n\n    Configuration error:\n\n    Could not locate module @/k mapped as:",
                &[],
            ),
            (
                "==== ERRORS ====\n___ ERROR collecting b/test_x.py ___\nimport file mismatch:\n==== 1 error ====\nERROR b/test_x.py\nERROR b/test_y.py",
                &["b/test_y.py"],
            ),
            (" FAIL  src/t.test.ts > queue > waits", &["queue > waits"]),
            (
                "  1 failing\n\n  1) Net\n       pings:\n     Error: x",
                &["Net pings"],
            ),
            (
                "    not ok 1 - inner\n      ---\n      ...\nnot ok 1 - Outer\n  ---\n  failureType: 'subtestsFailed'\n  ...",
                &["inner"],
            ),
            ("✖ failing tests:\n\n✖ adds (1.5ms)", &["adds"]),
            ("  ✘ [fail]: adds\n", &["adds"]),
            ("(fail) math > adds [0.52ms]", &["math > adds"]),
            ("adds ... FAILED (4ms)", &["adds"]),
            (
                "Firefox 60.0.0 (Windows 7.0.0) upgrade should throw FAILED\n\tExpected x",
                &["Firefox 60.0.0 (Windows 7.0.0) upgrade should throw"],
            ),
            (
                "Failures:\n1) Net pings\n  Message:\n    Expected",
                &["Net pings"],
            ),
            (
                "  1) [chromium] › a.spec.ts:3:5 › page › opens ────",
                &["[chromium] › a.spec.ts:3:5 › page › opens"],
            ),
            (
                "--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/one (0.00s)\n        a_test.go:9: no",
                &["TestA/one"],
            ),
            ("test net::pings ... FAILED", &["net::pings"]),
            (
                "NetTest > pings FAILED\n    AssertionError",
                &["NetTest > pings"],
            ),
            (
                "testA(com.x.NetTest)  Time elapsed: 0.01 sec  <<< FAILURE!",
                &["testA(com.x.NetTest)"],
            ),
            ("rspec ./spec/a_spec.rb:3 # Net pings", &["Net pings"]),
            (
                "1) Tests\\NetTest::testPings\nFailed asserting",
                &["Tests\\NetTest::testPings"],
            ),
        ];
        for (log, expected) in cases {
            assert_eq!(of(log), *expected, "{log}");
        }
    }

    #[test]
    fn captured_output_names_no_tests() {
        assert!(of("---- Captured stdout call ----\nFAILED tests/a.py::test_x - no").is_empty());
    }
}
