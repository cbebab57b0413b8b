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
    /// Refused by policy.
    Refused,
    /// git's own code, for the drop-in.
    Git(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Yes => 0,
            Exit::No => 1,
            Exit::Environment => 2,
            Exit::Refused => 5,
            Exit::Git(code) => code,
        })
    }
}
