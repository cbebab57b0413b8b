use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::line::Line;
use super::locate::Locator;
use super::providers::PROVIDERS;
use crate::runners::Pattern;

// Changes of place that are kept; a log in which two packages take turns has many.
const MOST: usize = 50_000;

// Where scripts say that they run: the rows of the table, each with one group.
static PLACES: LazyLock<Regex> =
    LazyLock::new(|| Pattern::any(PROVIDERS.place.iter().map(|row| &row.line)));

/// The directories of the repository in which the log's commands ran, each from the index of a line
/// on. `origins` are the packages that stood before the lines.
pub(super) fn directories(
    lines: &[Line<'_>],
    origins: &[(usize, String)],
    locator: &Locator<'_>,
) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    if !locator.knows_repository() {
        return found;
    }
    let mut seen: HashMap<&str, Option<String>> = HashMap::new();
    for (at, origin) in origins {
        let directory = seen
            .entry(origin)
            .or_insert_with(|| of_origin(origin, locator));
        found.extend(directory.clone().map(|directory| (*at, directory)));
    }
    for (at, line) in lines.iter().enumerate() {
        let text = line.text.as_ref();
        let may = text.len() <= 300
            && (text.contains('/')
                || text.contains("cd ")
                || text.contains(':')
                || text.starts_with('>'));
        if found.len() >= MOST || !may {
            continue;
        }
        let Some(named) = PLACES.captures(text) else {
            continue;
        };
        let mut places = PROVIDERS.place.iter().zip(named.iter().skip(1));
        let Some((row, place)) = places.find_map(|(row, place)| Some((row, place?))) else {
            continue;
        };
        let directory = if row.package {
            locator.package(place.as_str()).map(str::to_owned)
        } else {
            locator.directory(place.as_str())
        };
        found.extend(directory.map(|directory| (at, directory)));
    }
    found.sort_by_key(|row| row.0);
    found
}

// `@acme/web:test`, `packages/web test`, `[@acme/web]`: the package, then perhaps the script.
fn of_origin(origin: &str, locator: &Locator<'_>) -> Option<String> {
    let bare = origin.trim().trim_matches(['[', ']', ':', '|', '$', ' ']);
    let name = bare.split([' ', ':']).next()?;
    locator
        .package(name)
        .map(str::to_owned)
        .or_else(|| locator.directory(name).filter(|it| it == name))
}
