use super::log::View;
use super::normalise::lines_of;

/// The lines of a log that tell of a failure, without escapes and CI prefixes: passed and skipped
/// tests, warnings, times and echoed scripts are left out, repetitions too.
#[must_use]
pub fn telling_lines(log: &str) -> String {
    let mut seen = std::collections::HashSet::new();
    let mut out = String::new();
    for line in lines_of(View::whole(log)).all {
        let text = line.text.trim();
        if line.quiet || text.is_empty() || !seen.insert(text.to_owned()) {
            continue;
        }
        out.push_str(text);
        out.push('\n');
    }
    out
}
