use std::collections::BTreeMap;
use std::sync::LazyLock;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde::Deserialize;

static KNOWN: LazyLock<Known> =
    LazyLock::new(|| toml::from_str(include_str!("mistakes.toml")).unwrap_or_default());

// `mistakes.toml`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    runners: Vec<String>,
    flags: Vec<[String; 3]>,
    missing: BTreeMap<String, String>,
    commands: BTreeMap<String, String>,
}

impl Known {
    fn runs(&self, program: &str) -> bool {
        self.runners.iter().any(|it| it == program)
    }
}

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
            let hint = KNOWN.missing.get(command)?;
            let word = word(ContextKind::InvalidArg)?;
            let what = format!("`mendit {command}` wants `{word}`");
            (what, hint.clone())
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
        let mut rows = KNOWN.flags.iter();
        rows.find(|[of, wrong, _]| {
            (of.is_empty() || of.split(' ').any(|it| it == command)) && fits(wrong)
        })
    };
    let [_, _, hint] = row(&whole).or_else(|| row(&begun))?;
    Some(hint.clone())
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
    let runner = words.iter().position(|it| KNOWN.runs(it));
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
    if let Some(hint) = KNOWN.commands.get(word) {
        return Some(hint.clone());
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
    let runs = KNOWN.runs(program) || word.contains(' ') || word.contains('/');
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
        let known = &super::KNOWN;
        assert!(known.runs("pytest"), "mistakes.toml cannot be read");
        let all = known.commands.values().chain(known.missing.values());
        for hint in all.chain(known.flags.iter().map(|[_, _, hint]| hint)) {
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
