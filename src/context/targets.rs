//! Finds the files that a failure is about.

use crate::model::{Diagnosis, MentionedFile, RepoPath};
use crate::rank::Pool;
use crate::source::{EntryKind, Listing};

/// Targets that a log alone may give; what it names beyond them is mentioned.
const MAX_TARGETS_FROM_LOG: usize = 5;

/// The files a named target represents: itself, or what lies below a directory. Entries that are
/// no regular files are named too, so that they can be refused with a reason. `None` when nothing
/// of that name is there.
pub fn expand_target(listing: &Listing, path: &RepoPath) -> Option<Vec<RepoPath>> {
    if listing.get(path.as_str()).is_some() {
        return Some(vec![path.clone()]);
    }
    if listing.has_directory(path.as_str()) {
        let below = listing.below(path.as_str()).iter();
        return Some(below.map(|entry| entry.path.clone()).collect());
    }
    let inside_submodule = path.ancestors().any(|directory| {
        listing
            .get(directory)
            .is_some_and(|entry| matches!(entry.kind, EntryKind::Submodule { .. }))
    });
    inside_submodule.then(|| vec![path.clone()])
}

/// The repository's files the log is about: those of the failing tests, then those that it points
/// into, most telling first. A file that it only names is a target when there is no better.
pub(super) fn targets_of_log(diagnosis: &Diagnosis, listing: &Listing) -> Vec<RepoPath> {
    let tests = diagnosis.tests.iter();
    let tests = tests.filter_map(|test| RepoPath::new(test.path.as_deref()?).ok());
    let tests: Vec<RepoPath> = tests.collect();
    let pool = Pool::new(&tests, listing);
    let files = diagnosis.files.iter();
    let (pointed, named): (Vec<&MentionedFile>, Vec<&MentionedFile>) =
        files.partition(|file| file.line.is_some());
    let pointed = pointed.into_iter().filter_map(MentionedFile::repo_path);
    // Beside a failing test, what only tests use is the way to the failure.
    let pointed = pointed.filter(|path| tests.is_empty() || pool.standing(path).is_some());
    // Where all tests died in one file, they leave room for it.
    let mut crashes = diagnosis.tests.iter().map(|test| test.crash_path.as_deref());
    let crash = crashes.next().flatten().filter(|first| crashes.all(|one| one == Some(first)));
    let crash = crash.and_then(|path| RepoPath::new(path).ok());
    let ordered = distinct_files(tests.iter().cloned(), listing).into_iter();
    let room = MAX_TARGETS_FROM_LOG - usize::from(crash.is_some());
    let ordered = ordered.take(room).chain(crash).chain(pointed);
    let mut targets = distinct_files(ordered, listing);
    if !targets.is_empty() {
        // What lost an export has no line that fails.
        let mut lost = named.into_iter().filter_map(MentionedFile::repo_path);
        let lost = lost.find(|path| !targets.contains(path) && !tests.contains(path));
        if let Some(path) = lost.filter(|_| !diagnosis.missing_exports.is_empty()) {
            targets.truncate(MAX_TARGETS_FROM_LOG - 1);
            targets.extend(distinct_files(std::iter::once(path), listing));
        }
        return targets;
    }
    let named = diagnosis.files.iter().filter_map(MentionedFile::repo_path);
    distinct_files(named, listing)
}

fn distinct_files(paths: impl Iterator<Item = RepoPath>, listing: &Listing) -> Vec<RepoPath> {
    let mut files: Vec<RepoPath> = Vec::new();
    for path in paths {
        if files.len() < MAX_TARGETS_FROM_LOG
            && listing.has_file(path.as_str())
            && !files.contains(&path)
        {
            files.push(path);
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::{expand_target, targets_of_log};
    use crate::diagnose::{LogFacts, diagnose_in};
    use crate::model::RepoPath;
    use crate::source::{Memory, Source};

    fn source() -> Memory {
        Memory::named(
            ["src/user.ts", "src/users/list.ts", "tests/user.test.ts"].map(|path| (path, "")),
        )
    }

    #[test]
    fn a_directory_means_its_files() {
        let source = source();
        let expand = |text| expand_target(source.listing(), &RepoPath::new(text).unwrap());
        assert_eq!(expand("src").unwrap().len(), 2);
        assert_eq!(expand("src/user.ts").unwrap().len(), 1);
        assert_eq!(expand("src/usr.ts"), None);
    }

    #[test]
    fn file_that_does_not_parse_is_target_beside_many_tests() {
        let names: Vec<String> = (0..7).map(|at| format!("tests/test_{at}.py")).collect();
        let block = |name: &String| {
            format!(
                "____ ERROR collecting {name} ____\n{name}:3: in <module>\n    import app\napp/__init__.py:2: in <module>\n    \
                 from . import keys\nE     File \"/w/app/keys.py\", line 37\nE       def f(a)\nE               \
                 ^\nE   SyntaxError: expected ':'\n"
            )
        };
        let log = format!(
            "==== ERRORS ====\n{}==== 7 errors ====\n",
            names.iter().map(block).collect::<String>()
        );
        let files = names.iter().map(String::as_str).chain(["app/__init__.py", "app/keys.py"]);
        let source = Memory::named(files.map(|path| (path, "")));
        let diagnosis = diagnose_in(&log, &LogFacts::default(), &source);
        let first = &diagnosis.tests[0];
        assert_eq!(first.crash_path.as_deref(), Some("app/keys.py"));
        assert_eq!(first.crash_line, Some(37));
        let targets = targets_of_log(&diagnosis, source.listing());
        assert!(
            targets.iter().any(|path| path.as_str() == "app/keys.py"),
            "{targets:?}"
        );
    }
}
