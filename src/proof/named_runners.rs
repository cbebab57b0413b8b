//! Finds the test runners that a command names.

use crate::model::TestRunner;
use crate::policy::CommandFiles;

/// The runners that commands name, in their order.
pub fn named_runners(run: &CommandFiles) -> Vec<TestRunner> {
    let mut found = Vec::new();
    for runner in run.commands().iter().filter_map(|words| runner(words)) {
        if !found.contains(&runner) {
            found.push(runner);
        }
    }
    found
}

fn runner(words: &[String]) -> Option<TestRunner> {
    let first = base_name(words.first()?);
    let has_test = words.iter().any(|word| word == "test");
    let second = words.get(1).map_or("", String::as_str);
    if first.starts_with("python") || first == "py" {
        let module = words.iter().position(|word| word == "-m");
        if let Some(name) = module.and_then(|at| words.get(at + 1)) {
            return match name.as_str() {
                "django" if has_test => Some(TestRunner::Unittest),
                name => by_name(name),
            };
        }
        let script = words.iter().skip(1).find(|word| !word.starts_with('-'))?;
        return match base_name(script) {
            "manage.py" if has_test => Some(TestRunner::Unittest),
            name => by_name(name),
        };
    }
    match first {
        "node" | "tsx" | "ts-node" if words.iter().any(|word| word == "--test") => {
            Some(TestRunner::NodeTest)
        }
        "node" => words
            .iter()
            .skip(1)
            .filter(|word| !word.starts_with('-'))
            .find_map(|word| by_name(base_name(word))),
        "cargo" if ["test", "t", "nextest"].contains(&second) => Some(TestRunner::CargoTest),
        "go" if second == "test" => Some(TestRunner::GoTest),
        "ruff" if second == "format" => None,
        "playwright" if second != "test" => None,
        "django-admin" if has_test => Some(TestRunner::Unittest),
        name => by_name(name),
    }
}

fn by_name(name: &str) -> Option<TestRunner> {
    let name = name
        .trim_end_matches(".js")
        .trim_end_matches(".mjs")
        .trim_end_matches(".cjs")
        .trim_end_matches(".cmd");
    Some(match name {
        "pytest" | "py.test" => TestRunner::Pytest,
        "unittest" => TestRunner::Unittest,
        "nose" | "nosetests" | "nose2" => TestRunner::Nose,
        "jest" => TestRunner::Jest,
        "vitest" => TestRunner::Vitest,
        "mocha" | "_mocha" => TestRunner::Mocha,
        "ava" => TestRunner::Ava,
        "jasmine" => TestRunner::Jasmine,
        "tape" | "tap" => TestRunner::Tap,
        "playwright" => TestRunner::Playwright,
        "tsc" | "vue-tsc" => TestRunner::Tsc,
        "eslint" => TestRunner::Eslint,
        "ruff" => TestRunner::Ruff,
        "mypy" => TestRunner::Mypy,
        "pyright" | "basedpyright" => TestRunner::Pyright,
        _ => return None,
    })
}

fn base_name(word: &str) -> &str {
    word.rsplit(['/', '\\']).next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::named_runners;
    use crate::model::TestRunner as R;
    use crate::policy::CommandFiles;
    use crate::source::Memory;

    const PACKAGE: &str = r#"{"scripts": {"test": "npm run lint && vitest run", "lint": "eslint .", "unit": "c8 mocha test", "pretest": "tsc -p ."}}"#;
    const MAKEFILE: &str =
        ".PHONY: test\nX := 1\ntest: types\n\t@python3 -m unittest -q\n\ntypes:\n\tmypy src\n";

    #[test]
    fn finds_runners_behind_wrappers() {
        let source = Memory::named([
            ("package.json", PACKAGE),
            ("sub/package.json", r#"{"scripts": {"test": "ava"}}"#),
            ("Makefile", MAKEFILE),
            (
                "tox.ini",
                "[testenv]\ndeps =\n    mypy\ncommands = pytest\n",
            ),
            ("ci.sh", "#!/bin/sh\nset -e\ncd sub\npython -m pytest -q\n"),
        ]);
        let rows: &[(&str, &[R])] = &[
            ("pytest -q tests", &[R::Pytest]),
            (
                "A=1 python3 -X faulthandler -m unittest discover",
                &[R::Unittest],
            ),
            ("uv run --frozen pytest", &[R::Pytest]),
            ("poetry run python -m pytest", &[R::Pytest]),
            ("coverage run --branch -m pytest", &[R::Pytest]),
            ("coverage run -m unittest", &[R::Unittest]),
            ("python manage.py test app", &[R::Unittest]),
            (".venv/bin/python -m nose2", &[R::Nose]),
            ("npx -y jest --ci", &[R::Jest]),
            ("node_modules/.bin/jest", &[R::Jest]),
            (
                "node --experimental-vm-modules node_modules/jest/bin/jest.js",
                &[R::Jest],
            ),
            (
                "tsc --pretty false -p . && node --test --test-reporter=spec",
                &[R::Tsc, R::NodeTest],
            ),
            ("npm test", &[R::Tsc, R::Eslint, R::Vitest]),
            ("pnpm -s run unit", &[R::Mocha]),
            ("yarn exec playwright test", &[R::Playwright]),
            ("make test", &[]),
            ("sh ci.sh", &[]),
            ("npm --prefix sub test", &[R::Ava]),
            ("pnpm -r test", &[]),
            ("pnpm --filter x test", &[]),
            ("npm exec -- mocha -r x", &[R::Mocha]),
            ("yarn node --test", &[R::NodeTest]),
            ("timeout -k 5 1.5m nice -n 10 pytest", &[R::Pytest]),
            ("if ! pytest; then exit 1; fi", &[R::Pytest]),
            // What may not run is not named.
            ("tox", &[]),
            ("bash -lc 'cargo test --locked'", &[R::CargoTest]),
            ("timeout 60 go test ./...", &[R::GoTest]),
            (
                "ruff check . && ruff format --check . && pyright",
                &[R::Ruff, R::Pyright],
            ),
            ("node check.js", &[]),
            ("python3 main.py", &[]),
            ("npm run nothing", &[]),
        ];
        for (line, expected) in rows {
            let run = CommandFiles::find(&[(*line).to_owned()], "", &source);
            assert_eq!(named_runners(&run), *expected, "{line}");
        }
    }
}
