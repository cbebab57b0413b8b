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
        0 => LevelFilter::OFF,
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    let wanted = std::env::var("MENDIT_LOG").unwrap_or_default();
    let directives = parse_directives(&wanted).ok_or_else(|| {
        AppError::usage(format!("MENDIT_LOG names no level: `{wanted}`"))
            .hint("MENDIT_LOG=debug, or MENDIT_LOG=git=debug,exec=info")
    })?;
    if level == LevelFilter::OFF && directives.is_empty() {
        return Ok(());
    }
    let targets = Targets::new().with_target("mendit", level);
    let lines = tracing_subscriber::fmt::layer()
        .without_time()
        .with_ansi(false)
        .with_writer(|| MaskedStderr);
    let started = tracing_subscriber::registry()
        .with(targets.with_targets(directives))
        .with(lines)
        .try_init();
    started.map_err(|error| AppError::environment(format!("cannot start the log: {error}")))
}

// `git=debug` is about the module of that name, a level alone about all of them.
fn parse_directives(text: &str) -> Option<Vec<(String, LevelFilter)>> {
    let directives = text.split(',').filter(|directive| !directive.is_empty());
    directives
        .map(|directive| {
            let (target, level) = match directive.split_once('=') {
                Some((module, level)) => (format!("mendit::{module}"), level),
                None => ("mendit".to_owned(), directive),
            };
            Some((target, level.parse().ok()?))
        })
        .collect()
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
    use tracing::level_filters::LevelFilter;

    use super::parse_directives;

    #[test]
    fn directives_name_modules_and_levels() {
        let parsed = parse_directives("info,git=debug,");
        let expected = [
            ("mendit", LevelFilter::INFO),
            ("mendit::git", LevelFilter::DEBUG),
        ];
        let expected = expected.map(|(target, level)| (target.to_owned(), level));
        assert_eq!(parsed, Some(expected.to_vec()));
        assert_eq!(parse_directives(""), Some(Vec::new()));
        assert_eq!(parse_directives("loud"), None);
    }
}
