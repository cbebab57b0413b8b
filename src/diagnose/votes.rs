use super::line::Line;
use super::runners::Case;
use super::verdict::{Finding, Scope};
use crate::model::{FailureKind as Kind, Subkind};
use crate::policy::is_test;
use crate::runners::pattern;
use std::collections::HashMap;

/// What one failing test died of.
pub(super) struct Vote<'f, 'r> {
    pub(super) kind: Kind,
    pub(super) at: usize,
    // Whether the test could not even begin.
    pub(super) before: bool,
    pub(super) runner: &'static str,
    pub(super) finding: Option<&'f Finding<'r>>,
}

/// What each failing test died of.
pub(super) fn votes<'f, 'r>(
    cases: &[&Case],
    scope: &Scope,
    by_line: &HashMap<usize, &'f Finding<'r>>,
    lines: &[Line<'_>],
) -> Vec<Vote<'f, 'r>> {
    let is_of_hook = |case: &&Case| {
        let heading = lines[case.at].text.as_ref();
        case.of_hook
            || case.name.as_deref().is_none_or(|it| HOOK.is_match(it))
            || heading.contains("ERROR at setup of")
            || heading.contains("ERROR at teardown of")
    };
    // Where tests failed too, a hook is one more of them.
    let hooks_alone = cases.iter().all(is_of_hook);
    cases
        .iter()
        .map(|case| {
            let at = case.cause.unwrap_or(case.at);
            let finding = by_line
                .get(&at)
                .copied()
                .filter(|finding| finding.weight > 14)
                .filter(|it| case.runner != "pytest" || it.kind != Kind::TestFailure)
                .or_else(|| below(at, case, by_line, scope))
                .or_else(|| by_line.get(&at).copied().filter(|it| it.weight > 14))
                .or_else(|| above(at, case, by_line, lines));
            let at = finding.map_or(at, |finding| finding.at);
            let text = lines[at].text.as_ref();
            let untold = if case.exited {
                Kind::RuntimeError
            } else {
                Kind::TestFailure
            };
            let mut kind = finding.map_or(untold, |finding| finding.kind);
            if kind == Kind::RuntimeError && EXPECTATION.is_match(text) {
                kind = Kind::TestFailure;
            }
            let heading = lines[case.at].text.as_ref();
            let before = heading.contains("ERROR collecting ")
                || heading.contains("Test suite failed to run")
                || case.name.is_none();
            // A file that dies of its own code has no set-up that failed.
            let own_fault = case.name.is_none() && !case.of_hook && is_of_program(text);
            // Nor has a fixture that calls a program that dies.
            let elsewhere = case
                .crash
                .as_ref()
                .is_some_and(|(path, _)| !is_test(path) && !path.ends_with("conftest.py"));
            if hooks_alone
                && !own_fault
                && !(elsewhere && kind == Kind::RuntimeError)
                && matches!(
                    kind,
                    Kind::RuntimeError | Kind::TestFailure | Kind::FileNotFound
                )
            {
                kind = Kind::TestSetupError;
            }
            Vote {
                kind,
                at,
                before,
                runner: case.runner,
                finding: finding.filter(|it| it.kind == kind),
            }
        })
        .collect()
}

// Some runners say first that a test failed and a line or two further on why.
fn below<'f, 'r>(
    at: usize,
    case: &Case,
    by_line: &HashMap<usize, &'f Finding<'r>>,
    scope: &Scope,
) -> Option<&'f Finding<'r>> {
    (at + 1..=at + 6)
        .filter(|line| scope.holds(*line))
        .filter_map(|line| by_line.get(&line).copied())
        .filter(|finding| {
            case.runner != "pytest" || finding.subkind == Some(Subkind::UndefinedName)
        })
        .find(|finding| {
            finding.weight >= 25 && !matches!(finding.kind, Kind::RuntimeError | Kind::FileNotFound)
        })
}

// A whole file that died says so in TAP after what it printed.
fn above<'f, 'r>(
    at: usize,
    case: &Case,
    by_line: &HashMap<usize, &'f Finding<'r>>,
    lines: &[Line<'_>],
) -> Option<&'f Finding<'r>> {
    const FAR: usize = 80;
    let whole =
        case.exited || case.runner == "node-test" && lines[at].text.contains("'test failed'");
    (case.at.saturating_sub(FAR)..case.at)
        .rev()
        .filter(|_| whole)
        .filter_map(|line| by_line.get(&line).copied())
        .find(|finding| finding.weight >= 40 && !finding.is_of_shell())
}

// How runners call what is run around tests.
pattern!(
    HOOK,
    r#""(?:before|after) (?:all|each)" hook|^(?:before|after)(?:Each)?(?:\.always)? hook(?:$| for )|^(?:setUp|tearDown)(?:Class|Module)"#
);

// What an engine of scripts throws of itself, and no author does.
fn is_of_program(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("TypeError: ") || text.starts_with("RangeError: ")
}

// Assertion libraries of old throw plain errors; their words tell them apart.
pattern!(
    EXPECTATION,
    r"^\s*(?:E\s+)?(?:Expected |(?:Error|Exception|error|Failed): .*(?:xpected|to be |to equal|to have |assert|not equal| mismatch|hould .* but ))"
);
