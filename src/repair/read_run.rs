//! Reads a run back from its folder. Missing files are left out, because a run may have been killed.

use std::path::Path;

use serde_json::Value;

use super::journal::read_json;
use crate::model::{AttemptRecord, RunRecord};

/// Bytes of a log or a patch that are kept.
const MAX_TEXT: usize = 65_536;

/// Reads a run back from its folder. `None` when there is no readable `result.json`; whatever else is missing is left
/// empty. Logs and patches are bounded.
pub fn read_run(folder: &Path) -> Option<RunRecord> {
    let key = read_value(&folder.join("run.json"));
    let diagnosis = read_value(&folder.join("diagnosis.json"));
    let evidence = diagnosis["evidence"].as_array().into_iter().flatten();
    let commands = key["commands"].as_array().into_iter().flatten();
    let names = std::fs::read_dir(folder.join("attempts")).into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort_by_key(|name| (name.len(), name.clone()));
    Some(RunRecord {
        result: read_json(&folder.join("result.json"))?,
        report: read_json(&folder.join("report.json")),
        repository: text_at(&key, "repository"),
        commit: key["commit"].as_str().map(str::to_owned),
        // Lines of evidence that are kept.
        evidence: evidence.take(8).map(|line| text_at(line, "text")).collect(),
        commands: commands.filter_map(Value::as_str).map(str::to_owned).collect(),
        agent: key["agent"].as_str().map(str::to_owned),
        log: read_tail(&folder.join("baseline.log")),
        attempts: names.iter().filter_map(|name| read_attempt(folder, name)).collect(),
        patch: Some(read_head(&folder.join("final.patch"))).filter(|patch| !patch.is_empty()),
    })
}

fn read_attempt(folder: &Path, name: &str) -> Option<AttemptRecord> {
    let at = folder.join("attempts").join(name);
    let context = read_value(&at.join("context.json"));
    let preflight = read_value(&at.join("preflight.json"));
    let files = context["files"].as_array().into_iter().flatten();
    Some(AttemptRecord {
        folder: format!("attempts/{name}"),
        result: read_json(&at.join("result.json"))?,
        files: files.map(|file| (text_at(file, "path"), text_at(file, "why"))).collect(),
        feedback: text_at(&preflight, "feedback"),
        patch: read_head(&at.join("patch.diff")),
        log: read_tail(&at.join("test.log")),
    })
}

fn read_value(path: &Path) -> Value {
    read_json(path).unwrap_or_default()
}

fn text_at(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

fn read_head(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_default();
    let end = bytes.len().min(MAX_TEXT);
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

// From the beginning of a line on.
fn read_tail(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_default();
    let from = bytes.len().saturating_sub(MAX_TEXT);
    let text = String::from_utf8_lossy(&bytes[from..]);
    match text.split_once('\n') {
        Some((_, rest)) if from > 0 => format!("[{from} bytes before this]\n{rest}"),
        _ => text.into_owned(),
    }
}
