use std::process::ExitCode;

/// How a command ended, as the process says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Yes: it applies, is fixed, was built, all pass.
    Yes,
    /// No: it does not apply, still fails, is below the threshold, there are findings.
    No,
    /// Usage, configuration, I/O or environment.
    Environment,
    /// A time limit ended it.
    TimedOut,
    /// A person must act.
    PersonMustAct,
    /// Refused by policy.
    Refused,
    /// Interrupted by the person who asked for it.
    Interrupted,
    /// git's own code, for the drop-in.
    Git(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Yes => 0,
            Exit::No => 1,
            Exit::Environment => 2,
            Exit::TimedOut => 3,
            Exit::PersonMustAct => 4,
            Exit::Refused => 5,
            Exit::Interrupted => 130,
            Exit::Git(code) => code,
        })
    }
}
