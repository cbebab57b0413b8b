/// Rows of a checkup for a person: a mark, a name, words, and the command that mends it.
///
/// Each row is its mark (`✓`, `!` or `✗`), its name, what is said and the command.
#[must_use]
pub fn checkup_rows(rows: &[(char, &str, &str, Option<&str>)], color: bool) -> String {
    let mut text = String::new();
    for (mark, name, said, command) in rows {
        let style = match mark {
            _ if !color => "",
            '✓' => "\x1b[1;32m",
            '!' => "\x1b[1;33m",
            _ => "\x1b[1;31m",
        };
        let end = if style.is_empty() { "" } else { "\x1b[0m" };
        text.push_str(&format!("{style}{mark}{end} {name:<11} {said}\n"));
        if let Some(command) = command {
            text.push_str(&format!("{:14}{command}\n", ""));
        }
    }
    text
}
