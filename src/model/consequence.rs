use super::{Exit, Severity, StopReason, Verdict};

/// What follows from a code: the columns of the table of codes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Consequence {
    pub(super) severity: Severity,
    pub(super) verdict: Option<Verdict>,
    pub(super) exit: Exit,
    pub(super) stop: Option<StopReason>,
    pub(super) advice: &'static str,
    pub(super) over_budget: bool,
}

const NOTE: Consequence = Consequence {
    severity: Severity::Warning,
    verdict: None,
    exit: Exit::Yes,
    stop: None,
    advice: "",
    over_budget: false,
};

/// Worth knowing, and no more.
pub(super) const fn notes() -> Consequence {
    NOTE
}

/// One thing of a patch that was mended.
pub(super) const fn mends() -> Consequence {
    NOTE
}

/// Left out of a packet because its budget was used up.
pub(super) const fn over_budget() -> Consequence {
    Consequence {
        over_budget: true,
        ..NOTE
    }
}

/// Refuses a patch; how a command and an attempt end follows from the verdict.
pub(super) const fn refuses(verdict: Verdict) -> Consequence {
    Consequence {
        severity: Severity::Error,
        verdict: Some(verdict),
        exit: verdict.exit(),
        stop: Some(verdict.stop_reason()),
        ..NOTE
    }
}

/// Refuses a patch for the paths or kinds of entries that it names.
pub(super) const fn refuses_paths() -> Consequence {
    refuses(Verdict::Unsafe)
        .advice("Leave this path out; only plain files inside the repository can be changed.")
}

/// Ends a command that could not do its work, or whose answer is no.
pub(super) const fn ends(exit: Exit) -> Consequence {
    Consequence {
        severity: Severity::Error,
        exit,
        ..NOTE
    }
}

impl Consequence {
    pub(super) const fn exit(self, exit: Exit) -> Self {
        Self { exit, ..self }
    }

    pub(super) const fn stop(self, stop: StopReason) -> Self {
        Self {
            stop: Some(stop),
            ..self
        }
    }

    pub(super) const fn advice(self, advice: &'static str) -> Self {
        Self { advice, ..self }
    }
}
