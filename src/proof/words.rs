use serde_json::Value;

use super::shell::commands;
use crate::model::TestRunner;

/// The runners that a line for a shell names, in its order: through scripts of `package.json`,
/// recipes of a Makefile and shell scripts, which `read` gives by their path beside the command.
#[must_use]
pub fn named_runners(line: &str, read: &dyn Fn(&str) -> Option<String>) -> Vec<TestRunner> {
    let mut found = Vec::new();
    of_line(line, read, 0, &mut found);
    found
}

/// The words of a line, and of what they lead to, that could be paths.
#[must_use]
pub fn named_files(line: &str, read: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut lines = vec![line.to_owned()];
    for _ in 0..MAX_DEPTH {
        let mut next = Vec::new();
        for line in &lines {
            for words in commands(line) {
                next.extend(led_to(&words, read));
                let paths = words.iter().filter(|word| !word.starts_with('-'));
                for path in paths.map(|word| word.trim_start_matches("./")) {
                    if !found.iter().any(|it| it == path) {
                        found.push(path.to_owned());
                    }
                }
            }
        }
        lines = next;
    }
    found
}

const MAX_DEPTH: usize = 5;

fn of_line(
    line: &str,
    read: &dyn Fn(&str) -> Option<String>,
    depth: usize,
    found: &mut Vec<TestRunner>,
) {
    for words in commands(line) {
        let words = unwrapped(&words);
        if let Some(runner) = runner(words) {
            if !found.contains(&runner) {
                found.push(runner);
            }
        } else if depth < MAX_DEPTH {
            for line in led_to(words, read) {
                of_line(&line, read, depth + 1, found);
            }
        }
    }
}

// Past what only starts another command: variables, `npx`, `uv run`, `coverage run -m` and the like.
fn unwrapped(words: &[String]) -> &[String] {
    let mut rest = words;
    loop {
        let before = rest.len();
        let word = |at: usize| rest.get(at).map_or("", |it| base(it));
        let options = |from: usize| {
            let flags = rest.iter().skip(from).take_while(|it| it.starts_with('-'));
            from + flags.count()
        };
        let skip = match word(0) {
            "npx" | "bunx" | "env" | "time" | "nice" | "command" | "exec" | "cross-env" | "c8"
            | "nyc" | "xvfb-run" | "!" | "then" | "do" | "stdbuf" => options(1),
            "timeout" => options(1) + 1,
            "pnpm" | "yarn" | "npm" | "bun" if ["exec", "dlx", "x"].contains(&word(1)) => {
                options(2)
            }
            "uv" | "poetry" | "pipenv" | "hatch" | "pdm" | "rye" | "pixi" if word(1) == "run" => {
                options(2)
            }
            "coverage" if word(1) == "run" => {
                let from = options(2);
                // `-m NAME` is a word of Python's own, kept for what follows.
                if rest
                    .get(from.saturating_sub(1))
                    .is_some_and(|it| it == "-m")
                {
                    from - 1
                } else {
                    from
                }
            }
            _ if rest.first().is_some_and(|it| is_assignment(it)) => 1,
            _ => 0,
        };
        rest = rest.get(skip..).unwrap_or_default();
        if rest.len() == before {
            return rest;
        }
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .chars()
                .all(|it| it.is_ascii_alphanumeric() || it == '_')
    })
}

fn runner(words: &[String]) -> Option<TestRunner> {
    let first = base(words.first()?);
    let has = |word: &str| words.iter().any(|it| it == word);
    let second = words.get(1).map_or("", String::as_str);
    if first.starts_with("python") || first == "py" || first == "-m" {
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

// The lines that a command runs for its own.
fn led_to(words: &[String], read: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let Some(first) = words.first() else {
        return Vec::new();
    };
    let rest: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    match base(first) {
        "npm" | "pnpm" | "yarn" | "bun" => {
            let named = rest.iter().filter(|it| !it.starts_with('-'));
            let mut named = named.filter(|it| !["run", "run-script"].contains(*it));
            let name = match named.next() {
                Some(&("t" | "tst")) => "test",
                Some(name) => name,
                None => return Vec::new(),
            };
            let Some(scripts) = read("package.json").as_deref().and_then(scripts) else {
                return Vec::new();
            };
            let script = |name: &str| scripts.get(name).and_then(Value::as_str);
            [format!("pre{name}"), name.to_owned(), format!("post{name}")]
                .iter()
                .filter_map(|name| script(name).map(str::to_owned))
                .collect()
        }
        "make" | "gmake" => {
            let target = rest
                .iter()
                .find(|it| !it.starts_with('-') && !it.contains('='));
            let names = ["Makefile", "makefile", "GNUmakefile"];
            let text = names.iter().find_map(|name| read(name)).unwrap_or_default();
            recipe(&text, target.copied())
        }
        "sh" | "bash" | "dash" | "zsh" => {
            if let Some(at) = rest
                .iter()
                .position(|it| it.starts_with('-') && it.ends_with('c'))
            {
                return rest
                    .get(at + 1)
                    .map(|it| (*it).to_owned())
                    .into_iter()
                    .collect();
            }
            let script = rest.iter().find(|it| !it.starts_with('-'));
            let text = script.and_then(|it| read(it.trim_start_matches("./")));
            text.into_iter().collect()
        }
        _ if first.contains('/') => {
            let text = read(first.trim_start_matches("./"));
            let text = text.filter(|it| it.starts_with("#!") && shebang_is_shell(it));
            text.into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn shebang_is_shell(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.ends_with("sh") || first.contains("sh ")
}

fn scripts(text: &str) -> Option<serde_json::Map<String, Value>> {
    let manifest: Value = serde_json::from_str(text).ok()?;
    manifest.get("scripts")?.as_object().cloned()
}

// The recipe of a target and of those it needs; the first target when none is named.
fn recipe(makefile: &str, target: Option<&str>) -> Vec<String> {
    let mut wanted: Vec<String> = target.map(str::to_owned).into_iter().collect();
    let mut lines = Vec::new();
    let mut inside = false;
    for _ in 0..MAX_DEPTH {
        let from = wanted.len();
        for line in makefile.lines() {
            if let Some(command) = line.strip_prefix('\t') {
                let command = command.trim_start_matches(['@', '-', '+']).to_owned();
                if inside && !lines.contains(&command) {
                    lines.push(command);
                }
                continue;
            }
            let Some((names, needs)) = line.split_once(':').filter(|(names, needs)| {
                !names.contains(['=', '#']) && !needs.starts_with('=') && !names.starts_with('.')
            }) else {
                inside &= line.trim().is_empty() || line.starts_with('#');
                continue;
            };
            if wanted.is_empty() {
                wanted.extend(names.split_whitespace().map(str::to_owned));
            }
            inside = names
                .split_whitespace()
                .any(|it| wanted.iter().any(|want| want == it));
            if inside {
                for need in needs.split_whitespace() {
                    if !wanted.iter().any(|it| it == need) {
                        wanted.push(need.to_owned());
                    }
                }
            }
        }
        if wanted.len() == from {
            break;
        }
    }
    lines
}

fn base(word: &str) -> &str {
    word.rsplit(['/', '\\']).next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::{named_files, named_runners};
    use crate::model::TestRunner as R;

    fn read(path: &str) -> Option<String> {
        Some(
            match path {
                "package.json" => {
                    r#"{"scripts": {"test": "npm run lint && vitest run", "lint": "eslint .",
                        "unit": "c8 mocha test", "pretest": "tsc -p ."}}"#
                }
                "Makefile" => ".PHONY: test\nX := 1\ntest: types\n\t@python3 -m unittest -q\n\ntypes:\n\tmypy src\n",
                "ci.sh" => "#!/bin/sh\nset -e\ncd sub\npython -m pytest -q\n",
                _ => return None,
            }
            .to_owned(),
        )
    }

    #[test]
    fn runners_are_found_behind_what_starts_them() {
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
            assert_eq!(named_runners(line, &read), *expected, "{line}");
        }
    }

    #[test]
    fn files_are_those_that_a_command_names() {
        assert_eq!(
            named_files("node ./check.js --x", &read),
            ["node", "check.js"]
        );
        assert!(named_files("sh ci.sh", &read).contains(&"pytest".to_owned()));
    }
}
