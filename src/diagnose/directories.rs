use std::collections::HashMap;

use super::line::Line;
use super::locate::Locator;
use crate::runners::pattern;

// Changes of place that are kept; a log in which two packages take turns has many.
const MOST: usize = 50_000;

// Where scripts say that they run.
pattern!(
    PLACES,
    concat!(
        // npm 6 and pnpm after the script's name, npm when it failed
        r"^> \S+@\S+ \S+ (?<npm>/\S+)$",
        r"|^npm (?:error|ERR!) (?:location|path) (?<failed>\S+)$",
        r"|^npm (?:error|ERR!) workspace (?<workspace>@?[^\s@]+)@",
        // make, a shell, options, a step of a workflow
        r"|Entering directory [`'](?<make>[^']+)'",
        r"|^(?:\$ |\+ |> )?(?:cd|pushd) (?<cd>[\w./-]+)(?:$| &&|;)",
        r"|^(?:\$ |\+ |> )?\S.* (?:--(?:cwd|prefix|dir|directory)[= ]|-C )(?<option>[\w./-]+)",
        r"|^\s*working-directory: (?<step>[\w./-]+)$",
        // pytest and vitest name their root
        r"|^rootdir: (?<pytest>/[^\s,]+|[A-Za-z]:\\[^\s,]+)",
        r"|^ ?RUN +v\S+ (?<vitest>/\S+|[A-Za-z]:/\S+)$",
        // pnpm -r, turbo's word at the end, rush, nx, lerna, yarn, npm 7
        r"|^(?<pnpm>(?:[\w.-]+/)+[\w.-]+) [\w:.-]+\$ ",
        r"|command \((?<turbo>/[^)]+)\) ",
        r"|^==\[ (?<rush>@?[\w./-]+) \]=",
        r"|^> nx run (?<nx>@?[\w./-]+):",
        r"|Ran npm script '\S+' in '(?<lerna>[^']+)'",
        r"|^\[(?<yarn>@?[\w./-]+)\]: Process started",
        r"|^(?:> |Lerna |\[)?(?<package>@?[\w.-]+(?:/[\w.-]+)?)(?::[\w:.-]+: |@\d\S* [\w:.-]+$|:[\w:.-]+$)",
    )
);
const PACKAGES: &[&str] = &["workspace", "rush", "nx", "lerna", "yarn", "package"];

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
    let mut known: HashMap<&str, Option<String>> = HashMap::new();
    for (at, origin) in origins {
        let directory = known
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
        let Some(place) = named.iter().skip(1).flatten().next() else {
            continue;
        };
        let is_package = PACKAGES.iter().any(|group| named.name(group).is_some());
        let directory = if is_package {
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
