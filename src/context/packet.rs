//! Turns a context document into the packet of an agent.

use crate::model::{
    FailureKind, FailurePacket, FailureSummary, PacketBudget, PreviousAttempt, Role, SCHEMA_VERSION,
};
use crate::policy::Redactor;

use super::build::Built;

/// The packet an agent is given, from a built context.
///
/// `protected` are the globs a patch must not touch; `previous` and `budget` come from the loop.
pub fn failure_packet(
    built: &Built,
    redactor: &Redactor,
    test_commands: &[String],
    protected: &[String],
    previous: Option<PreviousAttempt>,
    budget: PacketBudget,
) -> FailurePacket {
    let context = &built.context;
    let failure = match &context.diagnosis {
        Some(diagnosis) => FailureSummary {
            kind: diagnosis.kind,
            subkind: diagnosis.subkind.clone(),
            message: diagnosis.explanation.clone(),
            evidence: diagnosis.evidence.clone(),
        },
        None => FailureSummary {
            kind: FailureKind::Unknown,
            subkind: None,
            message: match &built.issue {
                Some(_) => "the task states the goal".to_owned(),
                None => "no log was given".to_owned(),
            },
            evidence: Vec::new(),
        },
    };
    FailurePacket {
        schema_version: SCHEMA_VERSION,
        document: "failure-packet",
        failure,
        logs: built.log.clone().unwrap_or_default(),
        targets: context
            .files
            .iter()
            .filter(|file| file.role == Role::Target)
            .map(|file| file.path.clone())
            .collect(),
        test_commands: test_commands.iter().map(|command| redactor.mask(command)).collect(),
        file_snapshots: context.files.clone(),
        repo_index: context.repo_index.clone(),
        context_level: context.level,
        context_bytes: context.total_bytes,
        requested_files: context.files_requested.clone(),
        previous,
        kept: Vec::new(),
        task: built.issue.clone(),
        recovery_context: built.recovery.clone(),
        protected_paths: protected.to_vec(),
        more_protected_paths: None,
        budget,
    }
}
