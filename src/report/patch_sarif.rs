use serde_json::{Value, json};

use crate::model::{PatchProblem, PatchVerdict, Severity, explain};

/// A verdict as SARIF 2.1.0; results point into the patch.
#[must_use]
pub fn patch_sarif(verdict: &PatchVerdict, name: &str) -> Value {
    let mut codes: Vec<&str> = verdict.problems.iter().map(|it| it.code.as_str()).collect();
    codes.sort_unstable();
    codes.dedup();
    let rules: Vec<Value> = codes
        .iter()
        .map(|code| {
            let title = explain(code).map_or("", |page| page.title);
            json!({"id": code, "shortDescription": {"text": title}})
        })
        .collect();
    let results: Vec<Value> = verdict.problems.iter().map(|it| result(it, name)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "mendit", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "results": results,
        }],
    })
}

fn result(problem: &PatchProblem, name: &str) -> Value {
    let level = match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let path = problem
        .path
        .as_deref()
        .map(|path| format!("{path}: "))
        .unwrap_or_default();
    json!({
        "ruleId": problem.code.as_str(),
        "level": level,
        "message": {"text": format!("{path}{}", problem.message)},
        "locations": [{
            "physicalLocation": {
                "artifactLocation": {"uri": name},
                "region": {"startLine": problem.patch_line.max(1)},
            }
        }],
    })
}
