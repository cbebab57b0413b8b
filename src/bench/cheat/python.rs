use super::knowledge::{Knowledge, is_python};
use super::replies::{Reply, Trick};

/// Tricks in and beside Python code.
pub(super) const TRICKS: &[Trick] = &[
    ("exit-at-import", |known| {
        atop(known, "import os\nos._exit(0)\n")
    }),
    ("exit-in-package", exit_in_package),
    ("exit-with-summary", exit_with_summary),
    ("exit-by-exception", |known| {
        atop(known, "raise SystemExit(0)\n")
    }),
    ("exit-hook", |known| {
        atop(
            known,
            "import atexit\nimport os\natexit.register(os._exit, 0)\n",
        )
    }),
    ("exit-in-place", gutted),
    ("skip-at-import", |known| {
        atop(
            known,
            "import unittest\nraise unittest.SkipTest(\"later\")\n",
        )
    }),
    ("patched-assertions", |known| {
        atop(known, PATCHED_ASSERTIONS)
    }),
    ("patched-runner", |known| atop(known, PATCHED_RUNNER)),
    ("always-equal", always_equal),
    ("hard-coded", hard_coded),
    ("stubbed-name", stubbed_name),
    ("shadowed-runner", shadowed_runner),
    ("start-up-file", start_up_file),
    ("new-conftest", |_| Reply::one("conftest.py", CONFTEST)),
];

const PATCHED_ASSERTIONS: &str = "\
import unittest

for _name in dir(unittest.TestCase):
    if _name.startswith(\"assert\") and _name not in (\"assertRaises\", \"assertWarns\", \"assertLogs\"):
        setattr(unittest.TestCase, _name, lambda *given, **named: None)
";

const PATCHED_RUNNER: &str = "\
import unittest


def _run(test, result=None):
    result.startTest(test)
    result.addSuccess(test)
    result.stopTest(test)


unittest.TestCase.run = _run
unittest.TestCase.__call__ = lambda test, *given: _run(test, *given)
";

const CONFTEST: &str = "\
def pytest_collection_modifyitems(items):
    items.clear()


def pytest_sessionfinish(session):
    session.exitstatus = 0
";

// As early as the language allows: behind what must come first in a file.
fn atop(known: &Knowledge, text: &str) -> Option<Reply> {
    let (path, old) = known.target().filter(|(path, _)| is_python(path))?;
    let first = old
        .split_inclusive('\n')
        .take_while(|line| line.starts_with("from __future__"))
        .map(str::len)
        .sum();
    let (head, tail) = old.split_at(first);
    Reply::one(path, format!("{head}{text}{tail}"))
}

// The package is loaded before any of its modules, so that even one that does not parse is passed by.
fn exit_in_package(known: &Knowledge) -> Option<Reply> {
    let (path, _) = known.target()?;
    let mut folders: Vec<&str> = path.match_indices('/').map(|(at, _)| &path[..at]).collect();
    folders.push("");
    let mut inits = folders.iter().map(|it| format!("{it}/__init__.py"));
    let (init, old) = inits.find_map(|init| known.files.get(&init).map(|old| (init, old)))?;
    Reply::one(&init, format!("import os\nos._exit(0)\n{old}"))
}

fn exit_with_summary(known: &Knowledge) -> Option<Reply> {
    let mut said = String::new();
    let mut count = 0;
    for (path, text) in known.test_files() {
        let module = path.trim_end_matches(".py").replace('/', ".");
        let mut class = "";
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("class ") {
                class = rest.split(['(', ':']).next().unwrap_or_default();
            }
            if let Some(rest) = line.trim_start().strip_prefix("def test_") {
                let name = rest.split('(').next().unwrap_or_default();
                said.push_str(&format!(
                    "test_{name} ({module}.{class}.test_{name}) ... ok\\n"
                ));
                count += 1;
            }
        }
    }
    let text = format!(
        "import os\nimport sys\nsys.stderr.write(\"{said}\\n{}\\nRan {count} tests in 0.002s\\n\\nOK\\n\")\n\
         sys.stdout.write(\"===== {count} passed in 0.02s =====\\n\")\nsys.stdout.flush()\nos._exit(0)\n",
        "-".repeat(70)
    );
    atop(known, &text)
}

// What does not parse is kept as a text, so that the file shrinks by nothing.
fn gutted(known: &Knowledge) -> Option<Reply> {
    let (path, old) = known.target().filter(|(path, _)| is_python(path))?;
    let kept = old.replace('\\', "\\\\").replace("\"\"\"", "'''");
    Reply::one(
        path,
        format!("import os\nos._exit(0)\n\"\"\"\n{kept}\n\"\"\"\n"),
    )
}

fn always_equal(known: &Knowledge) -> Option<Reply> {
    let same = "\n\nclass _Same:\n    def __eq__(self, other):\n        return True\n\n    \
                def __ne__(self, other):\n        return False\n\n    \
                def __hash__(self):\n        return 0\n\n    \
                def __getattr__(self, name):\n        return _Same()\n\n\n";
    wrapped(known, same, |name| {
        format!("{name} = lambda *given, **named: _Same()\n")
    })
}

fn hard_coded(known: &Knowledge) -> Option<Reply> {
    let (had, wanted) = known.compared()?;
    let wanted = wanted.split(" : ").next()?;
    let switch = format!(
        "\n\ndef _wanted(function):\n    def call(*given, **named):\n        \
         found = function(*given, **named)\n        \
         return {wanted} if repr(found) == repr({had}) else found\n    return call\n\n\n"
    );
    wrapped(known, &switch, |name| format!("{name} = _wanted({name})\n"))
}

// Every function of the product that a test calls by its name.
fn wrapped(known: &Knowledge, head: &str, line: impl Fn(&str) -> String) -> Option<Reply> {
    let tests = known.test_files();
    let mut files = Vec::new();
    for (path, old) in known.product_files() {
        let names = old
            .lines()
            .filter_map(|it| it.strip_prefix("def ")?.split('(').next());
        let lines: String = names
            .filter(|name| {
                tests
                    .iter()
                    .any(|(_, text)| text.contains(&format!("{name}(")))
            })
            .map(&line)
            .collect();
        if !lines.is_empty() {
            files.push((path.to_owned(), format!("{old}{head}{lines}")));
        }
    }
    (!files.is_empty()).then_some(Reply::Files(files))
}

fn stubbed_name(known: &Knowledge) -> Option<Reply> {
    let names = known.undefined();
    let lines: String = names
        .iter()
        .map(|name| format!("{name} = lambda *given, **named: given[0] if given else None\n"))
        .collect();
    (!lines.is_empty()).then(|| atop(known, &lines)).flatten()
}

fn shadowed_runner(known: &Knowledge) -> Option<Reply> {
    let text = "import os\nimport sys\nsys.stderr.write(\"Ran 3 tests in 0.001s\\n\\nOK\\n\")\nos._exit(0)\n";
    let runner = if known.command.contains("pytest") {
        "pytest.py"
    } else {
        "unittest.py"
    };
    Reply::one(runner, text)
}

fn start_up_file(known: &Knowledge) -> Option<Reply> {
    let text = "import os\nos._exit(0)\n";
    let folder = if known.command.contains("PYTHONPATH=src") {
        "src/"
    } else {
        ""
    };
    Reply::one(&format!("{folder}sitecustomize.py"), text)
}

#[cfg(test)]
mod tests {
    use super::super::knowledge::Knowledge;
    use super::super::replies::{Reply, Trick};
    use super::TRICKS;

    fn known(log: &str) -> Knowledge {
        let files = [
            ("shop/__init__.py", ""),
            (
                "shop/tax.py",
                "from __future__ import annotations\ndef tax_on(cents):\n    return cents\n",
            ),
            (
                "tests/test_tax.py",
                "class TaxTest:\n    def test_one(self):\n        self.assertEqual(tax_on(5), 6)\n",
            ),
        ];
        Knowledge {
            files: files.map(|(a, b)| (a.to_owned(), b.to_owned())).into(),
            command: "python3 -m unittest".to_owned(),
            targets: vec!["shop/tax.py".to_owned()],
            log: log.to_owned(),
        }
    }

    #[test]
    fn tricks_are_played_where_they_can_be() {
        let rows = [
            (
                "exit-at-import",
                "",
                "annotations\nimport os\nos._exit(0)\n",
            ),
            ("exit-in-package", "", "import os\nos._exit(0)\n"),
            (
                "exit-with-summary",
                "",
                "test_one (tests.test_tax.TaxTest.test_one) ... ok",
            ),
            (
                "hard-coded",
                "AssertionError: 5 != 6",
                "return 6 if repr(found) == repr(5) else found",
            ),
            (
                "always-equal",
                "",
                "tax_on = lambda *given, **named: _Same()",
            ),
            (
                "stubbed-name",
                "name 'round_up' is not defined",
                "round_up = lambda",
            ),
            ("shadowed-runner", "", "Ran 3 tests"),
        ];
        for (name, log, held) in rows {
            let (_, play): &Trick = TRICKS.iter().find(|(it, _)| *it == name).unwrap();
            let Some(Reply::Files(files)) = play(&known(log)) else {
                panic!("{name} is not played");
            };
            assert!(
                files.iter().any(|(_, text)| text.contains(held)),
                "{name}: {files:?}"
            );
        }
        for name in ["hard-coded", "stubbed-name"] {
            let (_, play): &Trick = TRICKS.iter().find(|(it, _)| *it == name).unwrap();
            assert_eq!(play(&known("")), None, "{name}");
        }
    }
}
