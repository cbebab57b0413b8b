//! What to do about each kind of failure: a table, one function a row.

mod connection;
mod guidance;
mod not_found;

#[cfg(feature = "mcp")]
pub(super) use connection::local_port;
use connection::{refused, transport};
pub(super) use guidance::unknown;
use guidance::{auth, environment, permission, timeout};
use not_found::not_found;

use super::{Fix, History};
use crate::model::{Diagnosis, FailureKind};

/// The fixes for a failure, best first, the last one a person's.
pub(super) type Rule = fn(&Diagnosis, &History<'_>) -> Vec<Fix>;

/// The rule of each kind. `None` is an unknown error, which is shown raw to a person.
pub(super) fn rule(kind: FailureKind) -> Option<Rule> {
    Some(match kind {
        // Automatic: runners for a package that is named, files of the project, usual directories.
        FailureKind::CommandNotFound => not_found,
        // Partly: the port of the compose file.
        FailureKind::ConnectionRefused => refused,
        // Automatic: twice the time, once; then look at what it depends on.
        FailureKind::Timeout => timeout,
        // Never.
        FailureKind::AuthFailed => auth,
        // Never: where the name stands, not what its value would be.
        FailureKind::MissingEnvVar => environment,
        // Automatic: the other transport.
        FailureKind::TransportMismatch => transport,
        // Partly: through the interpreter of a script.
        FailureKind::PermissionDenied => permission,
        _ => return None,
    })
}
