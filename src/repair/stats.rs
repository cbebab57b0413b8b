use std::collections::{BTreeMap, BTreeSet};

use crate::languages::{Language, facts};
use crate::model::{
    Blocker, FailureKind, Rate, RepoPath, RunRecord, RunStatus, SCHEMA_VERSION, Stats,
};

/// Adds up runs.
#[must_use]
pub fn stats(runs: &[RunRecord]) -> Stats {
    let mut all = Stats {
        schema_version: SCHEMA_VERSION,
        document: "stats".to_owned(),
        ..Stats::default()
    };
    let mut blockers: BTreeMap<String, u32> = BTreeMap::new();
    let mut learned: BTreeMap<String, u32> = BTreeMap::new();
    for run in runs {
        let result = &run.result;
        all.runs += 1;
        let Some(failure) = &result.failure else {
            continue;
        };
        let fixed = u32::from(result.status == RunStatus::Fixed);
        all.failures += 1;
        all.fixed += fixed;
        let add = |rate: &mut Rate| {
            rate.runs += 1;
            rate.fixed += fixed;
        };
        add(all.kinds.entry(failure.kind.to_string()).or_default());
        if failure.kind == FailureKind::ImportError {
            add(&mut all.import_recovery);
        }
        *all.stop_reasons
            .entry(result.stop_reason.to_string())
            .or_default() += 1;
        if let Some(category) = result.category {
            *all.categories.entry(category.to_string()).or_default() += 1;
        }
        if let Some(blocked) = run.report.as_ref().and_then(|it| it.blocked_on.clone()) {
            *blockers.entry(blocked).or_default() += 1;
        }
        if fixed == 1 && result.agent_calls > 0 {
            let patch = run.patch.as_deref().unwrap_or_default();
            for row in imported(patch, &failure.undefined_names) {
                *learned.entry(row).or_default() += 1;
            }
        }
    }
    if all.failures > 0 {
        let share = |count: u32| {
            let share = f64::from(count) / f64::from(all.failures);
            (share * 1000.0).round() / 1000.0
        };
        all.failure_rate = share(all.failures - all.fixed);
        let rates = all.categories.iter();
        all.category_rates = rates
            .map(|(name, count)| (name.clone(), share(*count)))
            .collect();
    }
    (all.blockers, all.more_blockers) = most(blockers);
    (all.learned, all.more_learned) = most(learned);
    all
}

// The names among those that added lines import by an absolute specifier, as rows of `hint.known`.
fn imported(patch: &str, names: &[String]) -> BTreeSet<String> {
    let mut added: BTreeMap<&str, String> = BTreeMap::new();
    let mut file = "";
    for line in patch.lines() {
        if let Some(name) = line.strip_prefix("+++ b/") {
            file = name.trim_end();
        } else if let Some(text) = line.strip_prefix('+') {
            let lines = added.entry(file).or_default();
            lines.push_str(text);
            lines.push('\n');
        }
    }
    let mut rows = BTreeSet::new();
    for (file, text) in added {
        let (Ok(path), Some(language)) = (RepoPath::new(file), Language::of_path(file)) else {
            continue;
        };
        let family = language.families.first().copied().unwrap_or_default();
        for import in facts(&path, text.as_bytes()).imports {
            for name in &import.names {
                let bound = name.alias.as_ref().unwrap_or(&name.name);
                if names.contains(bound) && !import.specifier.starts_with('.') {
                    let own = if *bound == name.name {
                        String::new()
                    } else {
                        format!(" {}", name.name)
                    };
                    rows.insert(format!("{bound} {}{own} {family}", import.specifier));
                }
            }
        }
    }
    rows
}

// The ten most frequent, of equals the first by name, and how many there are beyond those.
fn most(counts: BTreeMap<String, u32>) -> (Vec<Blocker>, Option<u64>) {
    let mut rows: Vec<Blocker> = counts
        .into_iter()
        .map(|(what, runs)| Blocker { what, runs })
        .collect();
    rows.sort_by(|a, b| b.runs.cmp(&a.runs).then_with(|| a.what.cmp(&b.what)));
    let more = rows.len().saturating_sub(10) as u64;
    rows.truncate(10);
    (rows, Some(more).filter(|it| *it > 0))
}

#[cfg(test)]
mod tests {
    use super::{imported, most};

    #[test]
    fn of_what_stood_in_the_way_the_rest_is_counted() {
        let counts = |of: u32| (0..of).map(|at| (format!("b{at:02}"), at)).collect();
        let (rows, more) = most(counts(12));
        assert_eq!(
            (rows.len(), rows[0].what.as_str(), more),
            (10, "b11", Some(2))
        );
        assert_eq!(most(counts(10)).1, None);
    }

    #[test]
    fn what_a_fix_imported_becomes_rows() {
        let patch = "--- a/a.py\n+++ b/a.py\n@@ -1 +1,4 @@\n+from typer.testing import CliRunner, x\n\
                     +from .near import Near\n+import numpy as np\n line\n--- a/b.ts\n+++ b/b.ts\n\
                     @@ -1 +1 @@\n-old\n+import { z } from 'zod'\n";
        let names = ["CliRunner", "Near", "np", "z"].map(str::to_owned);
        let rows: Vec<String> = imported(patch, &names).into_iter().collect();
        assert_eq!(
            rows,
            ["CliRunner typer.testing py", "np numpy * py", "z zod js"]
        );
    }
}
