//! Reads inputs (a file, standard input or the log of the last run), bounded because a log can be of any length, and
//! writes output files in one step, so that a reader never sees half a document.

use std::io::{self, IsTerminal as _, Read};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{App, AppError, Result};
use crate::diagnose::Log;
use crate::exec::Temporary;
use crate::junit::{Report, read_report};
use crate::model::{AtPath as _, Code};
use crate::policy::decode_log;
use crate::repair::write_atomically;

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
    pub fn standard() -> Self {
        Self::from("-".to_owned())
    }

    /// A text that is here already, and the name that messages give it.
    pub fn held(name: &str, text: impl Into<Vec<u8>>) -> Self {
        Self {
            name: name.to_owned(),
            held: Some(text.into()),
        }
    }

    /// Returns its name: the path of a file, `-` for standard input.
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
        Ok(self.read_up_to(u64::MAX).at(&self.name)?)
    }

    /// The same up to 64 MiB.
    ///
    /// # Errors
    /// As [`Input::bytes`], and what is longer.
    pub fn read(&self) -> Result<Vec<u8>> {
        let most = 64 << 20;
        let bytes = self.read_up_to(most + 1).at(&self.name)?;
        if bytes.len() as u64 > most {
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
        Ok(self.open().and_then(Log::read).at(&self.name)?)
    }
}

/// Says that standard input is waited for, when a person sits there.
pub fn awaited(what: &str, app: &App) {
    if io::stdin().is_terminal() {
        app.note(&format!(
            "reading {what} from standard input; Ctrl-D ends the input, Ctrl-C cancels"
        ));
    }
}

/// Reads reports of tests; says which of them break off.
///
/// # Errors
/// When a file cannot be read or is no such report.
pub(super) fn read_reports(inputs: &[Input], app: &App) -> Result<Vec<Report>> {
    inputs
        .iter()
        .map(|input| {
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
        })
        .collect()
}

/// Checks whether a log is passed on standard input: a file or a pipe, not a terminal and not the
/// null device.
pub fn is_piped() -> bool {
    use rustix::fs::{FileType, fstat};
    let about = fstat(rustix::stdio::stdin());
    about.is_ok_and(|about| FileType::from_raw_mode(about.st_mode) != FileType::CharacterDevice)
}

/// A folder that is gone with the value.
pub(super) fn temporary() -> Result<Temporary> {
    Temporary::new().map_err(|error| {
        AppError::environment(format!("cannot create a temporary folder: {error}"))
    })
}

/// A folder by its full path, made if it is missing.
pub(super) fn make_folder(folder: &Path) -> Result<PathBuf> {
    let made = std::fs::create_dir_all(folder).and_then(|()| folder.canonicalize()).at(folder);
    made.map_err(|error| AppError::environment(format!("cannot make the folder {error}")))
}

/// A document as indented JSON with a final newline.
///
/// # Errors
/// When a value cannot be written as JSON.
pub fn to_json(document: &impl Serialize) -> Result<String> {
    with_newline(serde_json::to_string_pretty(document))
}

/// A document as one line of JSON with its newline.
///
/// # Errors
/// As [`to_json`].
pub fn to_json_line(document: &impl Serialize) -> Result<String> {
    with_newline(serde_json::to_string(document))
}

fn with_newline(text: serde_json::Result<String>) -> Result<String> {
    let text = text.map(|json| json + "\n");
    text.map_err(|error| AppError::environment(format!("cannot write JSON: {error}")))
}

/// Writes a file atomically, so that a reader sees either the old content or all of the new.
///
/// # Errors
/// `U303` with the path when the system refuses it.
pub fn write_file(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    write_atomically(path, content.as_ref()).at(path).map_err(|error| {
        AppError::new(Code::U303, format!("cannot write {error}"))
            .hint("check that the directory exists, is writable and has free space")
    })
}

/// Where a path below `root` lies, which no link leads elsewhere.
///
/// # Errors
/// `U303` with the first link on the way.
pub fn below_no_link(root: &Path, path: &str) -> Result<PathBuf> {
    let mut place = root.to_owned();
    for part in path.split('/') {
        place.push(part);
        if place.symlink_metadata().is_ok_and(|about| about.is_symlink()) {
            let message = format!("`{path}` goes through a link, `{}`", place.display());
            return Err(AppError::new(Code::U303, message)
                .hint("replace the symlink with a file or folder"));
        }
    }
    Ok(place)
}
