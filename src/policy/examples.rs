use std::collections::BTreeMap;

use super::change::{ChangeRules, ChangedFile, LET_PASS};
use super::commands::CommandFiles;
use crate::model::{Code, Operation, PatchProblem};
use crate::source::Source;

/// Refuses what takes away, alters or skips an example of a text whose examples are run as tests
/// (Python's `doctest`): what it says to come out is an assertion. New examples are free.
pub(super) fn weakened_example(
    file: &ChangedFile<'_>,
    rules: &ChangeRules<'_>,
) -> Option<PatchProblem> {
    let before = examples(file.before?);
    if before.is_empty()
        || file.operation == Operation::Copy
        || !TEXTS.iter().any(|it| file.path.ends_with(it))
        || !are_run(rules.run, rules.source)
    {
        return None;
    }
    let after = examples(file.after.unwrap_or_default());
    let lost = before
        .iter()
        .any(|(example, count)| after.get(example).is_none_or(|now| now < count));
    lost.then(|| {
        let message =
            format!("the patch removes or alters an example that is run as a test: {LET_PASS}");
        PatchProblem::new(Code::P703, message)
    })
}

const TEXTS: &[&str] = &[".py", ".pyi", ".rst", ".md", ".txt"];

// Where the settings of pytest and of what calls it stand.
const SETTINGS: &[&str] = &[
    "pyproject.toml",
    "pytest.ini",
    ".pytest.ini",
    "setup.cfg",
    "tox.ini",
    "noxfile.py",
    "Makefile",
];

fn are_run(run: &CommandFiles, source: &dyn Source) -> bool {
    let mut words = run.commands().iter().flatten();
    words.any(|word| word.contains("doctest"))
        || SETTINGS.iter().any(|name| {
            let entry = source.listing().get(name);
            let text = entry.and_then(|entry| source.read(&entry.path).ok());
            text.is_some_and(|text| memchr::memmem::find(&text, b"doctest").is_some())
        })
}

// What is typed and what is to come out, without indents, and how often both stand there.
fn examples(text: &[u8]) -> BTreeMap<(Vec<u8>, Vec<u8>), usize> {
    let mut found = BTreeMap::new();
    let mut open: Option<(Vec<u8>, Vec<u8>)> = None;
    let mut close = |open: &mut Option<(Vec<u8>, Vec<u8>)>| {
        if let Some(example) = open.take() {
            *found.entry(example).or_default() += 1;
        }
    };
    for line in text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii) {
        let ends = [&b"\"\"\""[..], b"'''", b"```"]
            .iter()
            .any(|it| memchr::memmem::find(line, it).is_some());
        if line == b">>>" || line.starts_with(b">>> ") {
            close(&mut open);
            open = Some((line.to_vec(), Vec::new()));
        } else if line.is_empty() || ends {
            close(&mut open);
        } else if let Some((typed, out)) = &mut open {
            let goes_on = out.is_empty() && (line == b"..." || line.starts_with(b"... "));
            let part = if goes_on { typed } else { out };
            part.push(b'\n');
            part.extend_from_slice(line);
        }
    }
    close(&mut open);
    found
}

#[cfg(test)]
mod tests {
    use super::{examples, weakened_example};
    use crate::model::Code;
    use crate::policy::change::tests::code_of_modified;
    use crate::source::Memory;

    #[test]
    fn an_example_that_is_run_keeps_what_it_says() {
        let before = "def f():\n    \"\"\"\n    >>> f()\n    2\n    \"\"\"\n    return 1\n";
        let doctest = Memory::named([("pyproject.toml", "addopts = '--doctest-modules'\n")]);
        let plain = Memory::named([("pyproject.toml", "")]);
        for (after, expected) in [
            (before.replace("return 1", "return 2"), None),
            (
                before.replace("    2\n", "    2\n    >>> f() + 1\n    3\n"),
                None,
            ),
            (before.replace("    2\n", "    1\n"), Some(Code::P703)),
            (
                before.replace("f()\n    2", "f()  # doctest: +SKIP\n    2"),
                Some(Code::P703),
            ),
            ("def f():\n    return 1\n".to_owned(), Some(Code::P703)),
        ] {
            for (source, expected) in [(&doctest, expected), (&plain, None)] {
                let found = code_of_modified(weakened_example, "a.py", [before, &after], source);
                assert_eq!(found, expected, "{after}");
            }
        }
    }

    #[test]
    fn an_example_is_what_is_typed_and_what_comes_out() {
        let text = b"def f():\n    \"\"\"A.\n\n    >>> for x in [1]:\n    ...     print(x)\n    1\n    >>> f()\n    2\n    \"\"\"\n    return 2\n";
        let found: Vec<(Vec<u8>, Vec<u8>)> = examples(text).into_keys().collect();
        assert_eq!(
            found,
            [
                (b">>> f()".to_vec(), b"\n2".to_vec()),
                (
                    b">>> for x in [1]:\n...     print(x)".to_vec(),
                    b"\n1".to_vec()
                ),
            ]
        );
        assert!(examples(b"a >> b\n").is_empty());
    }
}
