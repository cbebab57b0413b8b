//! Finds the fix that a failing tool itself proposes.

use super::line::{Line, Mark, lines_above};
use crate::runners::pattern;

/// The remedy that the failing tool itself proposes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Remedy {
    /// Index of the line in which the sentence begins.
    pub(super) at: usize,
    /// The sentence, without marks and boxes.
    pub(super) text: String,
}

// Decoration around a message: boxes, bullets, the tool's own word for its severity.
pattern!(
    FRAME,
    r"^[\s│║╔╗╚╝═─┃┌┐└┘|*>!ⓘℹ⚠✖×❯↳\x{fe0f}]+|[\s│║╗╝┃|]+$|^(?:(?:npm (?:error|ERR!)|ERR!|pnpm:|yarn error|\[?(?:error|warn|warning|info|fatal)\]?:?|E  |#\d+ [\d.]+)\s*)+"
);
pattern!(
    LABEL,
    r"(?i)^(?:\S+: )?(?:hint|help|note|tip|suggestion|fix|solution|to fix)\b\s*:?"
);
const SPEECH: &str = "try|run|re-run|rerun|use|add|install|please|you need|you should|you can|you may|you might|you must|must be|to fix|fixable|did you mean|instead|consider|make sure|ensure|pass|set|enable|enabled|update|upgrade|migrate|rename|replace|remove|delete|retry|resolve|merge|is now|running|using";
// Something to type or to write.
pattern!(
    THING,
    concat!(
        r#"`[^`]+`|"[^"]+"|'[^']+'|“[^”]+”|(?:^|[^\w-])--?[a-zA-Z][\w-]+"#,
        r"|\b(?:npm|npx|pnpm|yarn|pip3?|python3?|uv|poetry|git|corepack|deno|bun|pytest|docker|cargo|make|manage\.py|django-admin|alembic|ruff|mypy|tsc|eslint|prettier|biome|playwright|cypress|node)\s+[a-z][\w:-]*",
        r"|\b[\w-]+\.config\.[cm]?[jt]s\b"
    )
);
// Quotes of all kinds are backticks here.
const STRONG: &str = "did you mean|to fix|please run|please rerun|please install|please reinstall|please specify|is now|by running|run the following|instead|fixable|in order to|hint:|you need to|you have to|with -|with `|with the -|with the `-|`-|run `|run: `|try `|try: `|use `|use: `|using `|using: `";
const IMPERATIVE: &str = "run|use|try|install|add|retry|re-run|rerun|please|to";
// Source, frames and values; remarks that no failure is about.
pattern!(
    NOISE,
    r#"^\s*(?:at |argv "|File "|\d+ \||\+|-{3}|=+|[Ee]xpected|[Rr]eceived|[Aa]ssert|\S+:\d+(?::\d+)?:? )"#
);
// The line above source that a traceback shows.
pattern!(PLACE, r#"^\s*(?:File ".+", line \d+.*|\S+:\d+)$"#);
const REMARKS: &str = "fund|audit|deprecated|telemetry|newer version|upgrade available|new major version|new minor version|new patch version|for more information|for more details|bug report|full log|complete log|valid python names|not a problem with|please report";

// The weights of the signs, and the sum from which a sentence is a remedy: fitted on the ten
// messages of checks/round4/reports/remedies.
const LABELED: usize = 3;
const SIGN: usize = 2;
const WEAK_SIGN: usize = 1;
const ENOUGH: usize = 5;
// Lines around the decisive one, and at the end of its step, in which the tool speaks of it.
const ABOVE: usize = 12;
const BELOW: usize = 40;
const AT_THE_END: usize = 40;
const MAX_SENTENCE: usize = 400;
// The left sides of boxes.
const BOX: [char; 4] = ['│', '║', '┃', '╔'];

/// Finds what the tool says to do about the failure at `decisive`, whose step ends at `end`: near the
/// line first, then in the last lines of the step.
pub(super) fn find_remedy(lines: &[Line<'_>], decisive: usize, end: usize) -> Option<Remedy> {
    let end = end.min(lines.len());
    let near = decisive.saturating_sub(ABOVE)..end.min(decisive + BELOW);
    let last = end.saturating_sub(AT_THE_END).max(near.end)..end;
    [near, last].into_iter().find_map(|range| {
        let found = remedy_sentences(lines, range);
        let scores = found.iter().enumerate().map(|(at, own)| {
            let (score, text) = score_remedy(own, found.get(at + 1));
            // Above a failure is a command that was run, below it one to run.
            let first = text.split(' ').next().unwrap_or_default();
            let advises = own.at >= decisive && has_word(first, IMPERATIVE);
            let score = score + WEAK_SIGN * usize::from(advises);
            (score, Remedy { at: own.at, text })
        });
        // With equal scores, the nearest to the line wins, below before above.
        let enough = scores.filter(|(score, _)| *score >= ENOUGH);
        let best = enough.min_by_key(|(score, own)| {
            (
                usize::MAX - score,
                own.at < decisive,
                own.at.abs_diff(decisive),
            )
        });
        best.map(|(_, remedy)| remedy)
    })
}

// Tools wrap their sentences: the lines of one paragraph are joined.
fn remedy_sentences(lines: &[Line<'_>], range: std::ops::Range<usize>) -> Vec<Remedy> {
    pattern!(END, r#"[.!?]\s+[A-Z\d`"'(\[]|\s{2,}"#);
    let mut found = Vec::new();
    let mut paragraph = String::new();
    let mut starts: Vec<(usize, usize)> = Vec::new();
    let mut was_boxed = false;
    // Where pytest marks what it says, the rest of its blocks is source.
    let says = |line: &Line<'_>| line.text.starts_with("E ");
    let is_marked = lines.iter().any(|line| line.claimed && says(line));
    for at in range.start..=range.end {
        let line = lines.get(at).filter(|_| at < range.end);
        let text = line.filter(|line| {
            !line.captured
                && (says(line) || !line.claimed || !is_marked)
                && !lines_above(lines, at, 1).any(|above| PLACE.is_match(above))
                && matches!(line.mark, Mark::None | Mark::Error)
                && line.text.len() <= MAX_SENTENCE
        });
        let text = text.map_or("", |line| bare(&line.text));
        let is_speech = !text.is_empty() && !NOISE.is_match(text) && !has_word(text, REMARKS);
        let is_boxed = line.is_some_and(|line| line.text.starts_with(BOX));
        // A label opens a sentence of its own, and so does a box.
        let is_new = !is_speech || LABEL.is_match(text) || is_boxed != was_boxed;
        was_boxed = is_boxed;
        if is_new && !paragraph.is_empty() {
            let mut from = 0;
            let ends = END.find_iter(&paragraph).map(|end| end.end() - 1);
            for to in ends.chain([paragraph.len()]) {
                let raw = paragraph.get(from..to).unwrap_or_default();
                let begin = from + raw.len() - raw.trim_start().len();
                let at = starts.iter().rev().find(|(start, _)| *start <= begin);
                if let (Some((_, at)), false) = (at, raw.trim().is_empty()) {
                    let text = raw.trim().to_owned();
                    found.push(Remedy { at: *at, text });
                }
                from = to;
            }
            paragraph.clear();
            starts.clear();
        }
        if is_speech {
            starts.push((paragraph.len(), at));
            paragraph.push_str(text);
            paragraph.push(' ');
        }
    }
    found
}

fn bare(text: &str) -> &str {
    let mut text = text;
    while let Some(found) = FRAME.find(text).filter(|found| !found.is_empty()) {
        text = match found.start() {
            0 => &text[found.end()..],
            start => &text[..start],
        };
    }
    text.trim()
}

// Whether one of some words, with bars between, is in a text, and no part of a longer word.
fn has_word(text: &str, words: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = words.split('|').flat_map(|word| text.match_indices(word));
    found.any(|(at, word)| {
        let below = &text[at + word.len()..];
        let goes_on_above = text[..at].ends_with(is_part) && word.starts_with(is_part);
        !(goes_on_above || word.ends_with(is_part) && below.starts_with(is_part))
    })
}

// A sentence that ends with a colon says it in the next.
fn score_remedy(own: &Remedy, next: Option<&Remedy>) -> (usize, String) {
    let mut text = own.text.clone();
    let mut score = LABELED * usize::from(LABEL.is_match(&text));
    score += SIGN * usize::from(has_word(&text, SPEECH));
    if THING.is_match(&text) {
        score += SIGN;
    } else if let Some(next) = next.filter(|_| text.ends_with(':') && score >= SIGN) {
        text = format!("{text} {}", next.text);
        score += SIGN;
    }
    score += SIGN * usize::from(has_word(&text.replace(['"', '\''], "`"), STRONG));
    (score, text)
}

#[cfg(test)]
mod tests {
    use super::find_remedy;
    use crate::diagnose::normalise::lines;

    #[test]
    fn remedy_quotes_the_tool() {
        for (log, expected) in [
            (
                "error: x\nhint: run `git pull` first\n",
                Some("hint: run `git pull` first"),
            ),
            (
                "Error: browser\n║ Please run the following command:   ║\n║                  ║\n║     npx playwright install   ║\n",
                Some("Please run the following command: npx playwright install"),
            ),
            ("AssertionError: expected 1 to be 2\n", None),
            (
                "Traceback (most recent call last):\n  File \"a.py\", line 2, in f\n    # note: use `g` instead\nNameError: x\n",
                None,
            ),
        ] {
            let lines = lines(log);
            let found = find_remedy(&lines, 0, lines.len());
            assert_eq!(found.map(|found| found.text).as_deref(), expected, "{log}");
        }
    }
}
