//! Reads the failure behind a packet: diagnosis, level and targets.

use std::collections::HashSet;

use super::candidates::{Mentions, max_hops};
use super::evidence::LogEvidence;
use super::hints::find_imports;
use super::inputs::PacketInputs;
use super::ladder::{LevelChoice, Rung, choose_level, climb, first_spec_rung};
use super::request::{ContextError, Request};
use super::targets::targets_of_log;
use super::tokens::{bytes_of_tokens, estimate_tokens, excerpt};
use crate::diagnose::{LogFacts, Scene, diagnose_masked};
use crate::graph::Closure;
use crate::model::{Diagnosis, FailureKind, Level, LogExcerpt, Profile, RecoveryContext, RepoPath};
use crate::policy::sanitize_log;

/// The facts of the failure, from the log and the request.
pub(super) struct Failure {
    pub(super) diagnosis: Option<Diagnosis>,
    pub(super) level: Level,
    pub(super) escalation_reason: String,
    pub(super) targets: Vec<RepoPath>,
    /// Targets that may be read.
    pub(super) readable: Vec<RepoPath>,
    /// The import closure of those files, one hop deeper than the level takes.
    pub(super) import_closure: Closure,
    pub(super) evidence: LogEvidence,
    pub(super) mentions: Mentions,
    /// The task in a person's words, in place of a log.
    pub(super) issue: Option<String>,
    /// The log within its limits.
    pub(super) log: Option<LogExcerpt>,
    /// Whether the packet is about a confirmed culprit alone.
    pub(super) is_about_cause: bool,
    /// Imports for the names that the log calls undefined.
    pub(super) recovery: Option<RecoveryContext>,
    /// Whether these explain all that failed, and no attempt has failed with them.
    pub(super) is_certain: bool,
}

impl Failure {
    /// Whether neither log nor issue says anything.
    pub(super) fn is_silent(&self) -> bool {
        self.issue.is_none() && self.evidence.text.trim().is_empty()
    }

    /// Returns the tokens that the log takes of those for files.
    pub(super) fn log_tokens(&self, request: &Request) -> u64 {
        let log = self.log.as_ref().filter(|_| request.has_token_limit());
        log.map_or(0, |log| estimate_tokens(log.text.len() as u64))
    }
}

/// Diagnoses the log and chooses level and targets.
pub(super) fn read_failure(inputs: &PacketInputs<'_>) -> Result<Failure, ContextError> {
    let request = inputs.request;
    let issue = clean_issue(inputs)?;
    let log = clean_log(inputs)?;
    let diagnosis = log.as_ref().and(request.log.as_ref()).map(|log| {
        let facts = LogFacts {
            command: request.test_commands.first().cloned(),
            ..request.facts
        };
        let scene = Scene {
            source: Some(inputs.source),
            directory: &request.directory,
        };
        diagnose_masked(log, &facts, scene, &request.reports, inputs.redactor)
    });
    let (level, escalation_reason) = read_level(request, issue.as_deref(), diagnosis.as_ref())?;
    let targets = match (&request.targets[..], &diagnosis) {
        ([], Some(diagnosis)) => targets_of_log(diagnosis, inputs.source.listing()),
        (targets, _) => {
            let mut seen = HashSet::new();
            targets.iter().filter(|path| seen.insert(*path)).cloned().collect()
        }
    };
    let text = log.as_ref().map_or("", |(text, _)| text);
    let evidence = LogEvidence::read(text, diagnosis.as_ref());
    let readable = targets.iter().filter(|path| inputs.may_read(path));
    let readable: Vec<RepoPath> = readable.cloned().collect();
    let is_about_cause = is_about_cause(request);
    let (recovery, is_certain) = find_imports(inputs, diagnosis.as_ref(), &targets);
    Ok(Failure {
        mentions: Mentions::read(diagnosis.as_ref(), |path| {
            text.contains(path.as_str()) && !evidence.text.contains(path.as_str())
        }),
        diagnosis,
        level,
        escalation_reason,
        // One wave more, so that `next` can name what lies behind.
        import_closure: inputs.graph.imported(&readable, (max_hops(level) + 1).min(2), false),
        targets,
        readable,
        evidence,
        issue,
        log: log.map(|log| cut_log(request, log, is_about_cause)),
        is_about_cause,
        recovery,
        is_certain: is_certain && request.retry.stop_reason.is_none(),
    })
}

fn read_level(
    request: &Request,
    issue: Option<&str>,
    diagnosis: Option<&Diagnosis>,
) -> Result<(Level, String), ContextError> {
    let (choice, retry, bundle) = (request.level, request.retry, request.include_bundle);
    let requested = request.requests.iter().flatten().count();
    let kind = diagnosis.map(|diagnosis| diagnosis.kind);
    if request.profile == Profile::Spec {
        let evidence = diagnosis.iter().flat_map(|found| &found.evidence);
        let message: String = evidence.map(|line| line.text.as_str()).collect();
        let kind = kind.filter(|_| issue.is_none());
        let first = first_spec_rung(kind.unwrap_or(FailureKind::Unknown), &message);
        let rung = climb(choice, first, retry, requested, bundle)?;
        return Ok((rung.level, rung.trigger));
    }
    let (level, reason) = if issue.is_some() {
        let first = Rung::new(Level::TwoHops, "", "an issue describes what, not where");
        let rung = climb(choice, first, retry, requested, bundle)?;
        (rung.level, rung.reason)
    } else {
        choose_level(choice, kind, retry, requested, bundle)?
    };
    Ok((level, request.level_reason.clone().unwrap_or(reason)))
}

/// Whether the packet is the first for a confirmed culprit: the next level only after a failed
/// attempt, a request, or when the caller asks for more.
fn is_about_cause(request: &Request) -> bool {
    let mut changes = request.cause.iter().flat_map(|cause| &cause.changes);
    let is_first = request.retry.stop_reason.is_none() && request.requests.is_empty();
    let is_asked = request.level == LevelChoice::Auto || request.level_reason.is_some();
    let is_default = request.caps.max_tokens.is_none() && request.profile == Profile::Ranked;
    is_first && is_asked && is_default && changes.any(|change| change.line.is_some())
}

// Log and files share the requested tokens; the log gets an eighth at most.
fn cut_log(
    request: &Request,
    (text, redactions): (String, u64),
    is_about_cause: bool,
) -> LogExcerpt {
    let most = match request.caps.max_tokens.filter(|tokens| *tokens > 0) {
        Some(tokens) => bytes_of_tokens(tokens / 8),
        // Bytes of the log beside a confirmed culprit.
        None if is_about_cause => 3_500,
        None => u64::MAX,
    };
    let (bytes, passed_over) = request
        .log
        .as_ref()
        .map_or((0, 0), |log| (log.bytes(), log.bytes_passed_over()));
    let mut cut = excerpt(&text, bytes, redactions, request.max_log_bytes.min(most));
    cut.omitted_bytes += passed_over;
    cut
}

// The log as it may be shown, and how many secrets were masked in it.
fn clean_log(inputs: &PacketInputs<'_>) -> Result<Option<(String, u64)>, ContextError> {
    let request = inputs.request;
    let Some(log) = &request.log else {
        return Ok(None);
    };
    let text = sanitize_log(log.text().as_bytes());
    if text.trim().is_empty() {
        // With something else to go by, an empty log is as good as none.
        let is_alone = request.targets.is_empty() && request.requests.is_empty();
        return match is_alone {
            true => Err(ContextError::EmptyLog),
            false => Ok(None),
        };
    }
    let redacted = inputs.redactor.redact(&text);
    let redactions = redacted.findings.len() as u64;
    Ok(Some((redacted.text.into_owned(), redactions)))
}

fn clean_issue(inputs: &PacketInputs<'_>) -> Result<Option<String>, ContextError> {
    let Some(issue) = &inputs.request.issue else {
        return Ok(None);
    };
    let text = sanitize_log(issue.as_bytes());
    if text.trim().is_empty() {
        return Err(ContextError::EmptyIssue);
    }
    Ok(Some(inputs.redactor.mask(&text)))
}
