use super::bench_text::end_word;
use super::markup::escaped;
use crate::model::{BenchDocument, FixtureResult};

/// A bench as `JUnit` XML: a test case a fixture, its language as the class.
#[must_use]
pub fn bench_junit(bench: &BenchDocument) -> String {
    let count = |result| {
        let all = bench.fixtures.iter();
        all.filter(|it| it.result == result).count()
    };
    let seconds: f64 = bench.fixtures.iter().map(|it| it.seconds).sum();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{seconds:.3}\"",
        bench.fixtures.len(),
        count(FixtureResult::Failed),
        count(FixtureResult::Error),
        count(FixtureResult::Skipped),
    );
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  \
         <testsuite name=\"mendit bench ({})\" {counts}>\n",
        escaped(&bench.agent)
    );
    for outcome in &bench.fixtures {
        let why = escaped(&outcome.why.join("; "));
        let end = escaped(&end_word(outcome));
        let inside = match outcome.result {
            FixtureResult::Passed => String::new(),
            FixtureResult::Skipped => format!("\n      <skipped message=\"{why}\"/>\n    "),
            FixtureResult::Failed => {
                format!("\n      <failure type=\"{end}\" message=\"{why}\"/>\n    ")
            }
            FixtureResult::Error => {
                format!("\n      <error type=\"{end}\" message=\"{why}\"/>\n    ")
            }
        };
        text.push_str(&format!(
            "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\">{inside}</testcase>\n",
            escaped(&outcome.language),
            escaped(&outcome.id),
            outcome.seconds,
        ));
    }
    text.push_str("  </testsuite>\n</testsuites>\n");
    text
}
