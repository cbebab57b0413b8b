//! The document `context.json`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{BlobId, Caps, Code, Diagnosis, KnownCause, Level, Profile, RepoPath, StopReason};

/// `context.json`: what was chosen for a failure, and why.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextDocument {
    /// Version of this document's shape.
    pub schema_version: u32,
    /// Always `context`.
    pub document: &'static str,
    /// The context level.
    pub level: Level,
    /// Why this level: the rule and its evidence in one sentence.
    pub escalation_reason: String,
    /// How places were given out.
    pub profile: Profile,
    /// The limits in force.
    pub caps: Caps,
    /// Bytes of content of all files.
    pub total_bytes: u64,
    /// Estimated tokens of content of all files.
    pub total_tokens: u64,
    /// Paths in packet order: targets, then by rank, manifests last.
    pub files_included: Vec<RepoPath>,
    /// Paths an agent asked for, as asked.
    pub files_requested: Vec<String>,
    /// Requests of an agent so far, the one that this packet answers included; absent without one.
    pub request_rounds: Option<u64>,
    /// Files that were asked for or named and refused.
    pub files_rejected: Vec<RejectedFile>,
    /// The files with their content, in the order of `files_included`.
    pub files: Vec<PacketFile>,
    /// Candidates that were left out, the best first: 50 at most.
    pub omitted: Vec<Omission>,
    /// How many were left out in all, by code.
    #[schemars(with = "BTreeMap<String, u64>")]
    pub omitted_counts: BTreeMap<Code, u64>,
    /// Imports of included files that do not resolve to a file.
    pub unresolved_imports: Vec<UnresolvedImport>,
    /// Files worth asking for next, best first.
    pub next: Vec<RepoPath>,
    /// The files of the repository.
    pub repo_index: RepoIndex,
    /// The history that was used.
    pub history: History,
    /// The diagnosis; `null` without a log.
    pub diagnosis: Option<Diagnosis>,
    /// Import hints for undefined names.
    pub hints: Vec<String>,
    /// The culprit, if a search on these files confirmed one.
    pub cause: Option<KnownCause>,
    /// The change under test, when a base was given.
    pub change: Option<ChangeUnderTest>,
    /// SHA-256 of everything the packet was made from, in hex.
    pub input_sha256: String,
    /// SHA-256 of this document with this field empty, in hex.
    pub packet_sha256: String,
}

/// Why a file is in the packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A file the failure is about.
    Target,
    /// A file an agent asked for.
    Requested,
    /// A file that the log names.
    Mentioned,
    /// A file reached by imports from a target.
    Closure,
    /// A file that the ranking chose.
    Ranked,
    /// A project file such as `tsconfig.json`.
    Manifest,
    /// A file of the whole-repository bundle.
    Bundle,
}

/// How much of a file is in the packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileMode {
    /// The whole file.
    Full,
    /// Its signatures.
    Skeleton,
    /// Windows of lines.
    Window,
}

/// One file of a packet.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PacketFile {
    /// Where it is.
    pub path: RepoPath,
    /// Why it is here, in one word.
    pub role: Role,
    /// 1-based place among the ranked files; `null` for targets and manifests.
    pub rank: Option<u64>,
    /// Imports between it and the nearest target; `null` when no chain is known.
    pub hops: Option<u32>,
    /// The chain of files from a target to this file, both ends left out.
    pub via: Vec<RepoPath>,
    /// Why it is here, in one sentence.
    pub why: String,
    /// The ranking's score; `null` when it was not ranked.
    pub score: Option<u64>,
    /// The signals behind the score, by name.
    pub scores: BTreeMap<String, u64>,
    /// How much of the file is included.
    pub mode: FileMode,
    /// 1-based inclusive line ranges that `content` covers; empty when it is all.
    pub ranges: Vec<[u32; 2]>,
    /// Bytes of `content`.
    pub bytes: u64,
    /// Estimated tokens of `content`.
    pub tokens: u64,
    /// The git blob id of the whole file.
    pub blob_id: BlobId,
    /// SHA-256 of the whole file's bytes, in hex.
    pub sha256: String,
    /// `utf-8`, `utf-8-bom`, or `latin-1`.
    pub encoding: &'static str,
    /// The text, decoded, with secrets masked.
    pub content: String,
    /// Where secrets were masked; these lines cannot be patched.
    pub redactions: Vec<Redaction>,
    /// Invisible characters.
    pub warnings: Vec<TextWarning>,
    /// Why the file is cut; absent when nothing was cut.
    pub shortened: Option<Shortening>,
}

/// Why a file is shortened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Shortening {
    /// The stable reason.
    pub code: Code,
    /// The reason in one sentence.
    pub reason: String,
    /// Bytes of the whole text.
    pub bytes: u64,
    /// The flag or request that includes the whole file.
    pub remedy: String,
    /// For a requested file that was cut: the next request that shows most of the rest, as in
    /// `requestedFiles`.
    pub ask: Vec<String>,
}

/// A masked secret.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Redaction {
    /// 1-based line.
    pub line: u32,
    /// The rule that found it.
    pub rule: String,
}

/// A line with characters that mislead a reader.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct TextWarning {
    /// 1-based line.
    pub line: u32,
    /// `bidi`, `zero_width`, `tag` or `control`.
    pub kind: &'static str,
}

/// A requested file that is not included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RejectedFile {
    /// The path as requested.
    pub path: String,
    /// The stable reason.
    pub code: Code,
    /// The reason in one sentence.
    pub reason: String,
}

/// A candidate that is not in the packet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Omission {
    /// Where it is, lossily decoded when the name is not UTF-8.
    pub path: String,
    /// Its place among the candidates; `null` when it was never one.
    pub rank: Option<u64>,
    /// The stable reason.
    pub code: Code,
    /// The reason in one sentence.
    pub reason: String,
    /// Its size; `null` when that is not known.
    pub bytes: Option<u64>,
    /// The flag that would include it; empty if none would.
    pub remedy: String,
}

/// An import that does not resolve to a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct UnresolvedImport {
    /// The importing file.
    pub path: RepoPath,
    /// 1-based line.
    pub line: u32,
    /// The request.
    pub specifier: String,
    /// The paths that were looked for, in order.
    pub tried: Vec<String>,
}

/// The files of the repository, within a size limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RepoIndex {
    /// Files, sorted by path; those nearest to the targets when truncated.
    pub files: Vec<RepoIndexFile>,
    /// Files where programs or packages start.
    pub entrypoints: Vec<RepoPath>,
    /// Such files beyond those listed.
    pub more_entrypoints: Option<u64>,
    /// Whether files were left out.
    pub truncated: bool,
    /// Files in the repository.
    pub total: u64,
}

/// One row of the repository index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RepoIndexFile {
    /// Where it is.
    pub path: RepoPath,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its git blob id; `null` for what cannot be read, or may not be.
    pub blob_id: Option<BlobId>,
}

/// The git history that the packet is based on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct History {
    /// Whether the clone is shallow.
    pub shallow: bool,
    /// Commits that were read.
    pub commits_used: u64,
}

/// The change under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangeUnderTest {
    /// The base as the caller named it.
    pub base: String,
    /// Files that differ from the base, sorted.
    pub files: Vec<RepoPath>,
    /// The unified diff, redacted.
    pub diff: String,
}

/// `failure-packet.json`: what an agent is given.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailurePacket {
    /// Version of this document's shape.
    pub schema_version: u32,
    /// Always `failure-packet`.
    pub document: &'static str,
    /// The failure.
    pub failure: FailureSummary,
    /// The log.
    pub logs: LogExcerpt,
    /// Files the failure is about.
    pub targets: Vec<RepoPath>,
    /// Commands that show the failure.
    pub test_commands: Vec<String>,
    /// The files of the context document.
    pub file_snapshots: Vec<PacketFile>,
    /// The repository index of the context document.
    pub repo_index: RepoIndex,
    /// The context level.
    pub context_level: Level,
    /// Bytes of content of all files.
    pub context_bytes: u64,
    /// Paths an agent asked for.
    pub requested_files: Vec<String>,
    /// How the previous attempt ended.
    pub previous: Option<PreviousAttempt>,
    /// Changes of this run that helped; the files and the log are those with them.
    pub kept: Vec<KeptChange>,
    /// Requirements beyond passing commands.
    pub task: Option<String>,
    /// Import hints, when names were undefined.
    pub recovery_context: Option<RecoveryContext>,
    /// Globs a patch must not touch.
    pub protected_paths: Vec<String>,
    /// Such paths beyond those listed.
    pub more_protected_paths: Option<u64>,
    /// The remaining budget.
    pub budget: PacketBudget,
}

/// The failure in short.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FailureSummary {
    /// The diagnosed kind.
    pub kind: super::FailureKind,
    /// The subkind.
    pub subkind: Option<super::Subkind>,
    /// One sentence.
    pub message: String,
    /// The lines of the log that say so.
    pub evidence: Vec<super::Evidence>,
}

/// A log within its limits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogExcerpt {
    /// The text: escapes removed, secrets redacted, repetitions shown once, the middle omitted if it is too
    /// long.
    pub text: String,
    /// Bytes of the whole log as given.
    pub bytes: u64,
    /// Bytes left out of the middle.
    pub omitted_bytes: u64,
    /// Secrets that were masked in `text`.
    pub redactions: u64,
}

/// The attempt before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviousAttempt {
    /// How it ended.
    pub stop_reason: StopReason,
    /// SHA-256 of its patch.
    pub patch_digest: Option<String>,
    /// Its patch verdict.
    pub preflight: Option<serde_json::Value>,
    /// Why it ended so, in one sentence.
    pub message: Option<String>,
    /// The patch it sent, when it is not large.
    pub patch: Option<String>,
    /// The failure with the patch.
    pub failure: Option<String>,
    /// Whether its change helped and stays.
    pub kept: bool,
    /// The output of the commands with and without its change.
    pub outputs: Option<Outputs>,
}

/// Two runs of the same commands: the lines that differ and those that report the failure, each with its neighbors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Outputs {
    /// Whether they wrote the same; both texts are empty then.
    pub same: bool,
    /// The run without the change.
    pub before: String,
    /// The run with the change.
    pub after: String,
}

/// A change that later attempts build on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KeptChange {
    /// The attempt that made it, counted from 1.
    pub attempt: u32,
    /// Who made it.
    pub origin: super::Origin,
    /// Its effect, in one sentence.
    pub message: String,
    /// Files that the patch changes.
    pub files: Vec<String>,
}

/// Import hints for undefined names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecoveryContext {
    /// The failure kind.
    pub error_type: super::FailureKind,
    /// Names the log calls undefined.
    pub undefined_names: Vec<String>,
    /// Name to import statement.
    pub suggested_imports: BTreeMap<String, String>,
    /// The text for a prompt.
    pub recovery_hint: String,
}

/// The remaining budget; `null` without a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PacketBudget {
    /// Attempts.
    pub attempts_left: Option<u64>,
    /// Seconds.
    pub seconds_left: Option<u64>,
}
