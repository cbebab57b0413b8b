//! The log of `-v` and `-vv`. It passes the redactor, because file names and agent output are
//! not trusted.

use std::io::{self, Write};
use std::sync::LazyLock;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::AppError;
use crate::app::Redactor;
use crate::report::printable;

/// Prints what happens at the borders (git, exec, patch, rank, ...) on stderr: `-v` information, `-vv` details.
pub(super) fn start_log(verbose: u8) -> Result<(), AppError> {
    let level = match verbose {
        0 => return Ok(()),
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    let lines = tracing_subscriber::fmt::layer()
        .without_time()
        .with_ansi(false)
        .with_writer(|| MaskedStderr);
    let started = tracing_subscriber::registry()
        .with(Targets::new().with_target("mendit", level))
        .with(lines)
        .try_init();
    started.map_err(|error| AppError::environment(format!("cannot start the log: {error}")))
}

// Takes one line in each write and masks it, since file names and agent output could steer the terminal or hold a
// secret.
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
