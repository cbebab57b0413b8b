use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Fixture;
use crate::model::{AttemptResult, Origin};

/// What a run wrote into its folder, as far as the bench looks at it.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// The attempts, in order.
    pub(super) attempts: Vec<AttemptResult>,
    /// Estimated tokens of the files of all packets.
    pub(super) packet_tokens: u64,
    /// Files that hold something forbidden, and what.
    pub(super) leaks: Vec<String>,
    /// The patches of changes without a model that were kept.
    pub(super) heals: Vec<String>,
}

impl Record {
    /// Reads a run's folder. What is missing there is not in the record.
    pub(super) fn read(fixture: &Fixture, folder: &Path) -> Self {
        let mut record = Self::default();
        let mut patch = String::new();
        let texts = fixture.forbidden_texts();
        for path in list_files(folder) {
            let bytes = fs::read(&path).unwrap_or_default();
            let name = path.strip_prefix(folder).unwrap_or(&path);
            let shown = name.to_string_lossy().replace('\\', "/");
            if texts
                .iter()
                .any(|text| memchr::memmem::find(&bytes, text.as_bytes()).is_some())
            {
                // The text itself is not repeated, because this goes into logs and documents.
                record.leaks.push(format!("{shown}: a forbidden text"));
            }
            match path.file_name().and_then(|name| name.to_str()) {
                Some("patch.diff") => patch = String::from_utf8_lossy(&bytes).into_owned(),
                Some("result.json") if name.components().count() > 1 => {
                    let attempt = serde_json::from_slice::<AttemptResult>(&bytes).ok();
                    let healed = |one: &AttemptResult| one.origin == Origin::Heal && one.kept;
                    if attempt.as_ref().is_some_and(healed) {
                        record.heals.push(std::mem::take(&mut patch));
                    }
                    record.attempts.extend(attempt);
                }
                Some("context.json") => record.read_packet(fixture, &bytes, &shown),
                _ => {}
            }
        }
        record
    }

    fn read_packet(&mut self, fixture: &Fixture, bytes: &[u8], shown: &str) {
        let Ok(packet) = serde_json::from_slice::<Packet>(bytes) else {
            return;
        };
        for path in &fixture.forbid.paths {
            if packet.files.iter().any(|file| file.path == path.as_str()) {
                self.leaks.push(format!("{shown}: the file `{path}`"));
            }
        }
        self.packet_tokens += packet.total_tokens;
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Packet {
    total_tokens: u64,
    files: Vec<PacketFile>,
}

#[derive(Deserialize)]
struct PacketFile {
    path: String,
}

// Sorted, so that attempts come in their order; links are not followed.
fn list_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}
