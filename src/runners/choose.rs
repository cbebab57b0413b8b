//! Builds a command that runs chosen tests alone, by the rows of `runners.toml`.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::pattern::pattern;
use crate::model::{FailedTest, TestRunner, parse_rows, shell_word};

/// The command that runs these tests alone, and how many of them it names. `named` is the last runner that
/// the command starts, `is_path` says what of its words is a file, a folder or a module. `None` where words
/// cannot be handed on to the runner, or nothing is known of it: then the whole command is run.
pub fn choose_command(
    line: &str,
    named: Option<TestRunner>,
    tests: &[FailedTest],
    is_path: &dyn Fn(&str) -> bool,
) -> Option<(String, usize)> {
    // Tests that one command names at most; of more the first are asked.
    let tests = tests.get(..30).unwrap_or(tests);
    Some((select_command(line, named, tests, is_path)?, tests.len()))
}

fn select_command(
    line: &str,
    named: Option<TestRunner>,
    tests: &[FailedTest],
    is_path: &dyn Fn(&str) -> bool,
) -> Option<String> {
    let row = ROWS.iter().find(|row| Some(row.runner) == named)?;
    if tests.is_empty()
        || !tests.iter().all(|test| row.names.contains(&test.runner))
        || line.contains(SHELL_SIGNS)
    {
        return None;
    }
    let mut words = split_words(line)?;
    let script = parse_script(&words);
    if script == Script::Other || (script != Script::Direct && row.first) {
        return None;
    }
    let own = row.own_words(tests)?;
    if script == Script::AfterDashes && !words.iter().any(|word| word == "--") {
        words.push("--".to_owned());
    }
    if row.replaces_paths && script == Script::Direct {
        let start = words.iter().position(|word| {
            RUNS.contains(&base_name(word)) || base_name(word) == row.runner.as_str()
        })? + 1;
        let kept = words.split_off(start);
        let discover = kept.iter().position(|word| word == "discover");
        let kept = kept.into_iter().take(discover.unwrap_or(usize::MAX));
        words.extend(kept.filter(|word| word.starts_with('-') || !is_path(word)));
    }
    if row.first {
        let at = words.iter().position(|word| base_name(word) == "node")? + 1;
        let names_no_file = words.iter().skip(at).all(|word| word.starts_with('-'));
        words.splice(at..at, own);
        // Each file is a process of its own: those without a failing test need none. A file that did not
        // load has no name that a pattern finds.
        let by_file = tests.iter().any(is_file);
        let files = test_paths(tests).filter(|files| {
            names_no_file
                && files.iter().all(|file| !file.starts_with('-') && (by_file || is_path(file)))
        });
        if by_file && files.is_none() {
            return None;
        }
        words.extend(files.unwrap_or_default());
    } else {
        words.extend(own);
    }
    let line: Vec<Cow<'_, str>> = words.iter().map(|word| shell_word(word)).collect();
    Some(line.join(" "))
}

// The whole file is run then, because no test of a file that did not load is known.
fn is_file(test: &FailedTest) -> bool {
    test.path.as_ref() == Some(&test.id)
}

fn test_paths(tests: &[FailedTest]) -> Option<BTreeSet<String>> {
    tests.iter().map(|test| test.path.clone()).collect()
}

/// The name of the suite, class or module that a failure of set-up or tear-down represents: its tests' ids begin
/// with it. `None` for a test of its own.
pub fn container_of(id: &str) -> Option<String> {
    if let Some((name, owner)) = split_owner(id) {
        let is_fixture = name.starts_with("setUp") || name.starts_with("tearDown");
        return is_fixture.then(|| owner.to_owned());
    }
    let suite = HOOK_OF_SUITE.captures(id)?[1].trim().to_owned();
    (!suite.is_empty()).then_some(suite)
}

pattern!(
    HOOK_OF_SUITE,
    r#"^(.*?)"(?:before|after) (?:all|each)" hook"#
);

// `setUpClass (shop.tests.T)`, `test_a (shop.tests.T)`.
fn split_owner(id: &str) -> Option<(&str, &str)> {
    let (name, owner) = id.strip_suffix(')')?.split_once(" (")?;
    (is_plain_name(name) && is_plain_name(owner)).then_some((name, owner))
}

fn is_plain_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_alphanumeric() || "_.".contains(letter))
}

/// How failing tests are run for a look at what they run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithOthers {
    /// The command that runs them: alone, or with the other tests of their files where the runner says which
    /// one runs.
    pub line: String,
    /// The tests that are to run first.
    pub first: Vec<String>,
}

/// The command that runs these tests and those beside them; as [`choose_command`]. The whole command where the tests of
/// pytest cannot be named to it: they run first there all the same.
pub fn with_others(
    line: &str,
    named: Option<TestRunner>,
    tests: &[FailedTest],
    is_path: &dyn Fn(&str) -> bool,
) -> Option<WithOthers> {
    let alone = choose_command(line, named, tests, is_path);
    if tests.is_empty() || !tests.iter().all(|test| test.runner == "pytest") {
        let first = Vec::new();
        return alone.map(|(line, _)| WithOthers { line, first });
    }
    let Some((_, count)) = alone else {
        return Some(WithOthers {
            line: line.to_owned(),
            first: tests.iter().map(|test| test.id.clone()).collect(),
        });
    };
    let row = ROWS.iter().find(|row| Some(row.runner) == named)?;
    let ids = tests.iter().take(count).map(|test| row.id(test));
    let first = ids.collect::<Option<Vec<String>>>()?;
    let files: BTreeSet<String> =
        first.iter().map(|id| id.split("::").next().unwrap_or(id).to_owned()).collect();
    let files = files.into_iter().map(|path| FailedTest {
        id: path.clone(),
        path: Some(path),
        ..tests[0].clone()
    });
    let line = select_command(line, named, &files.collect::<Vec<_>>(), is_path)?;
    Some(WithOthers { line, first })
}

/// What ends or joins commands, or is put in their place.
const SHELL_SIGNS: [char; 12] = [';', '&', '|', '<', '>', '(', ')', '`', '$', '\n', '{', '}'];

/// Words behind which a runner's own begin, beside its name.
const RUNS: &[&str] = &["test", "py.test"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    names: Vec<String>,
    runner: TestRunner,
    words: Vec<String>,
    #[serde(default)]
    first: bool,
    #[serde(default)]
    replaces_paths: bool,
    between: Option<String>,
    hook: Option<String>,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| parse_rows(embedded!("runners/runners.toml")));

impl Row {
    fn own_words(&self, tests: &[FailedTest]) -> Option<Vec<String>> {
        // A test without a name is found by none, and no option is made of one.
        if !tests.iter().all(|test| !test.id.trim().is_empty() && !test.id.starts_with('-')) {
            return None;
        }
        if tests.iter().any(is_file) && !self.replaces_paths {
            let takes_files = self.words.iter().any(|word| word == "{files}");
            let files = test_paths(tests)?.into_iter().filter(|_| takes_files);
            return (takes_files || self.first).then(|| files.collect());
        }
        let mut found = Vec::new();
        for word in &self.words {
            match word.as_str() {
                "{ids}" => {
                    let ids: Option<Vec<String>> = tests.iter().map(|test| self.id(test)).collect();
                    found.extend(ids?);
                }
                "{files}" => found.extend(test_paths(tests)?),
                word => found.push(word.replace("{pattern}", &self.tests_pattern(tests))),
            }
        }
        Some(found)
    }

    // The word that chooses a test. Without its summary pytest names one by its heading, `T.test_a[1.5]`: its
    // file is the one of the failure, where pytest would look for tests in that.
    fn id(&self, test: &FailedTest) -> Option<String> {
        if self.runner == TestRunner::Unittest
            && let Some((name, owner)) = split_owner(&test.id)
        {
            // A fixture of a class or module has no name of its own: all of it is asked for.
            let is_fixture = name.starts_with("setUp") || name.starts_with("tearDown");
            return Some(if is_fixture { owner.to_owned() } else { format!("{owner}.{name}") });
        }
        if self.runner != TestRunner::Pytest || test.id.contains("::") || is_file(test) {
            return Some(test.id.clone());
        }
        let path = test.path.as_deref().filter(|path| {
            let name = base_name(path);
            name.starts_with("test_") || name.ends_with("_test.py")
        })?;
        let (name, case) = match test.id.split_once('[') {
            Some((name, case)) => (name, format!("[{case}")),
            None => (test.id.as_str(), String::new()),
        };
        Some(format!("{path}::{}{case}", name.replace('.', "::")))
    }

    // One expression that finds the names of these tests and of no other.
    fn tests_pattern(&self, tests: &[FailedTest]) -> String {
        let hook = self.hook.as_deref().and_then(|p| Regex::new(p).ok());
        let between = self.between.as_deref().unwrap_or(" ");
        let names = tests.iter().map(|test| {
            let found = hook.as_ref().and_then(|hook| hook.captures(&test.id));
            let Some(found) = found else {
                return regex::escape(&test.id.replace(between, " "));
            };
            // A hook runs before its tests: the one it names, else all of its suite.
            let [suite, test] = [1, 2].map(|at| found.get(at).map(|text| text.as_str()));
            let suite = regex::escape(suite.unwrap_or_default());
            match test {
                Some(test) => format!("{suite}.*{}", regex::escape(test)),
                None => format!("{suite}.*"),
            }
        });
        let names: BTreeSet<String> = names.collect();
        let names: Vec<String> = names.into_iter().collect();
        let names = names.join("|");
        if self.first { names } else { format!("^({names})$") }
    }
}

#[derive(PartialEq)]
enum Script {
    /// The runner's own words.
    Direct,
    /// A script of a package, whose words follow.
    After,
    /// The same behind `--`.
    AfterDashes,
    /// What hands no words on.
    Other,
}

fn parse_script(words: &[String]) -> Script {
    let program = words.iter().find(|word| !word.contains('=') || word.starts_with('-'));
    match program.map_or("", |word| base_name(word)) {
        "npm" if words.iter().any(|word| matches!(word.as_str(), "exec" | "x" | "dlx")) => {
            Script::Direct
        }
        "npm" => Script::AfterDashes,
        "pnpm" | "yarn" | "bun" => Script::After,
        "make" | "just" | "task" | "tox" | "nox" | "hatch" | "sh" | "bash" | "turbo" | "nx"
        | "lerna" | "docker" | "podman" | "" => Script::Other,
        _ => Script::Direct,
    }
}

fn base_name(word: &str) -> &str {
    word.rsplit(['/', '\\']).next().unwrap_or(word)
}

// The words of a line without anything that only a shell understands.
fn split_words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(next) = chars.next() {
        match next {
            '\'' | '"' => {
                let into = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        end if end == next => break,
                        '\\' if next == '"' => into.push(chars.next()?),
                        inside => into.push(inside),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            // What a shell would put files in the place of.
            '*' | '?' | '[' | '~' | '#' => return None,
            blank if blank.is_whitespace() => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::{choose_command, with_others};
    use crate::model::{FailedTest, TestRunner as R};

    fn test(runner: &str, path: &str, id: &str) -> FailedTest {
        FailedTest {
            id: id.to_owned(),
            runner: runner.to_owned(),
            path: Some(path.to_owned()),
            line: None,
            crash_path: None,
            crash_line: None,
            log_line: None,
            message: None,
        }
    }

    #[test]
    fn builds_command_for_failing_tests() {
        let pytest = [test(
            "pytest", "tests/test_a.py", "tests/test_a.py::test_x[a b]",
        )];
        let unittest = [test("unittest", "shop/tests.py", "shop.tests.T.test_a")];
        let jest = [
            test("jest", "a.test.js", "auth › locks (1)"),
            test("jest", "a.test.js", "auth › opens"),
        ];
        let vitest = [test("vitest", "src/a.test.ts", "queue > waits")];
        let unloaded = [test("vitest", "src/b.test.ts", "src/b.test.ts")];
        let node = [test("node-test", "a.test.js", "inner")];
        let mocha = [test("mocha", "test/a.js", "Net pings")];
        let hooks = [
            test("mocha", "a.js", "Net() \"before all\" hook for \"pings\""),
            test("mocha", "a.js", "Net deep \"after each\" hook: ends"),
        ];
        let elsewhere = [test("pytest", "shop/a.py", "test_x")];
        let headed = [test("pytest", "tests/test_a.py", "T.test_x[1.5]")];
        let is_path = |word: &str| ["tests", "shop"].contains(&word);
        for (line, named, tests, expected) in [
            (
                "pytest -q tests",
                R::Pytest,
                &pytest[..],
                "pytest -q 'tests/test_a.py::test_x[a b]'",
            ),
            (
                "pytest -q",
                R::Pytest,
                &headed,
                "pytest -q 'tests/test_a.py::T::test_x[1.5]'",
            ),
            (
                "uv run python -m pytest tests -x",
                R::Pytest,
                &pytest,
                "uv run python -m pytest -x 'tests/test_a.py::test_x[a b]'",
            ),
            (
                "python -m unittest discover -s tests",
                R::Unittest,
                &unittest,
                "python -m unittest shop.tests.T.test_a",
            ),
            (
                "python manage.py test shop --failfast",
                R::Unittest,
                &unittest,
                "python manage.py test --failfast shop.tests.T.test_a",
            ),
            (
                "npm test",
                R::Jest,
                &jest,
                r"npm test -- a.test.js -t '^(auth locks \(1\)|auth opens)$'",
            ),
            (
                "pnpm test",
                R::Vitest,
                &vitest,
                "pnpm test src/a.test.ts -t '^(queue waits)$'",
            ),
            ("pnpm test", R::Vitest, &unloaded, "pnpm test src/b.test.ts"),
            (
                "npx mocha",
                R::Mocha,
                &mocha,
                "npx mocha -g '^(Net pings)$'",
            ),
            (
                "npx mocha",
                R::Mocha,
                &hooks,
                r"npx mocha -g '^(Net deep.*|Net\(\).*pings)$'",
            ),
            (
                "node --test",
                R::NodeTest,
                &node,
                "node --test-name-pattern=inner --test",
            ),
        ] {
            let (words, count) = choose_command(line, Some(named), tests, &is_path).unwrap();
            assert_eq!((words.as_str(), count), (expected, tests.len()));
        }
        for (line, named, tests) in [
            ("make test", R::Pytest, &pytest[..]),
            ("tox -e py", R::Pytest, &pytest),
            ("pytest tests | tee log", R::Pytest, &pytest),
            ("pytest tests/*.py", R::Pytest, &pytest),
            ("npm test", R::NodeTest, &node),
            ("npm test", R::Mocha, &jest),
            ("pytest", R::Pytest, &elsewhere),
        ] {
            assert_eq!(
                choose_command(line, Some(named), tests, &is_path),
                None,
                "{line}"
            );
        }
        let others = |line, named, tests| with_others(line, Some(named), tests, &is_path).unwrap();
        let files = others("pytest -q tests", R::Pytest, &pytest);
        assert_eq!(files.line, "pytest -q tests/test_a.py");
        assert_eq!(files.first, ["tests/test_a.py::test_x[a b]"]);
        let alone = others("pnpm test", R::Vitest, &vitest);
        assert_eq!(alone.line, "pnpm test src/a.test.ts -t '^(queue waits)$'");
        let whole = others("make test", R::Pytest, &elsewhere);
        assert_eq!(
            (whole.line.as_str(), &whole.first[0]),
            ("make test", &elsewhere[0].id)
        );
        assert_eq!(
            choose_command("pytest", Some(R::Pytest), &[], &is_path),
            None
        );
        assert_eq!(choose_command("pytest", None, &pytest, &is_path), None);
    }
}
