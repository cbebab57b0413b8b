//! Builds a packet: the pipeline from the failure to the document.

use super::choose::choose_files;
use super::digest::{input_digest, packet_digest};
use super::failure::{Failure, read_failure};
use super::fill::Fill;
use super::inputs::{PacketInputs, find_secret_names};
use super::leftover::{best_rows, next_files, unresolved};
use super::repo_index::repo_index;
use super::request::{ContextError, Request};
use super::tokens::excerpt;
use crate::graph::Graph;
use crate::model::{Caps, ContextDocument, LogExcerpt, RecoveryContext, RepoPath, SCHEMA_VERSION};
use crate::policy::{ReadPolicy, Redactor};
use crate::source::Source;
use crate::state::Known;

/// A context document and the cleaned log beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Built {
    /// What was chosen, and why.
    pub context: ContextDocument,
    /// The log within its limits; `None` without a log.
    pub log: Option<LogExcerpt>,
    /// The issue, with secrets masked; `None` without one.
    pub issue: Option<String>,
    /// Import hints for undefined names; `None` when the log names none.
    pub recovery: Option<RecoveryContext>,
}

/// Builds the packet of a failure: question, candidates, scores, shares, snapshots, document.
///
/// Deterministic: the same source, policy, redactor and request give the same bytes for any number of
/// threads, whatever is `known`: the cache saves reading and parsing, no more.
///
/// # Errors
/// A [`ContextError`] when the request cannot be met at all. A file that cannot be shown is no
/// error; it is in `omitted` or `filesRejected`.
pub fn build(
    source: &dyn Source,
    known: &Known,
    policy: &ReadPolicy,
    redactor: &Redactor,
    request: &Request,
) -> Result<Built, ContextError> {
    let inputs = PacketInputs {
        source,
        known,
        policy,
        redactor,
        request,
        graph: Graph::with_fact_cache(source, &known.facts),
        secret_names: find_secret_names(source, redactor),
    };
    let failure = read_failure(&inputs)?;
    let (level, reason) = (failure.level, &failure.escalation_reason);
    let targets = failure.targets.len();
    tracing::info!(targets, "building a packet of level {level:?}: {reason}");
    let caps = packet_caps(request, &failure);
    let fill = choose_files(&inputs, &failure, caps);
    let (files, rejected) = (fill.files.len(), fill.rejected.len());
    tracing::info!(files, rejected, "packet chosen");
    let context = write_document(&inputs, &failure, caps, fill);
    let issue = failure.issue.as_ref();
    Ok(Built {
        context,
        issue: issue.map(|text| excerpt(text, 0, 0, request.max_log_bytes).text),
        log: failure.log,
        recovery: failure.recovery,
    })
}

fn packet_caps(request: &Request, failure: &Failure) -> Caps {
    let own = Caps::for_level(failure.level);
    let mut caps = request.caps.over(own, request.profile);
    let most = match (failure.is_about_cause, failure.is_certain) {
        // Tokens for files beside a confirmed culprit; the log takes up to 1,000 more.
        (true, _) => 2_000,
        // Tokens for files beside a fix that is certain: the lines it is about.
        (false, true) => 3_000,
        (false, false) => u64::MAX,
    };
    if request.caps.max_tokens.is_none() {
        caps.max_tokens = caps.max_tokens.map(|tokens| tokens.min(most));
    }
    caps
}

fn write_document(
    inputs: &PacketInputs<'_>,
    failure: &Failure,
    caps: Caps,
    fill: Fill<'_>,
) -> ContextDocument {
    let request = inputs.request;
    let files = fill.files;
    let (omitted, omitted_counts) = best_rows(fill.left_out);
    let included: Vec<RepoPath> = files.iter().map(|file| file.path.clone()).collect();
    let recovery = failure.recovery.iter();
    let imports = recovery.flat_map(|recovery| recovery.suggested_imports.values());
    let requested = request.requests.iter().flatten();
    let rounds = request.requests.len() as u64;
    let mut context = ContextDocument {
        schema_version: SCHEMA_VERSION,
        document: "context",
        level: failure.level,
        escalation_reason: failure.escalation_reason.clone(),
        profile: request.profile,
        caps,
        total_bytes: files.iter().map(|file| file.bytes).sum(),
        total_tokens: files.iter().map(|file| file.tokens).sum(),
        files_requested: requested.map(|path| inputs.redactor.mask(path)).collect(),
        request_rounds: Some(rounds).filter(|rounds| *rounds > 0),
        files_rejected: fill.rejected,
        unresolved_imports: unresolved(inputs, failure, &included),
        next: next_files(inputs, failure, &included, &omitted),
        repo_index: repo_index(inputs, failure),
        history: request.history,
        hints: imports.cloned().collect(),
        cause: request.cause.clone(),
        change: request.change.clone(),
        input_sha256: String::new(),
        packet_sha256: String::new(),
        files_included: included,
        files,
        omitted,
        omitted_counts,
        diagnosis: failure.diagnosis.clone(),
    };
    context.input_sha256 = input_digest(inputs, &context);
    context.packet_sha256 = packet_digest(&context);
    context
}
