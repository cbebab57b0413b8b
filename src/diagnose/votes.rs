//! Classifies each failing test by its error. The kind that most tests share decides.

use super::decide::{Inputs, Scope};
use super::findings::Finding;
use super::line::{Line, lines_below};
use super::runners::Case;
use crate::model::{FailureKind as Kind, Subkind};
use crate::runners::pattern;

/// The cause of one failing test.
pub(super) struct Vote<'f> {
    pub(super) kind: Kind,
    pub(super) at: usize,
    pub(super) runner: &'static str,
    pub(super) finding: Option<&'f Finding>,
    // Whether the test could not even begin.
    is_before: bool,
}

impl Vote<'_> {
    /// Whether a known cause kept tests from beginning.
    pub(super) fn prevents_tests(&self) -> bool {
        self.is_before && self.finding.is_some_and(|finding| finding.weight >= 60)
    }
}

/// Returns what each failing test died of.
pub(super) fn votes<'f>(cases: &[&Case], scope: &Scope, inputs: &Inputs<'f>) -> Vec<Vote<'f>> {
    let heading = |case: &Case| inputs.lines[case.at].text.as_ref();
    // Where tests failed too, a failing hook counts as one more, because it did not stop them.
    let hooks_alone = cases.iter().all(|case| {
        case.is_whole_file
            || case.name.as_deref().is_none_or(|name| HOOK.is_match(name))
            || case.runner == "pytest"
                && heading(case).trim_start_matches(['_', ' ']).starts_with("ERROR ")
            || shows_hook(case, inputs.lines)
    });
    let votes = cases.iter().map(|case| {
        let at = case.cause.unwrap_or(case.at);
        let finding = finding_of(case, at, scope, inputs);
        let at = finding.map_or(at, |finding| finding.at);
        let text = inputs.lines[at].text.as_ref();
        // Playwright puts the author's own message before the matcher.
        let mut near = lines_below(inputs.lines, at, 5).map(str::trim_start);
        let is_expectation =
            near.any(|text| text.starts_with("expect(")) || EXPECTATION.is_match(text);
        // A file that dies of its own code has no set-up that failed: engines throw these.
        let is_own_fault = case.is_whole_file
            && ["TypeError: ", "RangeError: "]
                .iter()
                .any(|start| text.trim_start().starts_with(start));
        let kind = match finding.map_or(Kind::TestFailure, |finding| finding.kind) {
            Kind::RuntimeError if is_expectation => Kind::TestFailure,
            kind => kind,
        };
        let is_unread = heading(case).contains("ERROR collecting ");
        let kind = match kind {
            Kind::RuntimeError | Kind::TestFailure | Kind::FileNotFound
                if hooks_alone && !is_own_fault =>
            {
                Kind::TestSetupError
            }
            Kind::TestFailure if is_unread => Kind::TestSetupError,
            kind => kind,
        };
        Vote {
            kind,
            at,
            runner: case.runner,
            finding: finding.filter(|finding| finding.kind == kind),
            is_before: case.is_whole_file
                || is_unread
                || heading(case).contains("Test suite failed to run"),
        }
    });
    votes.collect()
}

// The finding of the line that states the cause, else of a line near it.
fn finding_of<'f>(
    case: &Case,
    at: usize,
    scope: &Scope,
    inputs: &Inputs<'f>,
) -> Option<&'f Finding> {
    // A line of captured output, or one that only passes a failure on, weighs no more than this.
    let own = inputs.finding_at(at).filter(|finding| finding.weight > 14);
    let is_pytest = case.runner == "pytest";
    let certain = own.filter(|finding| !is_pytest || finding.kind != Kind::TestFailure);
    // Some runners say first that a test failed and a line or two further on why.
    let near = (at + 1..=at + 6).filter(|at| scope.holds(*at));
    let mut near = near.filter_map(|at| inputs.finding_at(at)).filter(|finding| {
        let counts = !is_pytest || finding.subkind == Some(Subkind::UndefinedName);
        let plain = matches!(finding.kind, Kind::RuntimeError | Kind::FileNotFound);
        counts && finding.weight >= 25 && !plain
    });
    certain.or_else(|| near.next()).or(own)
}

// Whether the code that a report shows up to its mark is of a hook: jest and vitest name the test alone.
fn shows_hook(case: &Case, lines: &[Line<'_>]) -> bool {
    pattern!(
        OPENS,
        r"^\s*>?\s*\d+ ?\|\s*(?:((?:before|after)(?:All|Each))|it|test|describe)\b[\w.]*\("
    );
    pattern!(MARK, r"^\s*\|\s+\^");
    let block = lines_below(lines, case.block.start, case.block.len());
    let shown = block.take_while(|text| !MARK.is_match(text));
    let last = shown.filter_map(|text| OPENS.captures(text)).last();
    last.is_some_and(|found| found.get(1).is_some())
}

// How runners call what is run around tests.
pattern!(
    HOOK,
    r#""(?:before|after) (?:all|each)" hook|^(?:before|after)(?:Each)?(?:\.always)? hook(?:$| for )|^(?:setUp|tearDown)(?:Class|Module)"#
);

// Old assertion libraries throw plain errors; their messages identify them.
pattern!(
    EXPECTATION,
    r"^\s*(?:E\s+)?(?:Expected |(?:Error|Exception|error|Failed): .*(?:xpected|expect\(|to be |to equal|to have |assert|not equal| mismatch|hould .* but ))"
);
