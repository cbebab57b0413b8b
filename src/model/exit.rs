use serde::Deserialize;

/// How a task ended, as a process says it with its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// 0, yes: it applies, is fixed, was built, all pass.
    Yes,
    /// 1, no: it does not apply, still fails, is below the threshold, there are findings.
    No,
    /// 2: usage, configuration, I/O or environment.
    Environment,
    /// 3: a time limit ended it.
    TimedOut,
    /// 4: action required.
    PersonMustAct,
    /// 5: refused by policy.
    Refused,
    /// 130: interrupted by the person who asked for it.
    Interrupted,
    /// An exit code of `git-apply`.
    Git(u8),
    /// The code of a command that was run, kept because that was asked for.
    Command(u8),
}

impl Exit {
    /// The exit code of the process.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Yes => 0,
            Self::No => 1,
            Self::Environment => 2,
            Self::TimedOut => 3,
            Self::PersonMustAct => 4,
            Self::Refused => 5,
            Self::Interrupted => 130,
            Self::Git(code) | Self::Command(code) => code,
        }
    }
}
