use super::steps::{End, Job, Step};
use crate::model::{Alternative, Failure, FailureKind, FailureKind as Kind, Subkind};

/// What a log says, before the names and files are gathered.
#[derive(Default)]
pub(super) struct Verdict<'r> {
    pub(super) kind: Kind,
    pub(super) subkind: Option<Subkind>,
    pub(super) alternatives: Vec<Alternative>,
    pub(super) confidence: f64,
    /// Indices of lines, the most telling first of its kind, in log order.
    pub(super) evidence: Vec<usize>,
    pub(super) tool: Option<&'r str>,
    pub(super) rule: Option<&'r str>,
    pub(super) failures: Vec<Failure>,
    /// The lines that may say something.
    pub(super) scope: Scope,
    /// The steps that failed.
    pub(super) failed: Vec<Step>,
}

impl Verdict<'_> {
    /// A verdict of a kind of which nothing else is known yet.
    pub(super) fn from_kind(kind: Kind) -> Self {
        Self {
            kind,
            ..Self::default()
        }
    }

    /// Whether a failing test at this line counts.
    pub(super) fn counts(&self, at: usize) -> bool {
        self.failed.is_empty()
            || self
                .failed
                .iter()
                .any(|step| step.from <= at && at < step.to)
    }
}

/// The steps of a job whose lines can say why it failed.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope(Vec<(usize, usize)>);

impl Scope {
    /// Whether the line belongs to it.
    pub(super) fn holds(&self, at: usize) -> bool {
        self.0.iter().any(|&(from, to)| from <= at && at < to)
    }

    /// Where its last line ends.
    pub(super) fn end(&self) -> Option<usize> {
        self.0.last().map(|range| range.1)
    }

    /// The first step that failed; without one what the service does not call passed.
    pub(super) fn from_job(job: &Job) -> Self {
        let range = |step: Step| (step.from, step.to);
        // The first step that failed is the cause of the others.
        let first = job.failed().next().map(range);
        let open = job.steps.iter().filter(|step| step.end == End::Open);
        Self(first.map_or_else(|| open.copied().map(range).collect(), |it| vec![it]))
    }
}

/// A finding as the verdict weighs it.
#[derive(Clone, Copy)]
pub(super) struct WeighedFinding<'f, 'r> {
    pub(super) kind: Kind,
    pub(super) weight: u8,
    pub(super) at: usize,
    pub(super) finding: Option<&'f Finding<'r>>,
}

/// What one line says.
#[derive(Debug, Clone, Default)]
pub(super) struct Finding<'r> {
    /// Index into the normalised lines.
    pub(super) at: usize,
    /// The id of the rule that says so.
    pub(super) rule: &'r str,
    pub(super) kind: FailureKind,
    pub(super) subkind: Option<Subkind>,
    pub(super) weight: u8,
    pub(super) tool: &'r str,
    pub(super) names: Vec<String>,
    pub(super) module: Option<String>,
    pub(super) export: Option<String>,
    pub(super) path: Option<String>,
}

impl Finding<'_> {
    /// Whether a shell or a client says it: a script goes on after such a line unless told otherwise.
    pub(super) fn is_of_shell(&self) -> bool {
        matches!(
            self.kind,
            FailureKind::CommandNotFound
                | FailureKind::FileNotFound
                | FailureKind::PermissionDenied
                | FailureKind::ConnectionRefused
                | FailureKind::PatchError
                | FailureKind::MissingEnvVar
                | FailureKind::NetworkError
                | FailureKind::AuthFailed
        ) && matches!(self.tool, "shell" | "system" | "git" | "patch")
    }
}
