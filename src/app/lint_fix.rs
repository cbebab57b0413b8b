use std::sync::LazyLock;

use serde::Deserialize;

use crate::policy::CommandFiles;
use crate::source::Source;

/// The line with which a linter or formatter mends what it complains of, where it can: its check
/// without the words for checking, or with the word for mending; `output` is what it printed. Never
/// what it calls unsafe, and nothing where it says that it can mend none of it.
pub(super) fn lint_fix(command: &str, output: &[&str]) -> Option<String> {
    let words: Vec<&str> = command.split(' ').filter(|it| !it.is_empty()).collect();
    if command.contains(['|', ';', '&', '>', '$', '`', '\'', '"', '\n']) {
        return None;
    }
    let name = |word: &str| word.rsplit('/').next().map(str::to_owned);
    let rows = words.iter().enumerate().find_map(|(at, word)| {
        let name = name(word)?;
        let next = words.get(at + 1).copied().unwrap_or_default();
        let fits = |row: &&Linter| row.name == name && (row.sub.is_empty() || row.sub == next);
        Some((at, LINTERS.iter().find(fits)?))
    });
    let (at, row) = rows?;
    let mends_some = output.iter().any(|line| line.contains(&row.sign));
    if !mends_some && output.len() < MOST_EVIDENCE {
        return None;
    }
    let mut kept: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !row.checks.iter().any(|it| it == word))
        .collect();
    if row.mends.is_empty() && kept.len() == words.len() {
        return None;
    }
    if !row.mends.is_empty() && !words.contains(&row.mends.as_str()) {
        let place = at + 1 + usize::from(!row.sub.is_empty());
        kept.insert(place.min(kept.len()), &row.mends);
    }
    (kept != words).then(|| kept.join(" "))
}

/// Of a package's script that is one linter: as the package manager starts it.
pub(super) fn lint_fix_of_script(
    command: &str,
    source: &dyn Source,
    prefix: &str,
    output: &[&str],
) -> Option<String> {
    let manager = command.split(' ').next()?;
    let start = match manager {
        "npm" => "npx",
        "pnpm" => "pnpm exec",
        "yarn" => "yarn",
        "bun" => "bunx",
        _ => return None,
    };
    if command.split(' ').skip(1).any(|it| it.starts_with('-')) {
        return None;
    }
    let run = CommandFiles::find(&[command.to_owned()], prefix, source);
    let all = run.commands().iter();
    let mut scripts = all.filter(|it| it.first().is_none_or(|first| first != manager));
    let (Some(script), None) = (scripts.next(), scripts.next()) else {
        return None;
    };
    Some(format!("{start} {}", lint_fix(&script.join(" "), output)?))
}

// A row of `linters.toml`.
#[derive(Deserialize)]
struct Linter {
    name: String,
    #[serde(default)]
    sub: String,
    #[serde(default)]
    checks: Vec<String>,
    #[serde(default)]
    mends: String,
    #[serde(default)]
    sign: String,
}

static LINTERS: LazyLock<Vec<Linter>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct Table {
        linter: Vec<Linter>,
    }
    let read = crate::model::read_table::<Table>(embedded!("app/linters.toml"));
    read.map(|it| it.linter).unwrap_or_default()
});

// As many lines as a diagnosis shows: the sign may be on another.
const MOST_EVIDENCE: usize = 20;

#[cfg(test)]
mod tests {
    use super::{lint_fix, lint_fix_of_script};
    use crate::source::Memory;

    #[test]
    fn a_check_becomes_what_mends() {
        for (command, expected) in [
            ("ruff check .", "ruff check --fix ."),
            (
                "uv run ruff check --diff src",
                "uv run ruff check --fix src",
            ),
            ("ruff format --check .", "ruff format ."),
            ("python -m black --check .", "python -m black ."),
            ("npx eslint src", "npx eslint --fix src"),
            (
                "node_modules/.bin/prettier -c src",
                "node_modules/.bin/prettier --write src",
            ),
            ("biome check", "biome check --write"),
        ] {
            let output = ["F401 [*] unused", "1 error potentially fixable"];
            assert_eq!(
                lint_fix(command, &output).as_deref(),
                Some(expected),
                "{command}"
            );
        }
        for command in [
            "npm run lint",
            "ruff check --fix .",
            "black .",
            "eslint src | tee x",
        ] {
            assert_eq!(lint_fix(command, &["[*]"]), None, "{command}");
        }
    }

    #[test]
    fn what_no_line_says_can_be_mended_is_not_promised() {
        assert_eq!(lint_fix("ruff check src", &["a.py:1:5: F841 unused"]), None);
        assert_eq!(lint_fix("npx eslint src", &["  1:7  error  no-var"]), None);
        assert!(lint_fix("black --check .", &["would reformat a.py"]).is_some());
    }

    #[test]
    fn a_script_of_one_linter_is_started_as_its_package_manager_does() {
        let package = r#"{"scripts": {"lint": "eslint src", "all": "eslint src && tsc"}}"#;
        let source = Memory::named([("package.json", package)]);
        let output = ["1 error and 0 warnings potentially fixable"];
        for (command, expected) in [
            ("npm run lint", Some("npx eslint --fix src")),
            ("pnpm lint", Some("pnpm exec eslint --fix src")),
            ("npm run all", None),
            ("npm run lint --workspaces", None),
            ("make lint", None),
        ] {
            let found = lint_fix_of_script(command, &source, "", &output);
            assert_eq!(found.as_deref(), expected, "{command}");
        }
    }
}
