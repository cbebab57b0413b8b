use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::model::{FailureKind, PatchVerdict, RunFailure, RunSummary, explain, hex};

/// A SARIF 2.1.0 log of one run of this program.
fn sarif_log(rules: &[Value], results: &[Value]) -> Value {
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

/// A path as a relative URI: what a URI reserves is written as percent escapes, letters outside
/// ASCII too.
pub(super) fn uri(path: &str) -> String {
    path.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

/// A failed command as a SARIF 2.1.0 log: a result for each failure, at the line of the repository that it was
/// raised in, with its test and the changes that made it fail as related locations; none when nothing failed or
/// the kind is unknown.
#[must_use]
pub fn summary_sarif(summary: &RunSummary) -> Value {
    let kind = &summary.kind.to_string();
    let found = !matches!(summary.kind, FailureKind::Unknown | FailureKind::None);
    let alone = [RunFailure {
        error: summary.explanation.clone(),
        ..RunFailure::default()
    }];
    let failures = match summary.failures.as_slice() {
        [] => &alone,
        failures => failures,
    };
    let results: Vec<Value> = failures
        .iter()
        .filter(|_| found)
        .map(|failure| of_failure(summary, failure))
        .collect();
    let rule = json!({
        "id": kind,
        "name": kind,
        "shortDescription": { "text": summary.explanation },
        "fullDescription": { "text": summary.explanation },
        "defaultConfiguration": { "level": "error" },
    });
    sarif_log(&[rule], &results)
}

fn of_failure(summary: &RunSummary, failure: &RunFailure) -> Value {
    let place = failure.place().map(|(path, line)| location(path, line));
    let test = failure.test_path.as_deref().map(|path| {
        let mut place = location(path, failure.test_line);
        place["message"] = json!({ "text": "the test" });
        place
    });
    let changes = summary.cause.iter().flat_map(|cause| {
        cause.changes.iter().map(|change| {
            let mut place = location(&change.path, change.line);
            place["message"] = json!({ "text": cause.message });
            place
        })
    });
    // The same for the same failure when lines have moved.
    let known_by = match failure.test.as_str() {
        "" => &failure.error,
        test => test,
    };
    let path = failure.path.as_deref().unwrap_or_default();
    let kind = summary.kind.to_string();
    let parts = [kind.as_str(), path, known_by].join("\n");
    let digest: [u8; 32] = Sha256::digest(parts.as_bytes()).into();
    json!({
        "ruleId": kind,
        "level": "error",
        "message": { "text": failure.told() },
        "locations": place.into_iter().collect::<Vec<Value>>(),
        "relatedLocations": test.into_iter().chain(changes).collect::<Vec<Value>>(),
        "partialFingerprints": { "mendit/v1": hex(&digest[..16]) },
    })
}

// GitHub shows nothing without a line.
fn location(path: &str, line: Option<impl Into<u64>>) -> Value {
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(path) },
        "region": { "startLine": line.map_or(1, |it| it.into().max(1)) },
    }})
}

/// A verdict as SARIF 2.1.0. Problems point into the patch, what it breaks into the changed files.
#[must_use]
pub fn patch_sarif(verdict: &PatchVerdict, name: &str) -> Value {
    let mut codes: Vec<&str> = verdict.problems.iter().map(|it| it.code.as_str()).collect();
    codes.extend(verdict.broken().map(|it| it.code.as_str()));
    codes.sort_unstable();
    codes.dedup();
    let rules: Vec<Value> = codes
        .iter()
        .map(|code| {
            let title = explain(code).map_or("", |page| page.title);
            json!({"id": code, "shortDescription": {"text": title}})
        })
        .collect();
    let problems = verdict.problems.iter().map(|problem| {
        let level = problem.severity.as_str();
        result(
            problem.code.as_str(),
            level,
            &problem.text(),
            (name, problem.patch_line),
        )
    });
    let broken = verdict.broken();
    let broken = broken.map(|file| {
        result(
            file.code.as_str(),
            "warning",
            &file.message,
            (file.path.as_str(), file.line),
        )
    });
    let results: Vec<Value> = problems.chain(broken).collect();
    sarif_log(&rules, &results)
}

fn result(code: &str, level: &str, text: &str, (path, line): (&str, u64)) -> Value {
    json!({
        "ruleId": code,
        "level": level,
        "message": {"text": text},
        "locations": [location(path, Some(line))],
    })
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri("src/[id]/a b.ts"), "src/%5Bid%5D/a%20b.ts");
    }
}
