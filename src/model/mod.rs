//! Floor 0: the nouns that cross a border. Plain data and serde, no I/O, no other module.

#[cfg(feature = "program")]
mod bench;
mod blob;
#[cfg(feature = "program")]
mod child_failure;
mod code;
mod code_page;
mod consequence;
#[cfg(feature = "program")]
mod context;
mod exit;
mod facts;
mod failure;
#[cfg(feature = "program")]
mod healing;
#[cfg(feature = "program")]
mod hint;
#[cfg(feature = "program")]
mod imports;
mod level;
#[cfg(feature = "program")]
mod page;
mod patch;
mod path;
#[cfg(feature = "program")]
mod proof;
mod refusal;
#[cfg(feature = "program")]
mod repair;
#[cfg(feature = "program")]
mod run_record;
#[cfg(feature = "program")]
mod run_summary;
#[cfg(feature = "program")]
mod schema;
#[cfg(feature = "program")]
mod stats;
mod verdict;

#[cfg(feature = "program")]
pub use bench::{
    AgentRow, BenchAgents, BenchDocument, Comparison, FixtureOutcome, FixtureResult, HiddenTests,
    Partition, Repairs, Rung, Sight, Tally, TallyRow, TrickRow,
};
pub use blob::BlobId;
#[cfg(feature = "program")]
pub use child_failure::ChildFailure;
pub use code::Code;
pub use code_page::{CodePage, code_pages, explain};
#[cfg(feature = "program")]
pub use context::{
    ChangeUnderTest, ContextDocument, FailurePacket, FailureSummary, FileMode, History, KeptChange,
    LogExcerpt, Omission, Outputs, PacketBudget, PacketFile, PreviousAttempt, RecoveryContext,
    Redaction, RejectedFile, RepoIndex, RepoIndexFile, Role, Shortening, TextWarning,
    UnchangedFile, UnresolvedImport,
};
pub use exit::Exit;
pub use facts::{
    Definition, DefinitionKind, Export, FileFacts, Import, ImportKind, ImportedName, Language,
    ParseProblem,
};
pub use failure::{
    Alternative, Category, Diagnosis, DiagnosisDocument, Evidence, FailedTest, Failure,
    FailureKind, LeftOut, MentionedFile, StopReason, Subkind,
};
#[cfg(feature = "program")]
pub use healing::{HealedProbe, HealingAttempt, HealingResult, ProbeTransport};
#[cfg(feature = "program")]
pub use hint::{HintDocument, HintSource, Suggestion};
#[cfg(feature = "program")]
pub use imports::{ClosureEntry, ImportEdge, ImportsDocument, ImportsFile, ImportsProblem};
pub use level::{Caps, Level, Profile};
#[cfg(feature = "program")]
pub use page::{Page, WordPage, nearest_page, page, word_pages};
pub use patch::{
    AfterProblem, Excerpt, FileVerdict, FirstDifference, HunkVerdict, Mend, Nearest, Operation,
    PatchFormat, PatchProblem, PatchVerdict, Safety,
};
pub use path::{PathProblem, RepoPath};
#[cfg(feature = "program")]
pub use proof::{Proof, ProofSource, ProvenTest, RunnerProof, TestCounts, TestEnd, TestRunner};
pub use refusal::{Mismatch, Refusal};
#[cfg(feature = "program")]
pub use repair::{
    AgentTrouble, AttemptResult, CommandRun, Event, Observed, Origin, RepairPacket, ReplyEdit,
    ReplyFile, ReplyStatus, RunResult, RunStatus, TestError, TestResult, TroubleKind, Usage,
    WorkplaceUsed,
};
#[cfg(feature = "program")]
pub use run_record::{AttemptRecord, RunRecord};
#[cfg(feature = "program")]
pub use run_summary::{CertainImport, PacketSize, Remedy, RunFailure, RunSummary};
#[cfg(feature = "program")]
pub use schema::{DOCUMENTS, DocumentSchema, forget_widths, schema};

#[cfg(feature = "program")]
pub use stats::{Blocker, Rate, Stats};
pub use verdict::{Severity, Verdict};

/// Version of every JSON document this program writes.
pub const SCHEMA_VERSION: u32 = 1;
