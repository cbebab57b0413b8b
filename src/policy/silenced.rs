use std::collections::HashMap;
use std::path::Path;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::change::{ChangeRules, ChangedFile, SEND_WITHOUT};
use super::commands::CommandFiles;
use crate::model::{Code, PatchProblem};

/// Comments by which a program looks away, and the programs that do; `coverage` is every one that
/// measures it.
const COMMENTS: &[(&str, &[&str])] = &[
    (
        r"(?i)#\s*(?:ruff:\s*|flake8:\s*)?noqa\b",
        &["ruff", "flake8", "pyflakes", "pycodestyle"],
    ),
    (
        r"#\s*(?:type:\s*ignore|(?:pyright|mypy|ty|pyre)[:-])",
        &["mypy", "pyright", "basedpyright", "ty", "pyre"],
    ),
    (r"#\s*pylint:", &["pylint"]),
    (
        r"#\s*(?:fmt|yapf):\s*(?:off|skip|disable)",
        &["black", "ruff"],
    ),
    (r"#\s*isort:", &["isort", "ruff"]),
    (r"(?i)#\s*nosec\b", &["bandit", "ruff"]),
    (
        r"@ts-(?:ignore|expect-error|nocheck)\b",
        &["tsc", "vue-tsc", "tsgo"],
    ),
    (
        r"\b(?:eslint|oxlint)-disable|/\*\s*(?:eslint\s|globals?\s|exported\s)",
        &["eslint", "oxlint", "standard", "xo"],
    ),
    (r"\bbiome-ignore\b", &["biome"]),
    (r"\bprettier-ignore\b", &["prettier"]),
    (r"\bstylelint-disable\b", &["stylelint"]),
    (
        r"#\s*pragma:\s*no\s?(?:cover|branch)|\b(?:istanbul|c8|v8)\s+ignore\b|\bnode:coverage\b",
        &["coverage"],
    ),
];

static PATTERNS: LazyLock<Vec<Option<Regex>>> = LazyLock::new(|| {
    let patterns = COMMENTS.iter().map(|row| Regex::new(row.0).ok());
    patterns.collect()
});

/// The comments that the changed files have and no file of the patch had before, and that make a
/// program look away which the commands run.
pub(super) fn added(
    files: &[ChangedFile<'_>],
    rules: &ChangeRules<'_>,
) -> Vec<(usize, PatchProblem)> {
    let mut problems = Vec::new();
    for ((_, programs), pattern) in COMMENTS.iter().zip(PATTERNS.iter()) {
        let heeds = programs.iter().find(|it| runs(it, rules.run));
        let (Some(program), Some(pattern)) = (heeds, pattern) else {
            continue;
        };
        let mut known: HashMap<&[u8], usize> = HashMap::new();
        for file in files {
            for (_, text) in found(file.before, pattern) {
                *known.entry(text).or_default() += 1;
            }
        }
        for (at, file) in files.iter().enumerate().filter(|(_, it)| is_code(it.path)) {
            for (line, text) in found(file.after, pattern) {
                if let Some(left) = known.get_mut(text).filter(|left| **left > 0) {
                    *left -= 1;
                    continue;
                }
                let text = String::from_utf8_lossy(text);
                let message = format!(
                    "line {line} `{text}` makes {program} look away, which the command runs: {SEND_WITHOUT}"
                );
                problems.push((at, PatchProblem::new(Code::P714, message)));
            }
        }
    }
    problems
}

// What is said from the comment's mark on, with its 1-based line.
fn found<'b>(bytes: Option<&'b [u8]>, pattern: &Regex) -> impl Iterator<Item = (usize, &'b [u8])> {
    let lines = bytes.unwrap_or_default().split(|byte| *byte == b'\n');
    lines.enumerate().filter_map(move |(at, line)| {
        let mark = pattern.find(line)?;
        Some((at + 1, line.get(mark.start()..)?.trim_ascii()))
    })
}

fn is_code(path: &str) -> bool {
    !matches!(
        Path::new(path).extension().and_then(|it| it.to_str()),
        Some("md" | "mdx" | "rst" | "txt" | "adoc")
    )
}

// Whether a command starts it, or has all hooks run.
fn runs(program: &str, run: &CommandFiles) -> bool {
    run.commands().iter().any(|words| {
        let mut first = words.iter().take(3).map(|word| {
            let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
            name.trim_end_matches(".exe").trim_end_matches(".cmd")
        });
        match program {
            "coverage" => {
                first.any(|it| matches!(it, "coverage" | "nyc" | "c8"))
                    || words.iter().any(|it| {
                        it.starts_with("--cov") || it.starts_with("--experimental-test-coverage")
                    })
            }
            _ => first.any(|it| it == program || matches!(it, "pre-commit" | "lint-staged")),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::added;
    use crate::policy::change::tests::{modified, with_rules};
    use crate::policy::{ChangeRules, CommandFiles};
    use crate::source::Memory;

    fn refused(command: &str, path: &str, before: &str, after: &str) -> bool {
        let source = Memory::named([
            ("Makefile", "lint:\n\t@uv run ruff check src\n"),
            (
                "package.json",
                r#"{"scripts":{"lint":"eslint src","types":"tsc -p ."}}"#,
            ),
        ]);
        let run = CommandFiles::of(&[command.to_owned()], "", &source);
        with_rules(&source, &|_| None, |rules| {
            let rules = ChangeRules {
                run: &run,
                ..*rules
            };
            !added(&[modified(path, before, after)], &rules).is_empty()
        })
    }

    #[test]
    fn what_makes_a_checker_look_away_is_refused_where_it_runs() {
        for (command, path, comment) in [
            ("ruff check src", "a.py", "# noqa: F401"),
            ("make lint", "a.py", "#NOQA"),
            ("python3 -m mypy src", "a.py", "# type: ignore[assignment]"),
            ("mypy src && pytest", "a.py", "# mypy: ignore-errors"),
            ("npx tsc --noEmit", "a.ts", "// @ts-expect-error later"),
            ("npm run types", "a.ts", "// @ts-nocheck"),
            ("npm run lint", "a.js", "/* eslint-disable no-undef */"),
            ("npm run lint", "a.js", "/* global add */"),
            ("npx biome ci", "a.js", "// biome-ignore lint: no"),
            ("npx prettier --check .", "a.js", "// prettier-ignore"),
            (
                "pytest --cov=a --cov-fail-under=90",
                "a.py",
                "# pragma: no cover",
            ),
            ("coverage run -m pytest", "a.py", "# pragma: no cover"),
            ("npx vitest run --coverage", "a.ts", "/* v8 ignore next */"),
            ("npx c8 mocha", "a.js", "/* istanbul ignore if */"),
        ] {
            let (plain, silent) = ("x = 1\n", format!("x = 1  {comment}\ny = 2\n"));
            assert!(
                refused(command, path, plain, &silent),
                "{command} {comment}"
            );
            let moved = format!("y = 2\nx = 1  {comment}\n");
            assert!(
                !refused(command, path, &silent, &moved),
                "{command} {comment}"
            );
            for other in ["pytest -q", "npx vitest run", "cargo test"] {
                assert!(!refused(other, path, plain, &silent), "{other} {comment}");
            }
            assert!(!refused(command, "README.md", plain, &silent), "{comment}");
        }
    }
}
