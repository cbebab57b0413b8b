//! Gathers the facts that a correction may use: names of programs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::Probe;
use super::rules::ALIASES;
use crate::exec::{is_program, on_path};
use crate::model::file_name;

const LOCAL: &[&str] = &["node_modules/.bin", ".venv/bin", "venv/bin"];

/// Facts around a probe that a fix may use. Gathered before the choice, so that the choice is a function over
/// values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Programs that a fix may use and that are on the search path.
    pub programs: BTreeSet<String>,
    /// Program to its file in `node_modules/.bin` or in a virtual environment of the project.
    pub local: BTreeMap<String, String>,
}

/// Looks around a probe in its directory.
pub(super) fn gather_surroundings(directory: &Path, probe: &Probe) -> Surroundings {
    let mut found = Surroundings::default();
    let programs = ALIASES.iter().map(|(_, program)| (*program).to_owned());
    found.programs.extend(programs.filter(|name| on_path(name).is_some()));
    if let Some(program) = probe.program() {
        let name = file_name(program);
        let mut files = LOCAL.iter().map(|place| format!("{place}/{name}"));
        let file = files.find(|file| is_program(&directory.join(file)));
        found.local.extend(file.map(|file| (name.to_owned(), file)));
    }
    found
}
