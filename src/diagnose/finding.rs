use crate::model::FailureKind;

/// What one line says.
#[derive(Debug, Clone)]
pub(super) struct Finding<'r> {
    /// Index into the normalised lines.
    pub(super) at: usize,
    /// The id of the rule that says so.
    pub(super) rule: &'r str,
    pub(super) kind: FailureKind,
    pub(super) subkind: Option<&'r str>,
    pub(super) weight: u8,
    pub(super) tool: &'r str,
    pub(super) names: Vec<String>,
    pub(super) module: Option<String>,
    pub(super) export: Option<String>,
    pub(super) path: Option<String>,
}

impl<'r> Finding<'r> {
    pub(super) fn new(
        at: usize,
        rule: &'r str,
        kind: FailureKind,
        weight: u8,
        tool: &'r str,
    ) -> Self {
        Self {
            at,
            rule,
            kind,
            subkind: None,
            weight,
            tool,
            names: Vec::new(),
            module: None,
            export: None,
            path: None,
        }
    }

    /// Whether a shell or a client says it: a script goes on after such a line unless told otherwise.
    pub(super) fn is_of_shell(&self) -> bool {
        matches!(
            self.kind,
            FailureKind::CommandNotFound
                | FailureKind::FileNotFound
                | FailureKind::PermissionDenied
                | FailureKind::ConnectionRefused
                | FailureKind::PatchError
                | FailureKind::MissingEnvVar
                | FailureKind::NetworkError
                | FailureKind::AuthFailed
        ) && matches!(self.tool, "shell" | "system" | "git" | "patch")
    }
}
