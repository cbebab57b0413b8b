use super::category::category_of;
use super::mentions::mentioned_files;
use super::rules::{Names, Rule, compiled};
use crate::model::{Diagnosis, Evidence, FailureKind, Subkind};
use crate::source::Listing;

/// What is known of a log beside its text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogFacts {
    /// Exit code of the command.
    pub exit_code: Option<i32>,
    /// The command.
    pub command: Option<String>,
    /// Whether a time limit ended it.
    pub timed_out: bool,
}

/// Lines longer than this are data.
const MAX_LINE: usize = 4000;
const MAX_EVIDENCE: usize = 8;

/// Says what went wrong: the first row of the rule table that any line matches, with the lines
/// that match it, and the files the log names. A log that no rule knows is `unknown`.
#[must_use]
pub fn diagnose(log: &str, facts: &LogFacts, listing: Option<&Listing>) -> Diagnosis {
    let mut hits: Vec<(usize, u64, &str, String)> = Vec::new();
    for (number, line) in (1..).zip(log.lines()) {
        let line = cleaned(line);
        if line.len() > MAX_LINE {
            continue;
        }
        let hit = compiled()
            .iter()
            .enumerate()
            .find_map(|(row, (pattern, _))| {
                let groups = pattern.captures(line)?;
                let name = groups.iter().skip(1).flatten().next();
                Some((row, name.map_or("", |it| it.as_str()).to_owned()))
            });
        if let Some((row, name)) = hit {
            hits.push((row, number, line, name));
        }
    }
    let kind = |row: usize| compiled()[row].1.kind;
    let best = hits.iter().map(|(row, ..)| *row).min();
    let files = mentioned_files(log, listing);
    let mut diagnosis = Diagnosis {
        kind: FailureKind::Unknown,
        subkind: None,
        alternatives: Vec::new(),
        confidence: 0.2,
        category: category_of(FailureKind::Unknown),
        explanation: "no rule knows this output".to_owned(),
        suggested_fix: "read the end of the log".to_owned(),
        requires_user_action: false,
        evidence: Vec::new(),
        files,
        undefined_names: Vec::new(),
        missing_modules: Vec::new(),
        missing_exports: Vec::new(),
        failing_tests: Vec::new(),
        tool: None,
    };
    if facts.timed_out {
        diagnosis.kind = FailureKind::Timeout;
        diagnosis.confidence = 0.95;
        diagnosis.category = category_of(FailureKind::Timeout);
        "the command did not end in time".clone_into(&mut diagnosis.explanation);
        return diagnosis;
    }
    let Some(best) = best else {
        return diagnosis;
    };
    let rule = compiled()[best].1;
    diagnosis.kind = rule.kind;
    diagnosis.subkind = (!rule.subkind.is_empty()).then(|| Subkind(rule.subkind.to_owned()));
    diagnosis.category = category_of(rule.kind);
    diagnosis.requires_user_action = rule.person;
    diagnosis.confidence = if hits.iter().all(|(row, ..)| kind(*row) == rule.kind) {
        0.9
    } else {
        0.75
    };
    for (row, number, line, name) in &hits {
        let this = compiled()[*row].1;
        if this.kind == rule.kind && diagnosis.evidence.len() < MAX_EVIDENCE {
            diagnosis.evidence.push(Evidence {
                line: *number,
                text: (*line).trim().to_owned(),
            });
        }
        note_names(&mut diagnosis, this, name);
    }
    let first = hits
        .iter()
        .find(|(row, ..)| *row == best)
        .map_or("", |(.., name)| name);
    diagnosis.explanation = rule.explanation.replace("$1", first);
    diagnosis.suggested_fix = suggestion(rule);
    diagnosis
}

fn note_names(diagnosis: &mut Diagnosis, rule: &Rule, text: &str) {
    let list = match rule.names {
        Names::Nothing => return,
        Names::Undefined => &mut diagnosis.undefined_names,
        Names::Module => &mut diagnosis.missing_modules,
        Names::Export => &mut diagnosis.missing_exports,
        Names::Test => &mut diagnosis.failing_tests,
    };
    // R3: `path:name` pairs, separated by commas; the path is dropped.
    let names = text.split(", ").map(|name| match rule.names {
        Names::Undefined => name.rsplit(':').next().unwrap_or(name).trim(),
        _ => name.trim(),
    });
    for name in names {
        if !name.is_empty() && !list.iter().any(|known| known == name) {
            list.push(name.to_owned());
        }
    }
}

fn suggestion(rule: &Rule) -> String {
    match rule.kind {
        FailureKind::ImportError => "import the name from where it is defined, or correct the path",
        FailureKind::CommandNotFound => "install the project's dependencies first",
        FailureKind::ConnectionRefused => "start the service that the test needs",
        FailureKind::SyntaxError => "correct the line that cannot be parsed",
        FailureKind::TestFailure => "make the code do what the test expects",
        _ => "correct the code at the first error",
    }
    .to_owned()
}

// Without the time stamp that CI puts before each line.
fn cleaned(line: &str) -> &str {
    let stamp = line.as_bytes();
    let stamped = stamp.len() > 28
        && stamp[..4].iter().all(u8::is_ascii_digit)
        && stamp[4] == b'-'
        && stamp[10] == b'T';
    match line.split_once("Z ") {
        Some((before, rest)) if stamped && before.len() < 32 => rest,
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::{LogFacts, diagnose};
    use crate::model::FailureKind;

    fn of(log: &str) -> crate::model::Diagnosis {
        diagnose(log, &LogFacts::default(), None)
    }

    #[test]
    fn causes_come_before_symptoms() {
        let log =
            "FAILED tests/test_a.py::test_x\nE   ModuleNotFoundError: No module named 'app.db'\n";
        let diagnosis = of(log);
        assert_eq!(diagnosis.kind, FailureKind::ImportError);
        assert_eq!(diagnosis.missing_modules, ["app.db"]);
        assert_eq!(diagnosis.failing_tests, ["tests/test_a.py::test_x"]);
        assert_eq!(diagnosis.evidence[0].line, 2);
    }

    #[test]
    fn names_lose_their_paths() {
        let diagnosis =
            of("undefined name(s): typer/testing.py:CliRunner, pkg/cli.py:chief_of_staff");
        assert_eq!(diagnosis.undefined_names, ["CliRunner", "chief_of_staff"]);
    }

    #[test]
    fn what_no_rule_knows_is_unknown() {
        assert_eq!(of("all is well\n").kind, FailureKind::Unknown);
        assert_eq!(of(&"x".repeat(100_000)).kind, FailureKind::Unknown);
        let stamped = "2026-01-02T03:04:05.1234567Z sh: 1: vitest: not found";
        assert_eq!(of(stamped).kind, FailureKind::CommandNotFound);
    }
}
