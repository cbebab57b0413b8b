use clap::error::{ContextKind, ContextValue, ErrorKind};

/// What to say of a command line that is not understood, where more is known than the nearest
/// spelling: a word that belongs to another tool, a file where a command is expected.
pub(crate) fn said(error: &clap::Error) -> Option<String> {
    said_of(error, &line())
}

fn said_of(error: &clap::Error, line: &[String]) -> Option<String> {
    let word = |kind| error.get(kind).map(value).filter(|it| !it.is_empty());
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
            let flag = word.split(['=', ' ']).next().unwrap_or(&word);
            let near = error.get(ContextKind::SuggestedArg).map(value);
            let hint = of_flag(command, flag)
                .or_else(|| {
                    Some(format!(
                        "did you mean `{}`?",
                        near.filter(|it| is_slip(flag, it))?
                    ))
                })
                .unwrap_or_else(|| of_unknown(command, flag, line));
            (format!("`mendit {command}` takes no `{flag}`"), hint)
        }
        ErrorKind::ValueValidation if error.to_string().contains("invalid digit") => {
            let (flag, given) = (
                word(ContextKind::InvalidArg)?,
                word(ContextKind::InvalidValue)?,
            );
            let example = if flag.contains("DAYS") { 7 } else { 8000 };
            let hint = format!("a whole number is expected, such as {example}");
            (format!("invalid value `{given}` for `{flag}`"), hint)
        }
        ErrorKind::MissingRequiredArgument => {
            let (_, hint) = MISSING.iter().find(|(of, _)| *of == command)?;
            let word = word(ContextKind::InvalidArg)?;
            let what = format!("`mendit {command}` wants `{word}`");
            (what, (*hint).to_owned())
        }
        _ => return None,
    };
    Some(format!("error: {what}\n  hint: {hint}\n"))
}

fn value(value: &ContextValue) -> String {
    match value {
        ContextValue::String(word) => word.clone(),
        ContextValue::Strings(words) => words.first().cloned().unwrap_or_default(),
        _ => String::new(),
    }
}

fn of_flag(command: &str, flag: &str) -> Option<String> {
    let whole = |wrong: &str| wrong.split(' ').any(|it| it == flag);
    let begun = |wrong: &str| flag.len() > 4 && wrong.split(' ').any(|it| it.starts_with(flag));
    let row = |fits: &dyn Fn(&str) -> bool| {
        let mut rows = FLAGS.iter();
        rows.find(|(of, wrong, _)| {
            (of.is_empty() || of.split(' ').any(|it| it == command)) && fits(wrong)
        })
    };
    Some(row(&whole).or_else(|| row(&begun))?.2.to_owned())
}

// A flag that is cut off, has one letter wrong at its end or two letters changed about.
fn is_slip(typed: &str, known: &str) -> bool {
    let sorted = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    let same = typed
        .chars()
        .zip(known.chars())
        .take_while(|(one, other)| one == other);
    same.count() + 1 >= typed.chars().count()
        || sorted(typed) == sorted(known)
        || strsim::osa_distance(typed, known) == 1
}

fn of_unknown(command: &str, word: &str, line: &[String]) -> String {
    let plain = |words: &[&str]| {
        words
            .iter()
            .map(|it| quoted(it))
            .collect::<Vec<_>>()
            .join(" ")
    };
    if !word.starts_with('-') {
        let rest: Vec<&str> = line
            .iter()
            .map(String::as_str)
            .filter(|it| *it != word)
            .collect();
        return format!("one at a time: `mendit {}`", plain(&rest));
    }
    if !matches!(command, "run" | "fix") {
        return format!("`mendit {command} --help` lists what it takes");
    }
    // A flag of the command itself, such as `-n 4` of pytest.
    let at = line
        .iter()
        .position(|it| it.split('=').next() == Some(word));
    let (before, after) = line.split_at(at.unwrap_or(line.len()));
    let words: Vec<&str> = after.iter().map(String::as_str).collect();
    let runner = words.iter().position(|it| RUNNERS.contains(it));
    let (own, named) = words.split_at(runner.unwrap_or(0));
    if named.is_empty() || runner.is_none() {
        return format!(
            "flags of the command stand behind it: `mendit {command} CMD {word}`; `mendit {command} --help` \
             lists mendit's own"
        );
    }
    let before: Vec<&str> = before.iter().map(String::as_str).collect();
    format!(
        "flags of the command stand behind it: `mendit {}`",
        plain(&[&before[..], named, own].concat())
    )
}

// The command line without the program and without what stands before the command.
fn line() -> Vec<String> {
    let words = std::env::args_os()
        .skip(1)
        .map(|it| it.to_string_lossy().into_owned());
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

// What a command is not without, by a line that has it.
const MISSING: &[(&str, &str)] = &[
    (
        "ci",
        "`mendit ci github --test CMD` writes the workflow; gitlab is known too",
    ),
    (
        "fix-ci",
        "`mendit fix-ci LOG`, or a folder or archive of the logs of a run",
    ),
    (
        "redact",
        "`mendit redact FILE`, or `mendit redact -` for standard input",
    ),
    (
        "split",
        "`mendit split TASK`: the task is a file, or `-` for standard input",
    ),
    (
        "stats",
        "`mendit stats .mendit/runs`, or another folder of runs",
    ),
    (
        "bench",
        "`mendit bench FIXTURES`: a folder of fixtures; `bench new` makes one",
    ),
    (
        "check",
        "`mendit check PATCH`, or `mendit check -` for standard input",
    ),
    (
        "apply",
        "`mendit apply PATCH`, or `mendit apply -` for standard input",
    ),
];

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

// Flags of other commands and other tools: commands (none is all), flags, what does it here.
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
    ("apply", "--3way -3", "`--three-way`"),
    (
        "apply",
        "--yes -y",
        "`mendit apply PATCH` writes without asking",
    ),
    ("check", "-R --reverse", "`mendit apply -R --dry-run PATCH`"),
    (
        "check",
        "--cached",
        "`mendit apply --cached --dry-run PATCH`",
    ),
    ("check", "--apply", "`mendit apply PATCH` judges and writes"),
    ("check", "--fix", "`mendit apply PATCH` mends and writes"),
    ("context", "--tokens", "`--max-tokens N`"),
    (
        "context",
        "--file",
        "name the file alone: `mendit context FILE`",
    ),
    ("context run", "--output", "`--out DIR`"),
    ("context", "--test", "`--test-command CMD`"),
    (
        "diagnose",
        "--file -f",
        "name the log alone: `mendit diagnose FILE`",
    ),
    (
        "diagnose",
        "--test",
        "`mendit run CMD` runs and diagnoses a command",
    ),
    ("fix", "--apply --write", "`--yes` writes without asking"),
    (
        "fix",
        "--dry-run -n",
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
        "--in-place -i",
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
    ("report", "--html", "`--format html`"),
    ("report", "--markdown --md", "`--format markdown`"),
    ("bench", "--compare", "`mendit bench compare A B`"),
    (
        "gain",
        "--last --runs",
        "`mendit gain` alone counts all runs",
    ),
    (
        "split",
        "--text --task",
        "`mendit split -` reads the task from standard input",
    ),
    (
        "run",
        "--test --command",
        "name the command alone: `mendit run CMD`",
    ),
    (
        "run",
        "--fix",
        "`mendit fix` after it, or `mendit fix CMD` for both",
    ),
    ("run", "--retry --retries", "`--retry-flaky N`"),
    ("run", "--agent", "`mendit fix --agent NAME` after it"),
    ("run", "--json", "`--format json`, before the command"),
    ("run repair", "--no-sandbox", "`--sandbox off`"),
    (
        "doctor heal",
        "--fix",
        "`--auto` writes the configuration that answers",
    ),
    ("check", "-n --dry-run", "leave it out: it writes nothing"),
    ("apply", "-n", "`--dry-run`"),
    (
        "apply git-apply",
        "--reject",
        "all of a patch is written or nothing: `mendit check PATCH` says what is in the way",
    ),
    (
        "apply",
        "--force -f",
        "no patch is forced: `mendit check PATCH` says what is in the way",
    ),
    ("fix", "-a", "`--agent NAME`"),
    (
        "hint repair",
        "-n --dry-run",
        "nothing is written without `--apply`; leave it out",
    ),
    (
        "explain",
        "--list -l",
        "`mendit explain` alone lists all codes",
    ),
    (
        "report",
        "--last",
        "`mendit report` alone shows the last run",
    ),
    ("run", "-t", "`--timeout S`, such as `--timeout 10m`"),
    (
        "doctor heal",
        "--list",
        "`mendit doctor` alone shows all rows",
    ),
    (
        "doctor heal",
        "-y",
        "`--auto` writes the configuration that answers",
    ),
    ("context", "--md --markdown", "`--format markdown`"),
    ("context", "--xml", "`--format xml`"),
    ("", "--json", "`--format json`"),
    ("", "--yes -y", "only `mendit fix` asks"),
    ("", "--cwd --dir", "`-C DIR`, before or after the command"),
    ("", "--debug", "`-v`, or `-vv` for more"),
    ("", "--silent", "`--quiet`"),
    (
        "",
        "--no-color --no-colour",
        "`--color never`, or the variable `NO_COLOR`",
    ),
    (
        "",
        "--output -o",
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
            ("run -n 4 pytest -x", "`mendit run pytest -x -n 4`"),
            ("run --watch ./check", "`mendit run CMD --watch`"),
            ("check --formt=json x.patch", "`--format`"),
            ("fix --dry", "nothing is written"),
            ("apply -n x.patch", "`--dry-run`"),
            ("diagnose a.log b.log", "`mendit diagnose a.log`"),
            ("context --max-tokens 8k a.py", "a whole number"),
            ("stats --nosuch", "`mendit stats --help`"),
            ("stats", "`mendit stats .mendit/runs`"),
            ("stats --since yesterday .", "such as 7"),
            ("bench --compare a b", "`mendit bench compare"),
            ("ci", "`mendit ci github --test CMD`"),
            ("ci github", "`mendit ci github --test CMD`"),
            ("redact", "`mendit redact -`"),
            ("redact --findngs a.py", "`--findings`"),
            ("split", "`mendit split TASK`"),
            ("split --text fix", "`mendit split -`"),
            ("gain --last", "`mendit gain`"),
            ("report --md", "`--format markdown`"),
            ("context --lvel 2", "`--level`"),
        ] {
            let said = hint(wrong);
            assert!(said.contains(right), "{wrong}: {said}");
        }
    }

    // A hint that names a line must itself be understood.
    #[test]
    fn what_hints_say_is_understood() {
        let missing = super::MISSING.iter().map(|it| it.1);
        let all = super::COMMANDS.iter().map(|it| it.1).chain(missing);
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
