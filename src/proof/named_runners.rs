use crate::model::{FailedTest, TestRunner};
use crate::policy::CommandFiles;
use crate::source::Source;

/// The runners that commands name, in their order.
#[must_use]
pub fn named_runners(run: &CommandFiles) -> Vec<TestRunner> {
    let mut found = Vec::new();
    for runner in run.commands().iter().filter_map(|it| runner(it)) {
        if !found.contains(&runner) {
            found.push(runner);
        }
    }
    found
}

/// Where tests that failed are run alone.
pub struct OwnPlace {
    /// The command that runs them, with others.
    pub line: String,
    /// Its last runner; `None` where nothing can be handed on to one.
    pub runner: Option<TestRunner>,
    /// The tests as they are called there.
    pub tests: Vec<FailedTest>,
}

/// The command itself; of one that runs a script in each package of a workspace that of the package that has
/// all these tests.
#[must_use]
pub fn own_place(
    line: &str,
    run: &CommandFiles,
    tests: &[FailedTest],
    source: &dyn Source,
) -> OwnPlace {
    let runner = named_runners(run).last().copied();
    let Some([manager, script]) = run.everywhere() else {
        return OwnPlace {
            line: line.to_owned(),
            runner,
            tests: tests.to_vec(),
        };
    };
    let packages = tests.iter().map(|it| package(it.path.as_deref()?, source));
    let mut packages: Vec<Option<&str>> = packages.collect();
    packages.dedup();
    let start = match manager.as_str() {
        "pnpm" => "pnpm --dir",
        "npm" => "npm --prefix",
        _ => "",
    };
    let (line, runner) = match packages.as_slice() {
        [Some(package)] if !start.is_empty() => (format!("{start} {package} run {script}"), runner),
        _ => (line.to_owned(), None),
    };
    let bare = |test: &FailedTest| {
        let inside = |it: &String| {
            let package = package(it, source).unwrap_or_default();
            let rest = it.strip_prefix(package).and_then(|it| it.strip_prefix('/'));
            rest.map_or_else(|| it.clone(), str::to_owned)
        };
        FailedTest {
            id: if test.path.as_ref() == Some(&test.id) {
                inside(&test.id)
            } else {
                test.id.clone()
            },
            path: test.path.as_ref().map(inside),
            ..test.clone()
        }
    };
    OwnPlace {
        line,
        runner,
        tests: tests.iter().map(bare).collect(),
    }
}

// The nearest folder above a file that has a manifest.
fn package<'p>(path: &'p str, source: &dyn Source) -> Option<&'p str> {
    let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
    let has = |folder: &&str| source.listing().has_file(&format!("{folder}/package.json"));
    folders.rev().find(has)
}

fn runner(words: &[String]) -> Option<TestRunner> {
    let first = base(words.first()?);
    let has = |word: &str| words.iter().any(|it| it == word);
    let second = words.get(1).map_or("", String::as_str);
    if first.starts_with("python") || first == "py" {
        let module = words.iter().position(|it| it == "-m");
        if let Some(name) = module.and_then(|at| words.get(at + 1)) {
            return match name.as_str() {
                "django" if has("test") => Some(TestRunner::Unittest),
                name => by_name(name),
            };
        }
        let script = words.iter().skip(1).find(|it| !it.starts_with('-'))?;
        return match base(script) {
            "manage.py" if has("test") => Some(TestRunner::Unittest),
            name => by_name(name),
        };
    }
    match first {
        "node" | "tsx" | "ts-node" if words.iter().any(|it| it == "--test") => {
            Some(TestRunner::NodeTest)
        }
        "node" => words
            .iter()
            .skip(1)
            .filter(|it| !it.starts_with('-'))
            .find_map(|it| by_name(base(it))),
        "cargo" if ["test", "t", "nextest"].contains(&second) => Some(TestRunner::CargoTest),
        "go" if second == "test" => Some(TestRunner::GoTest),
        "ruff" if second == "format" => None,
        "playwright" if second != "test" => None,
        "django-admin" if has("test") => Some(TestRunner::Unittest),
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

fn base(word: &str) -> &str {
    word.rsplit(['/', '\\']).next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::{named_runners, own_place};
    use crate::model::{FailedTest, TestRunner as R};
    use crate::policy::CommandFiles;
    use crate::source::Memory;

    const PACKAGE: &str = r#"{"scripts": {"test": "npm run lint && vitest run", "lint": "eslint .",
        "unit": "c8 mocha test", "pretest": "tsc -p ."}}"#;
    const MAKEFILE: &str =
        ".PHONY: test\nX := 1\ntest: types\n\t@python3 -m unittest -q\n\ntypes:\n\tmypy src\n";

    #[test]
    fn tests_of_one_package_of_a_workspace_are_run_there() {
        let source = Memory::named([
            ("package.json", r#"{"scripts": {"test": "pnpm -r test"}}"#),
            (
                "packages/a/package.json",
                r#"{"scripts": {"test": "vitest run"}}"#,
            ),
            (
                "packages/b/package.json",
                r#"{"scripts": {"test": "vitest run"}}"#,
            ),
        ]);
        let failed = |path: &str| FailedTest {
            id: "adds".to_owned(),
            runner: "vitest".to_owned(),
            path: Some(path.to_owned()),
            line: None,
            crash_path: None,
            crash_line: None,
            log_line: None,
            message: None,
        };
        let (a, b) = (
            failed("packages/a/test/a.test.ts"),
            failed("packages/b/b.test.ts"),
        );
        let run = CommandFiles::of(&["pnpm test".to_owned()], "", &source);
        let own = own_place("pnpm test", &run, &[a.clone(), a.clone()], &source);
        assert_eq!(own.line, "pnpm --dir packages/a run test");
        assert_eq!(own.runner, Some(R::Vitest));
        assert_eq!(own.tests[0].path.as_deref(), Some("test/a.test.ts"));
        let both = own_place("pnpm test", &run, &[a.clone(), b], &source);
        assert_eq!(both.runner, None);
        let run = CommandFiles::of(&["pnpm --filter a test".to_owned()], "", &source);
        let own = own_place("pnpm --filter a test", &run, &[a], &source);
        assert_eq!(
            (own.line.as_str(), own.runner),
            ("pnpm --filter a test", None)
        );
    }

    #[test]
    fn runners_are_found_behind_what_starts_them() {
        let source = Memory::named([
            ("package.json", PACKAGE),
            ("sub/package.json", r#"{"scripts": {"test": "ava"}}"#),
            ("Makefile", MAKEFILE),
            (
                "sub/Makefile",
                "test:\n\t$(MAKE) -C .. types\n\tpytest \\\n\t\t-q\n",
            ),
            ("sub/justfile", "test:\n    jest\n"),
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
            ("make test", &[R::Unittest, R::Mypy]),
            ("make", &[R::Unittest, R::Mypy]),
            ("sh ci.sh", &[R::Pytest]),
            ("./ci.sh", &[R::Pytest]),
            // Through folders, `$(MAKE)` and recipes of just.
            ("make -C sub test", &[R::Mypy, R::Pytest]),
            ("cd sub && just test", &[R::Jest]),
            ("npm --prefix sub test", &[R::Ava]),
            ("pnpm -r test", &[R::Ava]),
            ("npm test --workspaces", &[R::Ava]),
            ("pnpm --filter x test", &[]),
            ("npm exec -- mocha -r x", &[R::Mocha]),
            ("yarn node --test", &[R::NodeTest]),
            ("timeout -k 5 1.5m nice -n 10 pytest", &[R::Pytest]),
            ("if ! pytest; then exit 1; fi", &[R::Pytest]),
            // What may not run is not named.
            ("make nothing", &[]),
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
            let run = CommandFiles::of(&[(*line).to_owned()], "", &source);
            assert_eq!(named_runners(&run), *expected, "{line}");
        }
    }
}
