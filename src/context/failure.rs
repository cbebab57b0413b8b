use std::collections::HashSet;

use super::build::PacketInputs;
use super::candidates::Mentions;
use super::error::ContextError;
use super::evidence::LogEvidence;
use super::ladder::{LevelChoice, Purpose, choose_level, choose_spec_level};
use super::log_excerpt::excerpt;
use super::request::Request;
use super::targets::targets_of_log;
use super::tokens::bytes_of_tokens;
use crate::diagnose::{LogFacts, Scene, diagnose_masked};
use crate::model::{Diagnosis, FailureKind, Level, LogExcerpt, Profile, RepoPath};
use crate::policy::{Redactor, sanitize_log};

/// What the log and the request say of the failure.
pub(super) struct Failure {
    pub(super) diagnosis: Option<Diagnosis>,
    pub(super) kind: Option<FailureKind>,
    pub(super) level: Level,
    pub(super) escalation_reason: String,
    pub(super) targets: Vec<RepoPath>,
    pub(super) evidence: LogEvidence,
    pub(super) mentions: Mentions,
    /// What a person asks for, in place of a log.
    pub(super) issue: Option<String>,
    /// Whether the packet is about a confirmed culprit alone.
    pub(super) is_about_cause: bool,
    /// Tokens that the log takes of those for files.
    pub(super) log_tokens: u64,
}

impl Failure {
    /// Whether neither log nor issue says anything.
    pub(super) fn is_silent(&self) -> bool {
        self.issue.is_none() && self.evidence.text.trim().is_empty()
    }
}

/// Diagnoses the log and chooses level and targets.
pub(super) fn read_failure(
    inputs: &PacketInputs<'_>,
    issue: Option<&str>,
    log: Option<&CleanLog>,
) -> Result<Failure, ContextError> {
    let request = inputs.request;
    let diagnosis = log.and(request.log.as_ref()).map(|log| {
        let facts = LogFacts {
            exit_code: request.exit_code,
            command: request.test_commands.first().cloned(),
            timed_out: request.timed_out,
        };
        let scene = Scene {
            source: Some(inputs.source),
            directory: &request.directory,
        };
        diagnose_masked(log, &facts, scene, &request.reports, inputs.redactor)
    });
    let kind = diagnosis.as_ref().map(|diagnosis| diagnosis.kind);
    let purpose = issue.map_or(Purpose::Log(kind), |_| Purpose::Issue);
    let requested = request.requests.iter().flatten().count();
    let (level, escalation_reason) = match request.profile {
        Profile::Ranked => choose_level(
            request.level,
            purpose,
            request.retry,
            requested,
            request.include_bundle,
        )
        .map(|(level, reason)| (level, request.level_reason.clone().unwrap_or(reason))),
        Profile::Spec => {
            let evidence = diagnosis.iter().flat_map(|found| &found.evidence);
            let message: String = evidence.map(|line| line.text.as_str()).collect();
            choose_spec_level(request, purpose, requested, &message)
        }
    }?;
    let targets = match (&request.targets[..], &diagnosis) {
        ([], Some(diagnosis)) => targets_of_log(diagnosis, inputs.source.listing()),
        (targets, _) => distinct(targets),
    };
    let text = log.map_or("", |log| &log.text);
    let evidence = LogEvidence::read(text, diagnosis.as_ref());
    let only_in_header =
        |path: &RepoPath| text.contains(path.as_str()) && !evidence.text.contains(path.as_str());
    Ok(Failure {
        mentions: Mentions::read(diagnosis.as_ref(), &only_in_header),
        diagnosis,
        kind,
        level,
        escalation_reason,
        targets,
        evidence,
        issue: issue.map(str::to_owned),
        is_about_cause: is_about_cause(request),
        log_tokens: 0,
    })
}

/// Whether the packet is the first for a confirmed culprit: the next level only after a failed
/// attempt, a request, or when somebody asks for more.
fn is_about_cause(request: &Request) -> bool {
    let has_line =
        |cause: &crate::model::KnownCause| cause.changes.iter().any(|change| change.line.is_some());
    let is_first = request.retry.stop_reason.is_none() && request.requests.is_empty();
    let is_asked = request.level == LevelChoice::Auto || request.level_reason.is_some();
    let is_default = request.caps.max_tokens.is_none() && request.profile == Profile::Ranked;
    is_first && is_asked && is_default && request.cause.as_ref().is_some_and(has_line)
}

/// The log as it may be shown.
pub(super) struct CleanLog {
    text: String,
    original_bytes: u64,
    passed_over: u64,
    redactions: u64,
}

/// Bytes of the log beside a confirmed culprit.
const LOG_BESIDE_CAUSE: u64 = 3_500;

impl CleanLog {
    // Log and files share the tokens that somebody asks for; the log gets an eighth at most.
    pub(super) fn cut(self, request: &Request, is_about_cause: bool) -> LogExcerpt {
        let most = match request.caps.max_tokens.filter(|tokens| *tokens > 0) {
            Some(tokens) => bytes_of_tokens(tokens / 8),
            None if is_about_cause => LOG_BESIDE_CAUSE,
            None => u64::MAX,
        };
        let max = request.max_log_bytes.min(most);
        let mut cut = excerpt(&self.text, self.original_bytes, self.redactions, max);
        cut.omitted_bytes += self.passed_over;
        cut
    }
}

pub(super) fn clean_log(
    redactor: &Redactor,
    request: &Request,
) -> Result<Option<CleanLog>, ContextError> {
    let Some(log) = &request.log else {
        return Ok(None);
    };
    let text = sanitize_log(log.text().as_bytes());
    if text.trim().is_empty() {
        // With something else to go by, an empty log is as good as none.
        let is_alone = request.targets.is_empty() && request.requests.is_empty();
        return if is_alone {
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

pub(super) fn clean_issue(
    redactor: &Redactor,
    request: &Request,
) -> Result<Option<String>, ContextError> {
    let Some(issue) = &request.issue else {
        return Ok(None);
    };
    let text = sanitize_log(issue.as_bytes());
    if text.trim().is_empty() {
        return Err(ContextError::EmptyIssue);
    }
    Ok(Some(redactor.redact(&text).text.into_owned()))
}

fn distinct(paths: &[RepoPath]) -> Vec<RepoPath> {
    let mut seen = HashSet::new();
    paths
        .iter()
        .filter(|path| seen.insert(*path))
        .cloned()
        .collect()
}
