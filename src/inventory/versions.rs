//! Compares interpreter versions with what the project asks for.

use super::project::Project;
use crate::model::Remedy;
use crate::runners::pattern;
use crate::source::interpreter_version;

/// Returns a problem with the version of Python or Node.js: another one than a version file names, or an older one than
/// the manifest asks for.
pub(super) fn wrong_version(project: &Project<'_>, python: bool, version: &str) -> Option<Remedy> {
    let version = version.trim().trim_start_matches('v');
    let (files, language) = match python {
        true => (".python-version", "Python"),
        false => (".nvmrc .node-version", "Node.js"),
    };
    let mut pins = files.split(' ').filter_map(|file| Some((file, project.read(file)?)));
    let (pin, (file, asked)) = match pins.next() {
        Some(pin) => (true, pin),
        None => (false, asked_range(project, python)?),
    };
    let asked = asked.trim().trim_start_matches('v');
    let mut words = RELEASES.split(' ').skip_while(|word| asked.strip_prefix("lts/") != Some(word));
    let asked = words.nth(1).unwrap_or(asked);
    let least = NUMBERS.find(asked)?.as_str();
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

// The range that a manifest asks for, with the manifest; where none does, what the file of asdf and mise names.
fn asked_range(project: &Project<'_>, python: bool) -> Option<(&'static str, String)> {
    let (file, keys, tool) = match python {
        true => (
            "pyproject.toml",
            "/project/requires-python /tool/poetry/dependencies/python",
            "python ",
        ),
        false => ("package.json", "/engines/node /volta/node", "nodejs "),
    };
    let manifest = project.manifest(file);
    let Some(range) = keys.split(' ').find_map(|key| manifest.pointer(key)?.as_str()) else {
        let text = project.read(".tool-versions")?;
        let pin = text.lines().find_map(|line| line.strip_prefix(tool))?;
        return Some((".tool-versions", pin.to_owned()));
    };
    (!range.contains("||")).then(|| (file, range.to_owned()))
}

/// Returns the version of the virtual environment.
pub(super) fn python_version(project: &Project<'_>) -> Option<String> {
    interpreter_version(&project.root.as_ref()?.join(project.find_environment()?))
}

pattern!(NUMBERS, r"[0-9]+(?:\.[0-9]+)*");

/// Checks whether a version is below the least of a range: `>=3.12`, `^22`, `22.x`. `None` where a range has none.
pub(super) fn is_below(version: &str, range: &str) -> Option<bool> {
    let least = version_numbers(range).filter(|_| !range.trim().starts_with(['<', '!']))?;
    Some(version_numbers(version)? < least)
}

fn version_numbers(text: &str) -> Option<Vec<u32>> {
    let parts = NUMBERS.find(text)?.as_str().split('.');
    let mut parts: Vec<u32> = parts.map_while(|part| part.parse().ok()).collect();
    while parts.last() == Some(&0) {
        parts.pop();
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::is_below;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        for (version, range, expected) in [
            ("3.11.2", ">=3.12", Some(true)),
            ("3.12.0", ">=3.9,<4", Some(false)),
            ("20.1.0", "^22", Some(true)),
            ("22.1.0", "22.x", Some(false)),
            ("20.1.0", "<22", None),
            ("13", ">=13.0", Some(false)),
            ("0.1a1", ">=0.1", Some(false)),
        ] {
            assert_eq!(is_below(version, range), expected, "{version} {range}");
        }
    }
}
