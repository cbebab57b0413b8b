use super::decide::Inputs;
use super::line::below;
use super::runners::Case;
use super::verdict::{Finding, Scope};
use crate::model::{FailureKind as Kind, Subkind};
use crate::policy::is_test;
use crate::runners::pattern;

/// What one failing test died of.
pub(super) struct Vote<'f, 'r> {
    pub(super) kind: Kind,
    pub(super) at: usize,
    pub(super) runner: &'static str,
    pub(super) finding: Option<&'f Finding<'r>>,
    // Whether the test could not even begin.
    is_before: bool,
}

impl Vote<'_, '_> {
    /// Whether a known cause kept tests from beginning.
    pub(super) fn prevents_tests(&self) -> bool {
        self.is_before && self.finding.is_some_and(|finding| finding.weight >= 60)
    }
}

// A line of captured output, or one that only passes a failure on, weighs no more than this.
const SAYS_NOTHING: u8 = 14;

/// Returns what each failing test died of.
pub(super) fn votes<'f, 'r>(
    cases: &[&Case],
    scope: &Scope,
    inputs: &Inputs<'f, 'r>,
) -> Vec<Vote<'f, 'r>> {
    let heading = |case: &Case| inputs.lines[case.at].text.as_ref();
    let is_hook = |case: &&Case| {
        case.is_hook
            || case.name.as_deref().is_none_or(|name| HOOK.is_match(name))
            || heading(case).contains("ERROR at setup of")
            || heading(case).contains("ERROR at teardown of")
    };
    // Where tests failed too, a hook is one more of them.
    let hooks_alone = cases.iter().all(is_hook);
    let vote = |case: &&Case| {
        let at = case.cause.unwrap_or(case.at);
        let finding = finding_of(case, at, scope, inputs);
        let at = finding.map_or(at, |finding| finding.at);
        // Playwright puts the author's own message before the matcher.
        let mut near = below(inputs.lines, at, 5).map(str::trim_start);
        let is_expectation = near.any(|text| text.starts_with("expect("))
            || EXPECTATION.is_match(&inputs.lines[at].text);
        let kind = kind_of(case, finding, is_expectation);
        let kind = match kind {
            Kind::RuntimeError | Kind::TestFailure | Kind::FileNotFound
                if hooks_alone && is_of_set_up(case, kind, &inputs.lines[at].text) =>
            {
                Kind::TestSetupError
            }
            kind => kind,
        };
        Vote {
            kind,
            at,
            runner: case.runner,
            finding: finding.filter(|finding| finding.kind == kind),
            is_before: case.name.is_none()
                || heading(case).contains("ERROR collecting ")
                || heading(case).contains("Test suite failed to run"),
        }
    };
    cases.iter().map(vote).collect()
}

fn kind_of(case: &Case, finding: Option<&Finding<'_>>, is_expectation: bool) -> Kind {
    match finding {
        Some(finding) if finding.kind == Kind::RuntimeError && is_expectation => Kind::TestFailure,
        Some(finding) => finding.kind,
        None if case.has_exited => Kind::RuntimeError,
        None => Kind::TestFailure,
    }
}

// A file that dies of its own code has no set-up that failed: an engine of scripts throws these, no
// author does. Nor has a fixture that calls a program that dies.
fn is_of_set_up(case: &Case, kind: Kind, text: &str) -> bool {
    let starts = ["TypeError: ", "RangeError: "];
    let is_engine = starts
        .iter()
        .any(|start| text.trim_start().starts_with(start));
    let is_own_fault = case.name.is_none() && !case.is_hook && is_engine;
    let is_of_program = |path: &str| !is_test(path) && !path.ends_with("conftest.py");
    let is_elsewhere = case
        .crash
        .as_ref()
        .is_some_and(|(path, _)| is_of_program(path));
    let is_program_fault = is_elsewhere && kind == Kind::RuntimeError;
    !is_own_fault && !is_program_fault
}

// The finding of the line that states the cause, else of a line near it.
fn finding_of<'f, 'r>(
    case: &Case,
    at: usize,
    scope: &Scope,
    inputs: &Inputs<'f, 'r>,
) -> Option<&'f Finding<'r>> {
    let by_line = |at: usize| inputs.by_line.get(&at).copied();
    let own = || by_line(at).filter(|finding| finding.weight > SAYS_NOTHING);
    let is_pytest = case.runner == "pytest";
    let certain = own().filter(|finding| !is_pytest || finding.kind != Kind::TestFailure);
    // Some runners say first that a test failed and a line or two further on why.
    let is_better = |finding: &&Finding<'r>| {
        let counts = !is_pytest || finding.subkind == Some(Subkind::UndefinedName);
        let plain = matches!(finding.kind, Kind::RuntimeError | Kind::FileNotFound);
        counts && finding.weight >= 25 && !plain
    };
    let near_below = || {
        let near = (at + 1..=at + 6).filter(|at| scope.holds(*at));
        near.filter_map(by_line).find(is_better)
    };
    // A whole file that died says so in TAP after what it printed.
    let above = || {
        const FAR: usize = 80;
        let wrapper = inputs.lines[at].text.contains("'test failed'");
        let is_whole = case.has_exited || case.runner == "node-test" && wrapper;
        let range = (case.at.saturating_sub(FAR)..case.at).rev();
        let mut found = range.filter(|_| is_whole).filter_map(by_line);
        found.find(|finding| finding.weight >= 40 && !finding.is_of_shell())
    };
    certain.or_else(near_below).or_else(own).or_else(above)
}

// How runners call what is run around tests.
pattern!(
    HOOK,
    r#""(?:before|after) (?:all|each)" hook|^(?:before|after)(?:Each)?(?:\.always)? hook(?:$| for )|^(?:setUp|tearDown)(?:Class|Module)"#
);

// Assertion libraries of old throw plain errors; their words tell them apart.
pattern!(
    EXPECTATION,
    r"^\s*(?:E\s+)?(?:Expected |(?:Error|Exception|error|Failed): .*(?:xpected|expect\(|to be |to equal|to have |assert|not equal| mismatch|hould .* but ))"
);
