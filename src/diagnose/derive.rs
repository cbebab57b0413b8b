use crate::model::{Category, Diagnosis, FailureKind as Kind, StopReason, Subkind};

/// Whether another attempt makes sense, and under which condition (R45).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// With twice the time, as something had been done.
    LongerTimeout,
    /// In smaller parts, as nothing had been done.
    Decompose,
    /// With more context.
    MoreContext,
    /// After the environment is mended.
    FixedEnvironment,
    /// With the work that is left.
    RemainingWork,
    /// Only when the task is put differently.
    Never,
}

impl Retry {
    /// The yes or no of a report.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        self != Self::Never
    }
}

/// The report's word for a kind of failure and the way an attempt ended (R44). Pure: both are
/// known, nothing is parsed.
#[must_use]
pub fn category(kind: Kind, stop: Option<StopReason>) -> Category {
    match stop {
        Some(StopReason::AgentTimeout | StopReason::CommandTimeout) => return Category::Timeout,
        Some(StopReason::InvalidTask) => return Category::InvalidTask,
        Some(StopReason::RequestedFiles | StopReason::ApplyFailed | StopReason::PatchInvalid) => {
            return Category::MissingContext;
        }
        Some(StopReason::TestsChanged) => return Category::Partial,
        Some(StopReason::AgentError) => return Category::ToolError,
        _ => {}
    }
    match kind {
        Kind::Timeout => Category::Timeout,
        Kind::ImportError
        | Kind::TsError
        | Kind::StaticTypeError
        | Kind::ZodError
        | Kind::PydanticError
        | Kind::DrizzleError
        | Kind::DbError
        | Kind::PatchError => Category::MissingContext,
        Kind::SyntaxError
        | Kind::RuntimeError
        | Kind::TestFailure
        | Kind::SnapshotMismatch
        | Kind::LintError
        | Kind::None
        | Kind::Unknown => Category::Partial,
        Kind::TestSetupError
        | Kind::ConfigError
        | Kind::CommandNotFound
        | Kind::ConnectionRefused
        | Kind::AuthFailed
        | Kind::MissingEnvVar
        | Kind::TransportMismatch
        | Kind::PermissionDenied
        | Kind::NetworkError
        | Kind::PortInUse
        | Kind::DiskFull
        | Kind::OutOfMemory
        | Kind::Crash
        | Kind::FileNotFound
        | Kind::DependencyError => Category::ToolError,
    }
}

/// The retry rule of a category; `progress` is whether any tool ran before the end (R45).
#[must_use]
pub fn retry(category: Category, progress: bool) -> Retry {
    match category {
        Category::Timeout if progress => Retry::LongerTimeout,
        Category::Timeout => Retry::Decompose,
        Category::MissingContext => Retry::MoreContext,
        Category::ToolError => Retry::FixedEnvironment,
        Category::InvalidTask => Retry::Never,
        Category::Partial => Retry::RemainingWork,
    }
}

/// What a report proposes, at least two actions for each category (R44).
#[must_use]
pub fn suggested_actions(category: Category) -> &'static [&'static str] {
    match category {
        Category::Timeout => &[
            "Retry once with twice the time if work was done",
            "Split the task into smaller parts",
            "Look for a wait that never ends",
        ],
        Category::MissingContext => &[
            NEXT_LEVEL,
            "Name the files that the task needs",
            "Give the expected behaviour in the task",
        ],
        Category::ToolError => &[
            "Check that the commands and packages the task needs are installed",
            "Check file permissions",
            "Run the failing command by hand, then retry",
        ],
        Category::InvalidTask => &[
            "State the task anew",
            "Check the task for requirements that exclude each other",
        ],
        Category::Partial => &[GO_ON, REVIEW],
    }
}

/// Advice for as long as there is a higher level.
pub const NEXT_LEVEL: &str = "Retry with the next context level";
/// Advice for work that was begun.
pub const GO_ON: &str = "Continue with the remaining work";
/// The same, of what a person does first.
pub const REVIEW: &str = "Review what was done before going on";

/// Whether nothing but a person's action helps.
#[must_use]
pub fn requires_user_action(kind: Kind, subkind: Option<&str>) -> bool {
    match kind {
        Kind::ImportError => matches!(subkind, Some("missing_package" | "missing_types")),
        Kind::SyntaxError => subkind == Some("merge_conflict"),
        kind => kind.is_around_code(),
    }
}

/// One sentence on what happened and one on what to do.
#[must_use]
pub fn words(kind: Kind, subkind: Option<&str>) -> (&'static str, &'static str) {
    match kind {
        Kind::ImportError => match subkind {
            Some("undefined_name") => (
                "A name is used that nothing defines or imports.",
                "Import the name from where it is defined, or correct its spelling; `mendit hint` looks for it.",
            ),
            Some("missing_export") => (
                "A module exists but does not offer the imported name.",
                "Correct the name or export it from the module.",
            ),
            Some("missing_package") => (
                "A package is not installed.",
                "If the manifest names it, run the project's installer; otherwise a person decides whether to add it.",
            ),
            Some("missing_types") => (
                "Type declarations are missing for a package or environment.",
                "Add the declarations to the development dependencies or configuration.",
            ),
            Some("circular_import") => (
                "Modules import each other and one is used before it is ready.",
                "Move the shared part into a module of its own, or import later.",
            ),
            Some("module_system") => (
                "CommonJS and ES module forms are mixed.",
                "Use the form that the file's package declares, or change its `type` or transform.",
            ),
            _ => (
                "An imported module does not exist where the import looks.",
                "Correct the path of the import or add the missing file.",
            ),
        },
        Kind::TsError => (
            "The TypeScript compiler found a type error.",
            "Make value and declared type agree where the compiler points.",
        ),
        Kind::StaticTypeError => (
            "The type checker found an error.",
            "Make value and annotation agree where the checker points.",
        ),
        Kind::SyntaxError => match subkind {
            Some("merge_conflict") => (
                "A file holds conflict markers of a merge.",
                "Resolve the conflict first: keep what is meant of both sides and take the markers out.",
            ),
            _ => (
                "A file does not parse.",
                "Correct the syntax where the parser stopped, or just before.",
            ),
        },
        Kind::RuntimeError => (
            "The program raised an error while running.",
            "Follow the innermost frame of the project and handle the case.",
        ),
        Kind::ZodError => (
            "Data does not fit a zod schema.",
            "Compare the listed paths with the schema; change the data or the schema.",
        ),
        Kind::PydanticError if subkind == Some("undefined_name") => (
            "A pydantic model names a type that its module does not have.",
            "Import the name where the model is defined, or define it there.",
        ),
        Kind::PydanticError => (
            "Data does not fit a pydantic model.",
            "Compare the listed fields with the model; change the data or the model.",
        ),
        Kind::DrizzleError => (
            "A drizzle query or schema does not fit the database.",
            "Compare table, columns and migrations with the schema in the code.",
        ),
        Kind::DbError => (
            "The database refused a statement.",
            "Compare the statement with tables, columns and constraints.",
        ),
        Kind::TestFailure if subkind == Some("coverage") => (
            "The tests run fewer lines than are asked for.",
            "Test the lines that no test runs; the threshold is a person's to change.",
        ),
        Kind::TestFailure => (
            "An expectation of a test did not hold.",
            "Correct the code under test so that the expectation holds.",
        ),
        Kind::SnapshotMismatch => (
            "Output differs from a stored snapshot.",
            "Correct the output; a person decides whether the snapshot is to be renewed.",
        ),
        Kind::TestSetupError => match subkind {
            Some("no_tests") => (
                "No test was found.",
                "Correct the selection of tests, or where the runner looks for them.",
            ),
            Some("fixture_not_found") => (
                "A test asks for a fixture that nothing provides.",
                "Correct its name, or define it where the test sees it.",
            ),
            _ => (
                "What a test needs before it runs failed: a fixture, a hook or its file.",
                "Correct the fixture or hook.",
            ),
        },
        Kind::LintError => (
            "A style or lint rule is broken.",
            "Correct the line, or run the linter's own safe fixes.",
        ),
        Kind::ConfigError => (
            "A tool's configuration or command line is wrong.",
            "Correct the named configuration or option.",
        ),
        Kind::CommandNotFound => (
            "A program that was to be started does not exist here.",
            "Install it or correct its name; check PATH.",
        ),
        Kind::ConnectionRefused => (
            "Nothing listens where the program connects.",
            "Start the service or correct host and port.",
        ),
        Kind::AuthFailed => (
            "Credentials were refused or are missing.",
            "Provide valid credentials; nothing in the code has to change.",
        ),
        Kind::MissingEnvVar => (
            "A required environment variable is not set.",
            "Set the variable; look in `.env.example` for its meaning.",
        ),
        Kind::TransportMismatch => (
            "Client and server speak different transports.",
            "Switch between stdio and HTTP in the server's configuration.",
        ),
        Kind::PermissionDenied => (
            "The system refused access.",
            "Correct owner or mode of the file, or run as a user who may.",
        ),
        Kind::Timeout => match subkind {
            Some("test") => (
                "A test ran into its own time limit.",
                "Look for a wait that never ends; raise the limit only if the work is long.",
            ),
            Some("network") => (
                "A network peer did not answer in time.",
                "Check that the peer runs and is reachable, then retry.",
            ),
            _ => (
                "A time limit ended the command.",
                "Look for a wait that never ends, or give it more time once.",
            ),
        },
        Kind::NetworkError => (
            "The network or a name look-up failed.",
            "Check network, proxy and host name, then retry.",
        ),
        Kind::PortInUse => (
            "Another process holds the port.",
            "Stop the other process or use a free port.",
        ),
        Kind::DiskFull => ("The disk is full.", "Free space, then retry."),
        Kind::OutOfMemory => ("Memory ran out.", "Use less memory or allow more."),
        Kind::Crash => match subkind {
            Some("killed") => (
                "SIGKILL ended the command: the system sends it when memory runs out, and so does `kill -9`.",
                "Look whether memory ran out or something stopped it, then run it again.",
            ),
            _ => (
                "A process died of a signal.",
                "Look at the innermost frame; native extensions are the usual suspects.",
            ),
        },
        Kind::FileNotFound => (
            "A file that is read does not exist.",
            "Add the file, correct its path, or check the working directory.",
        ),
        Kind::DependencyError => (
            "Dependencies could not be installed or do not fit together.",
            "Mend manifest or lock file, or make the registry reachable.",
        ),
        Kind::PatchError => match subkind {
            Some("merge_conflict") => (
                "Both sides changed the same lines.",
                "Resolve the conflict by hand.",
            ),
            Some("path_escape") => (
                "The patch names a path outside the repository.",
                "Make the patch against the repository's root.",
            ),
            _ => (
                "A patch could not be applied.",
                "Make the patch against the present content of the files.",
            ),
        },
        Kind::None => (
            "Nothing failed: the log is of a job that passed.",
            "There is nothing to do.",
        ),
        Kind::Unknown => (
            "No rule knows what failed in this log.",
            "Run the command again with more output.",
        ),
    }
}

/// Finer words of a kind that the repository may overrule.
pub(super) const PACKAGE: &str = "missing_package";
pub(super) const MODULE: &str = "missing_module";

/// Gives a diagnosis another finer word, and what follows from it.
pub(super) fn say(diagnosis: &mut Diagnosis, subkind: &str) {
    let (explanation, fix) = words(diagnosis.kind, Some(subkind));
    diagnosis.subkind = Some(Subkind(subkind.to_owned()));
    explanation.clone_into(&mut diagnosis.explanation);
    fix.clone_into(&mut diagnosis.suggested_fix);
    diagnosis.category = category(diagnosis.kind, None);
    diagnosis.requires_user_action = requires_user_action(diagnosis.kind, Some(subkind));
}

#[cfg(test)]
mod tests {
    use super::{Retry, category, requires_user_action, retry, suggested_actions};
    use crate::model::{Category, FailureKind, StopReason};

    #[test]
    fn stop_reason_outweighs_kind() {
        for (kind, stop, expected) in [
            (FailureKind::TestFailure, None, Category::Partial),
            (
                FailureKind::TestFailure,
                Some(StopReason::AgentTimeout),
                Category::Timeout,
            ),
            (
                FailureKind::TestFailure,
                Some(StopReason::PatchInvalid),
                Category::MissingContext,
            ),
            (FailureKind::PermissionDenied, None, Category::ToolError),
            (FailureKind::Timeout, None, Category::Timeout),
        ] {
            assert_eq!(category(kind, stop), expected);
        }
    }

    #[test]
    fn every_category_has_a_retry_rule_and_two_actions() {
        for (word, progress, rule) in [
            (Category::Timeout, true, Retry::LongerTimeout),
            (Category::Timeout, false, Retry::Decompose),
            (Category::MissingContext, true, Retry::MoreContext),
            (Category::ToolError, true, Retry::FixedEnvironment),
            (Category::InvalidTask, true, Retry::Never),
            (Category::Partial, true, Retry::RemainingWork),
        ] {
            assert_eq!(retry(word, progress), rule);
            assert!(suggested_actions(word).len() >= 2);
        }
        assert!(suggested_actions(Category::ToolError).contains(&"Check file permissions"));
    }

    #[test]
    fn packages_are_a_persons_business_and_modules_are_not() {
        let import = FailureKind::ImportError;
        assert!(requires_user_action(import, Some("missing_package")));
        assert!(!requires_user_action(import, Some("missing_module")));
    }
}
