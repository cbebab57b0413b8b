use std::io::{self, IsTerminal, Write};
use std::path::Path;

use serde::Serialize;

use super::{CliError, Exit};
use crate::config::Color;
use crate::model::Code;

/// Where a command's words go: data to stdout, the rest to stderr.
pub(crate) struct Output {
    color: Color,
    quiet: bool,
}

impl Output {
    pub(crate) fn new(color: Color, quiet: bool) -> Self {
        Self { color, quiet }
    }

    /// Writes data to stdout. A reader that has gone away is no error.
    pub(crate) fn data(&self, text: &str) -> Result<(), CliError> {
        self.bytes(text.as_bytes())
    }

    /// The same for bytes that need not be UTF-8.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        match out.write_all(bytes).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CliError::environment(
                format!("cannot write to standard output: {}", error.kind()),
            )),
            _ => Ok(()),
        }
    }

    /// Writes one JSON document and a newline to stdout.
    pub(crate) fn json(&self, document: &impl Serialize) -> Result<(), CliError> {
        self.data(&to_json(document)?)
    }

    /// Says something to a person, unless `--quiet`.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.stderr(&format!("{} {text}\n", self.paint("note:", CYAN)));
        }
    }

    /// Prints an error with its hints and gives back its exit code.
    pub(crate) fn fail(&self, error: &CliError) -> Exit {
        let mut text = format!(
            "{} {}\n",
            self.paint(&format!("error[{}]:", error.code), RED),
            error.message
        );
        for hint in &error.hints {
            text.push_str(&format!("  {} {hint}\n", self.paint("hint:", CYAN)));
        }
        self.stderr(&text);
        error.exit
    }

    /// Passes on what a command writes, as it comes. A reader that has gone away is no error.
    pub(crate) fn pass_on(&self, to_stdout: bool, bytes: &[u8]) {
        let _ = if to_stdout {
            let mut out = io::stdout().lock();
            out.write_all(bytes).and_then(|()| out.flush())
        } else {
            io::stderr().lock().write_all(bytes)
        };
    }

    /// Writes to stderr as it is.
    pub(crate) fn raw_error(&self, text: &str) {
        self.stderr(text);
    }

    /// The same for bytes that need not be UTF-8.
    pub(crate) fn raw_error_bytes(&self, bytes: &[u8]) {
        // Nothing can be said about a stderr that takes nothing.
        let _ = io::stderr().lock().write_all(bytes);
    }

    /// Whether data on stdout may carry colour.
    pub(crate) fn colors_data(&self) -> bool {
        self.colors(io::stdout().is_terminal())
    }

    fn colors(&self, terminal: bool) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                terminal
                    && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                    && std::env::var_os("TERM").is_none_or(|value| value != "dumb")
            }
        }
    }

    fn paint(&self, text: &str, style: &str) -> String {
        if self.colors(io::stderr().is_terminal()) {
            format!("{style}{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    fn stderr(&self, text: &str) {
        // Nothing can be said about a stderr that takes nothing.
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
}

const RED: &str = "\x1b[1;31m";
const CYAN: &str = "\x1b[1;36m";

/// A document as indented JSON with a final newline.
pub(crate) fn to_json(document: &impl Serialize) -> Result<String, CliError> {
    let mut text = serde_json::to_string_pretty(document)
        .map_err(|error| CliError::environment(format!("cannot write JSON: {error}")))?;
    text.push('\n');
    Ok(text)
}

/// Writes a file in one step: either the old content stands there or all of the new.
pub(crate) fn write_file(path: &Path, content: impl AsRef<[u8]>) -> Result<(), CliError> {
    let failed = |error: io::Error| {
        let said = format!("cannot write `{}`: {}", path.display(), error.kind());
        CliError::new(Code::U303, said)
            .hint("check that the directory exists, is writable and has room")
    };
    let directory = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory).map_err(failed)?;
    let mut file = tempfile::NamedTempFile::new_in(directory).map_err(failed)?;
    file.write_all(content.as_ref()).map_err(failed)?;
    file.as_file().sync_data().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Keeps a directory out of git: git is never shown what is written here. Failing is left to the write that follows.
pub(super) fn ignore_itself(state: &Path) {
    let ignore = state.join(".gitignore");
    if !ignore.exists() {
        let _ = write_file(&ignore, "*\n");
    }
}
