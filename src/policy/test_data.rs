use super::change::ChangedFile;
use super::manifest::{is_manifest, means_the_same};
use super::test_files::{is_data, is_test};
use super::weakened::missing;
use crate::model::file_name;

// Folders that hold nothing but what tests read, in lower case.
const FOLDERS: &[&str] = &[
    "__fixtures__",
    "cassettes",
    "test-data",
    "test_data",
    "testdata",
];

// Folders that hold specifications of products, too.
const SPECS: &[&str] = &["spec", "specs"];

/// Whether a file is what tests read or compare with, and no program: by its place and the end of its name.
pub(super) fn is_test_data(path: &str) -> bool {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    let kept: Vec<&str> = directory
        .split('/')
        .filter(|part| !SPECS.contains(&part.to_ascii_lowercase().as_str()))
        .collect();
    let holds = kept
        .iter()
        .any(|part| FOLDERS.contains(&part.to_ascii_lowercase().as_str()));
    let is_read_me = name
        .split('.')
        .next()
        .is_some_and(|stem| stem.len() > 1 && !stem.bytes().any(|it| it.is_ascii_lowercase()));
    (holds || is_test(&format!("{}/x", kept.join("/"))))
        && is_data(file_name(path))
        && !is_read_me
        && !is_manifest(path)
}

/// Whether a line of such a file is gone or another; more of them, and another layout, are free.
pub(super) fn rewrites_data(file: &ChangedFile<'_>) -> bool {
    let lines = |bytes: Option<&'_ [u8]>| -> Vec<Vec<u8>> {
        let all = bytes.unwrap_or_default().split(|byte| *byte == b'\n');
        let all = all.map(|line| {
            let line = line.trim_ascii();
            line.strip_suffix(b",").unwrap_or(line).to_vec()
        });
        all.filter(|line| !line.is_empty()).collect()
    };
    let (before, after) = (lines(file.before), lines(file.after));
    let before: Vec<&[u8]> = before.iter().map(Vec::as_slice).collect();
    let after: Vec<&[u8]> = after.iter().map(Vec::as_slice).collect();
    !missing(&before, &after).is_empty() && !means_the_same(file)
}

#[cfg(test)]
mod tests {
    use crate::model::Code;
    use crate::policy::change::tests::code_of_modified;
    use crate::policy::weakened::weakened_test;
    use crate::source::Memory;

    #[test]
    fn what_tests_read_keeps_what_it_says() {
        let json = "[\n  {\"n\": 1},\n  {\"n\": 2}\n]\n";
        let source = Memory::new([]);
        for (path, old, new, refused) in [
            ("tests/data/a.json", "{\"n\": 2}", "{\"n\": 3}", true),
            ("tests/data/a.json", ",\n  {\"n\": 2}", "", true),
            ("src/__tests__/cases.yaml", "{\"n\": 2}", "{\"n\": 3}", true),
            ("testdata/a.golden", "{\"n\": 2}", "{\"n\": 3}", true),
            ("spec/fixtures/a.json", "{\"n\": 2}", "{\"n\": 3}", false),
            (
                "tests/data/a.json",
                "{\"n\": 2}\n",
                "{\"n\": 2},\n  {\"n\": 3}\n",
                false,
            ),
            (
                "tests/data/a.json",
                "{\"n\": 2}",
                "{\n    \"n\": 2\n  }",
                false,
            ),
            ("tests/data/a.txt", "]\n", "]\n\n", false),
            ("tests/README.txt", "{\"n\": 2}", "{\"n\": 3}", false),
            ("tests/package.json", "{\"n\": 2}", "{\"n\": 3}", false),
            ("src/shop/a.json", "{\"n\": 2}", "{\"n\": 3}", false),
            ("spec/openapi.yaml", "{\"n\": 2}", "{\"n\": 3}", false),
        ] {
            assert!(json.contains(old), "{old}");
            let after = json.replacen(old, new, 1);
            let found = code_of_modified(weakened_test, path, [json, &after], &source);
            assert_eq!(found, refused.then_some(Code::P703), "{path} {new}");
        }
    }
}
