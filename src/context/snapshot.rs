use crate::model::{BlobId, Code, Redaction, RepoPath, TextWarning};
use crate::policy::{ReadPolicy, Redactor, text_warnings};
use crate::source::{EntryKind, ReadError, Source};
use crate::state::Store;

use super::decode::{NotText, decode};
use super::digest::sha256_hex;
use super::repo_index::NameSecrets;

/// Why a file is not shown.
pub(super) struct Unshown {
    pub(super) code: Code,
    pub(super) reason: String,
    pub(super) bytes: Option<u64>,
    pub(super) remedy: String,
}

impl Unshown {
    /// Of what no flag shows.
    pub(super) fn new(code: Code, reason: String, bytes: Option<u64>) -> Self {
        Self {
            code,
            reason,
            bytes,
            remedy: String::new(),
        }
    }
}

/// Takes snapshots under one policy.
pub(super) struct SnapshotTaker<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) policy: &'a ReadPolicy,
    pub(super) redactor: &'a Redactor,
    pub(super) names: &'a NameSecrets,
    /// The outlines that are known.
    pub(super) outlines: &'a Store,
}

impl SnapshotTaker<'_> {
    /// The file as it may be shown, all of it, or why none of it is.
    pub(super) fn open(&self, path: &RepoPath) -> Result<Opened, Unshown> {
        self.may_be_read(path)?;
        let bytes = self.source.read(path).map_err(|error| unread(&error))?;
        let size = bytes.len() as u64;
        let decoded = decode(&bytes).map_err(|no_text| not_text(no_text, Some(size)))?;
        let warnings = text_warnings(&decoded.text);
        let redacted = self.redactor.redact(&decoded.text);
        let redactions = redacted
            .findings
            .iter()
            .map(|finding| Redaction {
                line: finding.line,
                rule: finding.rule.to_string(),
            })
            .collect();
        Ok(Opened {
            blob_id: BlobId::from_content(&bytes),
            sha256: sha256_hex(&bytes),
            encoding: decoded.encoding,
            redactions,
            warnings,
            text: redacted.text.into_owned(),
        })
    }

    /// Asks policy and listing before any byte is read.
    pub(super) fn may_be_read(&self, path: &RepoPath) -> Result<(), Unshown> {
        if let Some(refusal) = self.policy.refuse(path) {
            return Err(Unshown::new(refusal.code, refusal.reason, None));
        }
        if self.names.contains(path) {
            let reason = "its name holds a secret".to_owned();
            return Err(Unshown::new(Code::C201, reason, None));
        }
        let entry = self.source.listing().get(path.as_str());
        let (code, reason, remedy) = match entry.map(|entry| &entry.kind) {
            Some(EntryKind::File { .. }) => return Ok(()),
            Some(EntryKind::Symlink { target }) => {
                let target = self.redactor.redact(target).text;
                let reason = format!("it is a symlink to `{target}`; links are not followed");
                (Code::C302, reason, "name the file behind it")
            }
            Some(EntryKind::Submodule { .. }) => {
                let reason = "it is another repository".to_owned();
                (Code::C302, reason, "run inside that repository")
            }
            Some(EntryKind::Special) => {
                (Code::C310, "it is a pipe, socket or device".to_owned(), "")
            }
            Some(EntryKind::NotCheckedOut) => {
                let reason = "it is tracked but not checked out here".to_owned();
                let remedy = "check it out, or read the commit with --rev";
                (Code::C305, reason, remedy)
            }
            None => (Code::C301, "there is no such file".to_owned(), ""),
        };
        Err(Unshown {
            code,
            reason,
            bytes: None,
            remedy: remedy.to_owned(),
        })
    }
}

/// A file that may be shown.
pub(super) struct Opened {
    /// Its text, with secrets masked.
    pub(super) text: String,
    pub(super) blob_id: BlobId,
    /// Of its bytes, in hex.
    pub(super) sha256: String,
    pub(super) encoding: &'static str,
    pub(super) redactions: Vec<Redaction>,
    pub(super) warnings: Vec<TextWarning>,
}

impl Opened {
    /// Returns the lines of these ranges, all without ranges, with the masks and warnings in them.
    pub(super) fn show(&mut self, ranges: &[[u32; 2]]) -> String {
        if ranges.is_empty() {
            return std::mem::take(&mut self.text);
        }
        let shown = |line: u32| {
            ranges
                .iter()
                .any(|[from, to]| (*from..=*to).contains(&line))
        };
        self.redactions.retain(|one| shown(one.line));
        self.warnings.retain(|one| shown(one.line));
        cut(&self.text, ranges)
    }
}

fn unread(error: &ReadError) -> Unshown {
    let (code, bytes) = match error {
        ReadError::NotFound => (Code::C301, None),
        ReadError::TooLarge { bytes, .. } => (Code::C310, Some(*bytes)),
        ReadError::NotAFile | ReadError::Io(_) => (Code::C310, None),
    };
    Unshown::new(code, error.to_string(), bytes)
}

fn not_text(no_text: NotText, bytes: Option<u64>) -> Unshown {
    let (code, reason) = match no_text {
        NotText::Binary => (Code::C307, "it is a binary file"),
        NotText::LfsPointer => (Code::C305, "it is a Git LFS pointer, not the file itself"),
    };
    Unshown::new(code, reason.to_owned(), bytes)
}

/// Where each line of a text begins.
pub(super) fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0)
        .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1))
        .filter(|start| *start < text.len())
        .collect()
}

/// The lines that are taken, from 1.
pub(super) fn ranges(taken: &[bool]) -> Vec<[u32; 2]> {
    let mut ranges: Vec<[u32; 2]> = Vec::new();
    for (line, _) in (1..).zip(taken).filter(|(_, taken)| **taken) {
        match ranges.last_mut() {
            Some([_, to]) if *to + 1 == line => *to = line,
            _ => ranges.push([line, line]),
        }
    }
    ranges
}

// The ranges' lines, with a marker line for each gap.
fn cut(text: &str, ranges: &[[u32; 2]]) -> String {
    let mut out = String::new();
    let mut ranges = ranges.iter().peekable();
    let mut next = 1;
    for (line, content) in (1..).zip(text.split_inclusive('\n')) {
        let Some([from, to]) = ranges.peek() else {
            break;
        };
        if line < *from {
            continue;
        }
        if line == *from && next < *from {
            out.push_str(&format!("[lines {next} to {} left out]\n", from - 1));
        }
        out.push_str(content);
        if line == *to {
            next = to + 1;
            ranges.next();
        }
    }
    let total = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    if next <= total {
        out.push_str(&format!("[lines {next} to {total} left out]\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn gaps_have_marks() {
        let text: String = (1..=200).map(|n| format!("line {n:03}\n")).collect();
        assert_eq!(
            cut(&text, &[[2, 3]]),
            "[lines 1 to 1 left out]\nline 002\nline 003\n[lines 4 to 200 left out]\n"
        );
    }
}
