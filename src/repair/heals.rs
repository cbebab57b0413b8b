use std::collections::BTreeMap;

use super::compiler_heals::compiler_heals;
use super::import_heals::import_heals;
use super::spelling_heals::spelling_heals;
use super::syntax_heals::syntax_heals;
use crate::hint::{Ask, Earlier};
use crate::languages::{Language, words};
use crate::model::{Diagnosis, FailureKind as Kind, MentionedFile, RepoPath};
use crate::patch::{Change, FileState, canonical};
use crate::source::{EntryKind, Source};

/// Files looked into for a name that stood beside another.
const MAX_HOMES: usize = 16;

/// A change that needs no model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HealPatch {
    /// One sentence.
    pub what: String,
    /// A git patch.
    pub patch: Vec<u8>,
    /// Files it changes.
    pub files: Vec<RepoPath>,
    /// Whether it is nothing but imports, each certain.
    pub certain: bool,
    /// Whether it is kept only when the commands pass with it.
    pub must_fix: bool,
    /// The import that it gives each name, when it is one of imports.
    pub imports: BTreeMap<String, String>,
    /// The name that gives way to another, and that one, when it is a spelling.
    pub respells: Option<(String, String)>,
    /// Files in which it only puts back imports of the committed version: what passes as a test is
    /// as it was there.
    pub restores: Vec<RepoPath>,
    /// Files in which it only names modules by the place to which they certainly moved.
    pub respecifies: Vec<RepoPath>,
}

#[cfg(test)]
impl HealPatch {
    /// The lines that it adds.
    pub(super) fn added(&self) -> Vec<String> {
        let patch = String::from_utf8_lossy(&self.patch);
        let lines = patch.lines().filter(|it| !it.starts_with("+++"));
        lines
            .filter_map(|it| Some(it.strip_prefix('+')?.to_owned()))
            .collect()
    }
}

/// Changes that the evidence itself names, most certain first. Each is judged like any patch and
/// kept only when the commands say that it helps. Without `ask` imports are left alone (R12).
#[must_use]
pub fn heals(
    diagnosis: &Diagnosis,
    log: &str,
    source: &dyn Source,
    ask: Option<&Ask<'_>>,
) -> Vec<HealPatch> {
    let mut found = modes(diagnosis, source);
    let (certain, tries) =
        ask.map_or_else(Default::default, |ask| import_heals(diagnosis, source, ask));
    found.extend(certain);
    found.extend(compiler_heals(log, diagnosis, source));
    let nothing = |_: &RepoPath| Vec::new();
    let earlier: &Earlier<'_> = ask.map_or(&nothing, |ask| ask.earlier);
    found.extend(syntax_heals(log, diagnosis, source, earlier));
    found.extend(spelling_heals(log, diagnosis, source));
    found.extend(tries);
    found.retain(|heal| {
        let names = heal.respells.as_ref();
        names.is_none_or(|(wrong, right)| !stood_beside(source, earlier, wrong, right))
    });
    found
}

// Whether a file that defines one name has defined the other as well: that is no slip, it is gone.
fn stood_beside(source: &dyn Source, earlier: &Earlier<'_>, wrong: &str, right: &str) -> bool {
    let files = source.listing().files().map(|entry| &entry.path);
    files
        .filter(|path| Language::of_path(path.as_str()).is_some())
        .filter(|path| source.read(path).is_ok_and(|it| defines(&it, right)))
        .take(MAX_HOMES)
        .any(|path| earlier(path).iter().any(|it| defines(it, wrong)))
}

// Whether a text has a line that defines a name, at any depth.
fn defines(text: &[u8], name: &str) -> bool {
    let keywords = [
        "def",
        "class",
        "function",
        "const",
        "let",
        "var",
        "type",
        "interface",
        "enum",
    ];
    words(text, name).any(|at| {
        let head = text.get(..at).unwrap_or_default();
        let tail = text.get(at + name.len()..).unwrap_or_default();
        let tail = tail.trim_ascii_start();
        let is_set = tail.starts_with(b"=") && !tail.starts_with(b"==") || tail.starts_with(b":");
        let is_member = head.ends_with(b"self.") || head.ends_with(b"this.");
        let head = head.trim_ascii_end();
        keywords.iter().any(|word| head.ends_with(word.as_bytes())) || is_set && is_member
    })
}

/// Those of them that the log and the files it names tell by themselves: a mode, a spelling that a
/// compiler suggests, a bracket that is missing.
#[must_use]
pub fn log_heals(diagnosis: &Diagnosis, log: &str, source: &dyn Source) -> Vec<HealPatch> {
    let mut found = modes(diagnosis, source);
    found.extend(compiler_heals(log, diagnosis, source));
    found.extend(syntax_heals(log, diagnosis, source, &|_| Vec::new()));
    found.extend(spelling_heals(log, diagnosis, source));
    found
}

// A tracked script that starts with `#!` and may not be executed (conflict 11: as a mode patch).
fn modes(diagnosis: &Diagnosis, source: &dyn Source) -> Vec<HealPatch> {
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
        let state = |mode| Some(FileState::new(bytes.clone(), mode));
        let change = Change::between(path.clone(), state(0o100_644), state(0o100_755));
        found.push(HealPatch {
            what: format!("make {path} executable"),
            patch: canonical(&[change]),
            files: vec![path],
            ..HealPatch::default()
        });
    }
    found
}
