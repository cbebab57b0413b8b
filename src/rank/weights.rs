/// A signal of the ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signal {
    /// BM25 of the log's identifiers.
    LogTerms,
    /// Definitions of names in the log.
    LogDefinitions,
    /// BM25 of the targets' identifiers.
    TargetTerms,
    /// Definitions of names in the targets.
    TargetDefinitions,
    /// Uses of names that the targets define.
    TargetUses,
    /// Similarity of names and folders to the targets'.
    Name,
    /// Changes together with the targets.
    CoChange,
    /// Changes at all, above all lately.
    Recency,
    /// Part of the change under test.
    Change,
    /// Imports away from a target.
    Hops,
    /// What the failing tests run and the passing ones do not.
    Trace,
    /// Changes together with the files that the other signals put first.
    NearCoChange,
    /// Lies beside those files; only where there is no history to speak of.
    Vicinity,
}

impl Signal {
    /// As written in `scores`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LogTerms => "logTerms",
            Self::LogDefinitions => "logDefinitions",
            Self::TargetTerms => "targetTerms",
            Self::TargetDefinitions => "targetDefinitions",
            Self::TargetUses => "targetUses",
            Self::Name => "name",
            Self::CoChange => "coChange",
            Self::Recency => "recency",
            Self::Change => "change",
            Self::Hops => "hops",
            Self::Trace => "trace",
            Self::NearCoChange => "nearCoChange",
            Self::Vicinity => "vicinity",
        }
    }

    /// Why a file that leads this signal is chosen, for people.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::LogTerms => "shares rare words with the log",
            Self::LogDefinitions => "defines names that the log holds",
            Self::TargetTerms => "shares rare words with a target",
            Self::TargetDefinitions => "defines names that a target uses",
            Self::TargetUses => "uses names that a target defines",
            Self::Name => "is named like a target",
            Self::CoChange => "changed together with a target",
            Self::Recency => "changed often of late",
            Self::Change => "is part of the change under test",
            Self::Hops => "is imported near a target",
            Self::Trace => "the failing tests run it",
            Self::NearCoChange => "changed together with the best files",
            Self::Vicinity => "lies beside the best files",
        }
    }
}

/// What a signal weighs in the fusion, in tenths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weight {
    /// The signal.
    pub signal: Signal,
    /// For the first ten files of a failing test: what a test imports is mostly its tools.
    pub first: u64,
    /// For the files after them, and for all when a target is source code: what is connected to
    /// what is already known to matter.
    pub further: u64,
}

/// The weight of each signal. The figures are a plateau: doubling or halving one of them moves
/// recall at 10 or 25 files by less than a point.
pub const WEIGHTS: [Weight; 13] = [
    weight(Signal::LogTerms, 35, 35),
    weight(Signal::LogDefinitions, 7, 7),
    weight(Signal::TargetTerms, 13, 13),
    weight(Signal::TargetDefinitions, 10, 10),
    weight(Signal::TargetUses, 5, 5),
    weight(Signal::Name, 17, 17),
    weight(Signal::CoChange, 30, 30),
    weight(Signal::Recency, 10, 10),
    weight(Signal::Change, 40, 40),
    weight(Signal::Hops, 5, 15),
    weight(Signal::Trace, 20, 20),
    weight(Signal::NearCoChange, 7, 25),
    weight(Signal::Vicinity, 5, 10),
];

const fn weight(signal: Signal, first: u64, further: u64) -> Weight {
    Weight {
        signal,
        first,
        further,
    }
}
