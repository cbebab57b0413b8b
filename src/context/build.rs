use std::collections::HashSet;

use super::candidates::Mentions;
use super::choose::{Chosen, choose};
use super::digest::{input_digest, packet_digest};
use super::error::ContextError;
use super::focus::Focus;
use super::hints::{Recovery, recovery};
use super::ladder::{Purpose, choose_level};
use super::leftover::{next, unreadable_entries, unresolved};
use super::log_excerpt::excerpt;
use super::repo_index::{NameSecrets, repo_index};
use super::request::Request;
use super::snapshot::SnapshotTaker;
use super::targets::targets_of_log;
use super::tokens::{bytes_of_tokens, estimate_tokens};
use crate::diagnose::{LogFacts, Scene, diagnose_masked};
use crate::graph::{Closure, Graph};
use crate::model::{
    Caps, ContextDocument, Diagnosis, FailureKind, Level, LogExcerpt, PacketFile, RecoveryContext,
    RepoPath, SCHEMA_VERSION, UnchangedFile,
};
use crate::policy::{ReadPolicy, Redactor, sanitize_log};
use crate::rank::{Issue, Pool};
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

/// Builds the packet of a failure: diagnoses the log, chooses the rung of the ladder, gathers
/// candidates, fills the caps and writes down what is left out.
///
/// Deterministic: the same source, policy, redactor, request and `committed` version of its files
/// give the same bytes for any number of threads, whatever is `known`: that spares reading and
/// parsing, no more.
///
/// # Errors
/// A [`ContextError`] when the request cannot be met at all. A file that cannot be given is no
/// error; it stands in `omitted` or `filesRejected`.
pub fn build(
    source: &dyn Source,
    (known, committed): (&Known, Option<&dyn Source>),
    policy: &ReadPolicy,
    redactor: &Redactor,
    request: &Request,
) -> Result<Built, ContextError> {
    let given = Given {
        source,
        known,
        committed,
        policy,
        redactor,
        request,
        names: NameSecrets::find(source, redactor),
        graph: Graph::knowing(source, &known.facts),
    };
    let issue = clean_issue(redactor, request)?;
    let (log, mut failure) = read_failure(&given, issue.as_deref())?;
    let recovery = recovery(
        &given.graph,
        redactor,
        failure.diagnosis.as_ref(),
        &failure.targets,
        (&request.known_names, &request.installed),
        &given.may_read(),
    );
    let log = log.map(|log| log.cut(request));
    let caps = caps(request, &failure, &recovery);
    if is_limited(request) {
        let bytes = log.as_ref().map_or(0, |it| it.text.len() as u64);
        failure.log_tokens = estimate_tokens(bytes);
    }
    let taker = SnapshotTaker {
        source,
        policy,
        redactor,
        names: &given.names,
        outlines: &known.outlines,
    };
    tracing::info!(
        kind = ?failure.kind,
        targets = failure.targets.len(),
        "building a packet of level {:?}: {}",
        failure.level,
        failure.escalation_reason
    );
    let chosen = choose(&given, &failure, &recovery, &taker, caps);
    tracing::info!(
        files = chosen.files.len(),
        rejected = chosen.rejected.len(),
        "packet chosen"
    );
    let context = document(&given, failure, caps, &recovery, chosen);
    Ok(Built {
        log,
        issue: issue.map(|text| excerpt(&text, 0, 0, request.max_log_bytes).text),
        context,
        recovery: recovery.context,
    })
}

/// What a packet is made from.
pub(super) struct Given<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) known: &'a Known,
    pub(super) committed: Option<&'a dyn Source>,
    pub(super) policy: &'a ReadPolicy,
    pub(super) redactor: &'a Redactor,
    pub(super) request: &'a Request,
    pub(super) names: NameSecrets,
    pub(super) graph: Graph<'a>,
}

impl Given<'_> {
    pub(super) fn may_read(&self) -> impl Fn(&RepoPath) -> bool + Sync + '_ {
        let (policy, names) = (self.policy, &self.names);
        move |path| policy.refuse(path).is_none() && !names.contains(path)
    }
}

/// What the log and the request say of the failure.
pub(super) struct Failure {
    pub(super) diagnosis: Option<Diagnosis>,
    pub(super) kind: Option<FailureKind>,
    pub(super) level: Level,
    escalation_reason: String,
    pub(super) targets: Vec<RepoPath>,
    pub(super) focus: Focus,
    pub(super) mentions: Mentions,
    /// What a person asks for, in place of a log.
    pub(super) issue: Option<Issue>,
    /// Tokens that the log takes of those for files.
    pub(super) log_tokens: u64,
}

fn read_failure(
    given: &Given<'_>,
    issue: Option<&str>,
) -> Result<(Option<CleanLog>, Failure), ContextError> {
    let request = given.request;
    let log = clean_log(given.redactor, request)?;
    let diagnosis = log.as_ref().and(request.log.as_ref()).map(|log| {
        let facts = LogFacts {
            exit_code: request.exit_code,
            command: request.test_commands.first().cloned(),
            timed_out: request.timed_out,
            rules: request.rules.clone(),
        };
        let scene = Scene {
            source: Some(given.source),
            directory: &request.directory,
        };
        diagnose_masked(log, &facts, scene, &request.reports, given.redactor)
    });
    let kind = diagnosis.as_ref().map(|diagnosis| diagnosis.kind);
    let (level, escalation_reason) = choose_level(
        request.level,
        issue.map_or(Purpose::Log(kind), |_| Purpose::Issue),
        request.retry,
        request.requested.len(),
        request.include_bundle,
    )?;
    let targets = match (&request.targets[..], &diagnosis) {
        ([], Some(diagnosis)) => targets_of_log(diagnosis, given.source.listing()),
        (targets, _) => deduplicated(targets),
    };
    let text = log.as_ref().map_or("", |log| &log.text);
    let focus = Focus::of(text, diagnosis.as_ref());
    let only_in_header =
        |path: &RepoPath| text.contains(path.as_str()) && !focus.text.contains(path.as_str());
    let failure = Failure {
        mentions: Mentions::of(diagnosis.as_ref(), &only_in_header),
        diagnosis,
        kind,
        level,
        escalation_reason: request.level_reason.clone().unwrap_or(escalation_reason),
        targets,
        focus,
        issue: issue.map(Issue::read),
        log_tokens: 0,
    };
    Ok((log, failure))
}

// A fix that is certain needs no more than the lines that it is about.
fn caps(request: &Request, failure: &Failure, recovery: &Recovery) -> Caps {
    let mut caps = request
        .caps
        .over(Caps::for_level(failure.level), request.profile);
    if is_certain(request, recovery)
        && request.caps.max_tokens.is_none()
        && let Some(tokens) = &mut caps.max_tokens
    {
        *tokens = TOKENS_WHEN_CERTAIN.min(*tokens);
    }
    caps
}

/// Whether the imports found explain all that failed, and no attempt has failed with them.
pub(super) fn is_certain(request: &Request, recovery: &Recovery) -> bool {
    recovery.certain && request.retry.stop_reason.is_none()
}

fn document(
    given: &Given<'_>,
    failure: Failure,
    caps: Caps,
    recovery: &Recovery,
    chosen: Chosen,
) -> ContextDocument {
    let (source, redactor, request) = (given.source, given.redactor, given.request);
    let mut left_out = chosen.left_out;
    unreadable_entries(source, redactor, &failure.targets, &mut left_out);
    let (omitted, omitted_counts) = left_out.into_rows();
    let importers = importers(given, &failure.targets);
    let paths = |files: &[PacketFile]| files.iter().map(|file| file.path.clone()).collect();
    let included: Vec<RepoPath> = paths(&chosen.files);
    let (files, unchanged) = split_unchanged(chosen.files, &request.since);
    let suggested = recovery.context.iter();
    let suggested = suggested.flat_map(|it| it.suggested_imports.values());
    let may_read = given.may_read();
    let next_why = next((&chosen.reach, &importers), &included, &omitted, &may_read);
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
            .requested
            .iter()
            .map(|path| redactor.redact(path).text.into_owned())
            .collect(),
        files_rejected: chosen.rejected,
        unresolved_imports: unresolved(&chosen.reach, &included, redactor),
        next: next_why.iter().map(|it| it.path.clone()).collect(),
        next_why,
        repo_index: repo_index(
            source,
            failure.level,
            &chosen.readable,
            &given.names,
            given.policy,
        ),
        history: request.history,
        hints: suggested.cloned().collect(),
        cause: request.cause.clone(),
        change: request.change.clone(),
        input_sha256: String::new(),
        packet_sha256: String::new(),
        files_included: paths(&files),
        files,
        unchanged,
        omitted,
        omitted_counts,
        diagnosis: failure.diagnosis,
    };
    context.input_sha256 = input_digest(source, request, &context);
    context.packet_sha256 = packet_digest(&context);
    context
}

// Who imports what an earlier attempt touched: where a changed signature breaks.
fn importers(given: &Given<'_>, targets: &[RepoPath]) -> Closure {
    let listing = given.source.listing();
    let may_read = given.may_read();
    let touched: Vec<RepoPath> = (given.request.touched.iter())
        .filter(|path| may_read(path) && listing.has_file(path.as_str()))
        .cloned()
        .collect();
    if touched.is_empty() {
        return Closure::default();
    }
    let pool = Pool::new(targets, listing);
    let mut importers = given.graph.symbol_importers(&touched, 1);
    importers
        .nodes
        .retain(|it| it.hops == 0 || pool.standing(&it.path).is_some());
    importers
}

// Whether somebody says how many tokens there are.
fn is_limited(request: &Request) -> bool {
    request.caps.max_tokens.is_some_and(|it| it > 0)
}

/// What the files of a packet take beside a fix that is certain.
const TOKENS_WHEN_CERTAIN: u64 = 3_000;

struct CleanLog {
    text: String,
    original_bytes: u64,
    passed_over: u64,
    redactions: u64,
}

fn clean_log(redactor: &Redactor, request: &Request) -> Result<Option<CleanLog>, ContextError> {
    let Some(log) = &request.log else {
        return Ok(None);
    };
    let text = sanitize_log(log.text().as_bytes());
    if text.trim().is_empty() {
        // With something else to go by, an empty log is as good as none.
        let alone = request.targets.is_empty() && request.requested.is_empty();
        return if alone {
            Err(ContextError::EmptyLog)
        } else {
            Ok(None)
        };
    }
    let redacted = redactor.redact(&text);
    Ok(Some(CleanLog {
        redactions: redacted.findings.len() as u64,
        text: redacted.text.into_owned(),
        original_bytes: log.bytes(),
        passed_over: log.bytes_passed_over(),
    }))
}

fn clean_issue(redactor: &Redactor, request: &Request) -> Result<Option<String>, ContextError> {
    let Some(issue) = &request.issue else {
        return Ok(None);
    };
    let text = sanitize_log(issue.as_bytes());
    if text.trim().is_empty() {
        return Err(ContextError::EmptyIssue);
    }
    Ok(Some(redactor.redact(&text).text.into_owned()))
}

impl CleanLog {
    // Log and files share the tokens that somebody asks for; the log has an eighth at most.
    fn cut(self, request: &Request) -> LogExcerpt {
        let most = request.caps.max_tokens.filter(|_| is_limited(request));
        let most = most.map_or(u64::MAX, |tokens| bytes_of_tokens(tokens / 8));
        let mut cut = excerpt(
            &self.text,
            self.original_bytes,
            self.redactions,
            request.max_log_bytes.min(most),
        );
        cut.omitted_bytes += self.passed_over;
        cut
    }
}

fn deduplicated(paths: &[RepoPath]) -> Vec<RepoPath> {
    let mut seen = HashSet::new();
    paths
        .iter()
        .filter(|path| seen.insert(*path))
        .cloned()
        .collect()
}

/// Takes out the files that an earlier packet held in the same form, and names them instead.
fn split_unchanged(
    files: Vec<PacketFile>,
    earlier: &[UnchangedFile],
) -> (Vec<PacketFile>, Vec<UnchangedFile>) {
    let earlier: HashSet<&UnchangedFile> = earlier.iter().collect();
    let mut new = Vec::new();
    let mut unchanged = Vec::new();
    for file in files {
        let shown = UnchangedFile::from_packet_file(&file);
        if earlier.contains(&shown) {
            unchanged.push(shown);
        } else {
            new.push(file);
        }
    }
    (new, unchanged)
}
