use std::process::ExitCode;

/// How a command ended, as the process says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Yes: it applies, is fixed, was built, all pass.
    Yes = 0,
    /// No: it does not apply, still fails, is below the threshold, there are findings.
    No = 1,
    /// Usage, configuration, I/O or environment.
    Environment = 2,
    /// Refused by policy.
    Refused = 5,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
