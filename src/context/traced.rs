use crate::languages::outline;
use crate::model::{TestTrace, Traced, TracedDefinition};
use crate::source::Source;

/// The definitions that failing tests entered, those first that are most of them alone.
#[must_use]
pub fn definitions(traced: &Traced, source: &dyn Source) -> TestTrace {
    let mut found: Vec<TracedDefinition> = Vec::new();
    for path in traced.files.keys() {
        let outline = outline(path, &source.read(path).unwrap_or_default());
        for (at, definition) in outline.definitions.iter().enumerate() {
            let holds_others = outline.definitions.iter().any(|it| it.parent == Some(at));
            let lines = [definition.signature_end + 1, definition.lines[1]];
            let [failing, passing] = traced.counts(path, lines);
            // What holds others is told by them.
            if failing == 0 || holds_others {
                continue;
            }
            let score = traced.score(path, lines).unwrap_or(0.0);
            found.push(TracedDefinition {
                path: path.to_string(),
                name: definition.name.clone(),
                line: definition.lines[0],
                failing,
                passing,
                score: (score * 1000.0).round() / 1000.0,
            });
        }
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    let more = found.len().saturating_sub(MOST);
    found.truncate(MOST);
    TestTrace {
        failing: traced.failing,
        passing: traced.passing,
        definitions: found,
        more: more as u64,
    }
}

/// Definitions that are told.
const MOST: usize = 50;
