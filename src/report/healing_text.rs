use std::fmt::Write as _;

use crate::model::{CheckupRow, CheckupState, HealingResult};

/// Formats what `doctor` found: a line for each thing it looked at, a block for each probe.
#[must_use]
pub fn healing_text(result: &HealingResult, color: bool) -> String {
    let mut text: String = result.rows.iter().map(|row| row_text(row, color)).collect();
    for probe in &result.probes {
        let mark = if probe.fixed { "✓" } else { "✗" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{mark} {}: {}", probe.name, probe.message);
        let mine = result.attempts.iter().filter(|it| it.probe == probe.name);
        for attempt in mine {
            let kind = attempt.diagnosis.kind;
            if let Some(fix) = &attempt.fix_applied {
                let number = attempt.attempt_number;
                let _ = writeln!(
                    text,
                    "  attempt {number}, {kind}: {fix}\n    {}",
                    attempt.result
                );
            }
        }
        if let Some(diagnosis) = &probe.diagnosis {
            for line in &diagnosis.evidence {
                let _ = writeln!(text, "  | {}", line.text.trim());
            }
        }
        if let Some(action) = &probe.user_action_needed {
            let _ = writeln!(text, "  What to do: {}", action.replace('\n', "\n    "));
        }
    }
    text
}

fn row_text(row: &CheckupRow, color: bool) -> String {
    let (mark, style) = match row.state {
        CheckupState::Good => ('✓', "\x1b[1;32m"),
        CheckupState::Weak => ('!', "\x1b[1;33m"),
        CheckupState::Missing => ('✗', "\x1b[1;31m"),
    };
    let (style, end) = if color { (style, "\x1b[0m") } else { ("", "") };
    let mut text = format!("{style}{mark}{end} {:<11} {}\n", row.name, row.message);
    if let Some(command) = &row.command {
        text.push_str(&format!("{:14}{command}\n", ""));
    }
    text
}
