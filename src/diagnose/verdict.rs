use std::collections::HashSet;

use super::finding::Finding;
use super::locate::Locator;
use super::normalise::{self, Line};
use super::{derive, failing, mention, rules, special};
use crate::model::{Alternative, Diagnosis, Evidence, FailureKind as Kind, Subkind};
use crate::source::Listing;

/// What is known of the run beside its log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogFacts {
    /// The command's exit code; a negative number is a signal.
    pub exit_code: Option<i32>,
    /// The command line.
    pub command: Option<String>,
    /// Whether a time limit ended it.
    pub timed_out: bool,
}

const MOST_EVIDENCE: usize = 20;
const MOST_FINDINGS: usize = 50_000;
const MOST_LISTED: usize = 500;

/// Says what a log tells about a failure.
///
/// `log` is raw: it may hold escapes and CI prefixes; line numbers are those of the text as given.
/// With a `listing`, the files it names are mapped into the repository. Never fails: a log that no
/// rule knows is `unknown` with confidence 0.
#[must_use]
pub fn diagnose(log: &str, facts: &LogFacts, listing: Option<&Listing>) -> Diagnosis {
    let lines = normalise::lines(log);
    let locator = Locator::new(listing);
    let findings = findings(&lines, &locator);
    let tests = failing::failing_tests(&lines);
    let verdict = weigh(&findings, facts);
    let (kind, subkind) = (verdict.kind, verdict.subkind);
    let evidence: Vec<usize> = verdict.evidence.clone();
    let mut named: Vec<(usize, String)> = findings
        .iter()
        .filter(|finding| finding.kind == kind)
        .filter_map(|finding| Some((finding.at, finding.path.clone()?)))
        .collect();
    named.truncate(MOST_LISTED);
    let (explanation, suggested_fix) = derive::words(kind, subkind);
    let own = || {
        findings
            .iter()
            .filter(|finding| finding.kind == kind || finding.weight >= 65)
    };
    Diagnosis {
        kind,
        subkind: subkind.map(|word| Subkind(word.to_owned())),
        alternatives: verdict.alternatives,
        confidence: verdict.confidence,
        category: derive::category(kind, None),
        explanation: explanation.to_owned(),
        suggested_fix: suggested_fix.to_owned(),
        requires_user_action: derive::requires_user_action(kind, subkind),
        files: mention::files(&lines, &evidence, &named, &locator),
        undefined_names: distinct(own().flat_map(|finding| finding.names.iter())),
        missing_modules: distinct(own().filter_map(|finding| finding.module.as_ref())),
        missing_exports: distinct(own().filter_map(|finding| finding.export.as_ref())),
        failing_tests: tests,
        tool: verdict.tool.map(str::to_owned),
        evidence: shown(&evidence, &lines)
            .into_iter()
            .filter_map(|at| lines.get(at))
            .map(|line| Evidence {
                line: line.number,
                text: line.text.trim_end().to_owned(),
            })
            .collect(),
    }
}

// The lines that carry the verdict; without one the end of the log, where tools say what failed.
fn shown(evidence: &[usize], lines: &[Line<'_>]) -> Vec<usize> {
    if !evidence.is_empty() {
        return evidence.iter().copied().take(MOST_EVIDENCE).collect();
    }
    let mut last: Vec<usize> = (0..lines.len())
        .rev()
        .filter(|at| !lines[*at].text.trim().is_empty())
        .take(LAST_LINES)
        .collect();
    last.reverse();
    last
}

const LAST_LINES: usize = 3;

fn distinct<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut seen = HashSet::new();
    names
        .filter(|name| seen.insert(name.as_str()))
        .take(MOST_LISTED)
        .cloned()
        .collect()
}

fn findings(lines: &[Line<'_>], locator: &Locator<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if findings.len() >= MOST_FINDINGS {
            break;
        }
        if line.text.len() < 4 || is_warning(&line.text) {
            continue;
        }
        let found = special::name_list(at, line)
            .or_else(|| special::typescript(at, line))
            .or_else(|| rules::ENGINE.find(at, line));
        let Some(mut finding) = found else { continue };
        special::in_context(&mut finding, lines);
        refine_module(&mut finding, lines, locator);
        if line.captured {
            finding.weight = finding.weight.min(14);
        }
        findings.push(finding);
    }
    findings
}

// A warning of a package manager is not why the command failed.
fn is_warning(text: &str) -> bool {
    let text = text.trim_start();
    [
        "npm warn",
        "npm WARN",
        "npm notice",
        "warning ",
        "WARN ",
        "DeprecationWarning",
        "(node:",
    ]
    .iter()
    .any(|start| text.starts_with(start))
        && !text.contains("UnhandledPromiseRejection")
}

// The same words are used for a file of the project and for a package.
fn refine_module(finding: &mut Finding, lines: &[Line<'_>], locator: &Locator<'_>) {
    if finding.subkind != Some("missing_module") {
        return;
    }
    let Some(module) = finding.module.as_deref() else {
        return;
    };
    let python = ["python", "mypy", "pyright", "ruff"].contains(&finding.tool);
    let local = if python {
        let top = module.split('.').next().unwrap_or(module);
        let dotted = module.contains('.');
        module.starts_with('.')
            || locator.has_top(top)
            || (dotted && (!locator.knows_repository() || named_nearby(top, finding.at, lines)))
            || asked_by_tests(finding.at, lines)
    } else {
        let alias = ["@/", "~/", "#", "$lib", "src/", "app/", "~"];
        module.starts_with('.')
            || special::is_absolute(module)
            || module.starts_with("file:")
            || alias.iter().any(|start| module.starts_with(start))
            || has_extension(module)
    };
    if !local {
        finding.subkind = Some("missing_package");
    }
}

fn has_extension(module: &str) -> bool {
    [
        ".ts", ".tsx", ".jsx", ".mjs", ".cjs", ".json", ".vue", ".svelte", ".css",
    ]
    .iter()
    .any(|end| module.ends_with(end))
}

// The importing file lies in the package that it imports from.
fn named_nearby(top: &str, at: usize, lines: &[Line<'_>]) -> bool {
    let directory = format!("{top}/");
    lines[at.saturating_sub(8)..at]
        .iter()
        .filter(|line| !line.text.contains("site-packages"))
        .any(|line| line.text.contains(&directory))
}

// Shared test support is imported by a bare name from beside the tests.
fn asked_by_tests(at: usize, lines: &[Line<'_>]) -> bool {
    lines[at.saturating_sub(3)..at]
        .iter()
        .any(|line| line.text.contains("conftest.py:") || line.text.contains("conftest.py\","))
}

struct Verdict {
    kind: Kind,
    subkind: Option<&'static str>,
    alternatives: Vec<Alternative>,
    confidence: f64,
    evidence: Vec<usize>,
    tool: Option<&'static str>,
}

fn weigh(findings: &[Finding], facts: &LogFacts) -> Verdict {
    // The nearest to the root cause wins; of equals the kind named most, then the first.
    let mut kinds: Vec<(Kind, u8, usize, usize)> = Vec::new();
    for finding in findings {
        match kinds.iter_mut().find(|row| row.0 == finding.kind) {
            Some(row) => {
                row.1 = row.1.max(finding.weight);
                row.2 += 1;
            }
            None => kinds.push((finding.kind, finding.weight, 1, finding.at)),
        }
    }
    for (kind, weight) in from_facts(facts) {
        match kinds.iter_mut().find(|row| row.0 == kind) {
            Some(row) => row.1 = row.1.max(weight),
            None => kinds.push((kind, weight, 0, usize::MAX)),
        }
    }
    kinds.sort_by_key(|&(_, weight, count, first)| {
        (std::cmp::Reverse(weight), std::cmp::Reverse(count), first)
    });
    let Some(&(kind, weight, count, _)) = kinds.first() else {
        return Verdict {
            kind: Kind::Unknown,
            subkind: None,
            alternatives: Vec::new(),
            confidence: 0.0,
            evidence: Vec::new(),
            tool: None,
        };
    };
    let own = || findings.iter().filter(|finding| finding.kind == kind);
    let best = own()
        .filter(|finding| finding.weight == weight)
        .min_by_key(|finding| finding.at);
    let floor = weight.saturating_sub(20);
    let mut evidence: Vec<usize> = own()
        .filter(|finding| finding.weight >= floor)
        .map(|finding| finding.at)
        .collect();
    evidence.dedup();
    let confidence = confidence(weight, count, &kinds[1..], facts);
    let alternatives = kinds
        .iter()
        .skip(1)
        .filter(|row| row.1 >= 20)
        .take(4)
        .map(|row| Alternative {
            kind: row.0,
            confidence: steps(confidence * f64::from(row.1) / f64::from(weight.max(1)) * 0.6),
        })
        .collect();
    Verdict {
        kind,
        subkind: best.and_then(|finding| finding.subkind).or(match kind {
            Kind::Timeout if facts.timed_out => Some("command"),
            _ => None,
        }),
        alternatives,
        confidence,
        evidence,
        tool: best.map(|finding| finding.tool),
    }
}

fn confidence(
    weight: u8,
    count: usize,
    others: &[(Kind, u8, usize, usize)],
    facts: &LogFacts,
) -> f64 {
    let base = match weight {
        65.. => 0.95,
        40..=64 => 0.85,
        25..=39 => 0.9,
        _ => 0.5,
    };
    let rivals = others.iter().filter(|row| row.1 + 3 >= weight).count();
    let said = if count == 0 { 0.25 } else { 0.0 };
    let passed = if facts.exit_code == Some(0) { 0.4 } else { 0.0 };
    let rivals = 0.15 * f64::from(u8::try_from(rivals.min(3)).unwrap_or(3));
    steps((base - rivals - said - passed).clamp(0.05, 0.95))
}

fn steps(value: f64) -> f64 {
    (value * 20.0).round() / 20.0
}

// What the way a process ended says when its log does not. Source: the shell's exit codes.
fn from_facts(facts: &LogFacts) -> Vec<(Kind, u8)> {
    let mut rows = Vec::new();
    if facts.timed_out {
        rows.push((Kind::Timeout, 71));
    }
    match facts.exit_code {
        Some(124) if !facts.timed_out => rows.push((Kind::Timeout, 39)),
        Some(126) => rows.push((Kind::PermissionDenied, 21)),
        Some(127) => rows.push((Kind::CommandNotFound, 39)),
        Some(137 | -9) => rows.push((Kind::OutOfMemory, 21)),
        Some(134 | 135 | 136 | 139 | -4 | -6 | -7 | -8 | -11) => rows.push((Kind::Crash, 71)),
        Some(5)
            if facts
                .command
                .as_deref()
                .is_some_and(|line| line.contains("pytest")) =>
        {
            rows.push((Kind::TestSetupError, 21));
        }
        _ => {}
    }
    rows
}
