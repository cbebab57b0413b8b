use clap::error::{ContextKind, ContextValue, ErrorKind};

/// What to say of a command line that is not understood, where more is known than the nearest
/// spelling: a word that belongs to another tool, a file where a command is expected.
pub(crate) fn said(error: &clap::Error) -> Option<String> {
    said_of(error, &line())
}

fn said_of(error: &clap::Error, line: &[String]) -> Option<String> {
    let word = |kind| match error.get(kind)? {
        ContextValue::String(word) => Some(word.clone()),
        ContextValue::Strings(words) => words.first().cloned(),
        _ => None,
    };
    let command = line.first().map_or("", String::as_str);
    let (what, hint) = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = word(ContextKind::InvalidSubcommand)?;
            let rest = line.iter().skip_while(|it| **it != word);
            let hint = of_command(
                &word,
                rest.map(String::as_str).collect::<Vec<_>>().as_slice(),
            )?;
            (format!("there is no command `{word}`"), hint)
        }
        ErrorKind::UnknownArgument => {
            let word = word(ContextKind::InvalidArg)?;
            let flag = word.split(['=', ' ']).next().unwrap_or(&word).to_owned();
            let row = FLAGS
                .iter()
                .find(|(of, wrong, _)| (of.is_empty() || *of == command) && *wrong == flag)?;
            (
                format!("`mendit {command}` takes no `{flag}`"),
                row.2.to_owned(),
            )
        }
        _ => return None,
    };
    Some(format!("error: {what}\n  hint: {hint}\n"))
}

// The command line without the program and without what stands before the command.
fn line() -> Vec<String> {
    let words = std::env::args().skip(1);
    words.skip_while(|it| it.starts_with('-')).collect()
}

fn of_command(word: &str, rest: &[&str]) -> Option<String> {
    if let Some((_, hint)) = COMMANDS.iter().find(|(wrong, _)| *wrong == word) {
        return Some((*hint).to_owned());
    }
    let ends = |endings: &[&str]| endings.iter().any(|it| word.ends_with(it));
    if ends(&[".patch", ".diff"]) {
        return Some(format!(
            "`mendit check {word}` judges it, `mendit apply {word}` writes it"
        ));
    }
    if ends(&[".log", ".txt"]) {
        return Some(format!("`mendit diagnose {word}` says what broke"));
    }
    let program = word.rsplit('/').next().unwrap_or(word);
    let runs = RUNNERS.contains(&program) || word.contains(' ') || word.contains('/');
    runs.then(|| {
        let line: Vec<String> = rest.iter().map(|it| quoted(it)).collect();
        format!("`mendit run {}` runs it", line.join(" "))
    })
}

fn quoted(word: &str) -> String {
    if word.contains(char::is_whitespace) {
        format!("\"{word}\"")
    } else {
        word.to_owned()
    }
}

// Commands of other tools, and words that people try.
const COMMANDS: &[(&str, &str)] = &[
    (
        "agent",
        "`mendit fix --agent claude` asks one; `mendit init claude` sets one up",
    ),
    ("analyze", "`mendit diagnose LOG` says what broke"),
    ("analyse", "`mendit diagnose LOG` says what broke"),
    (
        "auto-fix",
        "`mendit fix` mends what the last run failed with",
    ),
    (
        "autofix",
        "`mendit fix` mends what the last run failed with",
    ),
    ("cache", "`mendit clean` shows what is kept, and removes it"),
    ("deps", "`mendit imports FILE` lists what a file imports"),
    ("graph", "`mendit imports --graph` lists all edges"),
    (
        "import",
        "`mendit hint NAME --file FILE` finds one; `mendit imports FILE` lists them",
    ),
    ("install", "`mendit init claude` sets an agent up"),
    ("last", "`mendit report` shows the last run"),
    (
        "lint",
        "`mendit run` with the linter: `mendit run ruff check`, `mendit run eslint .`",
    ),
    (
        "log",
        "`mendit report` shows the last run, `mendit diagnose` what its log says",
    ),
    (
        "logs",
        "`mendit report` shows the last run, `mendit diagnose` what its log says",
    ),
    ("pack", "`mendit context` builds the packet for a failure"),
    ("packet", "`mendit context` builds the packet for a failure"),
    (
        "patch",
        "`mendit check PATCH` judges one, `mendit apply PATCH` writes it",
    ),
    (
        "rerun",
        "`mendit run` without a command runs the last one again",
    ),
    ("retry", "`mendit run --retry-flaky 2 CMD`"),
    ("scan", "`mendit redact FILE --findings` finds secrets"),
    ("serve", "`mendit mcp` serves the commands as tools"),
    ("server", "`mendit mcp` serves the commands as tools"),
    ("settings", "`mendit config show`"),
    (
        "setup",
        "`mendit init claude` sets an agent up, `mendit doctor` says what is missing",
    ),
    ("show", "`mendit report` shows the last run"),
    (
        "status",
        "`mendit report` shows the last run, `mendit doctor` what is missing",
    ),
    (
        "test",
        "`mendit run CMD`, such as `mendit run pytest` or `mendit run npm test`",
    ),
    ("undo", "`mendit apply -R PATCH` takes a patch back"),
    ("version", "`mendit --version`"),
    (
        "why",
        "`mendit diagnose` says what the last run failed with",
    ),
];

// Flags of other commands and other tools: command, flag, what does it here.
const FLAGS: &[(&str, &str, &str)] = &[
    (
        "apply",
        "--check",
        "`mendit check PATCH`, or `mendit apply --dry-run PATCH`",
    ),
    (
        "apply",
        "--fix",
        "`mendit apply PATCH` mends and writes by itself",
    ),
    ("apply", "--3way", "`--three-way`"),
    ("apply", "-3", "`--three-way`"),
    (
        "apply",
        "--yes",
        "`mendit apply PATCH` writes without asking",
    ),
    ("apply", "-y", "`mendit apply PATCH` writes without asking"),
    ("check", "-R", "`mendit apply -R --dry-run PATCH`"),
    ("check", "--reverse", "`mendit apply -R --dry-run PATCH`"),
    (
        "check",
        "--cached",
        "`mendit apply --cached --dry-run PATCH`",
    ),
    ("check", "--apply", "`mendit apply PATCH` judges and writes"),
    ("check", "--fix", "`mendit apply PATCH` mends and writes"),
    ("check", "--json", "`--format json`"),
    ("context", "--tokens", "`--max-tokens N`"),
    (
        "context",
        "--file",
        "name the file alone: `mendit context FILE`",
    ),
    ("context", "--output", "`--out DIR`"),
    ("context", "--test", "`--test-command CMD`"),
    (
        "diagnose",
        "--file",
        "name the log alone: `mendit diagnose FILE`",
    ),
    (
        "diagnose",
        "--test",
        "`mendit run CMD` runs and diagnoses a command",
    ),
    ("fix", "--apply", "`--yes` writes without asking"),
    ("fix", "--write", "`--yes` writes without asking"),
    (
        "fix",
        "--dry-run",
        "nothing is written before you say yes; leave it out",
    ),
    (
        "fix",
        "--model",
        "`--agent NAME` names who writes the patch; the model is its own setting",
    ),
    ("fix", "--test", "name the command alone: `mendit fix CMD`"),
    (
        "fix",
        "--log",
        "`mendit repair --log FILE --test CMD` mends what a log tells of",
    ),
    (
        "hint",
        "--write",
        "`--apply` writes the certain imports, `--fix` prints them",
    ),
    ("hint", "--yes", "`--apply` writes the certain imports"),
    ("imports", "--reverse-deps", "`--reverse`"),
    ("imports", "--depth", "`--hops N`"),
    (
        "redact",
        "--in-place",
        "`mendit redact FILE > NEW`: it writes no file",
    ),
    (
        "redact",
        "-i",
        "`mendit redact FILE > NEW`: it writes no file",
    ),
    (
        "repair",
        "--yes",
        "`--apply` writes what makes the commands pass; `mendit fix` asks",
    ),
    (
        "repair",
        "--fix",
        "`--apply` writes what makes the commands pass",
    ),
    ("repair", "--command", "`--test CMD`"),
    (
        "repair",
        "--model",
        "`--agent CMD` names who writes the patch; the model is its own setting",
    ),
    ("report", "--json", "`--format json`"),
    ("report", "--html", "`--format html`"),
    ("report", "--markdown", "`--format markdown`"),
    ("run", "--test", "name the command alone: `mendit run CMD`"),
    (
        "run",
        "--command",
        "name the command alone: `mendit run CMD`",
    ),
    (
        "run",
        "--fix",
        "`mendit fix` after it, or `mendit fix CMD` for both",
    ),
    ("run", "--retry", "`--retry-flaky N`"),
    ("run", "--retries", "`--retry-flaky N`"),
    ("run", "--agent", "`mendit fix --agent NAME` after it"),
    ("run", "--output", "`--out DIR`"),
    ("run", "--json", "`--format json`, before the command"),
    ("run", "--no-sandbox", "`--sandbox off`"),
    ("repair", "--no-sandbox", "`--sandbox off`"),
    (
        "doctor",
        "--fix",
        "`--auto` writes the configuration that answers",
    ),
    (
        "heal",
        "--fix",
        "`--auto` writes the configuration that answers",
    ),
    ("", "--json", "`--format json`"),
    ("", "--yes", "only `mendit fix` asks"),
    ("", "--cwd", "`-C DIR`, before or after the command"),
    ("", "--dir", "`-C DIR`, before or after the command"),
    ("", "--debug", "`-v`, or `-vv` for more"),
    ("", "--silent", "`--quiet`"),
    (
        "",
        "--no-color",
        "`--color never`, or the variable `NO_COLOR`",
    ),
    (
        "",
        "--no-colour",
        "`--color never`, or the variable `NO_COLOR`",
    ),
    (
        "",
        "--output",
        "see `--help`: `--out DIR` where a folder is written, else `> FILE`",
    ),
];

const RUNNERS: &[&str] = &[
    "ava",
    "bun",
    "bunx",
    "cargo",
    "coverage",
    "ctest",
    "deno",
    "eslint",
    "go",
    "gradle",
    "jest",
    "make",
    "mocha",
    "mvn",
    "mypy",
    "node",
    "nox",
    "npm",
    "npx",
    "nx",
    "pdm",
    "playwright",
    "pnpm",
    "poetry",
    "pyright",
    "pytest",
    "python",
    "python3",
    "rspec",
    "ruff",
    "sh",
    "bash",
    "tox",
    "tsc",
    "turbo",
    "unittest",
    "uv",
    "vitest",
    "yarn",
];

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::super::args::Cli;
    use super::said_of;

    fn hint(line: &str) -> String {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let all = std::iter::once("mendit".to_owned()).chain(words.clone());
        let error = Cli::try_parse_from(all).expect_err(line);
        said_of(&error, &words).unwrap_or_else(|| panic!("`{line}` gets no hint: {error}"))
    }

    #[test]
    fn natural_mistakes_get_a_line_that_works() {
        for (wrong, right) in [
            ("pytest -x tests", "`mendit run pytest -x tests`"),
            ("npm test", "`mendit run npm test`"),
            ("./run.sh", "`mendit run ./run.sh`"),
            ("test", "`mendit run CMD`"),
            ("fix.patch", "`mendit apply fix.patch`"),
            ("ci.log", "`mendit diagnose ci.log`"),
            ("why", "`mendit diagnose`"),
            ("version", "`mendit --version`"),
            ("status", "`mendit report`"),
            ("apply --check x.patch", "`mendit check PATCH`"),
            ("check -R x.patch", "`mendit apply -R --dry-run PATCH`"),
            ("check --json x.patch", "`--format json`"),
            ("run --fix pytest", "`mendit fix CMD`"),
            ("run --json pytest", "`--format json`"),
            ("fix --apply", "`--yes`"),
            ("fix --dry-run", "nothing is written"),
            ("repair --yes", "`--apply`"),
            ("hint --write", "`--apply`"),
            ("imports --depth=2 a.py", "`--hops N`"),
            ("diagnose --no-color", "`--color never`"),
            ("context --cwd x", "`-C DIR`"),
        ] {
            let said = hint(wrong);
            assert!(said.contains(right), "{wrong}: {said}");
        }
    }

    // A hint that names a line must itself be understood.
    #[test]
    fn what_hints_say_is_understood() {
        let all = super::COMMANDS.iter().map(|it| it.1);
        for hint in all.chain(super::FLAGS.iter().map(|it| it.2)) {
            for span in hint.split('`').skip(1).step_by(2) {
                let Some(line) = span.strip_prefix("mendit ") else {
                    continue;
                };
                let words = line.split(" > ").next().unwrap_or(line).split_whitespace();
                let words = words.map(|it| if it == "N" { "1" } else { it });
                let words: Vec<&str> = std::iter::once("mendit").chain(words).collect();
                let parsed = Cli::try_parse_from(&words);
                let fine = parsed
                    .as_ref()
                    .map_or_else(|error| !error.use_stderr(), |_| true);
                assert!(fine, "`{line}`: {:?}", parsed.err());
            }
        }
    }
}
