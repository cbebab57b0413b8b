/// Rows in columns as wide as their widest cell, two blanks apart; `numbers` are the columns that
/// stand at the right.
#[must_use]
pub fn table<const N: usize>(rows: &[[String; N]], numbers: &[usize]) -> String {
    let lines = table_lines(rows, numbers).into_iter();
    lines.map(|line| line + "\n").collect()
}

/// The same line by line, for what has more to say below a row.
pub(super) fn table_lines<const N: usize>(rows: &[[String; N]], numbers: &[usize]) -> Vec<String> {
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max();
    let widths: [usize; N] = std::array::from_fn(|at| width(at).unwrap_or(0));
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).enumerate();
        let cells = cells.map(|(at, (cell, width))| {
            if numbers.contains(&at) {
                format!("{cell:>width$}")
            } else {
                format!("{cell:<width$}")
            }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}
