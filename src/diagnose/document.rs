use std::collections::HashSet;

use super::decide::decide;
use super::directories::directories;
use super::facts::LogFacts;
use super::line::{Line, Mark};
use super::locate::Locator;
use super::normalise;
use super::read::findings;
use super::runners::{self, Case};
use super::verdict::Verdict;
use super::{derive, mention, steps};
use crate::model::{Diagnosis, Evidence, FailedTest, FailureKind as Kind, Subkind};
use crate::source::Listing;

const MOST_EVIDENCE: usize = 20;
const MOST_LISTED: usize = 500;
const LAST_LINES: usize = 3;

/// Says what a log tells about a failure.
///
/// `log` is raw: it may hold escapes and CI prefixes; line numbers are those of the text as given.
/// With a `listing`, the files it names are mapped into the repository. Never fails: a log that no
/// rule knows is `unknown` with confidence 0, one of a job that passed is `none`.
#[must_use]
pub fn diagnose(log: &str, facts: &LogFacts, listing: Option<&Listing>) -> Diagnosis {
    let lines = normalise::lines(log);
    let locator = Locator::new(listing).below(directories(&lines, listing));
    let job = steps::job(&lines);
    let cases = runners::cases(&lines);
    let findings = findings(&lines, &locator, &facts.rules);
    let verdict = decide(&lines, &job, &cases, &findings, facts);
    let (kind, subkind) = (verdict.kind, verdict.subkind);
    let mut named: Vec<(usize, String)> = findings
        .iter()
        .filter(|finding| finding.kind == kind && verdict.scope.holds(finding.at))
        .filter_map(|finding| Some((finding.at, finding.path.clone()?)))
        .collect();
    named.truncate(MOST_LISTED);
    let (explanation, suggested_fix) = derive::words(kind, subkind);
    let own = || {
        findings
            .iter()
            .filter(|finding| kind != Kind::None && verdict.scope.holds(finding.at))
            .filter(|finding| finding.kind == kind || finding.weight >= 65)
    };
    let tests = tests(&cases, &verdict, &lines, &locator);
    Diagnosis {
        kind,
        subkind: subkind.map(|word| Subkind(word.to_owned())),
        category: derive::category(kind, None),
        explanation: explanation.to_owned(),
        suggested_fix: suggested_fix.to_owned(),
        requires_user_action: derive::requires_user_action(kind, subkind),
        files: mention::files(&lines, &verdict.evidence, &named, &locator),
        undefined_names: distinct(own().flat_map(|finding| finding.names.iter())),
        missing_modules: distinct(own().filter_map(|finding| finding.module.as_ref())),
        missing_exports: distinct(own().filter_map(|finding| finding.export.as_ref())),
        failing_tests: tests.iter().map(|test| test.id.clone()).collect(),
        tests,
        evidence: shown(&verdict, &lines)
            .into_iter()
            .filter_map(|at| lines.get(at))
            .map(|line| Evidence {
                line: line.number,
                text: line.text.trim_end().to_owned(),
            })
            .collect(),
        failures: verdict.failures,
        alternatives: verdict.alternatives,
        confidence: verdict.confidence,
        tool: verdict.tool.map(str::to_owned),
        rule: verdict.rule.map(str::to_owned),
    }
}

fn tests(
    cases: &[Case],
    verdict: &Verdict<'_>,
    lines: &[Line<'_>],
    locator: &Locator<'_>,
) -> Vec<FailedTest> {
    if verdict.kind == Kind::None {
        return Vec::new();
    }
    cases
        .iter()
        .filter(|case| verdict.counts(case.at))
        .filter_map(|case| {
            let (path, line) = match &case.place {
                Some((path, line)) => (Some(path), *line),
                None => (None, None),
            };
            Some(FailedTest {
                id: case.name.clone()?,
                runner: case.runner.to_owned(),
                path: path.map(|path| {
                    locator
                        .find(path)
                        .map_or_else(|| runners::relative(path), str::to_owned)
                }),
                line,
                log_line: case
                    .cause
                    .and_then(|at| lines.get(at))
                    .map(|line| line.number),
            })
        })
        .take(MOST_LISTED)
        .collect()
}

// The lines that carry the verdict; without one the end of what failed, where tools say it.
fn shown(verdict: &Verdict<'_>, lines: &[Line<'_>]) -> Vec<usize> {
    if !verdict.evidence.is_empty() {
        return verdict
            .evidence
            .iter()
            .copied()
            .take(MOST_EVIDENCE)
            .collect();
    }
    let mut last: Vec<usize> = (0..lines.len())
        .rev()
        .filter(|at| verdict.scope.holds(*at) && !lines[*at].text.trim().is_empty())
        .filter(|at| !lines[*at].text.starts_with("##[") && lines[*at].mark != Mark::Error)
        .take(LAST_LINES)
        .collect();
    last.reverse();
    last
}

fn distinct<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut seen = HashSet::new();
    names
        .filter(|name| seen.insert(name.as_str()))
        .take(MOST_LISTED)
        .cloned()
        .collect()
}
