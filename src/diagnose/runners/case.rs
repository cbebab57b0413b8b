/// A test that failed, as its runner reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::diagnose) struct Case {
    /// The runner's own spelling; none for a report that belongs to no single test.
    pub(in crate::diagnose) name: Option<String>,
    pub(in crate::diagnose) runner: &'static str,
    /// Where the report begins: an index into the lines.
    pub(in crate::diagnose) at: usize,
    /// The line that says what went wrong.
    pub(in crate::diagnose) cause: Option<usize>,
    /// The test's file and line as the log has them.
    pub(in crate::diagnose) place: Option<(String, Option<u32>)>,
}

impl Case {
    pub(super) fn new(runner: &'static str, name: impl Into<String>, at: usize) -> Self {
        Self {
            name: Some(name.into()),
            runner,
            at,
            cause: None,
            place: None,
        }
    }

    pub(super) fn cause(mut self, cause: Option<usize>) -> Self {
        self.cause = cause;
        self
    }

    pub(super) fn place(mut self, place: Option<(String, Option<u32>)>) -> Self {
        self.place = place;
        self
    }
}
