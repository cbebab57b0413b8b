use super::guidance::{auth, environment, permission, timeout};
use super::not_found::not_found;
use super::refused::refused;
use super::transport::transport;
use crate::heal::{Fix, History};
use crate::model::{Diagnosis, FailureKind};

/// A kind of failure and the fixes for it, best first, the last one a person's.
pub(in crate::heal) struct Rule {
    pub(in crate::heal) kind: FailureKind,
    pub(in crate::heal) propose: fn(&Diagnosis, &History<'_>) -> Vec<Fix>,
}

/// R35, row by row. What is not here is R35's `unknown`: the raw error, for a person.
pub(in crate::heal) const RULES: &[Rule] = &[
    // Automatic: runners for a package that is named, files of the project, usual directories.
    Rule {
        kind: FailureKind::CommandNotFound,
        propose: not_found,
    },
    // Partly: the port of the compose file.
    Rule {
        kind: FailureKind::ConnectionRefused,
        propose: refused,
    },
    // Automatic: twice the time, once; then look at what it depends on.
    Rule {
        kind: FailureKind::Timeout,
        propose: timeout,
    },
    // Never.
    Rule {
        kind: FailureKind::AuthFailed,
        propose: auth,
    },
    // Never: where the name stands, not what its value would be.
    Rule {
        kind: FailureKind::MissingEnvVar,
        propose: environment,
    },
    // Automatic: the other transport.
    Rule {
        kind: FailureKind::TransportMismatch,
        propose: transport,
    },
    // Partly: through the interpreter of a script.
    Rule {
        kind: FailureKind::PermissionDenied,
        propose: permission,
    },
];
