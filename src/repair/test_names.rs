//! Maps a runner's test id to a test in a file.

use crate::languages::PerturbableTest;
use crate::model::{FailedTest, RepoPath};
use crate::source::Source;

/// The file of a test: as the runner names it, or by the module in its id.
pub(super) fn file_of(test: &FailedTest, source: &dyn Source) -> Option<RepoPath> {
    let listing = source.listing();
    let listed = |path: &str| {
        let path = RepoPath::new(path).ok()?;
        listing.has_file(path.as_str()).then_some(path)
    };
    let id = test.id.split("::").next().unwrap_or_default();
    test.path.as_deref().and_then(listed).or_else(|| listed(id)).or_else(|| {
        let module = id.rsplit(['(', ' ']).next()?.trim_end_matches(')');
        let parts: Vec<&str> = module.split('.').collect();
        let heads = (1..=parts.len()).rev().map(|count| parts[..count].join("/"));
        let mut endings = heads.map(|head| format!("/{head}.py"));
        endings.find_map(|ending| {
            let mut files = listing.files().map(|file| &file.path);
            files.find(|file| format!("/{file}").ends_with(&ending)).cloned()
        })
    })
}

/// The test of a file that an id names most closely.
pub(super) fn closest<'t>(id: &str, tests: &'t [PerturbableTest]) -> Option<&'t PerturbableTest> {
    tests.iter().filter(|test| names_it(id, &test.names)).max_by_key(|test| {
        let held = test.names.iter().all(|name| id.contains(name.as_str()));
        (held, test.names.iter().map(String::len).sum::<usize>())
    })
}

/// Whether an id of a runner names a test by its own name, and those around it where it names some.
pub(super) fn names_it(id: &str, names: &[String]) -> bool {
    let Some(last) = names.last() else {
        return false;
    };
    let is_code = last.chars().all(|c| c.is_alphanumeric() || c == '_');
    if is_code && !id.contains(' ') || id.contains("::") {
        let bare = id.split('[').next().unwrap_or(id);
        let words: Vec<&str> = bare.split([':', '.', '/', '(', ')', ' ', '>']).collect();
        // Another test may be called as the file is.
        let is_last = words.last() == Some(&last.as_str());
        return bare == last || is_last && names.iter().all(|name| words.contains(&name.as_str()));
    }
    let id = fold_marks(id);
    let whole = fold_marks(&names.join(" "));
    // A title with places for values.
    if let Some((plain, _)) = last.split_once(['%', '$']) {
        return id.contains(fold_marks(plain).as_str());
    }
    id == whole
        || id.ends_with(&format!(" {whole}"))
        || id == fold_marks(last)
        || id.starts_with(&format!("{last} ("))
}

fn fold_marks(text: &str) -> String {
    let text = text.replace(['›', '>', '/'], " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::names_it;

    #[test]
    fn ids_of_runners_name_tests() {
        for (id, names, expected) in [
            (
                "tests/test_a.py::TestX::test_y[1-2]",
                &["TestX", "test_y"][..],
                true,
            ),
            ("tests/test_a.py::test_y", &["test_y"], true),
            ("tests/test_a.py::test_y", &["TestX", "test_y"], false),
            ("tests.test_a.T.test_f", &["T", "test_f"], true),
            ("test_f (tests.test_a.T.test_f)", &["T", "test_f"], true),
            ("test_f (tests.test_a.T)", &["T", "test_f"], true),
            ("tests/test_y.py::T::test_a", &["T", "test_y"], false),
            ("tests.test_y.T.test_a", &["T", "test_y"], false),
            ("test_a (tests.test_y.T.test_a)", &["T", "test_y"], false),
            ("auth › locks (1)", &["auth", "locks (1)"], true),
            ("queue > waits", &["queue", "waits"], true),
            ("waits", &["queue", "waits"], true),
            ("Net pings", &["Net", "pings"], true),
            ("Net pings", &["Net", "pongs"], false),
            ("adds 1 and 2", &["adds %i and %i"], true),
            ("subtracts 1", &["adds %i and %i"], false),
        ] {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(names_it(id, &names), expected, "{id} {names:?}");
        }
    }
}
