//! Floor 0: the nouns that cross a border. Plain data and serde, no I/O, no other module.

mod blob;
mod code;
mod code_page;
mod exit;
mod facts;
mod failure;
mod level;
mod patch;
mod path;
mod table;
mod verdict;

pub use blob::{BlobId, hex};
pub use code::Code;
pub use code_page::{CodePage, code_pages, explain};
pub use exit::Exit;
pub use facts::{
    Definition, DefinitionKind, Export, FileFacts, Import, ImportKind, ImportedName, ParseProblem,
};
pub use failure::{
    Alternative, Category, Diagnosis, DiagnosisDocument, Evidence, FailedTest, Failure,
    FailureKind, LeftOut, MentionedFile, RemedySource, StopReason, Subkind,
};
pub use level::{Caps, Level, Profile};
pub(crate) use patch::refuse;
pub use patch::{
    AfterProblem, Excerpt, FileVerdict, FirstDifference, HunkVerdict, Mend, Mismatch, Nearest,
    Operation, PatchFormat, PatchProblem, PatchVerdict, Refusal, Safety, TestChanges,
};
pub use path::{PathProblem, RepoPath, file_name};
pub(crate) use table::read_table;
pub use verdict::{Severity, Verdict};

/// Version of every JSON document this program writes.
pub const SCHEMA_VERSION: u32 = 1;

cfg_if::cfg_if! {
    if #[cfg(feature = "program")] {
        mod bench;
        mod command_record;
        mod confined;
        mod context;
        mod healing;
        mod hint;
        mod imports;
        mod page;
        mod event;
        mod proof;
        mod rates;
        mod real;
        mod repair;
        mod run_record;
        mod run_summary;
        mod running;
        mod schema;
        mod traced;
        mod why;

        pub use bench::{
            BenchDocument, Comparison, FixtureOutcome, FixtureResult, HiddenTests,
            Partition, Repairs, Rung, Tally, TallyRow,
        };
        pub use command_record::{CommandAttempt, CommandRecord, CommandStatus, shell_word};
        pub use confined::{NotConfined, Wall, walls_in_words};
        pub use context::{
            ChangeUnderTest, ContextDocument, FailurePacket, FailureSummary, FileMode, History, KeptChange,
            LogExcerpt, NextFile, Omission, Outputs, PacketBudget, PacketFile, PreviousAttempt, RecoveryContext,
            Redaction, RejectedFile, RepoIndex, RepoIndexFile, Role, Shortening, TextWarning,
            UnresolvedImport,
        };
        pub use healing::{
            CheckupRow, CheckupState, HealedProbe, HealingAttempt, HealingResult, ProbeTransport,
        };
        pub use event::{Event, EventKind, EventLevel, SplitEvent, TaskIds};
        pub use hint::{HintDocument, HintSource, Suggestion};
        pub use imports::{ClosureEntry, ImportEdge, ImportsDocument, ImportsFile, ImportsProblem};
        pub use page::{Page, WordPage, nearest_page, page, word_pages};
        pub use proof::{
    MutationCheck, MutationOutcome, NegatedAssertion, Proof, ProofLevel, ProofSource, ProvenTest,
    RunnerProof, TestCounts, TestEnd, TestRunner,
};
        pub use real::{
            BenchPairs, DroppedCandidate, MineDocument, NeededFile, PairedSide, RealEnvironment, RealFix,
            RealFixes, RealRepository,
        };
        pub use repair::{
            AgentTrouble, AttemptResult, CommandRun, Observed, Origin, RepairPacket, ReplyEdit,
            ReplyFile, ReplyStatus, RunResult, RunStatus, TestError, FileChange, TestResult, TroubleKind, Usage,
            PartResult, Refused, WorkplaceUsed,
        };
        pub use run_record::{AttemptRecord, ChildFailure, RunRecord};
        pub use run_summary::{CertainImport, PacketSize, Remedy, RunFailure, RunSummary};
        pub use running::{AgentProtocol, SandboxMode, WorkplaceMode};
        pub use schema::{DOCUMENTS, DocumentSchema, forget_widths, schema};
        pub use rates::{Blocker, Rate, Rates};
        pub use traced::{LinesRun, TestTrace, Traced, TracedDefinition};
        pub use why::{KnownCause, WhyBase, WhyChange, WhyDocument, WhyOutcome, WhyReason, WhyTrial, WhyVerdict};
    }
}
