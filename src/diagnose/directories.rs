use std::sync::LazyLock;

use regex::Regex;

use super::line::Line;
use super::pattern::compile;
use crate::source::Listing;

const MOST: usize = 20;

// Where scripts say that they run: npm and pnpm after the script's name, make, lerna and rush, a
// command that changes its directory.
static PLACES: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r"^> \S+@\S+ \S+ (?<npm>/\S+)$",
        r"|Entering directory [`'](?<make>[^']+)'",
        r"|^(?:\$ |\+ |> )?(?:cd|pushd) (?<cd>[\w./-]+)(?:$| &&|;)",
        r"|--(?:cwd|prefix|dir|directory)[= ](?<option>[\w./-]+)",
        r"|^\s*working-directory: (?<step>[\w./-]+)$",
        r"|^(?<pnpm>(?:[\w.-]+/)+[\w.-]+) [\w:.-]+\$ ",
        r"|^(?:> |Lerna |\[)?(?<package>@?[\w.-]+(?:/[\w.-]+)?)(?::[\w.-]+: |@\d\S* \w+$)",
    ))
});

/// The directories of the repository in which the log's commands ran, the last named first.
pub(super) fn directories(lines: &[Line<'_>], listing: Option<&Listing>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let Some(listing) = listing else {
        return found;
    };
    for line in lines.iter().rev() {
        let text = line.text.as_ref();
        if found.len() >= MOST {
            break;
        }
        if text.len() > 300 || !(text.contains('/') || text.contains("cd ") || text.contains(':')) {
            continue;
        }
        let Some(named) = PLACES.captures(text) else {
            continue;
        };
        let Some(place) = named.iter().skip(1).flatten().next() else {
            continue;
        };
        let is_package = named.name("package").is_some();
        if let Some(directory) = in_repository(place.as_str(), is_package, listing)
            && !found.contains(&directory)
        {
            found.push(directory);
        }
    }
    found
}

fn in_repository(place: &str, is_package: bool, listing: &Listing) -> Option<String> {
    let parts: Vec<&str> = place
        .trim_start_matches("./")
        .split('/')
        .filter(|part| !part.is_empty())
        .collect();
    if is_package {
        let name = parts.last()?;
        return ["packages", "apps", "libs", "services", "modules"]
            .iter()
            .map(|root| format!("{root}/{name}"))
            .find(|directory| listing.has_directory(directory));
    }
    (0..parts.len())
        .map(|start| parts[start..].join("/"))
        .find(|directory| listing.has_directory(directory))
}
