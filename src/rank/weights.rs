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
    /// Changes together with the files that the other signals put first.
    NearCoChange,
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
            Self::NearCoChange => "nearCoChange",
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
            Self::NearCoChange => "changed together with the best files",
        }
    }
}

/// What each signal weighs in the fusion, in tenths. The figures are a plateau: doubling or halving
/// one of them moves recall at 10 files by less than a point.
pub const WEIGHTS: [(Signal, u64); 11] = [
    (Signal::LogTerms, 35),
    (Signal::LogDefinitions, 7),
    (Signal::TargetTerms, 13),
    (Signal::TargetDefinitions, 10),
    (Signal::TargetUses, 5),
    (Signal::Name, 17),
    (Signal::CoChange, 30),
    (Signal::Recency, 10),
    (Signal::Change, 40),
    (Signal::Hops, 5),
    (Signal::NearCoChange, 7),
];
