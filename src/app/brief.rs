use super::App;
use crate::model::{Profile, RepoPath, RunSummary};
use crate::policy::ReadPolicy;
use crate::report::run_failures;
use crate::workspace::Workspace;

/// What an agent needs of a failed command, in less than a thousand tokens: what failed, the lines
/// that say so, what is certain, and the code where it happened. It never says that something
/// passed.
pub(super) fn brief(
    app: &App,
    workspace: &Workspace,
    summary: &RunSummary,
    end: &str,
    log: &str,
) -> String {
    let head = format!("{end}\n{}: {}\n", summary.kind, summary.explanation);
    let mut text = head + &cut(&run_failures(summary), ROOM);
    if let Ok(policy) = app.read_policy(Profile::Ranked) {
        let mut shown: Vec<(&str, u32)> = Vec::new();
        for failure in &summary.failures {
            let (Some(path), Some(line)) = (failure.path.as_deref(), failure.line) else {
                continue;
            };
            let near = |it: &(&str, u32)| it.0 == path && it.1.abs_diff(line) <= 2 * AROUND;
            if text.len() > ROOM || shown.iter().any(near) {
                continue;
            }
            if let Some(code) = code(app, workspace, &policy, path, line) {
                text.push_str(&code);
                shown.push((path, line));
            }
        }
    }
    // What nothing is known of is shown as it came.
    if summary.failures.is_empty() || summary.kind == crate::model::FailureKind::Unknown {
        let lines: Vec<&str> = log.lines().filter(|it| !it.trim().is_empty()).collect();
        let tail = lines.get(lines.len().saturating_sub(MOST_LINES)..);
        text.push_str("the end of its output:\n");
        for line in tail.unwrap_or_default() {
            text.push_str(&cut(line, 160));
            text.push('\n');
        }
    }
    cut(&text, MOST_BYTES)
}

// The lines around a place, numbered, as a packet would show them.
fn code(
    app: &App,
    workspace: &Workspace,
    policy: &ReadPolicy,
    path: &str,
    line: u32,
) -> Option<String> {
    let path = RepoPath::new(path).ok()?;
    if policy.refuse(&path).is_some() {
        return None;
    }
    let bytes = workspace.source.read(&path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = app.redactor().redact(&text).text;
    let from = line.saturating_sub(AROUND).max(1);
    let mut out = format!("{path}\n");
    for number in from..=line.saturating_add(AROUND) {
        let Some(row) = text.lines().nth(number as usize - 1) else {
            break;
        };
        let mark = if number == line { '>' } else { ' ' };
        out.push_str(&format!("{mark}{number:>5} | {}\n", cut(row, 160)));
    }
    Some(out)
}

fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", text.get(..end).unwrap_or_default())
}

const AROUND: u32 = 3;
const MOST_LINES: usize = 20;
// Tokens are two for every seven bytes: all of it stays below a thousand.
const MOST_BYTES: usize = 3_300;
const ROOM: usize = 2_200;
