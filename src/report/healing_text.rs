use std::fmt::Write as _;

use crate::model::HealingResult;

/// What was healed, for a person: one block for each probe.
#[must_use]
pub fn healing_text(result: &HealingResult) -> String {
    let mut text = String::new();
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
