use crate::model::{FailureKind, PatchVerdict, RunSummary};

/// A verdict as GitHub workflow commands, one for each problem.
#[must_use]
pub fn patch_github(verdict: &PatchVerdict, name: &str) -> String {
    let problems = verdict.problems.iter().map(|problem| {
        let place = Some((name, Some(problem.patch_line.max(1))));
        command(
            problem.severity.as_str(),
            place,
            problem.code.as_str(),
            &problem.text(),
        )
    });
    let broken = verdict.broken().map(|file| {
        let place = Some((file.path.as_str(), Some(file.line)));
        command("warning", place, file.code.as_str(), &file.message)
    });
    problems.chain(broken).collect()
}

// GitHub's own escapes: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// A failed command as workflow commands: one for each failure, at the line of the repository that it was raised
/// in, and one for each change that made it fail; a notice when nothing failed.
#[must_use]
pub fn summary_github(summary: &RunSummary) -> String {
    let title = &summary.kind.to_string();
    if summary.kind == FailureKind::None {
        return command("notice", NOWHERE, title, &summary.explanation);
    }
    let mut text = String::new();
    for failure in &summary.failures {
        text.push_str(&command("error", failure.place(), title, &failure.told()));
    }
    if summary.failures.is_empty() {
        text = command("error", NOWHERE, title, &summary.explanation);
    }
    if summary.more > 0 {
        let more = format!("and {} more failures", summary.more);
        text.push_str(&command("error", NOWHERE, title, &more));
    }
    let changes = summary.cause.iter().flat_map(|cause| {
        let each = cause.changes.iter();
        each.map(|change| (change, format!("{}\n{}", cause.message, change.diff)))
    });
    for (change, note) in changes {
        let place = Some((change.path.as_str(), change.line));
        text.push_str(&command("warning", place, "culprit", note.trim_end()));
    }
    text
}

fn command(
    level: &str,
    place: Option<(&str, Option<impl std::fmt::Display>)>,
    title: &str,
    message: &str,
) -> String {
    let mut properties = String::new();
    if let Some((path, line)) = place {
        properties = format!("file={},", property(path));
        if let Some(line) = line {
            properties.push_str(&format!("line={line},"));
        }
    }
    format!(
        "::{level} {properties}title={}::{}\n",
        property(title),
        data(message)
    )
}

const NOWHERE: Option<(&str, Option<u32>)> = None;
