use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::diagnosis_text::diagnosis_message;
use crate::model::{
    AfterProblem, Diagnosis, FailureKind, PatchProblem, PatchVerdict, explain, hex,
};

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

/// A diagnosis as a SARIF 2.1.0 log with one result, or none when nothing failed or the kind is
/// unknown.
#[must_use]
pub fn diagnosis_sarif(diagnosis: &Diagnosis) -> Value {
    let kind = diagnosis.kind.to_string();
    let locations: Vec<Value> = diagnosis
        .files
        .iter()
        .filter(|file| file.in_repository)
        .take(10)
        .map(|file| {
            // GitHub shows nothing without a line.
            let line = file.line.filter(|line| *line > 0);
            let mut region = json!({ "startLine": line.unwrap_or(1) });
            // A column without a line says nothing.
            if let Some(column) = file.column.filter(|column| *column > 0 && line.is_some()) {
                region["startColumn"] = column.into();
            }
            let file = json!({ "uri": uri(&file.path) });
            json!({ "physicalLocation": { "artifactLocation": file, "region": region } })
        })
        .collect();
    let found = !matches!(diagnosis.kind, FailureKind::Unknown | FailureKind::None);
    let results: Vec<Value> = found
        .then(|| {
            json!({
                "ruleId": kind,
                "level": "error",
                "message": { "text": diagnosis_message(diagnosis) },
                "locations": locations,
                "partialFingerprints": { "mendit/v1": fingerprint(diagnosis) },
            })
        })
        .into_iter()
        .collect();
    let rule = json!({
        "id": kind,
        "name": kind,
        "shortDescription": { "text": diagnosis.explanation },
        "fullDescription": { "text": diagnosis.explanation },
        "help": { "text": diagnosis.suggested_fix },
        "defaultConfiguration": { "level": "error" },
    });
    sarif_log(&[rule], &results)
}

// The same for the same failure when lines have moved.
fn fingerprint(diagnosis: &Diagnosis) -> String {
    let file = diagnosis.files.iter().find(|it| it.in_repository);
    let mut parts = vec![diagnosis.kind.to_string()];
    parts.extend(file.map(|it| it.path.clone()));
    parts.extend(
        diagnosis
            .failing_tests
            .iter()
            .chain(diagnosis.lacks())
            .cloned(),
    );
    let digest: [u8; 32] = Sha256::digest(parts.join("\n").as_bytes()).into();
    hex(&digest[..16])
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
    let problems = verdict.problems.iter().map(|it| of_problem(it, name));
    let results: Vec<Value> = problems.chain(verdict.broken().map(of_after)).collect();
    sarif_log(&rules, &results)
}

fn of_problem(problem: &PatchProblem, name: &str) -> Value {
    result(
        problem.code.as_str(),
        problem.severity.as_str(),
        &problem.text(),
        (name, problem.patch_line),
    )
}

fn of_after(after: &AfterProblem) -> Value {
    let place = (after.path.as_str(), after.line);
    result(after.code.as_str(), "warning", &after.message, place)
}

fn result(code: &str, level: &str, text: &str, (path, line): (&str, u64)) -> Value {
    json!({
        "ruleId": code,
        "level": level,
        "message": {"text": text},
        "locations": [{
            "physicalLocation": {
                "artifactLocation": {"uri": uri(path)},
                "region": {"startLine": line.max(1)},
            }
        }],
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
