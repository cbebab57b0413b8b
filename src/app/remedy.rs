use super::lint_fix::{lint_fix, lint_fix_of_script};
use crate::inventory::{Project, environment_problems, explain_failure};
use crate::model::{Diagnosis, FailureKind, Remedy};
use crate::workspace::Workspace;

/// Returns what fixes a failure by hand, as lines for a person to type; none of them is run. `again` is the line that passes a variable on.
pub(super) fn by_hand(
    workspace: &Workspace,
    (diagnosis, log): (&Diagnosis, &str),
    command: &str,
    again: &dyn Fn(&str) -> String,
) -> Vec<Remedy> {
    let project = Project::open(workspace);
    let found = environment_problems(&project, log);
    if !found.is_empty() {
        return found;
    }
    let linter = tool_fix(workspace, diagnosis, command);
    let linter = linter.map(|line| Remedy::new("the tool fixes some of it itself", Some(line)));
    match linter {
        Some(remedy) => vec![remedy],
        None => explain_failure(&project, diagnosis, command, again),
    }
}

/// Returns what lies outside the code and may have made a command fail.
pub(super) fn around(
    workspace: &Workspace,
    (diagnosis, log): (&Diagnosis, &str),
    command: &str,
) -> Vec<Remedy> {
    by_hand(
        workspace,
        (diagnosis, log),
        command,
        &with_variable(command),
    )
}

/// Returns the line that runs a command again with a variable.
pub(super) fn with_variable(command: &str) -> impl Fn(&str) -> String {
    move |name| format!("mendit run --env {name} {command}")
}

// The command with which a linter fixes what it reports.
fn tool_fix(workspace: &Workspace, diagnosis: &Diagnosis, command: &str) -> Option<String> {
    if diagnosis.kind != FailureKind::LintError {
        return None;
    }
    let texts: Vec<&str> = diagnosis
        .evidence
        .iter()
        .map(|line| line.text.trim())
        .collect();
    let source = workspace.source.as_ref();
    lint_fix(command, &texts)
        .or_else(|| lint_fix_of_script(command, source, &workspace.prefix, &texts))
}
