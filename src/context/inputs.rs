//! The inputs of a packet, how their bytes are decoded, and the checks of what may be shown.

use std::collections::HashMap;

use super::digest::sha256_hex;
use super::request::Request;
use crate::graph::Graph;
use crate::languages::Outline;
use crate::model::{BlobId, Code, Redaction, RepoPath, TextWarning};
use crate::policy::{ReadPolicy, Redactor, text_warnings};
use crate::rank::{Lines, known_outline};
use crate::source::{EntryKind, ReadError, Source};
use crate::state::Known;

/// The inputs of a packet, and the rules for what of them may be shown.
pub(super) struct PacketInputs<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) known: &'a Known,
    pub(super) policy: &'a ReadPolicy,
    pub(super) redactor: &'a Redactor,
    pub(super) request: &'a Request,
    pub(super) graph: Graph<'a>,
    /// Paths whose very names hold a secret, each with the secret masked.
    pub(super) secret_names: HashMap<RepoPath, RepoPath>,
}

/// Why a file is not shown.
pub(super) struct Unshown {
    pub(super) code: Code,
    pub(super) reason: String,
    pub(super) bytes: Option<u64>,
    pub(super) remedy: String,
}

impl Unshown {
    /// A refusal that no flag lifts.
    pub(super) fn new(code: Code, reason: impl Into<String>, bytes: Option<u64>) -> Self {
        Self {
            code,
            reason: reason.into(),
            bytes,
            remedy: String::new(),
        }
    }
}

impl PacketInputs<'_> {
    /// Returns a path with the secrets of its name masked.
    pub(super) fn mask_name(&self, path: &RepoPath) -> RepoPath {
        self.secret_names.get(path).unwrap_or(path).clone()
    }

    pub(super) fn outline(&self, path: &RepoPath, text: &[u8]) -> Outline {
        known_outline(&self.known.outlines, path, text)
    }

    pub(super) fn may_read(&self, path: &RepoPath) -> bool {
        self.policy.refuse(path).is_none() && !self.secret_names.contains_key(path)
    }

    /// Returns the file as it may be shown, all of it, or why none of it is.
    pub(super) fn open(&self, path: &RepoPath) -> Result<Opened, Unshown> {
        self.check_readable(path)?;
        let bytes = self.source.read(path).map_err(|error| {
            let (code, bytes) = match error {
                ReadError::NotFound => (Code::C301, None),
                ReadError::TooLarge { bytes, .. } => (Code::C310, Some(bytes)),
                ReadError::NotAFile | ReadError::Io(_) => (Code::C310, None),
            };
            Unshown::new(code, error.to_string(), bytes)
        })?;
        let (text, encoding) = decode(&bytes)
            .map_err(|(code, reason)| Unshown::new(code, reason, Some(bytes.len() as u64)))?;
        let redacted = self.redactor.redact(&text);
        let redactions = redacted.findings.iter().map(|finding| Redaction {
            line: finding.line,
            rule: finding.rule.to_string(),
        });
        Ok(Opened {
            blob_id: BlobId::from_content(&bytes),
            sha256: sha256_hex(&bytes),
            encoding,
            redactions: redactions.collect(),
            warnings: text_warnings(&text),
            text: redacted.text.into_owned(),
        })
    }

    /// Asks policy and listing before any byte is read.
    pub(super) fn check_readable(&self, path: &RepoPath) -> Result<(), Unshown> {
        if let Some(refusal) = self.policy.refuse(path) {
            return Err(Unshown::new(refusal.code, refusal.reason, None));
        }
        if self.secret_names.contains_key(path) {
            return Err(Unshown::new(Code::C201, "its name contains a secret", None));
        }
        let entry = self.source.listing().get(path.as_str());
        let (code, reason, remedy) = match entry.map(|entry| &entry.kind) {
            Some(EntryKind::File { .. }) => return Ok(()),
            Some(EntryKind::Symlink { target }) => {
                let target = self.redactor.mask(target);
                let reason = format!("it is a symlink to `{target}`; links are not followed");
                let unshown = Unshown::new(Code::C302, reason, None);
                return Err(Unshown {
                    remedy: "pass the file it points to".to_owned(),
                    ..unshown
                });
            }
            Some(EntryKind::Submodule { .. }) => (
                Code::C302,
                "it is another repository",
                "run inside that repository",
            ),
            Some(EntryKind::Special) => (Code::C310, "it is a pipe, socket or device", ""),
            Some(EntryKind::NotCheckedOut) => (
                Code::C305,
                "it is tracked but not checked out here",
                "check it out, or read the commit with --rev",
            ),
            None => (Code::C301, "there is no such file", ""),
        };
        Err(Unshown {
            remedy: remedy.to_owned(),
            ..Unshown::new(code, reason, None)
        })
    }
}

/// Looks through every name once for secrets.
pub(super) fn find_secret_names(
    source: &dyn Source,
    redactor: &Redactor,
) -> HashMap<RepoPath, RepoPath> {
    let paths = source.listing().entries().iter().map(|entry| &entry.path);
    let names: Vec<&str> = paths.clone().map(RepoPath::as_str).collect();
    if redactor.redact(&names.join("\n")).findings.is_empty() {
        return HashMap::new();
    }
    paths
        .filter_map(|path| {
            let redacted = redactor.redact(path.as_str());
            let masked = RepoPath::new(&redacted.text).ok()?;
            (!redacted.findings.is_empty()).then(|| (path.clone(), masked))
        })
        .collect()
}

/// A file that may be shown.
pub(super) struct Opened {
    /// Its text, with secrets masked.
    pub(super) text: String,
    pub(super) blob_id: BlobId,
    /// The digest of its bytes, in hex.
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
        self.redactions.retain(|one| is_shown(one.line, ranges));
        self.warnings.retain(|one| is_shown(one.line, ranges));
        cut(&Lines::new(&self.text), ranges)
    }
}

fn is_shown(line: u32, ranges: &[[u32; 2]]) -> bool {
    let mut ranges = ranges.iter();
    ranges.any(|[from, to]| (*from..=*to).contains(&line))
}

/// Returns the lines of these ranges, with a marker line for each gap.
pub(super) fn cut(lines: &Lines<'_>, ranges: &[[u32; 2]]) -> String {
    let mut out = String::new();
    let mut next = 1;
    for [from, to] in ranges {
        if next < *from {
            out.push_str(&format!("[lines {next} to {} left out]\n", from - 1));
        }
        out.push_str(lines.cut([*from, *to]));
        next = to + 1;
    }
    if next <= lines.count() {
        out.push_str(&format!("[lines {next} to {} left out]\n", lines.count()));
    }
    out
}

/// Decodes without loss, and says how: UTF-8 with or without a byte order mark, else Latin-1, in
/// which every byte is a character. Bytes with NUL in front are no text.
pub(super) fn decode(bytes: &[u8]) -> Result<(String, &'static str), (Code, &'static str)> {
    if bytes.starts_with(b"version https://git-lfs.github.com/spec/") {
        let reason = "it is a Git LFS pointer, not the file itself";
        return Err((Code::C305, reason));
    }
    // git's own rule for binary files.
    if bytes.iter().take(8000).any(|byte| *byte == 0) {
        return Err((Code::C307, "it is a binary file"));
    }
    if let Some(rest) = bytes.strip_prefix(b"\xEF\xBB\xBF")
        && let Ok(text) = std::str::from_utf8(rest)
    {
        return Ok((text.to_owned(), "utf-8-bom"));
    }
    Ok(match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), "utf-8"),
        Err(_) => (bytes.iter().copied().map(char::from).collect(), "latin-1"),
    })
}

#[cfg(test)]
mod tests {
    use super::{cut, decode};
    use crate::model::Code;
    use crate::rank::Lines;

    #[test]
    fn gaps_have_marks() {
        let text: String = (1..=200).map(|n| format!("line {n:03}\n")).collect();
        assert_eq!(
            cut(&Lines::new(&text), &[[2, 3]]),
            "[lines 1 to 1 left out]\nline 002\nline 003\n[lines 4 to 200 left out]\n"
        );
    }

    #[test]
    fn reads_each_encoding_without_loss() {
        for (bytes, text, encoding) in [
            (&b"caf\xc3\xa9"[..], "café", "utf-8"),
            (b"\xef\xbb\xbfx", "x", "utf-8-bom"),
            (b"caf\xe9", "café", "latin-1"),
            (b"", "", "utf-8"),
        ] {
            let decoded = decode(bytes).ok().unwrap();
            assert_eq!(decoded, (text.to_owned(), encoding));
        }
    }

    #[test]
    fn knows_what_is_no_text() {
        let code = |bytes: &[u8]| decode(bytes).err().map(|(code, _)| code);
        assert_eq!(code(b"\xff\xfea\0"), Some(Code::C307));
        assert_eq!(code(b"a\0b"), Some(Code::C307));
        let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n";
        assert_eq!(code(pointer), Some(Code::C305));
    }
}
