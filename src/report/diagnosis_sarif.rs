use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::diagnosis_message::diagnosis_message;
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
    let lists = [
        &diagnosis.failing_tests,
        &diagnosis.undefined_names,
        &diagnosis.missing_modules,
        &diagnosis.missing_exports,
    ];
    let file = diagnosis.files.iter().find(|it| it.in_repository);
    let mut parts = vec![diagnosis.kind.to_string()];
    parts.extend(file.map(|it| it.path.clone()));
    parts.extend(lists.into_iter().flatten().cloned());
    let digest: [u8; 32] = Sha256::digest(parts.join("\n").as_bytes()).into();
    let digest = digest.iter().take(16);
    digest.map(|byte| format!("{byte:02x}")).collect()
}
