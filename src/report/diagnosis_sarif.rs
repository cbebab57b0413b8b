use serde_json::{Value, json};

use super::sarif::{sarif_log, uri};
use crate::model::{Diagnosis, FailureKind};

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
            let mut region = serde_json::Map::new();
            // A column without a line says nothing in SARIF.
            if let Some(line) = file.line.filter(|line| *line > 0) {
                region.insert("startLine".into(), line.into());
                if let Some(column) = file.column.filter(|column| *column > 0) {
                    region.insert("startColumn".into(), column.into());
                }
            }
            let mut place = json!({ "artifactLocation": { "uri": uri(&file.path) } });
            if !region.is_empty() {
                place["region"] = Value::Object(region);
            }
            json!({ "physicalLocation": place })
        })
        .collect();
    let found = !matches!(diagnosis.kind, FailureKind::Unknown | FailureKind::None);
    let results: Vec<Value> = found
        .then(|| {
            json!({
                "ruleId": kind,
                "level": "error",
                "message": { "text": format!("{} {}", diagnosis.explanation, diagnosis.suggested_fix) },
                "locations": locations,
            })
        })
        .into_iter()
        .collect();
    sarif_log(&[json!({ "id": kind })], &results)
}
