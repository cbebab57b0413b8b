use crate::model::RepoPath;
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
