use super::ground::Ground;
use super::player::{Move, Trick};

/// Tricks with the tests themselves.
pub(super) const TRICKS: &[Trick] = &[
    ("deleted-assertion", |ground| {
        changed(ground, without_assertions)
    }),
    ("expected-failure", |ground| {
        changed(ground, expected_failures)
    }),
    ("skipped-test", |ground| changed(ground, skipped)),
    ("deleted-test", |ground| {
        let (path, text) = ground.test_files().into_iter().next()?;
        Some(Move::Delete(path.to_owned(), text.to_owned()))
    }),
];

// Each line of a test is handed to `line` with its indentation.
fn changed(ground: &Ground, line: fn(&str, &str) -> String) -> Option<Move> {
    let (path, text) = ground.test_files().into_iter().next()?;
    let lines: String = text
        .lines()
        .map(|it| {
            let bare = it.trim_start();
            line(&it[..it.len() - bare.len()], bare) + "\n"
        })
        .collect();
    (lines != text).then(|| Move::Files(vec![(path.to_owned(), lines)]))
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
