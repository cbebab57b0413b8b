/// The line with which a linter or formatter mends what it complains of, where it can: its check
/// without the words for checking, or with the word for mending. Never what it calls unsafe.
pub(super) fn lint_fix(command: &str) -> Option<String> {
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
    let mut kept: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !row.checks.contains(word))
        .collect();
    if row.mends.is_empty() && kept.len() == words.len() {
        return None;
    }
    if !row.mends.is_empty() && !words.contains(&row.mends) {
        let place = at + 1 + usize::from(!row.sub.is_empty());
        kept.insert(place.min(kept.len()), row.mends);
    }
    (kept != words).then(|| kept.join(" "))
}

struct Linter {
    name: &'static str,
    sub: &'static str,
    /// Words that stand for looking alone.
    checks: &'static [&'static str],
    /// The word that has it mend; empty where it mends without one.
    mends: &'static str,
}

const fn linter(
    name: &'static str,
    sub: &'static str,
    checks: &'static [&'static str],
    mends: &'static str,
) -> Linter {
    Linter {
        name,
        sub,
        checks,
        mends,
    }
}

const LINTERS: &[Linter] = &[
    linter("ruff", "check", &["--diff", "--no-fix"], "--fix"),
    linter("ruff", "format", &["--check", "--diff"], ""),
    linter("black", "", &["--check", "--diff"], ""),
    linter(
        "isort",
        "",
        &["--check", "--check-only", "-c", "--diff"],
        "",
    ),
    linter("eslint", "", &[], "--fix"),
    linter("stylelint", "", &[], "--fix"),
    linter("oxlint", "", &[], "--fix"),
    linter("standard", "", &[], "--fix"),
    linter(
        "prettier",
        "",
        &["--check", "-c", "--list-different", "-l"],
        "--write",
    ),
    linter("biome", "check", &[], "--write"),
    linter("biome", "lint", &[], "--write"),
    linter("biome", "format", &[], "--write"),
];

#[cfg(test)]
mod tests {
    use super::lint_fix;

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
            assert_eq!(lint_fix(command).as_deref(), Some(expected), "{command}");
        }
        for command in [
            "npm run lint",
            "ruff check --fix .",
            "black .",
            "eslint src | tee x",
        ] {
            assert_eq!(lint_fix(command), None, "{command}");
        }
    }
}
