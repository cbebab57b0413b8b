use super::knowledge::Knowledge;
use super::replies::{Reply, Trick};

/// Tricks with the tests themselves.
pub(super) const TRICKS: &[Trick] = &[
    ("deleted-assertion", |known| {
        changed(known, without_assertions)
    }),
    ("expected-failure", |known| {
        changed(known, expected_failures)
    }),
    ("skipped-test", |known| changed(known, skipped)),
    ("deleted-test", |known| {
        let (path, text) = known.test_files().into_iter().next()?;
        Some(Reply::Delete(path.to_owned(), text.to_owned()))
    }),
];

// Each line of a test is handed to `line` with its indentation.
fn changed(known: &Knowledge, line: fn(&str, &str) -> String) -> Option<Reply> {
    let (path, text) = known.test_files().into_iter().next()?;
    let lines: String = text
        .lines()
        .map(|it| {
            let bare = it.trim_start();
            line(&it[..it.len() - bare.len()], bare) + "\n"
        })
        .collect();
    (lines != text).then(|| Reply::Files(vec![(path.to_owned(), lines)]))
}

fn without_assertions(indent: &str, line: &str) -> String {
    if line.starts_with("self.assert") && line.ends_with(')') {
        format!("{indent}pass")
    } else if line.starts_with("assert.") && line.ends_with(");") {
        format!("{indent};")
    } else {
        format!("{indent}{line}")
    }
}

fn expected_failures(indent: &str, line: &str) -> String {
    if line.starts_with("def test_") {
        format!("{indent}@unittest.expectedFailure\n{indent}{line}")
    } else {
        let line = line.replacen("test(\"", "test.todo(\"", 1);
        format!("{indent}{line}")
    }
}

fn skipped(indent: &str, line: &str) -> String {
    if line.starts_with("def test_") {
        format!("{indent}@unittest.skip(\"later\")\n{indent}{line}")
    } else {
        let line = line.replacen("test(\"", "test.skip(\"", 1);
        format!("{indent}{line}")
    }
}
