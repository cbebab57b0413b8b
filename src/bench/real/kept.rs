use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::bench::BenchError;
use crate::model::RealFix;

/// What was found of each candidate, a line each, so that an interrupted search goes on.
pub(super) struct Kept {
    path: PathBuf,
    /// By commit.
    pub(super) rows: BTreeMap<String, Row>,
}

/// What a candidate came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Row {
    /// The commit.
    pub(super) commit: String,
    /// What decided how it was tried; in other words it is tried again.
    pub(super) words: String,
    /// The fix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) fix: Option<RealFix>,
    /// Why it is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    /// What was seen.
    #[serde(default)]
    pub(super) said: String,
}

impl Kept {
    /// Reads what a folder holds; a last line that was cut off is left out.
    pub(super) fn open(folder: &Path) -> Result<Self, BenchError> {
        fs::create_dir_all(folder).map_err(|error| BenchError::write(folder, &error))?;
        let path = folder.join("candidates.jsonl");
        let text = fs::read_to_string(&path).unwrap_or_default();
        let rows = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Row>(line).ok())
            .map(|row| (row.commit.clone(), row))
            .collect();
        if !text.is_empty() && !text.ends_with('\n') {
            fs::write(&path, format!("{text}\n"))
                .map_err(|error| BenchError::write(&path, &error))?;
        }
        Ok(Self { path, rows })
    }

    /// What a candidate came to when it was tried in the same words.
    pub(super) fn known(&self, commit: &str, words: &str) -> Option<&Row> {
        self.rows.get(commit).filter(|row| row.words == words)
    }

    /// Notes a candidate.
    pub(super) fn add(&mut self, row: Row) -> Result<(), BenchError> {
        let failed = |error: std::io::Error| BenchError::write(&self.path, &error);
        let line = serde_json::to_string(&row).unwrap_or_default();
        let mut file = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)
            .map_err(failed)?;
        writeln!(file, "{line}").map_err(failed)?;
        self.rows.insert(row.commit.clone(), row);
        Ok(())
    }
}
