use serde_json::{Value, json};

use super::sarif::{sarif_log, uri};
use crate::model::{AfterProblem, PatchProblem, PatchVerdict, explain};

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
