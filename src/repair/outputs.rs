//! Compares the output of two runs. Numbers and paths are ignored, because they differ from run to run.

use std::collections::HashSet;

use crate::model::Outputs;

/// Compares two runs of the same commands: the lines that only one of them wrote, with their neighbors. Lines that
/// differ in numbers and temporary paths alone are the same.
pub(super) fn compare_outputs(before: &str, after: &str) -> Outputs {
    let (before, after) = (
        // Bytes of each side that are shown; the run without the change is in the log of the packet, too.
        only_in(before, after, 3_000),
        only_in(after, before, 6_000),
    );
    Outputs {
        same: before.is_empty() && after.is_empty(),
        before,
        after,
    }
}

fn only_in(these: &str, others: &str, max: usize) -> String {
    let others: HashSet<String> = others.lines().map(steady_line).collect();
    let lines: Vec<&str> = these.lines().collect();
    let mut shown = vec![false; lines.len()];
    // Lines beside one that differs.
    let neighbors = 3;
    for (at, line) in lines.iter().enumerate() {
        if !others.contains(&steady_line(line)) {
            let end = (at + neighbors + 1).min(lines.len());
            shown[at.saturating_sub(neighbors)..end].fill(true);
        }
    }
    let rows = lines.iter().enumerate().filter(|(at, _)| shown[*at]);
    let text: String = rows
        .map(|(at, line)| match at > 0 && !shown[at - 1] {
            true => format!("[...]\n{line}\n"),
            false => format!("{line}\n"),
        })
        .collect();
    // Most tools sum up at the end.
    let from = text.ceil_char_boundary(text.len().saturating_sub(max));
    match from {
        0 => text,
        from => format!("[...]\n{}", &text[from..]),
    }
}

// Without what differs between two runs of the same: times, addresses, temporary paths.
fn steady_line(line: &str) -> String {
    let words: Vec<&str> = line
        .split_whitespace()
        .filter(|word| {
            let bare = word.trim_matches(|letter: char| !letter.is_alphanumeric());
            let number = bare.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
            let is_time = number.contains('.') && number.parse::<f64>().is_ok();
            !is_time && !bare.ends_with("ms") && !word.contains("0x") && !word.contains("/tmp/")
        })
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::compare_outputs;

    #[test]
    fn shows_only_what_differs_with_neighbors() {
        let log = |message: &str, took: &str| {
            let noise: String = (0..50).map(|at| format!("line {at}\n")).collect();
            format!("{noise}{message}\nRan 3 tests in {took}s\n{noise}")
        };
        let two = compare_outputs(&log("-2 != 5", "0.01"), &log("3 != 5", "1.25"));
        assert!(!two.same);
        assert!(two.before.starts_with("[...]\nline 47\n"), "{}", two.before);
        assert!(two.before.contains("-2 != 5\n") && !two.before.contains("line 3\n"));
        assert!(two.after.contains("\n3 != 5\n"), "{}", two.after);
        assert!(compare_outputs(&log("x", "0.01"), &log("x", "0.9")).same);
    }

    #[test]
    fn bounds_what_is_shown() {
        let long: String = (0..9000).map(|at| format!("error {at}\n")).collect();
        let two = compare_outputs("all is well\n", &long);
        assert!(two.after.len() < 6_100 && two.after.ends_with("error 8999\n"));
    }
}
