/// Rows in columns as wide as their widest cell, two blanks apart; `numbers` are the columns that
/// stand at the right.
#[must_use]
pub fn table<R: AsRef<[String]>>(rows: &[R], numbers: &[usize]) -> String {
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.as_ref().get(at));
        cells.map(|it| it.chars().count()).max().unwrap_or(0)
    };
    let line = |row: &R| {
        let cells = row.as_ref().iter().enumerate().map(|(at, cell)| {
            let width = width(at);
            if numbers.contains(&at) {
                format!("{cell:>width$}")
            } else {
                format!("{cell:<width$}")
            }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        line.trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}
