use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::model::{AttemptRecord, RunRecord};

/// Reads a run back from its folder. `None` when there is no readable `result.json`; whatever
/// else is missing is left empty. Logs and patches are bounded.
#[must_use]
pub fn read_run(folder: &Path) -> Option<RunRecord> {
    let key: Value = json(&folder.join("run.json")).unwrap_or_default();
    let words = |value: Option<&Value>| -> Vec<String> {
        let items = value.and_then(Value::as_array).into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut attempts: Vec<String> = std::fs::read_dir(folder.join("attempts"))
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    attempts.sort_by_key(|name| (name.len(), name.clone()));
    Some(RunRecord {
        result: json(&folder.join("result.json"))?,
        report: json(&folder.join("report.json")),
        repository: key
            .get("repository")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        commit: key.get("commit").and_then(Value::as_str).map(str::to_owned),
        evidence: evidence(folder),
        commands: words(key.get("commands")),
        agent: key.get("agent").and_then(Value::as_str).map(str::to_owned),
        log: tail(&folder.join("baseline.log")),
        attempts: attempts
            .iter()
            .filter_map(|name| attempt(folder, name))
            .collect(),
        patch: Some(head(&folder.join("final.patch"), MAX_TEXT)).filter(|it| !it.is_empty()),
    })
}

fn evidence(folder: &Path) -> Vec<String> {
    let diagnosis: Value = json(&folder.join("diagnosis.json")).unwrap_or_default();
    let lines = diagnosis.get("evidence").and_then(Value::as_array);
    let lines = lines.into_iter().flatten();
    lines
        .filter_map(|line| line.get("text")?.as_str())
        .take(MAX_EVIDENCE)
        .map(str::to_owned)
        .collect()
}

/// Lines of evidence that are kept.
const MAX_EVIDENCE: usize = 8;
/// Bytes of a log or a patch that are kept.
const MAX_TEXT: u64 = 65_536;
/// Bytes of a JSON file that are read.
const MAX_JSON: u64 = 64 << 20;

fn attempt(folder: &Path, name: &str) -> Option<AttemptRecord> {
    let at = folder.join("attempts").join(name);
    let context: Value = json(&at.join("context.json")).unwrap_or_default();
    let preflight: Value = json(&at.join("preflight.json")).unwrap_or_default();
    let word = |value: &Value, key: &str| {
        let text = value.get(key).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let files = context.get("files").and_then(Value::as_array);
    Some(AttemptRecord {
        folder: format!("attempts/{name}"),
        result: json(&at.join("result.json"))?,
        files: files
            .into_iter()
            .flatten()
            .map(|file| (word(file, "path"), word(file, "why")))
            .collect(),
        verdict: word(&preflight, "verdict"),
        feedback: word(&preflight, "feedback"),
        patch: head(&at.join("patch.diff"), MAX_TEXT),
        log: tail(&at.join("test.log")),
    })
}

fn json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let mut bytes = Vec::new();
    let file = File::open(path).ok()?;
    file.take(MAX_JSON).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn head(path: &Path, limit: u64) -> String {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(path) {
        // A file that cannot be read to its end shows what could be read.
        let _ = file.take(limit).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

// From the beginning of a line on.
fn tail(path: &Path) -> String {
    let mut bytes = Vec::new();
    let Ok(mut file) = File::open(path) else {
        return String::new();
    };
    let from = file
        .metadata()
        .map_or(0, |it| it.len().saturating_sub(MAX_TEXT));
    if file.seek(SeekFrom::Start(from)).is_err() {
        return String::new();
    }
    let _ = file.take(MAX_TEXT).read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    match text.split_once('\n') {
        Some((_, rest)) if from > 0 => format!("[{from} bytes before this]\n{rest}"),
        _ => text.into_owned(),
    }
}
