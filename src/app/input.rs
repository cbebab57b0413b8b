use std::io::{self, IsTerminal as _, Read};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{App, AppError, Result};
use crate::diagnose::Log;
use crate::junit::{Report, read_report};
use crate::policy::decode_log;

/// A text: a file, standard input, or what a caller holds.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(from = "Held")]
#[schemars(with = "String", inline)]
pub struct Input {
    name: String,
    held: Option<Vec<u8>>,
}

// A text in a document.
#[derive(Deserialize)]
struct Held(String);

impl From<Held> for Input {
    fn from(Held(text): Held) -> Self {
        Self::held("text", text)
    }
}

// A word of the command line names a file, or standard input by `-`.
impl From<String> for Input {
    fn from(name: String) -> Self {
        Self { name, held: None }
    }
}

impl Input {
    /// Standard input.
    #[must_use]
    pub fn standard() -> Self {
        Self::from("-".to_owned())
    }

    /// A text that is here already, and the name that messages give it.
    #[must_use]
    pub fn held(name: &str, text: impl Into<Vec<u8>>) -> Self {
        Self {
            name: name.to_owned(),
            held: Some(text.into()),
        }
    }

    /// What it is called: the path of a file, `-` for standard input.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(match &self.held {
            Some(held) => Box::new(held.as_slice()),
            None if self.name == "-" => Box::new(io::stdin().lock()),
            None => Box::new(std::fs::File::open(&self.name)?),
        })
    }

    fn read_up_to(&self, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open()?.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// All bytes, as a task reads them.
    ///
    /// # Errors
    /// `U302` with its name.
    pub fn bytes(&self) -> Result<Vec<u8>> {
        let bytes = self.read_up_to(u64::MAX);
        bytes.map_err(|error| AppError::unreadable(&self.name, &error))
    }

    /// The same up to 64 MiB.
    ///
    /// # Errors
    /// As [`Input::bytes`], and what is longer.
    pub fn read(&self) -> Result<Vec<u8>> {
        let bytes = self.read_up_to(MOST + 1);
        let bytes = bytes.map_err(|error| AppError::unreadable(&self.name, &error))?;
        if bytes.len() as u64 > MOST {
            let message = format!("`{}` is larger than 64 MiB", self.name);
            return Err(AppError::usage(message));
        }
        Ok(bytes)
    }

    /// A JSON document.
    ///
    /// # Errors
    /// As [`Input::read`], and what is not JSON.
    pub fn json(&self) -> Result<Value> {
        let read = serde_json::from_slice(&self.read()?);
        read.map_err(|error| AppError::usage(format!("`{}` is not JSON: {error}", self.name)))
    }

    /// A log, in bounded memory.
    ///
    /// # Errors
    /// `U302` with its name.
    pub fn log(&self, app: &App) -> Result<Log> {
        if self.held.is_none() && self.name == "-" {
            awaited("a log", app);
        }
        let read = self.open().and_then(Log::read);
        read.map_err(|error| AppError::unreadable(&self.name, &error))
    }
}

/// Says that standard input is waited for, when a person sits there.
pub fn awaited(what: &str, app: &App) {
    if io::stdin().is_terminal() {
        app.note(&format!(
            "reading {what} from standard input; Ctrl-D ends it, Ctrl-C cancels"
        ));
    }
}

/// Reads reports of tests; says which of them break off.
///
/// # Errors
/// What cannot be read, and what is no such report.
pub(super) fn read_reports(inputs: &[Input], app: &App) -> Result<Vec<Report>> {
    let one = |input: &Input| {
        let (name, report) = (&input.name, read_report(&decode_log(&input.read()?)));
        if report.cases.is_empty() && !report.whole {
            let message = format!("`{name}` is not a JUnit report: it has no tests");
            let error = AppError::usage(message);
            return Err(error.hint("`--junit` takes the XML that a test runner wrote"));
        }
        if !report.whole {
            let message = "is truncated; the tests before that are used";
            app.note(&format!("`{name}` {message}"));
        }
        Ok(report)
    };
    inputs.iter().map(one).collect()
}

/// Whether somebody hands a log to standard input: a file or a pipe, not a terminal and not the
/// null device.
#[must_use]
pub fn is_piped() -> bool {
    use rustix::fs::{FileType, fstat};
    let about = fstat(rustix::stdio::stdin());
    about.is_ok_and(|about| FileType::from_raw_mode(about.st_mode) != FileType::CharacterDevice)
}

const MOST: u64 = 64 << 20;
