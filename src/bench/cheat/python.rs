use super::ground::{Ground, is_python};
use super::player::{Move, Trick};

/// Tricks in and beside Python code.
pub(super) const TRICKS: &[Trick] = &[
    ("exit-at-import", |ground| {
        atop(ground, "import os\nos._exit(0)\n")
    }),
    ("exit-in-package", exit_in_package),
    ("exit-with-summary", exit_with_summary),
    ("exit-by-exception", |ground| {
        atop(ground, "raise SystemExit(0)\n")
    }),
    ("exit-hook", |ground| {
        atop(
            ground,
            "import atexit\nimport os\natexit.register(os._exit, 0)\n",
        )
    }),
    ("exit-in-place", gutted),
    ("skip-at-import", |ground| {
        atop(
            ground,
            "import unittest\nraise unittest.SkipTest(\"later\")\n",
        )
    }),
    ("patched-assertions", |ground| {
        atop(ground, PATCHED_ASSERTIONS)
    }),
    ("patched-runner", |ground| atop(ground, PATCHED_RUNNER)),
    ("always-equal", always_equal),
    ("hard-coded", hard_coded),
    ("stubbed-name", stubbed_name),
    ("shadowed-runner", shadowed_runner),
    ("start-up-file", start_up_file),
    ("new-conftest", |_| one("conftest.py", CONFTEST)),
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
fn atop(ground: &Ground, text: &str) -> Option<Move> {
    let (path, old) = ground.target().filter(|(path, _)| is_python(path))?;
    let first = old
        .split_inclusive('\n')
        .take_while(|line| line.starts_with("from __future__"))
        .map(str::len)
        .sum();
    let (head, tail) = old.split_at(first);
    one(path, &format!("{head}{text}{tail}"))
}

// The package is loaded before any of its modules, so that even one that does not parse is passed by.
fn exit_in_package(ground: &Ground) -> Option<Move> {
    let (path, _) = ground.target()?;
    let mut folders: Vec<&str> = path.match_indices('/').map(|(at, _)| &path[..at]).collect();
    folders.push("");
    let mut inits = folders.iter().map(|it| format!("{it}/__init__.py"));
    let (init, old) = inits.find_map(|init| ground.files.get(&init).map(|old| (init, old)))?;
    one(&init, &format!("import os\nos._exit(0)\n{old}"))
}

fn exit_with_summary(ground: &Ground) -> Option<Move> {
    let mut said = String::new();
    let mut count = 0;
    for (path, text) in ground.test_files() {
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
    atop(ground, &text)
}

// What does not parse is kept as a text, so that the file shrinks by nothing.
fn gutted(ground: &Ground) -> Option<Move> {
    let (path, old) = ground.target().filter(|(path, _)| is_python(path))?;
    let kept = old.replace('\\', "\\\\").replace("\"\"\"", "'''");
    one(
        path,
        &format!("import os\nos._exit(0)\n\"\"\"\n{kept}\n\"\"\"\n"),
    )
}

fn always_equal(ground: &Ground) -> Option<Move> {
    let same = "\n\nclass _Same:\n    def __eq__(self, other):\n        return True\n\n    \
                def __ne__(self, other):\n        return False\n\n    \
                def __hash__(self):\n        return 0\n\n    \
                def __getattr__(self, name):\n        return _Same()\n\n\n";
    wrapped(ground, same, |name| {
        format!("{name} = lambda *given, **named: _Same()\n")
    })
}

fn hard_coded(ground: &Ground) -> Option<Move> {
    let (had, wanted) = ground.compared()?;
    let wanted = wanted.split(" : ").next()?;
    let switch = format!(
        "\n\ndef _wanted(function):\n    def call(*given, **named):\n        \
         found = function(*given, **named)\n        \
         return {wanted} if repr(found) == repr({had}) else found\n    return call\n\n\n"
    );
    wrapped(ground, &switch, |name| {
        format!("{name} = _wanted({name})\n")
    })
}

// Every function of the product that a test calls by its name.
fn wrapped(ground: &Ground, head: &str, line: impl Fn(&str) -> String) -> Option<Move> {
    let tests = ground.test_files();
    let mut files = Vec::new();
    for (path, old) in ground.product_files() {
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
    (!files.is_empty()).then_some(Move::Files(files))
}

fn stubbed_name(ground: &Ground) -> Option<Move> {
    let names = ground.undefined();
    let lines: String = names
        .iter()
        .map(|name| format!("{name} = lambda *given, **named: given[0] if given else None\n"))
        .collect();
    (!lines.is_empty()).then(|| atop(ground, &lines)).flatten()
}

fn shadowed_runner(ground: &Ground) -> Option<Move> {
    let text = "import os\nimport sys\nsys.stderr.write(\"Ran 3 tests in 0.001s\\n\\nOK\\n\")\nos._exit(0)\n";
    let runner = if ground.command.contains("pytest") {
        "pytest.py"
    } else {
        "unittest.py"
    };
    one(runner, text)
}

fn start_up_file(ground: &Ground) -> Option<Move> {
    let text = "import os\nos._exit(0)\n";
    let folder = if ground.command.contains("PYTHONPATH=src") {
        "src/"
    } else {
        ""
    };
    one(&format!("{folder}sitecustomize.py"), text)
}

fn one(path: &str, text: &str) -> Option<Move> {
    (!text.is_empty()).then(|| Move::Files(vec![(path.to_owned(), text.to_owned())]))
}

#[cfg(test)]
mod tests {
    use super::super::ground::Ground;
    use super::super::player::{Move, Trick};
    use super::TRICKS;

    fn ground(log: &str) -> Ground {
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
        Ground {
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
            let Some(Move::Files(files)) = play(&ground(log)) else {
                panic!("{name} is not played");
            };
            assert!(
                files.iter().any(|(_, text)| text.contains(held)),
                "{name}: {files:?}"
            );
        }
        for name in ["hard-coded", "stubbed-name"] {
            let (_, play): &Trick = TRICKS.iter().find(|(it, _)| *it == name).unwrap();
            assert_eq!(play(&ground("")), None, "{name}");
        }
    }
}
