use super::compiler_heals::compiler_heals;
use super::import_heals::import_heals;
use super::spelling_heals::spelling_heals;
use super::syntax_heals::syntax_heals;
use crate::hint::Ask;
use crate::model::{Diagnosis, FailureKind as Kind, MentionedFile, RepoPath};
use crate::patch::{Change, FileState, canonical};
use crate::source::{EntryKind, Source};

/// A change that needs no model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heal {
    /// One sentence.
    pub what: String,
    /// A git patch.
    pub patch: Vec<u8>,
    /// Files it changes.
    pub files: Vec<RepoPath>,
    /// Whether it is kept only when the commands pass with it.
    pub must_fix: bool,
}

/// Changes that the evidence itself names, most certain first. Each is judged like any patch and
/// kept only when the commands say that it helps.
#[must_use]
pub fn heals(diagnosis: &Diagnosis, log: &str, source: &dyn Source, ask: &Ask<'_>) -> Vec<Heal> {
    let mut found = modes(diagnosis, source);
    let (certain, tries) = import_heals(diagnosis, source, ask);
    found.extend(certain);
    found.extend(compiler_heals(log, diagnosis, source));
    found.extend(syntax_heals(log, diagnosis, source));
    found.extend(spelling_heals(log, diagnosis, source));
    found.extend(tries);
    found
}

/// Those of them that the log and the files it names tell by themselves: a mode, a spelling that a
/// compiler suggests, a bracket that is missing.
#[must_use]
pub fn log_heals(diagnosis: &Diagnosis, log: &str, source: &dyn Source) -> Vec<Heal> {
    let mut found = modes(diagnosis, source);
    found.extend(compiler_heals(log, diagnosis, source));
    found.extend(syntax_heals(log, diagnosis, source));
    found.extend(spelling_heals(log, diagnosis, source));
    found
}

// A tracked script that starts with `#!` and may not be executed (conflict 11: as a mode patch).
fn modes(diagnosis: &Diagnosis, source: &dyn Source) -> Vec<Heal> {
    if diagnosis.kind != Kind::PermissionDenied {
        return Vec::new();
    }
    let mut found = Vec::new();
    for path in diagnosis.files.iter().filter_map(MentionedFile::repo_path) {
        let plain = source
            .listing()
            .get(path.as_str())
            .is_some_and(|entry| entry.kind == EntryKind::File { executable: false });
        let Some(bytes) = plain.then(|| source.read(&path).ok()).flatten() else {
            continue;
        };
        if !bytes.starts_with(b"#!") {
            continue;
        }
        let state = |mode| {
            Some(FileState {
                bytes: bytes.clone(),
                mode,
            })
        };
        let change = Change::between(path.clone(), state(0o100_644), state(0o100_755));
        found.push(Heal {
            what: format!("make {path} executable"),
            patch: canonical(&[change]),
            files: vec![path],
            must_fix: false,
        });
    }
    found
}
