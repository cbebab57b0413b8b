use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use regex::Regex;

use crate::model::{MentionedFile, RepoPath};
use crate::source::Listing;

/// More than this many are a listing, not a failure.
const MAX_FILES: usize = 50;

/// Files that the log names, those of the repository first and in the order of the log.
pub(super) fn mentioned_files(log: &str, listing: Option<&Listing>) -> Vec<MentionedFile> {
    let by_name = listing.map(by_file_name).unwrap_or_default();
    let mut found: Vec<MentionedFile> = Vec::new();
    let mut seen: BTreeSet<(String, Option<u32>)> = BTreeSet::new();
    for groups in pattern().into_iter().flat_map(|it| it.captures_iter(log)) {
        let Some(path) = groups.name("path") else {
            continue;
        };
        let number = |names: [&str; 3]| {
            let text = names.iter().find_map(|name| groups.name(name))?;
            text.as_str().parse().ok()
        };
        let line = number(["line", "pyline", "paren"]);
        let column = number(["column", "parencolumn", "parencolumn"]);
        let typed = path.as_str().replace('\\', "/");
        let repo_path = listing.and_then(|listing| locate(&typed, listing, &by_name));
        let path = repo_path.as_ref().map_or(typed, ToString::to_string);
        if found.len() < MAX_FILES && seen.insert((path.clone(), line)) {
            found.push(MentionedFile {
                path,
                line,
                column,
                in_repository: repo_path.is_some(),
            });
        }
    }
    found.sort_by_key(|file| (!file.in_repository, file.line.is_none()));
    found
}

// `None` only if the constant pattern did not compile, which a test would show.
fn pattern() -> Option<&'static Regex> {
    static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let extension = "(?:tsx?|mts|cts|jsx?|mjs|cjs|pyi?|vue|svelte|json|toml|cfg|ini|ya?ml)";
        let text = format!(
            r#"(?P<path>(?:[A-Za-z]:)?[\w@.$+\-/\\\[\]]*[\w\]]\.{extension})\b(?:\((?P<paren>\d+),(?P<parencolumn>\d+)\)|:(?P<line>\d+)(?::(?P<column>\d+))?|", line (?P<pyline>\d+))?"#
        );
        Regex::new(&text).ok()
    });
    PATTERN.as_ref()
}

type ByName<'a> = HashMap<&'a str, Vec<&'a RepoPath>>;

fn by_file_name(listing: &Listing) -> ByName<'_> {
    let mut names: ByName<'_> = HashMap::new();
    for entry in listing.files() {
        names
            .entry(entry.path.file_name())
            .or_default()
            .push(&entry.path);
    }
    names
}

// The file whose path shares the longest tail with the text, when there is just one.
fn locate(text: &str, listing: &Listing, by_name: &ByName<'_>) -> Option<RepoPath> {
    if text.contains("node_modules/") || text.contains("site-packages/") {
        return None;
    }
    if let Ok(path) = RepoPath::new(text)
        && listing.has_file(path.as_str())
    {
        return Some(path);
    }
    let name = text.rsplit('/').next()?;
    let shared = |path: &RepoPath| {
        let ours = path.as_str().rsplit('/');
        ours.zip(text.rsplit('/'))
            .take_while(|(a, b)| a == b)
            .count()
    };
    let candidates = by_name.get(name)?;
    let best = candidates.iter().map(|path| shared(path)).max()?;
    let mut longest = candidates.iter().filter(|path| shared(path) == best);
    let (first, None) = (longest.next()?, longest.next()) else {
        return None;
    };
    // All of our path, or all of the text, must agree: a shared name alone proves nothing.
    let whole = best == first.as_str().split('/').count()
        || best == text.trim_start_matches("./").split('/').count();
    whole.then(|| (*first).clone())
}

#[cfg(test)]
mod tests {
    use super::mentioned_files;
    use crate::model::RepoPath;
    use crate::source::{Memory, Source};

    #[test]
    fn paths_are_found_in_the_repository() {
        let files = [
            "src/app.py",
            "packages/a/src/x.ts",
            "packages/b/src/x.ts",
            "tests/test_a.py",
        ];
        let source = Memory::new(files.map(|path| (RepoPath::new(path).unwrap(), Vec::new())));
        let log = "  File \"/__w/app/app/src/app.py\", line 3, in f\n\
                   src/x.ts(4,2): error\n/ci/w/packages/a/src/x.ts:9:1\n\
                   /usr/lib/python3/site-packages/tests/test_a.py:1\ntests/test_a.py:12: AssertionError\n";
        let found = mentioned_files(log, Some(source.listing()));
        let inside: Vec<_> = found
            .iter()
            .filter(|file| file.in_repository)
            .map(|file| (file.path.as_str(), file.line))
            .collect();
        assert_eq!(
            inside,
            [
                ("src/app.py", Some(3)),
                ("packages/a/src/x.ts", Some(9)),
                ("tests/test_a.py", Some(12))
            ]
        );
    }
}
