//! Digests of packets and of their inputs.

use sha2::{Digest, Sha256};

use super::inputs::PacketInputs;
use crate::diagnose::Log;
use crate::model::{ContextDocument, hex};

/// SHA-256 in lowercase hex.
pub(super) fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Digests everything that a packet was made from.
pub(super) fn input_digest(inputs: &PacketInputs<'_>, context: &ContextDocument) -> String {
    let request = inputs.request;
    let cases = request.reports.iter().flat_map(|report| &report.cases);
    let tests: Vec<String> = cases.map(|case| format!("{} {:?}", case.id, case.end)).collect();
    let entries = inputs.source.listing().entries().iter();
    let paths: Vec<&str> = entries.map(|entry| entry.path.as_str()).collect();
    let files = context.files.iter();
    let blobs: Vec<String> = files.map(|file| hex(file.blob_id.as_bytes())).collect();
    // The debug format quotes strings and brackets lists, so that no two inputs give the same text.
    let settings = (
        env!("CARGO_PKG_VERSION"),
        context.level,
        context.profile,
        context.caps,
    );
    let texts = (
        &request.issue,
        request.log.as_ref().map(Log::text),
        &request.test_commands,
    );
    let asked = (&request.targets, &request.requests);
    let changes = (&request.cause, &request.change);
    let all = format!(
        "{:?}",
        (settings, texts, asked, changes, tests, paths, blobs)
    );
    sha256_hex(all.as_bytes())
}

/// Digests a document whose own digest is still empty.
pub(super) fn packet_digest(context: &ContextDocument) -> String {
    // A document of plain data always serialises.
    let bytes = serde_json::to_vec(context).unwrap_or_default();
    sha256_hex(&bytes)
}
