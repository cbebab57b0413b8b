//! A failing test as its runner reports it: name, place, error.

use std::ops::Range;

use crate::diagnose::line::{Line, lines_below};
use crate::runners::pattern;

/// A file as a log names it, and the line.
pub(in crate::diagnose) type Place = (String, Option<u32>);

/// A failing test as its runner reports it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::diagnose) struct Case {
    /// The runner's own spelling; none for a report that belongs to no single test.
    pub(in crate::diagnose) name: Option<String>,
    pub(in crate::diagnose) runner: &'static str,
    /// Index of the line that names the test.
    pub(in crate::diagnose) at: usize,
    /// Lines of its failure block: data of the test that steer nothing.
    pub(in crate::diagnose) block: Range<usize>,
    /// The line that states what went wrong.
    pub(in crate::diagnose) cause: Option<usize>,
    /// The test's file and line as the log has them.
    pub(in crate::diagnose) place: Option<Place>,
    /// Frames of its traceback as the log has them, innermost last; none where `place` is the frame.
    pub(in crate::diagnose) frames: Vec<Place>,
    /// Where in the repository its exception was raised; for an expectation, none in a test file.
    pub(in crate::diagnose) crash: Option<Place>,
    /// Whether it is a file of tests none of which could be named.
    pub(in crate::diagnose) is_whole_file: bool,
}

impl Case {
    pub(super) fn new(runner: &'static str, name: impl Into<String>, at: usize) -> Self {
        Self {
            name: Some(name.into()),
            runner,
            at,
            block: at..at + 1,
            ..Self::default()
        }
    }

    /// Adds a frame of its traceback; the first own one is its place, or with `prefers_tests` the last
    /// in a file of tests.
    pub(super) fn add_frame(&mut self, frame: Place, prefers_tests: bool) {
        let is_better = self.place.is_none() || prefers_tests && frame.0.contains("test");
        if is_better && !is_installed(&frame.0) {
            self.place = Some(frame.clone());
        }
        // Frames that are kept of one traceback. Bounded, because deep recursion prints a thousand.
        if self.frames.len() >= 40 {
            self.frames.remove(0);
        }
        self.frames.push(frame);
    }

    /// Adds the first own frame of its stack: in the test's own file that is the line that failed.
    pub(super) fn set_raised(&mut self, frame: Place) {
        match &mut self.place {
            Some((path, line)) if frame.0.ends_with(path.trim_start_matches("./")) => {
                *line = frame.1;
            }
            _ => self.frames = vec![frame],
        }
    }
}

/// Strips the checkout folder of common CI services and images from a path.
pub(in crate::diagnose) fn relative_path(path: &str) -> String {
    pattern!(
        ROOT,
        r"^(?:file://)?(?:/__w/[^/]+/[^/]+/|/home/runner/work/[^/]+/[^/]+/|/Users/runner/work/[^/]+/[^/]+/|/home/travis/build/[^/]+/[^/]+/|/Users/travis/build/[^/]+/[^/]+/|/github/workspace/|/builds/[^/]+/[^/]+/|/workspaces?/(?:[^/]+/)?|/home/circleci/[^/]+/|/bitbucket/pipelines/agent/build/|/(?:usr/src/)?app/|[A-Za-z]:[\\/]a[\\/][^\\/]+[\\/][^\\/]+[\\/])"
    );
    let may_be_rooted = path.starts_with(['/', 'f']) || path.get(1..2) == Some(":");
    let path = if may_be_rooted { ROOT.replace(path, "") } else { path.into() };
    let path = path.replace('\\', "/");
    path.strip_prefix("./").unwrap_or(&path).to_owned()
}

/// Checks whether a path belongs to an installed package or to the runtime.
pub(in crate::diagnose) fn is_installed(path: &str) -> bool {
    const PARTS: &str = "node_modules/|site-packages/|dist-packages/|compiler-rt/|internal/main/|internal/modules/|internal/process/|internal/timers|/hostedtoolcache/|/usr/lib/|/usr/local/lib/|/usr/share/|/.npm/|/.cache/|/.pyenv/|/.nvm/|/.pnpm/|/.venv/|/.yarn/|/.cargo/registry/|/_work/_tool/|/Lib/|/lib/python2|/lib/python3|/rustc/|src/libstd/|src/libcore/|src/libpanic_unwind/";
    // As old releases of Node name the files inside it.
    const NODE: &str =
        "module.js|vm.js|events.js|timers.js|util.js|net.js|child_process.js|bootstrap_node.js";
    let path = path.replace('\\', "/");
    let is_inside = path.starts_with('<') || path.starts_with("node:");
    is_inside
        || NODE.split('|').any(|name| path == name)
        || PARTS.split('|').any(|part| path.contains(part))
}

/// Parses a frame of a Python traceback.
pub(in crate::diagnose) fn python_frame(text: &str) -> Option<Place> {
    pattern!(FRAME, r#"^[\s|]*File "([^"]+)", line (\d+)"#);
    let found = text.contains(", line ").then(|| FRAME.captures(text))??;
    Some((found[1].to_owned(), found[2].parse().ok()))
}

/// Returns the first own frame of a JavaScript stack in the next lines.
pub(in crate::diagnose) fn first_script_frame(
    lines: &[Line<'_>],
    range: Range<usize>,
) -> Option<Place> {
    pattern!(
        FRAME,
        r"(?:^\s*at (?:.*\()?|^\s*❯ (?:.*\] |\S+ )?|^\s*\S*@)(?:file://|webpack://[^/]*/(?:\./)?)?((?:[A-Za-z]:)?[^\s():@][^():@]*?\.(?:[cm]?[jt]sx?|vue|svelte|coffee)):(\d+)(?::\d+)?"
    );
    lines_below(lines, range.start, range.len())
        .filter(|text| text.contains(':'))
        .find_map(|text| {
            let found = FRAME.captures(text)?;
            (!is_installed(&found[1])).then(|| (found[1].to_owned(), found[2].parse().ok()))
        })
}

/// Returns the first own place of a Python report.
pub(in crate::diagnose) fn first_python_frame(lines: &[Line<'_>]) -> Option<Place> {
    let mut frames = lines.iter().filter_map(|line| report_frame(&line.text));
    frames.find(|frame| !is_installed(&frame.0))
}

/// Parses a place in a report of pytest, `tests/test_a.py:3: AssertionError`, or a frame.
pub(super) fn report_frame(text: &str) -> Option<Place> {
    pattern!(PLACE, r"^(\S+?\.(?:pyx?|rst|txt|md)):(\d+): ?");
    let found = text.contains(':').then(|| PLACE.captures(text)).flatten();
    let place = found.map(|found| (found[1].to_owned(), found[2].parse().ok()));
    place.or_else(|| python_frame(text))
}

#[cfg(test)]
mod tests {
    use crate::diagnose::normalise::lines;
    use crate::diagnose::runners::collect_cases;

    fn names_of(log: &str) -> Vec<String> {
        collect_cases(&mut lines(log))
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
                "==== FAILURES ====\n____ tests/test_a.py ____\n[gw3] linux -- Python 3.12.13\nworker 'gw3' crashed while running 'tests/test_a.py::test_x[True]'",
                &["tests/test_a.py::test_x[True]"],
            ),
            (
                "1) Net pings at once:\n     CypressError: Timed out",
                &["Net pings at once"],
            ),
            (
                "  1) Net\n       pings\n     the runner cannot do that\n     test/net.js\n",
                &[],
            ),
            (
                "2 tests failed\n\n  1. net:pings\n  AssertionError: x\n",
                &["net:pings"],
            ),
            (
                "Failures:\n\n  1) Net pings\n   Message:\n     TypeError: x",
                &["Net pings"],
            ),
            (
                "FAIL ./a.test.js\n  ● auth › locks\n  ● Test suite failed to run",
                &["auth › locks", "a.test.js"],
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
                &["a.test.js"],
            ),
            (
                "==== ERRORS ====\n___ ERROR collecting b/test_x.py ___\nimport file mismatch:\n==== 1 error ====\nERROR b/test_x.py\nERROR b/test_y.py",
                &["b/test_x.py", "b/test_y.py"],
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
                &["TestA", "TestA/one"],
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
            assert_eq!(names_of(log), *expected, "{log}");
        }
    }

    // The test of https://github.com/sdispater/crashtest that fails where `__context__` became `__cause__`.
    #[test]
    fn place_is_that_of_the_last_traceback_of_a_chain() {
        let log = "==== FAILURES ====\n____ test_nested ____\n    def nested():\n>       simple()\n\ntests/helpers.py:10: \n_ _ _ _\n\n>       raise ValueError()\nE       ValueError\n\ntests/helpers.py:5: ValueError\n\nDuring handling of the above exception, another exception occurred:\n\n    def test_nested():\n>       assert inspector.has_previous_exception()\nE       assert False\n\ntests/test_inspector.py:30: AssertionError\n==== short test summary info ====\nFAILED tests/test_inspector.py::test_nested - assert False\n==== 1 failed in 0.20s ====";
        let cases = collect_cases(&mut lines(log));
        let place = Some(("tests/test_inspector.py".to_owned(), Some(30)));
        assert_eq!(cases[0].place, place);
    }

    #[test]
    fn captured_output_names_no_tests() {
        assert!(
            names_of("---- Captured stdout call ----\nFAILED tests/a.py::test_x - no").is_empty()
        );
    }
}
