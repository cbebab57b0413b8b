use crate::model::{Category, FailureKind};

/// The report's word for a kind (R44): the third layer of the taxonomy, derived and never parsed.
#[must_use]
pub fn category_of(kind: FailureKind) -> Category {
    use FailureKind as K;
    match kind {
        K::Timeout => Category::Timeout,
        K::ImportError
        | K::TsError
        | K::StaticTypeError
        | K::ZodError
        | K::PydanticError
        | K::DrizzleError
        | K::DbError
        | K::PatchError => Category::MissingContext,
        K::SyntaxError
        | K::RuntimeError
        | K::TestFailure
        | K::SnapshotMismatch
        | K::LintError
        | K::Unknown => Category::Partial,
        K::TestSetupError
        | K::ConfigError
        | K::CommandNotFound
        | K::ConnectionRefused
        | K::AuthFailed
        | K::MissingEnvVar
        | K::TransportMismatch
        | K::PermissionDenied
        | K::NetworkError
        | K::PortInUse
        | K::DiskFull
        | K::OutOfMemory
        | K::Crash
        | K::FileNotFound
        | K::DependencyError => Category::ToolError,
    }
}
