//! Kinds of failures, stop reasons and categories.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{RepoPath, SCHEMA_VERSION};

/// The kind of a failure: a closed list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the contract's own words")]
pub enum FailureKind {
    ImportError,
    TsError,
    StaticTypeError,
    SyntaxError,
    RuntimeError,
    ZodError,
    PydanticError,
    DrizzleError,
    DbError,
    TestFailure,
    SnapshotMismatch,
    TestSetupError,
    LintError,
    ConfigError,
    CommandNotFound,
    ConnectionRefused,
    AuthFailed,
    MissingEnvVar,
    TransportMismatch,
    PermissionDenied,
    Timeout,
    NetworkError,
    PortInUse,
    DiskFull,
    OutOfMemory,
    Crash,
    FileNotFound,
    DependencyError,
    PatchError,
    /// Nothing failed: a job that passed.
    None,
    #[default]
    Unknown,
}

impl FailureKind {
    /// Whether it lies in code that cannot be loaded or uses what is not there.
    pub fn is_in_code(self) -> bool {
        matches!(
            self,
            Self::ImportError
                | Self::TsError
                | Self::StaticTypeError
                | Self::SyntaxError
                | Self::RuntimeError
                | Self::ZodError
                | Self::PydanticError
                | Self::DrizzleError
                | Self::LintError
        )
    }

    /// Whether it is an environment problem: the machine, its services, installed packages, settings. No patch
    /// fixes it.
    pub fn is_around_code(self) -> bool {
        matches!(
            self,
            Self::CommandNotFound
                | Self::ConnectionRefused
                | Self::AuthFailed
                | Self::MissingEnvVar
                | Self::PermissionDenied
                | Self::NetworkError
                | Self::PortInUse
                | Self::DiskFull
                | Self::OutOfMemory
                | Self::DependencyError
        )
    }

    /// Whether it comes before any test runs.
    pub fn is_before_tests(self) -> bool {
        matches!(
            self,
            Self::SyntaxError | Self::ImportError | Self::TestSetupError | Self::CommandNotFound
        )
    }
}

/// How one attempt at a fix ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the contract's own words")]
pub enum StopReason {
    Fixed,
    NothingToRepair,
    PatchInvalid,
    ApplyFailed,
    #[serde(rename = "tests_failed")]
    StillFailing,
    TestsChanged,
    Unproven,
    WorkplaceUnused,
    WorktreeChanged,
    Regressed,
    PolicyRejected,
    #[default]
    NoPatch,
    RequestedFiles,
    AgentError,
    AgentTimeout,
    CommandTimeout,
    BudgetExhausted,
    NoProgress,
    Flaky,
    UserActionRequired,
    InvalidTask,
    Interrupted,
}

/// The five words of a failure report. Derived from kind and stop reason, never parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the contract's own words")]
pub enum Category {
    Timeout,
    MissingContext,
    ToolError,
    InvalidTask,
    #[default]
    Partial,
}

/// A subkind; those that only rule tables name are `Other`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(with = "String")]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the contract's own words")]
pub enum Subkind {
    UndefinedName,
    MissingExport,
    MissingPackage,
    MissingModule,
    MissingTypes,
    CircularImport,
    ModuleSystem,
    PackageNotFound,
    LockfileMismatch,
    VersionMismatch,
    NoVersion,
    Engine,
    Command,
    NoTests,
    Coverage,
    Killed,
    /// A word of a rule.
    #[serde(untagged)]
    Other(String),
}

/// The source of an advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RemedySource {
    /// The failing tool's own, quoted from the log.
    Tool,
    /// The sentence of the kind.
    #[default]
    Mendit,
}

/// The diagnosis of a log.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Diagnosis {
    /// The primary kind.
    pub kind: FailureKind,
    /// The subkind, if the evidence shows one.
    pub subkind: Option<Subkind>,
    /// Other kinds the evidence allows, best first.
    pub alternatives: Vec<Alternative>,
    /// 0 to 1 in steps of 0.05.
    pub confidence: f64,
    /// The category in the report.
    pub category: Category,
    /// One sentence that explains the failure.
    pub explanation: String,
    /// What to do about it, in one sentence.
    pub suggested_fix: String,
    /// The source of that sentence.
    pub remedy_source: RemedySource,
    /// 1-based log line of the tool's own suggestion.
    pub remedy_line: Option<u64>,
    /// Whether only a human can fix it.
    pub requires_user_action: bool,
    /// The lines that carry the diagnosis, in log order.
    pub evidence: Vec<Evidence>,
    /// Files the log names, most telling first.
    pub files: Vec<MentionedFile>,
    /// Names the log calls undefined, in log order.
    pub undefined_names: Vec<String>,
    /// Modules that were not found, in log order.
    pub missing_modules: Vec<String>,
    /// Names that a module does not export, in log order.
    pub missing_exports: Vec<String>,
    /// Tests that failed, in the runner's own spelling, in log order.
    pub failing_tests: Vec<String>,
    /// The same tests with their runner and, if the log has it, their location.
    pub tests: Vec<FailedTest>,
    /// The failures of the log, the first cause first; what only follows from it is marked.
    pub failures: Vec<Failure>,
    /// The rule that decided, for `mendit explain`; none when no single rule did.
    pub rule: Option<String>,
    /// The tool that wrote the output, if recognized.
    pub tool: Option<String>,
    /// Parts of the log that were not used, if any.
    pub left_out: Option<LeftOut>,
}

/// Counts of log parts that were not used, and of results that are not listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct LeftOut {
    /// Bytes before the end of a huge log, and ends of overlong lines.
    pub bytes: u64,
    /// Lines among them.
    pub lines: u64,
    /// Failing tests beyond those that are listed.
    pub tests: u64,
}

impl Diagnosis {
    /// Returns the kind, with the finer word if there is one.
    pub fn kind_words(&self) -> String {
        match &self.subkind {
            Some(subkind) => format!("{} ({subkind})", self.kind),
            None => self.kind.to_string(),
        }
    }

    /// Every name, module and export that is missing.
    pub fn lacks(&self) -> impl Iterator<Item = &String> {
        let names = self.undefined_names.iter().chain(&self.missing_modules);
        names.chain(&self.missing_exports)
    }
}

/// A diagnosis as `mendit diagnose` prints it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisDocument<'a> {
    /// Version of this document's shape.
    pub schema_version: u32,
    /// Always `diagnosis`.
    pub document: &'static str,
    /// The rest.
    #[serde(flatten)]
    pub diagnosis: &'a Diagnosis,
}

impl<'a> DiagnosisDocument<'a> {
    /// The document of a diagnosis.
    pub fn new(diagnosis: &'a Diagnosis) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            document: "diagnosis",
            diagnosis,
        }
    }
}

/// Another kind that the evidence allows.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Alternative {
    /// The kind.
    pub kind: FailureKind,
    /// 0 to 1.
    pub confidence: f64,
}

/// A test that failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailedTest {
    /// The runner's own spelling.
    pub id: String,
    /// The runner that reported it.
    pub runner: String,
    /// Its file: the repository's when it was found there, else as the log has it.
    pub path: Option<String>,
    /// 1-based line in that file.
    pub line: Option<u32>,
    /// Where in the repository the exception was raised, when that is not the test's own line.
    pub crash_path: Option<String>,
    /// 1-based line in that file.
    pub crash_line: Option<u32>,
    /// 1-based log line with the reason for the failure.
    pub log_line: Option<u64>,
    /// Its error in one line, from the log or a report.
    pub message: Option<String>,
}

/// One failure of several in a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// Its kind.
    pub kind: FailureKind,
    /// The subkind, if the evidence shows one.
    pub subkind: Option<Subkind>,
    /// The tool that reported it.
    pub tool: Option<String>,
    /// The rule that matched.
    pub rule: Option<String>,
    /// 1-based line of the log.
    pub line: u64,
    /// The repository file that the line names, for failures other than the first.
    pub path: Option<String>,
    /// The 1-based line in it.
    pub path_line: Option<u32>,
    /// How many lines say the same.
    pub count: u64,
    /// Whether it only follows from an earlier one.
    pub follows: bool,
}

/// A line of the log that carries the diagnosis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Evidence {
    /// 1-based line of the log as it was given.
    pub line: u64,
    /// The line, without escapes and CI prefixes.
    pub text: String,
}

/// A file that the log names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MentionedFile {
    /// The repository's file when `in_repository`, else the path as the log has it.
    pub path: String,
    /// 1-based line in that file.
    pub line: Option<u32>,
    /// 1-based column.
    pub column: Option<u32>,
    /// Whether the path was found in the repository.
    pub in_repository: bool,
}

impl MentionedFile {
    /// A file of the repository at a line.
    pub fn at(path: &RepoPath, line: Option<u32>) -> Self {
        Self {
            path: path.to_string(),
            line,
            column: None,
            in_repository: true,
        }
    }

    /// The path as a file of the repository, when it is one.
    pub fn repo_path(&self) -> Option<RepoPath> {
        RepoPath::new(&self.path).ok().filter(|_| self.in_repository)
    }
}

spelled_as_in_json!(FailureKind, Subkind, StopReason, Category);

macro_rules! read_as_in_json {
    ($($kind:ty),*) => {$(
        impl std::str::FromStr for $kind {
            type Err = serde::de::value::Error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::deserialize(serde::de::value::StrDeserializer::new(text))
            }
        }
    )*};
}
read_as_in_json!(FailureKind, Subkind, StopReason);

#[cfg(test)]
mod tests {
    use super::{Category, FailureKind, StopReason};

    #[test]
    fn codes_match_contract() {
        assert_eq!(FailureKind::ImportError.to_string(), "import_error");
        assert_eq!(StopReason::PatchInvalid.to_string(), "patch_invalid");
        assert_eq!(Category::ToolError.to_string(), "tool_error");
    }
}
