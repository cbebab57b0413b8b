use sha2::{Digest, Sha256};

use super::request::Request;
use crate::diagnose::Log;
use crate::model::{ContextDocument, hex};
use crate::source::Source;

/// SHA-256 in lowercase hex.
pub(super) fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Digests a sequence of labelled parts so that no two sequences run together.
struct PartsDigest(Sha256);

impl PartsDigest {
    fn new() -> Self {
        Self(Sha256::new())
    }

    fn part(&mut self, label: &str, bytes: &[u8]) {
        self.0
            .update(format!("{label}:{}:", bytes.len()).as_bytes());
        self.0.update(bytes);
    }

    fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

/// Digests everything that a packet was made from.
pub(super) fn input_digest(
    source: &dyn Source,
    request: &Request,
    context: &ContextDocument,
) -> String {
    let mut digest = PartsDigest::new();
    digest.part("version", env!("CARGO_PKG_VERSION").as_bytes());
    digest.part("level", &[context.level.number()]);
    digest.part("profile", context.profile.as_str().as_bytes());
    digest.part("caps", format!("{:?}", context.caps).as_bytes());
    let log = request.log.as_ref();
    digest.part("issue", request.issue.as_deref().unwrap_or("").as_bytes());
    digest.part("log", log.map_or("", Log::text).as_bytes());
    for case in request.reports.iter().flat_map(|it| &it.cases) {
        digest.part("test", case.id.as_bytes());
        digest.part("end", format!("{:?}", case.end).as_bytes());
    }
    for target in &request.targets {
        digest.part("target", target.as_str().as_bytes());
    }
    for path in request.requests.iter().flatten() {
        digest.part("requested", path.as_bytes());
    }
    for command in &request.test_commands {
        digest.part("command", command.as_bytes());
    }
    for change in request.cause.iter().flat_map(|it| &it.changes) {
        digest.part("cause", change.path.as_bytes());
        digest.part("diff", change.diff.as_bytes());
    }
    if let Some(change) = &request.change {
        digest.part("base", change.base.as_bytes());
        digest.part("diff", change.diff.as_bytes());
    }
    for path in &request.touched {
        digest.part("touched", path.as_str().as_bytes());
    }
    for file in &request.seen {
        digest.part("seen", file.path.as_str().as_bytes());
        digest.part("ranges", format!("{:?}", file.ranges).as_bytes());
    }
    for file in &request.since {
        digest.part("since", file.path.as_str().as_bytes());
        digest.part("sha256", file.sha256.as_bytes());
    }
    for entry in source.listing().entries() {
        digest.part("entry", entry.path.as_str().as_bytes());
    }
    for file in &context.files {
        digest.part("file", file.blob_id.as_bytes());
    }
    digest.finish()
}

/// Digests a document whose own digest is still empty.
pub(super) fn packet_digest(context: &ContextDocument) -> String {
    // A document of plain data always serialises.
    let bytes = serde_json::to_vec(context).unwrap_or_default();
    sha256_hex(&bytes)
}
