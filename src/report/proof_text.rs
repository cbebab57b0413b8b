use crate::model::{
    CounterProof, CounterVerdict, ExpectationEnd, Proof, ProofSource, RunnerProof, TestEnd,
};

/// Formats the evidence for a passing run as rows of a name and a sentence.
#[must_use]
pub fn proof_rows(proof: &Proof) -> Vec<(&'static str, String)> {
    let mut rows = vec![("proof", runner(&proof.decisive, proof))];
    for other in &proof.also {
        rows.push(("", runner(other, proof)));
    }
    let tests = &proof.decisive.tests;
    if !tests.is_empty() {
        let seen = |end: TestEnd| tests.iter().filter(|it| it.ended == end).count();
        let (passed, counted) = (seen(TestEnd::Passed), seen(TestEnd::Counted));
        let all = tests.len();
        let mut counts = Vec::new();
        if passed > 0 || counted == 0 {
            counts.push(format!("{passed} of {all} previously failing tests pass"));
        }
        if counted > 0 {
            counts.push(format!(
                "by the counts, {counted} of {all} previously failing tests pass"
            ));
        }
        rows.push(("", counts.join(", ")));
    }
    let again = if proof.green_runs > 1 {
        format!("; passed in {} runs with it", proof.green_runs)
    } else {
        String::new()
    };
    rows.push((
        "",
        format!(
            "failed in {} without the change{again}",
            runs(proof.red_runs)
        ),
    ));
    for result in proof.counter_proof.iter().flat_map(tried) {
        rows.push(("", result));
    }
    if !proof.own_values.is_empty() {
        let values = proof.own_values.join(", ");
        rows.push(("rests on", format!("the test's own values: {values}")));
    }
    for (at, reason) in proof.missing.iter().enumerate() {
        rows.push((if at == 0 { "missing" } else { "" }, reason.clone()));
    }
    rows
}

// Lists the expectations that the mutation check changed, and those that it could not change.
fn tried(counter: &CounterProof) -> Vec<String> {
    if counter.verdict == CounterVerdict::Off {
        return vec!["mutation check: switched off".to_owned()];
    }
    let ended = |end: ExpectationEnd| {
        let all = counter.expectations.iter();
        all.filter(|it| it.ended == end).count()
    };
    let (bit, passed) = (ended(ExpectationEnd::Failed), ended(ExpectationEnd::Passed));
    let mut results = Vec::new();
    if bit + passed > 0 {
        let of = bit + passed;
        let head = if passed == 0 {
            "mutation check passed"
        } else {
            "mutation check failed"
        };
        results.push(format!("{head}: {bit} of {of} changed expectations fail"));
    }
    if let Some(first) = results.first_mut() {
        let word = if counter.runs == 1 { "run" } else { "runs" };
        first.push_str(&format!(" ({} {word})", counter.runs));
    }
    for (end, why) in [
        (ExpectationEnd::NotReached, "was not reached"),
        (ExpectationEnd::NotRun, "could not be changed"),
    ] {
        let all = counter.expectations.iter().filter(|it| it.ended == end);
        results.extend(all.map(|expectation| {
            format!(
                "mutation check: not applicable: `{}` at {}:{} {why}",
                expectation.was, expectation.path, expectation.line
            )
        }));
    }
    let rest = counter.not_applicable.iter();
    results.extend(rest.map(|why| format!("mutation check: not applicable: {why}")));
    results
}

/// How a test ended, in words.
pub(super) fn word(end: TestEnd) -> &'static str {
    match end {
        TestEnd::Passed => "passed",
        TestEnd::Failed => "failed",
        TestEnd::Skipped => "skipped",
        TestEnd::ExpectedFailure => "failed as expected",
        TestEnd::Counted => "passed by the counts",
        TestEnd::NotSeen => "not reported",
    }
}

fn runs(count: u32) -> String {
    if count == 1 {
        "1 run".to_owned()
    } else {
        format!("{count} runs")
    }
}

fn runner(one: &RunnerProof, proof: &Proof) -> String {
    let Some(name) = one.runner else {
        if proof.rests_on.is_empty() {
            return "the exit code only: unknown test runner".to_owned();
        }
        let files: Vec<String> = proof.rests_on.iter().map(|it| format!("`{it}`")).collect();
        return format!(
            "the exit code only, of {}, which the change touches",
            files.join(", ")
        );
    };
    let mut message = match one.source {
        ProofSource::Report => format!("{name}, by its report"),
        ProofSource::Text => format!("{name}, by its summary"),
        ProofSource::ExitCode => format!("{name}, by its exit code"),
    };
    if let Some(after) = one.after {
        message.push_str(&format!(": {after}"));
    }
    if let Some(before) = one.before {
        message.push_str(&format!("; before {before}"));
    }
    message
}

#[cfg(test)]
mod tests {
    use super::proof_rows;
    use crate::model::{
        Proof, ProofSource, ProvenTest, RunnerProof, TestCounts, TestEnd, TestRunner,
    };

    #[test]
    fn a_proof_is_said_in_rows() {
        let counts = |passed, failed| {
            Some(TestCounts {
                passed,
                failed,
                ..TestCounts::default()
            })
        };
        let mut proof = Proof {
            decisive: RunnerProof {
                runner: Some(TestRunner::Pytest),
                source: ProofSource::Report,
                before: counts(1, 1),
                after: counts(2, 0),
                tests: vec![ProvenTest {
                    id: "t".to_owned(),
                    ended: TestEnd::Passed,
                }],
            },
            red_runs: 2,
            green_runs: 2,
            missing: vec!["x".to_owned()],
            ..Proof::default()
        };
        let text = |proof: &Proof| {
            let rows = proof_rows(proof);
            let rows: Vec<String> = rows
                .iter()
                .map(|(name, it)| format!("{name}|{it}"))
                .collect();
            rows.join("\n")
        };
        assert_eq!(
            text(&proof),
            "proof|pytest, by its report: 2 passed, 0 failed; before 1 passed, 1 failed\n\
             |1 of 1 previously failing tests pass\n\
             |failed in 2 runs without the change; passed in 2 runs with it\nmissing|x"
        );
        proof.decisive = RunnerProof::default();
        proof.missing.clear();
        proof.rests_on = vec!["main.py".to_owned()];
        assert!(text(&proof).starts_with("proof|the exit code only, of `main.py`, which"));
    }
}
