use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::args::Cli;

/// What to say of a command line that is not understood, where that is more than the nearest spelling: a
/// test command where one of ours is expected, a flag that is the test command's. A word is taken for
/// another only where one letter is wrong.
pub(crate) fn advice(error: &clap::Error) -> Option<String> {
    let words = std::env::args_os()
        .skip(1)
        .map(|it| it.to_string_lossy().into_owned());
    let line: Vec<String> = words.skip_while(|it| it.starts_with('-')).collect();
    advice_of(error, &line)
}

fn advice_of(error: &clap::Error, line: &[String]) -> Option<String> {
    let word = |kind| match error.get(kind)? {
        ContextValue::String(word) => Some(word.clone()),
        ContextValue::Strings(words) => words.first().cloned(),
        _ => None,
    };
    let command = line.first().map_or("", String::as_str);
    let (what, hint) = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = word(ContextKind::InvalidSubcommand)?;
            let rest: Vec<&String> = line.iter().skip_while(|it| **it != word).collect();
            (
                format!("there is no command `{word}`"),
                of_command(&word, &rest),
            )
        }
        ErrorKind::UnknownArgument => {
            let word = word(ContextKind::InvalidArg)?;
            let flag = word.split(['=', ' ']).next().unwrap_or(&word);
            let hint = of_flag(command, flag);
            (format!("`mendit {command}` takes no `{flag}`"), hint)
        }
        _ => return None,
    };
    Some(format!("error: {what}\n  hint: {hint}\n"))
}

fn of_command(word: &str, rest: &[&String]) -> String {
    let cli = Cli::command();
    let names = cli.get_subcommands().map(clap::Command::get_name);
    if let Some(name) = one_letter_off(word, names) {
        return format!("did you mean `mendit {name}`?");
    }
    let ends_in = |ending| {
        std::path::Path::new(word)
            .extension()
            .is_some_and(|it| it == ending)
    };
    if ends_in("patch") || ends_in("diff") {
        return format!("`mendit check {word}` judges it, `mendit apply {word}` writes it");
    }
    if ends_in("log") || ends_in("txt") {
        return format!("`mendit diagnose {word}` says what broke");
    }
    let line: Vec<String> = rest.iter().map(|it| quoted(it)).collect();
    format!(
        "`mendit run {}` runs it; `mendit help` names all commands",
        line.join(" ")
    )
}

fn of_flag(command: &str, flag: &str) -> String {
    let cli = Cli::command();
    let global = cli.get_arguments();
    let found = cli.find_subcommand(command);
    let own = found.into_iter().flat_map(clap::Command::get_arguments);
    let flags = own.chain(global).filter_map(clap::Arg::get_long);
    if let Some(near) = one_letter_off(flag.trim_start_matches('-'), flags) {
        return format!("did you mean `--{near}`?");
    }
    if matches!(command, "run" | "fix" | "why") {
        return format!(
            "flags of the command stand behind it: `mendit {command} CMD {flag}`; `mendit {command} --help` \
             lists mendit's own"
        );
    }
    format!("`mendit {command} --help` lists what it takes")
}

fn one_letter_off<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
    let mut near = names.filter(|name| strsim::osa_distance(word, name) == 1);
    near.next().map(str::to_owned)
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
    use super::advice_of;

    #[test]
    fn what_is_typed_for_something_else_gets_a_line_that_works() {
        for (wrong, right) in [
            ("pytest -x tests", "`mendit run pytest -x tests`"),
            ("npm test", "`mendit run npm test`"),
            ("./run.sh", "`mendit run ./run.sh`"),
            ("fix.patch", "`mendit apply fix.patch`"),
            ("ci.log", "`mendit diagnose ci.log`"),
            ("chekc x.patch", "`mendit check`"),
            ("wyh", "`mendit why`"),
            ("verify", "`mendit help`"),
            ("check --formt=json x.patch", "`--format`"),
            ("redact --findngs a.py", "`--findings`"),
            ("context --lvel 2", "`--level`"),
            ("check --threds 2 x.patch", "`--threads`"),
            ("run -n 4 pytest -x", "`mendit run CMD -n`"),
            ("fix --watch", "`mendit fix CMD --watch`"),
            ("stats --nosuch", "`mendit stats --help`"),
        ] {
            let words: Vec<String> = wrong.split_whitespace().map(str::to_owned).collect();
            let all = std::iter::once("mendit".to_owned()).chain(words.clone());
            let error = Cli::try_parse_from(all).expect_err(wrong);
            let message = advice_of(&error, &words).unwrap_or_else(|| panic!("{wrong}: {error}"));
            assert!(message.contains(right), "{wrong}: {message}");
        }
    }
}
