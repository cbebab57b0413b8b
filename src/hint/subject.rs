use super::evidence::{Candidate, Weight, nearness};
use crate::graph::Graph;
use crate::languages::typescript::ScriptStyle;
use crate::model::{FileFacts, ImportKind, RepoPath};
use crate::policy::is_test;

/// The name of what a test file tests, as its own name says it: `core` for `test_core.py`,
/// `core_test.py` and `core.test.ts`.
pub(super) fn subject(file: &RepoPath) -> Option<&str> {
    let stem = file.stem();
    let ends = [".test", ".spec", "-test", "-spec", "_test", ".test-d"];
    let bare = stem
        .strip_prefix("test_")
        .or_else(|| ends.iter().find_map(|end| stem.strip_suffix(end)))?;
    (is_test(file.as_str()) && !bare.is_empty()).then_some(bare)
}

/// What tests beside the file take under the name, each from what it tests: of the file's own
/// subject the same is meant.
pub(super) fn by_subject<'p>(
    graph: &Graph<'_>,
    style: &ScriptStyle,
    pool: &[&'p RepoPath],
    others: impl Iterator<Item = (&'p RepoPath, &'p FileFacts)>,
    file: &RepoPath,
    name: &str,
) -> Vec<(Candidate, Weight)> {
    let Some(own) = subject(file) else {
        return Vec::new();
    };
    let mut like: Option<(&str, &str)> = None;
    let (mut count, mut votes) = (0, 0);
    for (path, facts) in others.filter(|(path, _)| path.directory() == file.directory()) {
        let taken = facts.imports.iter().find_map(|import| {
            let bound = import.names.iter().find(|one| {
                one.local() == name
                    && import.kind == ImportKind::Import
                    && import.specifier.starts_with('.')
            })?;
            Some((import, bound))
        });
        let Some((import, bound)) = taken.filter(|_| path != file) else {
            continue;
        };
        let files = graph.resolver().resolve(path, import).files;
        if files.first().map(RepoPath::stem) == subject(path) {
            count += 1;
            votes += nearness(path, file);
            like = Some((&import.specifier, &bound.name));
        }
    }
    let Some((like, imported)) = like.filter(|_| count > 1) else {
        return Vec::new();
    };
    let folder = |specifier: &str| {
        specifier
            .rsplit_once('/')
            .map(|(folder, _)| folder.to_owned())
    };
    let offers = |path: &RepoPath| {
        let facts = graph.resolver().facts(path);
        facts.exports.iter().any(|export| export.name == imported)
    };
    let subjects = pool
        .iter()
        .filter(|path| path.stem() == own && offers(path));
    let candidate = |path: &RepoPath| {
        Candidate::new(
            style.relative(file, path, like),
            imported,
            Some(path.clone()),
        )
    };
    subjects
        .map(|path| candidate(path))
        .filter(|candidate| folder(&candidate.module) == folder(like))
        .map(|candidate| {
            let near = candidate
                .path
                .as_ref()
                .map_or(0, |path| nearness(path, file));
            let weight = Weight {
                votes,
                count,
                relative: 1,
                near,
                ..Weight::default()
            };
            (candidate, weight)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::subject;
    use crate::model::RepoPath;

    #[test]
    fn tests_say_what_they_test() {
        for (file, expected) in [
            ("tests/test_core.py", Some("core")),
            ("pkg/core_test.py", Some("core")),
            ("src/core.test.ts", Some("core")),
            ("src/core.spec.tsx", Some("core")),
            ("src/core.ts", None),
            ("tests/support.py", None),
        ] {
            let path = RepoPath::new(file).unwrap();
            assert_eq!(subject(&path), expected, "{file}");
        }
    }
}
