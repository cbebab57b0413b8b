//! Judges a change by policy: each file by itself (guards, what the command runs, manifests, mode, hidden
//! characters), and all together (tests, suspicious lines). Sizes are only declared here.

use super::commands::CommandFiles;
use super::guards::{Allowed, When};
use super::invisible::is_invisible;
use super::manifest::{Dependencies, judge_manifest, means_the_same};
use super::suspicion::find_suspicious;
use super::test_change::judge_tests;
use super::test_files::{is_assertion, is_foreign_program, is_test};
use crate::model::{Code, Operation, PatchProblem};

/// Limits on the size of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeLimits {
    /// Files in one patch.
    pub files: usize,
    /// Bytes of one file after the patch.
    pub file_bytes: u64,
    /// Bytes that a patch may add in all.
    pub grown_bytes: u64,
}

impl Default for ChangeLimits {
    fn default() -> Self {
        Self {
            files: 10_000,
            file_bytes: 32 << 20,
            grown_bytes: 24 << 20,
        }
    }
}

/// What a change is checked by.
#[derive(Clone, Copy)]
pub struct ChangeRules<'a> {
    /// Paths that a person allowed by name.
    pub allowed: &'a Allowed,
    /// Whether dependencies may change.
    pub dependencies: Dependencies,
    /// The files that the commands run.
    pub run: &'a CommandFiles,
    /// Whether changed assertions are refused where the product changes, too.
    pub tests_refused: bool,
}

/// Checks one change of content, kind and place.
pub fn judge_change(file: &ChangedFile<'_>, rules: &ChangeRules<'_>) -> Vec<PatchProblem> {
    let mut findings = Vec::new();
    let by_name = rules.allowed.has(file.path);
    if let Some(guard) = rules.allowed.guard(file.path) {
        let is_new = file.before.is_none() || file.operation == Operation::Copy;
        let holds = match guard.when {
            When::Denied => true,
            When::Changed => !(by_name || means_the_same(file)),
            When::Created => !by_name && is_new,
        };
        if holds {
            let (code, hint) = match guard.when {
                When::Denied => (Code::P702, "denied by policy"),
                _ => (Code::P701, LET_PASS),
            };
            findings.push(PatchProblem::new(
                code,
                format!("the file {}: {hint}", guard.class),
            ));
        }
    }
    let is_source_of_copy = file.before.is_none() && file.after.is_none();
    if !by_name && !is_source_of_copy {
        if findings.is_empty() {
            findings.extend(run_by_command(file, rules.run));
        }
        findings.extend(judge_manifest(file, rules.dependencies));
    }
    if file.modes.1 == 0o100_755 && file.modes.0 != 0o100_755 {
        let message = "the file mode becomes executable (100755)";
        findings.push(PatchProblem::new(Code::P707, message));
    }
    findings.extend(hidden_characters(file, by_name));
    findings
}

/// The end of the sentence of a file that may change, but not so: nothing to let pass is offered for it.
pub(super) const SEND_WITHOUT: &str =
    "the file may change, but not in this way: send the change without that part";

/// The end of the sentence that refuses what a person may allow.
pub(super) const LET_PASS: &str = "protected by policy; `--allow-protected PATH` permits it";

// A file that the command runs decides whether it passes, unless the failure itself is in that file.
fn run_by_command(file: &ChangedFile<'_>, run: &CommandFiles) -> Option<PatchProblem> {
    let found = run.get(file.path)?;
    let before = file.before?;
    let is_judged_as_test = found.is_test || is_test(file.path) && !is_foreign_program(file.path);
    if file.before == file.after || is_judged_as_test {
        return None;
    }
    let says_what_is_right = before.split(|byte| *byte == b'\n').any(is_assertion);
    if run.is_evidence(file.path) && file.after.is_some() && !says_what_is_right {
        let message = format!(
            "{} runs this file, and it may change because the failure is in it",
            found.by
        );
        return Some(PatchProblem::new(Code::P713, message));
    }
    Some(PatchProblem::new(
        Code::P711,
        format!(
            "{} runs this file, which decides whether it passes: {LET_PASS}",
            found.by
        ),
    ))
}

// Characters a reviewer does not see, where the file did not have them.
fn hidden_characters(file: &ChangedFile<'_>, by_name: bool) -> Option<PatchProblem> {
    let after = count_invisible(file.after).filter(|count| *count > 0)?;
    (after > count_invisible(file.before).unwrap_or(0) && !by_name).then(|| {
        let message = "the patch adds invisible or direction-changing characters";
        PatchProblem::new(Code::P706, format!("{message}: {LET_PASS}"))
    })
}

fn count_invisible(bytes: Option<&[u8]>) -> Option<usize> {
    let text = std::str::from_utf8(bytes?).ok()?;
    if text.is_ascii() {
        return Some(0);
    }
    // A byte order mark at the start is no surprise, nor are joiners inside emoji.
    let text = text.trim_start_matches('\u{feff}');
    Some(text.chars().filter(|char| is_invisible(*char) && *char != '\u{200d}').count())
}

/// What the policy looks at: one path before and after.
#[derive(Debug, Clone, Copy)]
pub struct ChangedFile<'a> {
    /// The path.
    pub path: &'a str,
    /// What happens to it.
    pub operation: Operation,
    /// Its bytes before; `None` when it is new.
    pub before: Option<&'a [u8]>,
    /// Its bytes after; `None` when it goes.
    pub after: Option<&'a [u8]>,
    /// git's modes before and after; 0 where there is none.
    pub modes: (u32, u32),
}

/// Judges what all changes of a patch mean together. Each problem comes with the place of its file
/// in `files`.
pub fn judge_together(
    files: &[ChangedFile<'_>],
    rules: &ChangeRules<'_>,
) -> Vec<(usize, PatchProblem)> {
    let suspicious = find_suspicious(files, rules.run).into_iter();
    let mut found: Vec<_> = suspicious.map(|one| (one.at, one.problem)).collect();
    found.extend(judge_tests(files, rules));
    found.retain(|(at, _)| !rules.allowed.has(files[*at].path));
    found
}

#[cfg(test)]
pub(super) mod tests {
    use super::{ChangeRules, ChangedFile, judge_change, judge_together};
    use crate::model::Operation;
    use crate::policy::commands::CommandFiles;
    use crate::policy::{Allowed, Dependencies};

    pub(in crate::policy) fn modified<'f>(
        path: &'f str,
        before: &'f str,
        after: &'f str,
    ) -> ChangedFile<'f> {
        ChangedFile {
            path,
            operation: Operation::Modify,
            before: Some(before.as_bytes()),
            after: Some(after.as_bytes()),
            modes: (0o100_644, 0o100_644),
        }
    }

    pub(in crate::policy) fn with_rules<T>(ask: impl FnOnce(&ChangeRules<'_>) -> T) -> T {
        ask(&ChangeRules {
            allowed: &Allowed::default(),
            dependencies: Dependencies::Registry,
            run: &CommandFiles::default(),
            tests_refused: false,
        })
    }

    fn codes(path: &str, before: Option<&str>, after: Option<&str>) -> Vec<&'static str> {
        let operation = match (before, after) {
            (None, _) => Operation::Create,
            (_, None) => Operation::Delete,
            _ => Operation::Modify,
        };
        let file = ChangedFile {
            path,
            operation,
            before: before.map(str::as_bytes),
            after: after.map(str::as_bytes),
            modes: (0o100_644, 0o100_644),
        };
        let found = with_rules(|rules| {
            let together = judge_together(&[file], rules).into_iter().map(|found| found.1);
            let mut found = judge_change(&file, rules);
            found.extend(together);
            found
        });
        found
            .into_iter()
            .filter(|found| found.severity == crate::model::Severity::Error)
            .map(|finding| finding.code.as_str())
            .collect()
    }

    #[test]
    fn settings_of_tests_stay() {
        let conftest = "import ssl\n\n@fixture\ndef a():\n    return ssl\n";
        let setup = "import os\nsetup(install_requires=['a>=1'], url='http://x')\n";
        for (path, before, after, refused) in [
            (
                "tests/conftest.py",
                conftest,
                &*conftest.replace("@fixture\n", ""),
                true,
            ),
            (
                "tests/conftest.py",
                conftest,
                &conftest.replace("ssl\n\n", "ssl, os\n\n"),
                true,
            ),
            (
                "vitest.config.ts",
                "class A {\n}\n",
                "class A {\n  #a = evil();\n}\n",
                true,
            ),
            ("setup.py", setup, &setup.replace("a>=1", "b>=1"), true),
            (
                "setup.py",
                setup,
                &setup.replace("http://x", "http://y"),
                true,
            ),
            ("setup.py", setup, &setup.replace("os", "evil"), true),
            ("setup.cfg", "[mypy]\nstrict = True\n", "[mypy]\n", true),
        ] {
            let found = codes(path, Some(before), Some(after));
            assert_eq!(!found.is_empty(), refused, "{path} {after} {found:?}");
        }
    }

    #[test]
    fn tests_may_grow_and_not_shrink() {
        let test = "def test_a():\n    assert f() == 2\n";
        assert_eq!(codes("tests/test_a.py", Some(test), None), ["P703"]);
        let weaker = "def test_a():\n    assert f() == 1\n";
        assert_eq!(codes("tests/test_a.py", Some(test), Some(weaker)), ["P703"]);
        let skipped = format!("@pytest.mark.skip\n{test}");
        assert_eq!(
            codes("tests/test_a.py", Some(test), Some(&skipped)),
            ["P703"]
        );
        let grown = format!("{test}\ndef test_b():\n    assert g()\n");
        assert!(codes("tests/test_a.py", Some(test), Some(&grown)).is_empty());
        assert!(codes("tests/test_b.py", None, Some(test)).is_empty());
        let shell = "# why\n[ $A = 1 ] || exit 1\n";
        assert_eq!(codes("tests/a.rb", Some(shell), Some("# why\n")), ["P703"]);
        let reworded = shell.replace("why", "because");
        assert!(codes("tests/a.rb", Some(shell), Some(&reworded)).is_empty());
    }

    #[test]
    fn packages_of_tests_run_nothing_new() {
        let at = |before, after| codes("tests/__init__.py", before, Some(after));
        let patched = "import unittest\nunittest.TestCase.assertEqual = print\n";
        assert_eq!(at(None, patched), ["P712"]);
        assert_eq!(at(Some("\"\"\"Tests.\"\"\"\n"), patched), ["P712"]);
        assert_eq!(at(None, "\"\"; import unittest\n"), ["P712"]);
        assert!(at(None, "\"\"\"Tests.\"\"\"\n# all\n").is_empty());
        assert!(at(Some("import os\n"), "\n").is_empty());
    }

    #[test]
    fn compares_manifests_by_key() {
        let old = r#"{"version":"1","scripts":{"test":"jest"}}"#;
        let version = r#"{"version":"2","scripts":{"test":"jest"}}"#;
        let script = r#"{"version":"1","scripts":{"test":"true"}}"#;
        let source =
            r#"{"version":"1","scripts":{"test":"jest"},"dependencies":{"a":"git+ssh://x"}}"#;
        assert!(codes("package.json", Some(old), Some(version)).is_empty());
        assert_eq!(codes("package.json", Some(old), Some(script)), ["P704"]);
        assert_eq!(codes("package.json", Some(old), Some(source)), ["P704"]);
        let (a, b) = (
            "[project]\nversion='1'\n[tool.pytest.ini_options]\nx=1\n",
            "[project]\nversion='2'\n",
        );
        assert_eq!(codes("pyproject.toml", Some(a), Some(b)), ["P704"]);
    }

    #[test]
    fn hidden_characters_are_found_once_they_are_new() {
        assert_eq!(codes("a.ts", Some("a"), Some("a\u{202e}")), ["P706"]);
        assert!(codes("a.ts", Some("a\u{202e}"), Some("b\u{202e}")).is_empty());
        // A name that nobody sees, and the end of a comment in JavaScript.
        for hidden in ['\u{3164}', '\u{2028}'] {
            assert_eq!(
                codes("a.ts", Some("a"), Some(&format!("a{hidden}"))),
                ["P706"]
            );
        }
    }
}
