//! Formats the lists of `imports` and `doctor`.

use super::page::{paint_lines, table};
use super::visible::one_line;
use crate::model::{CheckupState, HealingResult, ImportEdge, ImportsDocument, RepoPath};

/// Lists each file with its imports, then closure, cycles and problems.
pub fn imports_text(document: &ImportsDocument) -> String {
    let mut text = String::new();
    for file in &document.files {
        text.push_str(&format!("{}\n", file.path));
        let rows = file.imports.iter().map(|edge| {
            let line = format!("    {}", edge.line);
            [line, one_line(&edge.specifier), edge_target(edge)]
        });
        let rows: Vec<[String; 3]> = rows.collect();
        text.push_str(&table(&rows));
    }
    if !document.closure.is_empty() {
        text.push_str("closure:\n");
    }
    for node in &document.closure {
        let via = match join_paths(&node.via, ", ").as_str() {
            "" => String::new(),
            via => format!("  (via {via})"),
        };
        text.push_str(&format!("  {}  {}{via}\n", node.hops, node.path));
    }
    for cycle in &document.cycles {
        text.push_str(&format!("cycle: {}\n", join_paths(cycle, " -> ")));
    }
    for problem in &document.problems {
        let (path, line, message) = (&problem.path, problem.line, &problem.message);
        text.push_str(&format!("problem: {path}, line {line}: {message}\n"));
    }
    text
}

fn join_paths(paths: &[RepoPath], separator: &str) -> String {
    let paths: Vec<&str> = paths.iter().map(AsRef::as_ref).collect();
    paths.join(separator)
}

/// Lists the files that were reached, a path on each line.
pub fn imports_paths(document: &ImportsDocument) -> String {
    document.files.iter().map(|file| format!("{}\n", file.path)).collect()
}

fn edge_target(edge: &ImportEdge) -> String {
    match (&edge.path, &edge.defined_in, &edge.external) {
        (Some(path), Some(defined), _) if defined != path => {
            format!("{path}  ({} in {defined})", edge.names.join(", "))
        }
        (Some(path), _, _) => path.to_string(),
        (None, _, Some(name)) => format!("({})", one_line(name)),
        _ => "not found".to_owned(),
    }
}

/// Lists what `doctor` found: a line for each thing it checked, a block for each probe.
pub fn healing_text(result: &HealingResult, color: bool) -> String {
    let mut lines = Vec::new();
    for row in &result.rows {
        let mark = match row.state {
            CheckupState::Good => '✓',
            CheckupState::Weak => '!',
            CheckupState::Missing => '✗',
        };
        lines.push(format!("{mark} {:<11} {}", row.name, row.message));
        let command = row.command.iter();
        lines.extend(command.map(|command| format!("{:14}{command}", "")));
    }
    for probe in &result.probes {
        let mark = if probe.fixed { '✓' } else { '✗' };
        lines.push(format!("{mark} {}: {}", probe.name, probe.message));
        let attempts = result.attempts.iter().filter(|attempt| attempt.probe == probe.name);
        let fixes = attempts.filter_map(|attempt| attempt.fix_applied.as_ref());
        lines.extend(fixes.map(|fix| format!("  tried: {fix}")));
        let evidence = probe.diagnosis.iter().flat_map(|found| &found.evidence);
        lines.extend(evidence.map(|line| format!("  | {}", line.text.trim())));
        let action = probe.user_action_needed.iter();
        lines.extend(
            action.map(|action| format!("  What to do: {}", action.replace('\n', "\n    "))),
        );
    }
    paint_lines(&lines, color)
}
