use crate::diagnose::{LogFacts, diagnose};
use crate::model::Diagnosis;
use crate::source::{Memory, Source as _};

/// Facts about a log that its text does not hold.
#[derive(Debug, Clone, Default)]
pub struct LogOptions {
    /// Exit code of the command; a negative number is a signal.
    pub exit_code: Option<i32>,
    /// The command line that wrote the log.
    pub command: Option<String>,
    /// Whether a time limit ended the command.
    pub timed_out: bool,
    /// Paths of the repository's files: paths in the log are mapped to these.
    pub files: Vec<String>,
}

/// Classifies the failure that a log shows.
///
/// The text may hold terminal escapes and the prefixes of CI services. An unknown log gives the kind
/// `unknown`; no log is an error.
///
/// ```
/// use mendit::documents::FailureKind;
/// use mendit::{LogOptions, diagnose_log};
///
/// let log = "\
/// $ pytest
/// =================================== FAILURES ===================================
/// _________________________________ test_total ___________________________________
///
///     def test_total():
/// >       assert total([1, 2]) == 3
/// E       assert 2 == 3
///
/// tests/test_cart.py:5: AssertionError
/// =========================== short test summary info ============================
/// FAILED tests/test_cart.py::test_total - assert 2 == 3
/// ============================== 1 failed in 0.01s ===============================
/// ";
/// let options = LogOptions {
///     exit_code: Some(1),
///     command: Some("pytest".to_owned()),
///     timed_out: false,
///     files: vec!["tests/test_cart.py".to_owned(), "cart.py".to_owned()],
/// };
/// let diagnosis = diagnose_log(log, &options);
/// assert_eq!(diagnosis.kind, FailureKind::TestFailure);
/// assert_eq!(diagnosis.failing_tests, ["tests/test_cart.py::test_total"]);
/// assert_eq!(diagnosis.files[0].path.as_str(), "tests/test_cart.py");
/// ```
pub fn diagnose_log(log: &str, options: &LogOptions) -> Diagnosis {
    let facts = LogFacts {
        exit_code: options.exit_code,
        command: options.command.clone(),
        timed_out: options.timed_out,
    };
    let files = Memory::named(options.files.iter().map(|path| (path, "")));
    let listing = (!options.files.is_empty()).then(|| files.listing());
    diagnose(log, &facts, listing)
}
