use super::project::Project;
use crate::model::Remedy;

/// Returns a problem with the version of Python or Node.js: another one than a version file names, or an older one than
/// the manifest asks for.
pub(super) fn wrong_version(project: &Project<'_>, python: bool, version: &str) -> Option<Remedy> {
    let language = if python { "Python" } else { "Node.js" };
    let version = version.trim().trim_start_matches('v');
    let (file, asked, line) = match pinned_version(project, python) {
        Some((file, pins)) => {
            let mut pins_of_file = pins.split_whitespace();
            let may_be = |pin: &str| {
                let pin = pin.trim_start_matches('v');
                let is_version = pin.starts_with(|first: char| first.is_ascii_digit());
                !is_version || version.split('.').zip(pin.split('.')).all(|(a, b)| a == b)
            };
            if pins_of_file.any(may_be) {
                return None;
            }
            (file, pins, "nvm install".to_owned())
        }
        None => {
            let (file, range) = asked_range(project, python)?;
            if !is_below(version, &range)? {
                return None;
            }
            let least = range.trim_start_matches(|first: char| !first.is_ascii_digit());
            let major = least.split(|end: char| !end.is_ascii_digit()).next();
            let line = format!("nvm install {}", major.unwrap_or_default());
            (file, range, line)
        }
    };
    let line = match python {
        true if project.read("uv.lock").is_some() => "uv sync".to_owned(),
        true => "pyenv install -s".to_owned(),
        false => line,
    };
    let asked = asked.trim();
    let message = format!("{language} {version} is in use, {file} asks for {asked}");
    Some(Remedy::new(message, Some(line)))
}

// The file that names versions, and its text.
fn pinned_version(project: &Project<'_>, python: bool) -> Option<(&'static str, String)> {
    let files: &[&str] = if python {
        &[".python-version"]
    } else {
        &[".nvmrc", ".node-version"]
    };
    files
        .iter()
        .find_map(|file| Some((*file, project.read(file)?)))
}

// The range that a manifest asks for, and the manifest.
fn asked_range(project: &Project<'_>, python: bool) -> Option<(&'static str, String)> {
    if python {
        let table: toml::Table = project.read("pyproject.toml")?.parse().ok()?;
        let range = table.get("project")?.get("requires-python")?.as_str()?;
        return Some(("pyproject.toml", range.to_owned()));
    }
    let manifest: serde_json::Value = serde_json::from_str(&project.read("package.json")?).ok()?;
    let range = manifest["engines"]["node"].as_str()?;
    (!range.contains("||")).then(|| ("package.json", range.to_owned()))
}

/// Returns the version of the virtual environment.
pub(super) fn python_version(project: &Project<'_>) -> Option<String> {
    let about = project
        .root
        .as_ref()?
        .join(project.environment()?)
        .join("pyvenv.cfg");
    let about = std::fs::read_to_string(about).ok()?;
    let mut lines = about.lines().filter_map(|line| line.split_once('='));
    let (_, version) = lines.find(|(key, _)| key.trim().starts_with("version"))?;
    Some(version.trim().to_owned())
}

/// Checks whether a version is below the least of a range: `>=3.12`, `^22`, `22.x`. `None` where a range has none.
pub(super) fn is_below(version: &str, range: &str) -> Option<bool> {
    let range = range.trim();
    let is_number = |letter: char| letter.is_ascii_digit();
    let least = range.trim_start_matches(|letter| !is_number(letter));
    if least.is_empty() || range.starts_with(['<', '!']) {
        return None;
    }
    let least = least.split([',', ' ', '<']).next()?;
    let numbers = |text: &str| -> Vec<u32> {
        let heads = text
            .split('.')
            .map(|part| part.split(|end| !is_number(end)).next());
        let mut parts: Vec<u32> = heads.map_while(|head| head?.parse().ok()).collect();
        while parts.last() == Some(&0) {
            parts.pop();
        }
        parts
    };
    Some(numbers(version) < numbers(least))
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
