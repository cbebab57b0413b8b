//! Formats verdicts and diagnoses for GitHub annotations and SARIF.

use serde_json::{Value, json};

use crate::model::{FailureKind, PatchVerdict, RunSummary, page};

/// A finding at a place, as code hosts show it.
struct Annotation {
    level: &'static str,
    rule: String,
    message: String,
    /// A path and a line; 0 is none.
    place: Option<(String, u64)>,
}

/// Formats a verdict as GitHub workflow commands, one for each problem.
pub fn patch_github(verdict: &PatchVerdict, name: &str) -> String {
    of_patch(verdict, name).iter().map(workflow_command).collect()
}

/// Formats a failed command as GitHub workflow commands: its failures and the changes that caused them.
pub fn summary_github(summary: &RunSummary) -> String {
    of_summary(summary).iter().map(workflow_command).collect()
}

/// Formats a verdict as SARIF 2.1.0; problems point into the patch, broken files into the worktree.
pub fn patch_sarif(verdict: &PatchVerdict, name: &str) -> Value {
    sarif_log(&of_patch(verdict, name))
}

/// Formats a failed command as SARIF 2.1.0; without results if nothing failed or the kind is unknown.
pub fn summary_sarif(summary: &RunSummary) -> Value {
    match summary.kind {
        FailureKind::Unknown | FailureKind::None => sarif_log(&[]),
        _ => sarif_log(&of_summary(summary)),
    }
}

fn of_patch(verdict: &PatchVerdict, name: &str) -> Vec<Annotation> {
    let problems = verdict.problems.iter().map(|problem| Annotation {
        level: problem.severity.as_str(),
        rule: problem.code.to_string(),
        message: problem.text(),
        place: Some((name.to_owned(), problem.patch_line.max(1))),
    });
    let broken = verdict.broken().map(|file| Annotation {
        level: "warning",
        rule: file.code.to_string(),
        message: file.message.clone(),
        place: Some((file.path.clone(), file.line)),
    });
    problems.chain(broken).collect()
}

fn of_summary(summary: &RunSummary) -> Vec<Annotation> {
    let whole = |level: &'static str, message: &str| Annotation {
        level,
        rule: summary.kind.to_string(),
        message: message.to_owned(),
        place: None,
    };
    if summary.kind == FailureKind::None {
        return vec![whole("notice", &summary.explanation)];
    }
    let mut notes = Vec::new();
    if summary.failures.is_empty() {
        notes.push(whole("error", &summary.explanation));
    }
    for failure in &summary.failures {
        let place = failure.place();
        notes.push(Annotation {
            place: place.map(|(path, line)| (path.to_owned(), line.unwrap_or(0).into())),
            ..whole("error", &failure.told())
        });
    }
    if summary.more > 0 {
        notes.push(whole(
            "error",
            &format!("and {} more failures", summary.more),
        ));
    }
    if let Some(cause) = &summary.cause {
        notes.extend(cause.changes.iter().map(|change| Annotation {
            level: "warning",
            rule: "culprit".to_owned(),
            message: format!("{}\n{}", cause.message, change.diff).trim_end().to_owned(),
            place: Some((change.path.clone(), change.line.unwrap_or(0).into())),
        }));
    }
    notes
}

// Escapes: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
fn workflow_command(note: &Annotation) -> String {
    let place = match &note.place {
        Some((path, 0)) => format!("file={},", escape_property(path)),
        Some((path, line)) => format!("file={},line={line},", escape_property(path)),
        None => String::new(),
    };
    let level = note.level;
    let title = escape_property(&note.rule);
    let message = escape_data(&note.message);
    format!("::{level} {place}title={title}::{message}\n")
}

fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}

fn escape_data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn sarif_log(notes: &[Annotation]) -> Value {
    let mut rules: Vec<&str> = notes.iter().map(|note| note.rule.as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    let rules: Vec<Value> = rules
        .iter()
        .map(|id| {
            let title = page(id).map_or(*id, |page| page.title);
            json!({ "id": id, "shortDescription": { "text": title } })
        })
        .collect();
    let results: Vec<Value> = notes.iter().map(sarif_result).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "mendit",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "results": results,
        }],
    })
}

fn sarif_result(note: &Annotation) -> Value {
    // GitHub shows nothing without a line.
    json!({
        "ruleId": note.rule,
        "level": if note.level == "notice" { "note" } else { note.level },
        "message": { "text": note.message },
        "locations": note.place.iter().map(|(path, line)| {
        json!({ "physicalLocation": {
            "artifactLocation": { "uri": path_uri(path) },
            "region": { "startLine": line.max(&1) },
        }})
    }).collect::<Vec<Value>>(),
    })
}

/// Writes a path as a relative URI.
fn path_uri(path: &str) -> String {
    path.bytes()
        .map(|byte| match byte {
            b'/' | b'.' | b'-' | b'_' | b'~' => char::from(byte).to_string(),
            byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::path_uri;

    #[test]
    fn uri_escapes_reserved_bytes() {
        assert_eq!(path_uri("src/[id]/a b.ts"), "src/%5Bid%5D/a%20b.ts");
    }
}
