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
    /// Whether it is known that a hook failed, not the body of the test.
    pub(in crate::diagnose) of_hook: bool,
}

impl Case {
    pub(super) fn new(runner: &'static str, name: impl Into<String>, at: usize) -> Self {
        Self {
            name: Some(name.into()),
            runner,
            at,
            cause: None,
            place: None,
            of_hook: false,
        }
    }

    pub(super) fn cause(mut self, cause: Option<usize>) -> Self {
        self.cause = cause;
        self
    }

    pub(super) fn of_hook(mut self, of_hook: bool) -> Self {
        self.of_hook = of_hook;
        self
    }

    pub(super) fn place(mut self, place: Option<(String, Option<u32>)>) -> Self {
        self.place = place;
        self
    }
}
