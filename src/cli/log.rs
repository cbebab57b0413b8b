use std::io::{self, Write};
use std::sync::LazyLock;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::AppError;
use crate::app::Redactor;
use crate::report::printable;

/// Prints what happens at the borders (git, exec, patch, rank, ...) on stderr: `-v` information, `-vv` details,
/// and what `MENDIT_LOG` names, such as `debug` or `git=debug,exec=info`.
///
/// # Errors
/// `U101` when `MENDIT_LOG` names no level.
pub(super) fn start_log(verbose: u8) -> Result<(), AppError> {
    let level = match verbose {
        0 => None,
        1 => Some("info"),
        _ => Some("debug"),
    };
    let named = std::env::var("MENDIT_LOG").unwrap_or_default();
    let directives = level.into_iter().chain(named.split(','));
    let targets = parse_directives(directives).ok_or_else(|| {
        AppError::usage(format!("MENDIT_LOG names no level: `{named}`"))
            .hint("MENDIT_LOG=debug, or MENDIT_LOG=git=debug,exec=info")
    })?;
    if targets.iter().next().is_none() {
        return Ok(());
    }
    let lines = tracing_subscriber::fmt::layer()
        .without_time()
        .with_ansi(false)
        .with_writer(|| MaskedStderr);
    let started = tracing_subscriber::registry()
        .with(targets)
        .with(lines)
        .try_init();
    started.map_err(|error| AppError::environment(format!("cannot start the log: {error}")))
}

// `git=debug` is about the module of that name, a level alone about all of them.
fn parse_directives<'a>(directives: impl Iterator<Item = &'a str>) -> Option<Targets> {
    let named = directives.filter(|directive| !directive.is_empty());
    let parse = |directive: &str| {
        let (module, level) = directive.rsplit_once('=').unwrap_or(("", directive));
        let target = format!("mendit::{module}");
        let level: LevelFilter = level.parse().ok()?;
        Some((target.trim_end_matches("::").to_owned(), level))
    };
    named.map(parse).collect()
}

// Takes one line in each write. Names of files and words of agents cannot steer the terminal, and no secret of
// the environment is shown.
struct MaskedStderr;

static REDACTOR: LazyLock<Redactor> =
    LazyLock::new(|| {
        let variables = std::env::vars_os();
        Redactor::new(variables.filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        }))
    });

impl Write for MaskedStderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        let redacted = REDACTOR.redact(&text);
        let shown = printable(&redacted.text);
        io::stderr().lock().write_all(shown.as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::parse_directives;

    #[test]
    fn parses_modules_and_levels() {
        let parsed = parse_directives(["info", "git=debug", ""].into_iter()).unwrap();
        assert_eq!(parsed.to_string(), "mendit::git=debug,mendit=info");
        let none = parse_directives([""].into_iter()).unwrap();
        assert_eq!(none.iter().count(), 0);
        assert!(parse_directives(["loud"].into_iter()).is_none());
    }
}
