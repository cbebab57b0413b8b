//! Compares interpreter versions with what the project asks for.

use super::project::Project;
use crate::languages::{first_version, is_below};
use crate::model::Remedy;
use crate::source::interpreter_version;

/// Returns a problem with the version of Python or Node.js: another one than a version file names, or an older one than
/// the manifest asks for.
pub(super) fn wrong_version(project: &Project<'_>, python: bool, version: &str) -> Option<Remedy> {
    let version = version.trim().trim_start_matches('v');
    let files = if python { ".python-version" } else { ".nvmrc .node-version" };
    let language = if python { "Python" } else { "Node.js" };
    let mut pins = files.split(' ').filter_map(|file| Some((file, project.read(file)?)));
    let (pin, (file, asked)) = match pins.next() {
        Some(pin) => (true, pin),
        None => (false, asked_range(project, python)?),
    };
    let asked = asked.trim().trim_start_matches('v');
    let mut words = RELEASES.split(' ').skip_while(|word| asked.strip_prefix("lts/") != Some(word));
    let asked = words.nth(1).unwrap_or(asked);
    let least = first_version(asked)?;
    let fits = if pin {
        let parts = version.split('.').zip(asked.split('.'));
        asked != least || parts.into_iter().all(|(own, asked)| own == asked)
    } else {
        !is_below(version, asked)?
    };
    let line = match (python, project.read("uv.lock")) {
        (true, Some(_)) => "uv sync".to_owned(),
        (true, None) => match project.find_environment() {
            Some(folder) => format!("pyenv install -s && python3 -m venv --clear {folder}"),
            None => "pyenv install -s".to_owned(),
        },
        (false, _) => format!("nvm install {least}"),
    };
    let message = format!("{language} {version} is in use, but {file} requires {asked}");
    (!fits).then(|| Remedy::new(message, line))
}

// Names of long-term releases of Node.js (github.com/nodejs/Release).
const RELEASES: &str =
    "dubnium 10 erbium 12 fermium 14 gallium 16 hydrogen 18 iron 20 jod 22 krypton 24";

// A manifest, the tool as asdf calls it, and where the manifest names the range.
const PYTHON_RANGE: &str =
    "pyproject.toml python /project/requires-python /tool/poetry/dependencies/python";
const NODE_RANGE: &str = "package.json nodejs /engines/node /volta/node";

// The range that a manifest asks for, with the manifest; where none does, what the file of asdf and mise names.
fn asked_range(project: &Project<'_>, python: bool) -> Option<(&'static str, String)> {
    let mut words = (if python { PYTHON_RANGE } else { NODE_RANGE }).split(' ');
    let (file, tool) = (words.next()?, words.next()?);
    let manifest = project.manifest(file);
    let Some(range) = words.find_map(|key| manifest.pointer(key)?.as_str()) else {
        let text = project.read(".tool-versions")?;
        let pin = text.lines().find_map(|line| line.strip_prefix(tool)?.strip_prefix(' '))?;
        return Some((".tool-versions", pin.to_owned()));
    };
    (!range.contains("||")).then(|| (file, range.to_owned()))
}

/// Returns the version of the virtual environment.
pub(super) fn python_version(project: &Project<'_>) -> Option<String> {
    interpreter_version(&project.root.as_ref()?.join(project.find_environment()?))
}
