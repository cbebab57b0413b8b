use crate::model::{Diagnosis, FailureKind, MentionedFile, RunFailure};

/// A row for each of the first `most` lines, and how many findings of a checker are beyond them.
pub(super) fn of_lines(
    diagnosis: &Diagnosis,
    lines: Vec<String>,
    most: usize,
    first: impl Fn(RunFailure) -> RunFailure,
) -> (Vec<RunFailure>, u64) {
    let mut rows: Vec<RunFailure> = lines
        .into_iter()
        .map(|error| RunFailure {
            error,
            ..RunFailure::default()
        })
        .collect();
    let is_checker = matches!(
        diagnosis.kind,
        FailureKind::LintError | FailureKind::StaticTypeError | FailureKind::TsError
    );
    let own = |row: &RunFailure| is_checker.then(|| place_in_words(row, diagnosis)).flatten();
    if is_checker {
        // Where findings have places, a count of them is none.
        let found = rows.iter().any(|row| own(row).is_some());
        let counts =
            |row: &RunFailure| row.error.contains("problem") || row.error.contains("fixable");
        rows.retain(|row| !found || own(row).is_some() || !counts(row));
    }
    let more = rows.len().saturating_sub(most);
    // One more is as long as the words that there is one.
    let shown = if more == 1 && is_checker {
        most + 1
    } else {
        most
    };
    let more = if is_checker {
        rows.len().saturating_sub(shown)
    } else {
        0
    };
    rows.truncate(shown);
    let rows = rows
        .into_iter()
        .enumerate()
        .map(|(at, row)| match own(&row) {
            Some(file) => RunFailure {
                path: Some(file.path.clone()),
                line: file.line,
                ..row
            },
            None if at == 0 => first(row),
            None => row,
        });
    (rows.collect(), more as u64)
}

// The file and line with which a finding of a checker begins, or whose line and column do.
fn place_in_words<'d>(row: &RunFailure, diagnosis: &'d Diagnosis) -> Option<&'d MentionedFile> {
    let files = diagnosis.files.iter().filter(|it| it.in_repository);
    let begins = |file: &&MentionedFile| {
        let (Some(line), column) = (file.line, file.column) else {
            return false;
        };
        let column = column.map_or_else(String::new, |it| format!(":{it} "));
        row.error.starts_with(&format!("{line}{column}")) && !column.is_empty()
            || row.error.starts_with(&format!("{}:{line}:", file.path))
            || row.error.starts_with(&format!("{}({line},", file.path))
    };
    let mut found = files.filter(begins);
    // The same place in two files says nothing.
    found.next().filter(|_| found.next().is_none())
}
