use super::choose::{Selection, choose_files};
use super::digest::{input_digest, packet_digest};
use super::error::ContextError;
use super::failure::{Failure, clean_issue, clean_log, read_failure};
use super::hints::{Recovery, recovery};
use super::leftover::{next, unreadable_entries, unresolved};
use super::log_excerpt::excerpt;
use super::repo_index::{NameSecrets, repo_index};
use super::request::Request;
use super::snapshot::SnapshotTaker;
use super::tokens::estimate_tokens;
use crate::graph::Graph;
use crate::model::{
    Caps, ContextDocument, Level, LogExcerpt, RecoveryContext, RepoPath, SCHEMA_VERSION,
};
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

/// What a packet is made from.
pub(super) struct PacketInputs<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) known: &'a Known,
    pub(super) policy: &'a ReadPolicy,
    pub(super) redactor: &'a Redactor,
    pub(super) request: &'a Request,
    pub(super) names: NameSecrets,
    pub(super) graph: Graph<'a>,
}

impl PacketInputs<'_> {
    pub(super) fn may_read(&self, path: &RepoPath) -> bool {
        self.policy.refuse(path).is_none() && !self.names.contains(path)
    }
}

/// Builds the packet of a failure: question, candidates, scores, shares, snapshots, document.
///
/// Deterministic: the same source, policy, redactor and request give the same bytes for any number of
/// threads, whatever is `known`: the cache saves reading and parsing, no more.
///
/// # Errors
/// A [`ContextError`] when the request cannot be met at all. A file that cannot be shown is no
/// error; it stands in `omitted` or `filesRejected`.
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
        names: NameSecrets::find(source, redactor),
        graph: Graph::knowing(source, &known.facts),
    };
    let issue = clean_issue(redactor, request)?;
    let log = clean_log(redactor, request)?;
    let mut failure = read_failure(&inputs, issue.as_deref(), log.as_ref())?;
    let recovery = recovery(&inputs, failure.diagnosis.as_ref(), &failure.targets);
    let log = log.map(|log| log.cut(request, failure.is_about_cause));
    let caps = packet_caps(request, &failure, &recovery);
    if request.has_token_limit() {
        let bytes = log.as_ref().map_or(0, |log| log.text.len() as u64);
        failure.log_tokens = estimate_tokens(bytes);
    }
    let taker = SnapshotTaker {
        source,
        policy,
        redactor,
        names: &inputs.names,
        outlines: &known.outlines,
    };
    tracing::info!(
        kind = ?failure.kind,
        targets = failure.targets.len(),
        "building a packet of level {:?}: {}",
        failure.level,
        failure.escalation_reason
    );
    let selection = choose_files(&inputs, &failure, &recovery, &taker, caps);
    tracing::info!(
        files = selection.files.len(),
        rejected = selection.rejected.len(),
        "packet chosen"
    );
    let context = write_document(&inputs, failure, (caps, &taker), &recovery, selection);
    Ok(Built {
        log,
        issue: issue.map(|text| excerpt(&text, 0, 0, request.max_log_bytes).text),
        context,
        recovery: recovery.context,
    })
}

/// Tokens for files beside a fix that is certain: the lines it is about.
const TOKENS_WHEN_CERTAIN: u64 = 3_000;
/// Tokens for files beside a confirmed culprit; the log takes up to 1,000 more.
const TOKENS_FOR_CAUSE: u64 = 2_000;

fn packet_caps(request: &Request, failure: &Failure, recovery: &Recovery) -> Caps {
    let mut caps = request
        .caps
        .over(Caps::for_level(failure.level), request.profile);
    let most = match (failure.is_about_cause, recovery.is_certain(request)) {
        (true, _) => TOKENS_FOR_CAUSE,
        (false, true) => TOKENS_WHEN_CERTAIN,
        (false, false) => u64::MAX,
    };
    if request.caps.max_tokens.is_none() {
        caps.max_tokens = caps.max_tokens.map(|tokens| tokens.min(most));
    }
    caps
}

fn write_document(
    inputs: &PacketInputs<'_>,
    failure: Failure,
    (caps, taker): (Caps, &SnapshotTaker<'_>),
    recovery: &Recovery,
    selection: Selection,
) -> ContextDocument {
    let (source, redactor, request) = (inputs.source, inputs.redactor, inputs.request);
    let mut left_out = selection.left_out;
    unreadable_entries(taker, &failure.targets, &mut left_out);
    let (omitted, omitted_counts) = left_out.into_rows();
    let included: Vec<RepoPath> = selection
        .files
        .iter()
        .map(|file| file.path.clone())
        .collect();
    let files = selection.files;
    let suggested = recovery.context.iter();
    let suggested = suggested.flat_map(|context| context.suggested_imports.values());
    let may_read = |path: &RepoPath| inputs.may_read(path);
    let next = next(&selection.reach, &included, &omitted, &may_read);
    let index_level = if failure.is_about_cause {
        Level::Targets
    } else {
        failure.level
    };
    let unresolved_imports = unresolved(&selection.reach, &included, redactor);
    let mut context = ContextDocument {
        schema_version: SCHEMA_VERSION,
        document: "context",
        level: failure.level,
        escalation_reason: failure.escalation_reason,
        profile: request.profile,
        caps,
        total_bytes: files.iter().map(|file| file.bytes).sum(),
        total_tokens: files.iter().map(|file| file.tokens).sum(),
        files_requested: request
            .requests
            .iter()
            .flatten()
            .map(|path| redactor.redact(path).text.into_owned())
            .collect(),
        request_rounds: Some(request.requests.len() as u64).filter(|rounds| *rounds > 0),
        files_rejected: selection.rejected,
        unresolved_imports,
        next,
        repo_index: repo_index(
            source,
            index_level,
            &selection.readable,
            &inputs.names,
            inputs.policy,
        ),
        history: request.history,
        hints: suggested.cloned().collect(),
        cause: request.cause.clone(),
        change: request.change.clone(),
        input_sha256: String::new(),
        packet_sha256: String::new(),
        files_included: included,
        files,
        omitted,
        omitted_counts,
        diagnosis: failure.diagnosis,
    };
    context.input_sha256 = input_digest(source, request, &context);
    context.packet_sha256 = packet_digest(&context);
    context
}
