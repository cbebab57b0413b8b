/// One place where code meddles with its process or with its test runner.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Meddling {
    /// What it does.
    pub what: Meddles,
    /// 1-based line.
    pub line: u32,
    /// The code, white space folded, at most 80 characters.
    pub text: String,
}

/// The ways to meddle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Meddles {
    /// Ends the process as it is loaded, or in a way that nothing can stop.
    EndsProcess,
    /// Decides how the process ends when it ends by itself.
    AtExit,
    /// Skips the test that calls it.
    Skips,
    /// Uses a test runner.
    UsesRunner,
    /// Changes a test runner, or what it stands on.
    Patches,
    /// Changes which module an import gives.
    ReplacesModule,
    /// Watches or stops other code as it runs.
    Traces,
    /// Looks at who calls it.
    LooksAtCallers,
    /// Asks whether a test runs.
    DetectsTests,
    /// Is equal to anything.
    EqualsAnything,
    /// Runs code that is not to be read.
    RunsHiddenCode,
}

impl Meddles {
    /// What the code does, after "it".
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EndsProcess => "ends the process",
            Self::AtExit => "decides how the process ends",
            Self::Skips => "skips the test that runs it",
            Self::UsesRunner => "uses a test runner",
            Self::Patches => "changes a test runner or what it stands on",
            Self::ReplacesModule => "changes which module an import gives",
            Self::Traces => "watches other code as it runs",
            Self::LooksAtCallers => "looks at who calls it",
            Self::DetectsTests => "asks whether a test runs",
            Self::EqualsAnything => "is equal to anything",
            Self::RunsHiddenCode => "runs code that is not to be read",
        }
    }
}
