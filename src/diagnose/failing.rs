use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use super::normalise::Line;
use super::pattern::compile;

/// Most names of failing tests that are kept.
const MOST: usize = 500;

macro_rules! pattern {
    ($name:ident, $pattern:literal) => {
        static $name: LazyLock<Regex> = LazyLock::new(|| compile($pattern));
    };
}
pattern!(
    PYTEST,
    r"^(?:FAILED|ERROR) ((?:[^\s:]| )+?\.py(?:::.*| - .*)?|\S+::.*)$"
);
pattern!(
    PYTEST_PROGRESS,
    r"^(\S+\.py::.+?) (?:FAILED|ERROR)(?:\s+\[\s*\d+%\])?\s*$"
);
pattern!(
    PYTEST_XDIST,
    r"^\[gw\d+\] \[\s*\d+%\] (?:FAILED|ERROR) (\S+\.py::.+)$"
);
pattern!(
    PYTEST_RUNNING,
    r"^(\S+\.py::[^\s\[]+(?:\[[^\]]*\])?) *(?:[+~]{5,}.*)?$"
);
pattern!(UNITTEST, r"^(?:FAIL|ERROR): (\w+) \(([\w.]+)\)");
pattern!(JEST, r"^\s{0,3}● (.+)$");
pattern!(
    JEST_SUITE,
    r"^ ?FAIL\s+(?:.*\s)?(?:\./)?(\S+\.[cm]?[jt]sx?)(?: \([\d.]+ m?s\))?\s*$"
);
pattern!(COLLECTING, r"^_+ ERROR collecting (.+?) _+$");
pattern!(
    VITEST,
    r"^\s*FAIL\s+(?:\|[^|]+\| )?(?:\[[^\]]+\] )?\S+\.[cm]?[jt]sx?(?: \([^)]+\))? > (.+)$"
);
pattern!(MOCHA, r"^(\s+)(\d+)\) (.+)$");
pattern!(TAP, r"^(\s*)not ok \d+ - (.+?)(?: # .*)?$");
pattern!(SPEC, r"^\s*✖ (.+?) \([\d.]+ms\)");

/// The tests that failed, in the runner's own spelling, in log order.
pub(super) fn failing_tests(lines: &[Line<'_>]) -> Vec<String> {
    let mut found = Names::default();
    let mut tap: Option<(String, usize)> = None;
    let mut spec = false;
    let mut timeout_dump = false;
    let mut last_started: Option<String> = None;
    let mut jest = false;
    let mut suite: Option<String> = None;
    let mut collecting: Option<&str> = None;
    let mut set_up = HashSet::new();
    for (index, line) in lines.iter().enumerate() {
        if line.captured || found.list.len() >= MOST {
            continue;
        }
        let text = line.text.as_ref();
        if text.contains("+++ Timeout +++") {
            timeout_dump = true;
        }
        if let Some(file) = COLLECTING.captures(text) {
            collecting = file.get(1).map(|file| file.as_str());
        } else if text.starts_with("import file mismatch") {
            set_up.extend(collecting.take());
        }
        if let Some(test) = pytest(text) {
            // Two files of one name: the layout is at fault, not the test.
            if !set_up.contains(test.as_str()) {
                found.add(&test);
            }
        } else if text.contains(".py::")
            && let Some(started) = PYTEST_RUNNING.captures(text)
        {
            last_started = Some(started[1].to_owned());
        }
        if (text.starts_with("FAIL: ") || text.starts_with("ERROR: "))
            && let Some(test) = unittest(text)
        {
            found.add(&test);
        }
        if let Some(test) = VITEST.captures(text) {
            found.add(test[1].trim());
        }
        let status = text.strip_prefix(' ').unwrap_or(text);
        jest |= status.starts_with("FAIL ") || status.starts_with("PASS ");
        if let Some(file) = JEST_SUITE.captures(text) {
            suite = Some(file[1].to_owned());
        }
        if jest && let Some(test) = JEST.captures(text).map(|test| test[1].trim().to_owned()) {
            let heading = ["Console", "Validation Error:"];
            if test == "Test suite failed to run" {
                if let Some(file) = suite.take().filter(|_| lacks_module(lines, index)) {
                    found.add(&file);
                }
            } else if !heading.contains(&test.as_str()) && !test.starts_with("Cannot log after") {
                found.add(&test);
            }
        }
        if (text.trim_end().ends_with(')') || text.contains(") "))
            && let Some(test) = mocha(lines, index)
        {
            found.add(&test);
        }
        // TAP says a parent's failure after its children's; only the children's own count.
        if let Some(point) = TAP.captures(text) {
            if let Some((name, _)) = tap.take() {
                found.add(&name);
            }
            tap = Some((relative(&point[2]), index));
        } else if let Some((_, at)) = &tap {
            if text.contains("subtestsFailed") {
                tap = None;
            } else if (text.trim() == "..." || index > at + 60)
                && let Some((name, _)) = tap.take()
            {
                found.add(&name);
            }
        }
        spec |= text.trim() == "✖ failing tests:";
        if spec && let Some(test) = SPEC.captures(text) {
            found.add(&relative(&test[1]));
        }
    }
    if let Some((name, _)) = tap {
        found.add(&name);
    }
    if found.list.is_empty() && timeout_dump {
        found
            .list
            .extend(last_started.or_else(|| test_frame(lines)));
    }
    found.list
}

// A file of tests fails by what it imports; the runner's own set-up fails it without its doing.
fn lacks_module(lines: &[Line<'_>], heading: usize) -> bool {
    let mut message = lines.iter().skip(heading + 1).take(6);
    message.any(|line| line.text.trim_start().starts_with("Cannot find module "))
}

#[derive(Default)]
struct Names {
    list: Vec<String>,
    seen: HashSet<String>,
}

impl Names {
    fn add(&mut self, name: &str) {
        if !name.is_empty() && self.seen.insert(name.to_owned()) {
            self.list.push(name.to_owned());
        }
    }
}

fn pytest(text: &str) -> Option<String> {
    if let Some(found) = PYTEST.captures(text) {
        let id = &found[1];
        // The message follows the first ` - ` that is not inside a parameter's brackets.
        let from = if id.contains('[') {
            id.find("] - ").map_or(0, |at| at + 1)
        } else {
            0
        };
        let end = id[from..].find(" - ").map_or(id.len(), |at| from + at);
        return Some(id[..end].trim_end().replace('\\', "/"));
    }
    let found = PYTEST_PROGRESS
        .captures(text)
        .or_else(|| PYTEST_XDIST.captures(text))?;
    Some(found[1].trim().to_owned())
}

fn unittest(text: &str) -> Option<String> {
    let found = UNITTEST.captures(text)?;
    let (method, owner) = (&found[1], &found[2]);
    if owner.starts_with("unittest.loader._FailedTest") {
        return Some(method.to_owned());
    }
    Some(if owner.rsplit('.').next() == Some(method) {
        owner.to_owned()
    } else {
        format!("{owner}.{method}")
    })
}

// Mocha's list of failures: `1) Suite`, deeper titles on lines of their own, a colon at the end.
fn mocha(lines: &[Line<'_>], index: usize) -> Option<String> {
    let start = MOCHA.captures(&lines[index].text)?;
    let mut title = start[3].trim().to_owned();
    if title.ends_with(':') && !title.contains("hook") {
        title.pop();
        return lines
            .get(index + 1)
            .is_some_and(|next| next.text.trim().is_empty() || next.text.contains("Error"))
            .then_some(title);
    }
    for line in lines.iter().skip(index + 1).take(6) {
        let text = line.text.trim();
        if text.is_empty() || MOCHA.is_match(&line.text) {
            return None;
        }
        title.push(' ');
        title.push_str(text);
        if let Some(whole) = title.strip_suffix(':') {
            return Some(whole.to_owned());
        }
    }
    None
}

// The test function in the stack that a timeout printed.
fn test_frame(lines: &[Line<'_>]) -> Option<String> {
    static FRAME: LazyLock<Regex> =
        LazyLock::new(|| compile(r#"File "([^"]*\btest_?[^"/\\]*\.py)", line \d+, in (test\w*)"#));
    lines.iter().find_map(|line| {
        let found = FRAME.captures(&line.text)?;
        Some(format!("{}::{}", relative(&found[1]), &found[2]))
    })
}

/// A path below the checkout that common CI services and images use, else the text as it is.
pub(super) fn relative(path: &str) -> String {
    static ROOT: LazyLock<Regex> = LazyLock::new(|| {
        compile(
            r"^(?:file://)?(?:/__w/[^/]+/[^/]+/|/home/runner/work/[^/]+/[^/]+/|/Users/runner/work/[^/]+/[^/]+/|/github/workspace/|/builds/[^/]+/[^/]+/|/workspaces?/(?:[^/]+/)?|/home/circleci/[^/]+/|/bitbucket/pipelines/agent/build/|/(?:usr/src/)?app/|[A-Za-z]:[\\/]a[\\/][^\\/]+[\\/][^\\/]+[\\/])",
        )
    });
    ROOT.replace(path, "").replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::failing_tests;
    use crate::diagnose::normalise::lines;

    fn of(log: &str) -> Vec<String> {
        failing_tests(&lines(log))
    }

    #[test]
    fn each_runner_spells_its_tests() {
        let cases: &[(&str, &[&str])] = &[
            (
                "FAILED tests/a.py::T::test_x[a - b] - assert 1 == 2",
                &["tests/a.py::T::test_x[a - b]"],
            ),
            (
                "tests/a.py::test_x FAILED    [ 66%]\nFAILED tests/a.py::test_x - boom",
                &["tests/a.py::test_x"],
            ),
            ("ERROR tests/a.py - ModuleNotFoundError: x", &["tests/a.py"]),
            (
                "FAIL: test_x (a.T.test_x) (i=1)\nERROR: test_y (a.T)",
                &["a.T.test_x", "a.T.test_y"],
            ),
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
                "___ ERROR collecting b/test_x.py ___\nimport file mismatch:\nERROR b/test_x.py\nERROR b/test_y.py",
                &["b/test_y.py"],
            ),
            (" FAIL  src/t.test.ts > queue > waits", &["queue > waits"]),
            ("  1) Net\n       pings:\n     Error: x", &["Net pings"]),
            (
                "    not ok 1 - inner\n      ---\n      ...\nnot ok 1 - Outer\n  ---\n  failureType: 'subtestsFailed'\n  ...",
                &["inner"],
            ),
            ("✖ failing tests:\n\n✖ adds (1.5ms)", &["adds"]),
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
