use crate::inventory::{Project, environment_problems, explain_failure};
use crate::model::{Diagnosis, Remedy};
use crate::workspace::Workspace;

/// Returns what fixes a failure by hand, as lines for a person to type; none of them is run. `again` is the line that
/// passes a variable on.
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
    explain_failure(&project, diagnosis, command, again)
}

/// Returns what lies outside the code and may have made a command fail.
pub(super) fn around(
    workspace: &Workspace,
    found: (&Diagnosis, &str),
    command: &str,
) -> Vec<Remedy> {
    let again = |name: &str| format!("mendit run --env {name} {command}");
    by_hand(workspace, found, command, &again)
}

/// Describes a remedy in one line.
pub(super) fn in_words(remedy: &Remedy) -> String {
    match &remedy.command {
        Some(line) => format!("{}: `{line}`", remedy.problem),
        None => remedy.problem.clone(),
    }
}
