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
        let entry = listing.get(directory);
        entry.is_some_and(|entry| matches!(entry.kind, EntryKind::Submodule { .. }))
    });
    inside_submodule.then(|| vec![path.clone()])
}

/// Returns the repository's files that the log is about, at most [`MAX_TARGETS_FROM_LOG`]:
///
/// 1. the files of the failing tests;
/// 2. the file in which all of them crashed, for which the tests leave room;
/// 3. files of which the log names a line, without those that only tests use when a test failed;
/// 4. the first file named without a line, when an export is missing: no line of that file fails;
/// 5. every file that the log names, when there is none of the others.
pub(super) fn targets_of_log(diagnosis: &Diagnosis, listing: &Listing) -> Vec<RepoPath> {
    let test_paths = diagnosis.tests.iter().filter_map(|test| test.path.as_deref());
    let test_files: Vec<RepoPath> = test_paths.flat_map(RepoPath::new).collect();
    let crash_file = common_crash_file(diagnosis);
    let most_tests = MAX_TARGETS_FROM_LOG - usize::from(crash_file.is_some());
    let first_tests = distinct_files(test_files.iter().cloned(), listing);
    let first_tests = first_tests.into_iter().take(most_tests);
    let pool = Pool::new(&test_files, listing);
    let pointed = diagnosis.files.iter().filter(|file| file.line.is_some());
    let pointed = pointed.filter_map(MentionedFile::repo_path);
    let pointed = pointed.filter(|path| test_files.is_empty() || pool.standing(path).is_some());
    let mut targets = distinct_files(first_tests.chain(crash_file).chain(pointed), listing);
    if targets.is_empty() {
        let named = diagnosis.files.iter().filter_map(MentionedFile::repo_path);
        return distinct_files(named, listing);
    }
    if !diagnosis.missing_exports.is_empty() {
        let named = diagnosis.files.iter().filter(|file| file.line.is_none());
        let mut named = named.filter_map(MentionedFile::repo_path);
        let exporter = named.find(|path| !targets.contains(path) && !test_files.contains(path));
        if let Some(path) = exporter {
            targets.truncate(MAX_TARGETS_FROM_LOG - 1);
            targets.extend(distinct_files(std::iter::once(path), listing));
        }
    }
    targets
}

// The file in which all failing tests crashed, if there is one.
fn common_crash_file(diagnosis: &Diagnosis) -> Option<RepoPath> {
    let mut crashes = diagnosis.tests.iter().map(|test| test.crash_path.as_deref());
    let first = crashes.next()??;
    let is_common = crashes.all(|path| path == Some(first));
    RepoPath::new(first).ok().filter(|_| is_common)
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
