use super::page::{Page, paint_mark};
use super::visible::one_line;
use crate::model::{CheckupState, HealingResult, ImportEdge, ImportsDocument};

/// Lists each file with its imports, then closure, cycles and problems.
pub fn imports_text(document: &ImportsDocument) -> String {
    let mut text = String::new();
    for file in &document.files {
        text.push_str(&format!("{}\n", file.path));
        let widths = file
            .imports
            .iter()
            .map(|edge| edge.specifier.chars().count());
        let width = widths.max().unwrap_or(0).min(40);
        for edge in &file.imports {
            let target = target(edge);
            let specifier = one_line(&edge.specifier);
            text.push_str(&format!(
                "  {:>4}  {specifier:<width$}  {target}\n",
                edge.line
            ));
        }
    }
    let closure = document.closure.iter();
    let reached = closure.clone().filter(|node| node.hops > 0).count();
    let closure: String = closure
        .map(|node| {
            let via: Vec<&str> = node.via.iter().map(AsRef::as_ref).collect();
            let via = match via.as_slice() {
                [] => String::new(),
                via => format!("  (via {})", via.join(", ")),
            };
            format!("  {}  {}{via}\n", node.hops, node.path)
        })
        .collect();
    if !closure.is_empty() {
        text.push_str(&format!("closure: {reached} files\n{closure}"));
    }
    for cycle in &document.cycles {
        let steps = cycle.iter().chain(cycle.first());
        let steps: Vec<&str> = steps.map(AsRef::as_ref).collect();
        text.push_str(&format!("cycle: {}\n", steps.join(" -> ")));
    }
    for problem in &document.problems {
        let line = match problem.line {
            0 => String::new(),
            line => format!(":{line}"),
        };
        text.push_str(&format!(
            "problem: {}{line}: {}\n",
            problem.path, problem.message
        ));
    }
    text
}

/// Lists the files that were reached, a path on each line.
pub fn imports_paths(document: &ImportsDocument) -> String {
    document
        .files
        .iter()
        .map(|file| format!("{}\n", file.path))
        .collect()
}

fn target(edge: &ImportEdge) -> String {
    match (&edge.path, &edge.defined_in, &edge.external) {
        (Some(path), Some(defined), _) if defined != path => {
            format!("{path}  ({} in {defined})", edge.names.join(", "))
        }
        (Some(path), _, _) => path.to_string(),
        (None, _, Some(name)) => format!("({})", one_line(name)),
        _ if !edge.matches.is_empty() => format!("{} files match", edge.matches.len()),
        _ => "not found".to_owned(),
    }
}

/// Lists what `doctor` found: a line for each thing it checked, a block for each probe.
pub fn healing_text(result: &HealingResult, color: bool) -> String {
    let mut page = Page::default();
    for row in &result.rows {
        let mark = match row.state {
            CheckupState::Good => '✓',
            CheckupState::Weak => '!',
            CheckupState::Missing => '✗',
        };
        page.line(paint_mark(
            &format!("{mark} {:<11} {}", row.name, row.message),
            color,
        ));
        if let Some(command) = &row.command {
            page.line(format!("{:14}{command}", ""));
        }
    }
    for probe in &result.probes {
        let mark = if probe.fixed { '✓' } else { '✗' };
        page.line(paint_mark(
            &format!("{mark} {}: {}", probe.name, probe.message),
            color,
        ));
        for attempt in result
            .attempts
            .iter()
            .filter(|attempt| attempt.probe == probe.name)
        {
            if let Some(fix) = &attempt.fix_applied {
                let (number, kind) = (attempt.attempt_number, attempt.diagnosis.kind);
                page.line(format!(
                    "  attempt {number}, {kind}: {fix}\n    {}",
                    attempt.result
                ));
            }
        }
        for line in probe.diagnosis.iter().flat_map(|found| &found.evidence) {
            page.line(format!("  | {}", line.text.trim()));
        }
        if let Some(action) = &probe.user_action_needed {
            page.line(format!("  What to do: {}", action.replace('\n', "\n    ")));
        }
    }
    page.text(false)
}
