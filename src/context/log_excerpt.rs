use std::borrow::Cow;
use std::collections::HashMap;

use crate::model::LogExcerpt;

/// Cuts a cleaned log to `max_bytes`: what stands in it again is told once, then the first quarter
/// and the last three stay, on line borders. `original_bytes` is the size of the log as it was given.
pub(super) fn excerpt(
    text: &str,
    original_bytes: u64,
    redactions: u64,
    max_bytes: u64,
) -> LogExcerpt {
    let text = without_repeats(text);
    let max = usize::try_from(max_bytes).unwrap_or(usize::MAX);
    let (text, omitted) = if text.len() <= max {
        (text, 0)
    } else {
        let head = line_border_before(&text, max / 4);
        let tail = line_border_after(&text, text.len() - (max - max / 4)).max(head);
        let omitted = tail - head;
        let mark = format!("[{omitted} bytes left out]\n");
        (format!("{}{mark}{}", &text[..head], &text[tail..]), omitted)
    };
    LogExcerpt {
        text,
        bytes: original_bytes,
        omitted_bytes: omitted as u64,
        redactions,
    }
}

/// So many lines in a row, and bytes, are worth a mark in their place.
const MIN_RUN: usize = 6;
const MIN_RUN_BYTES: usize = 240;
const MAX_TITLE: usize = 120;

enum Piece {
    Line(usize),
    /// So many lines, the same as from that one on.
    Again(usize, usize),
}

// Failures that differ in nothing but the test repeat a traceback each: the first stays whole, of the
// others what is their own. Runs of lines are compared, so it is the same for every runner.
fn without_repeats(text: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut numbers: HashMap<Cow<'_, str>, usize> = HashMap::new();
    let mut ids: Vec<usize> = Vec::with_capacity(lines.len());
    for line in &lines {
        let next = numbers.len();
        ids.push(*numbers.entry(without_addresses(line)).or_insert(next));
    }
    let mut starts: HashMap<&[usize], usize> = HashMap::new();
    let mut stays = vec![false; lines.len()];
    let mut pieces: Vec<Piece> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let run = ids.get(at..at + MIN_RUN);
        if let Some(from) = run.and_then(|run| starts.get(run)).copied() {
            let same = |n: &usize| from + n < at && stays[from + n] && ids[from + n] == ids[at + n];
            let count = (0..lines.len() - at).take_while(same).count();
            let bytes: usize = lines[at..at + count].iter().map(|it| it.len()).sum();
            if bytes >= MIN_RUN_BYTES {
                pieces.push(Piece::Again(from, count));
                at += count;
                continue;
            }
        }
        stays[at] = true;
        pieces.push(Piece::Line(at));
        at += 1;
        let start = at.saturating_sub(MIN_RUN);
        if at >= MIN_RUN && stays[start..at].iter().all(|it| *it) {
            starts.entry(&ids[start..at]).or_insert(start);
        }
    }
    written(&lines, &stays, &pieces)
}

// Every line that heads the same lines again stays: it names the test, for people and when the log is read
// once more.
fn written(lines: &[&str], stays: &[bool], pieces: &[Piece]) -> String {
    let mut out = String::new();
    let mut at = 0;
    while let Some(piece) = pieces.get(at) {
        match *piece {
            Piece::Line(line) => {
                out.push_str(lines[line]);
                at += 1;
            }
            Piece::Again(from, count) => {
                let rest = pieces[at..].iter();
                let times = rest
                    .take_while(|it| matches!(it, Piece::Again(a, b) if (*a, *b) == (from, count)))
                    .count();
                let source = source(lines, stays, from);
                let often = match times {
                    1 => String::new(),
                    times => format!(", {times} times"),
                };
                out.push_str(&format!("[the same {count} lines as {source}{often}]\n"));
                at += times;
            }
        }
    }
    out
}

// Where lines that are not repeated stand, in words.
fn source(lines: &[&str], stays: &[bool], from: usize) -> String {
    let before = from.checked_sub(1).filter(|it| stays[*it]);
    match before.map_or("", |it| title(lines[it])) {
        "" => "above".to_owned(),
        title => format!("above after `{title}`"),
    }
}

// A line without the rules that some runners draw around a title.
fn title(line: &str) -> &str {
    let is_rule = |it: char| it.is_whitespace() || "_=-*#⎯".contains(it);
    let title = line.trim_matches(is_rule);
    title
        .char_indices()
        .nth(MAX_TITLE)
        .map_or(title, |(end, _)| &title[..end])
}

// Where an object lies in memory differs from failure to failure.
fn without_addresses(line: &str) -> Cow<'_, str> {
    let line = line.trim_end();
    if !line.contains("0x") {
        return Cow::Borrowed(line);
    }
    let mut parts = line.split("0x");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|it: char| it.is_ascii_hexdigit());
        let is_address = part.len() - rest.len() >= 6;
        out.push_str("0x");
        out.push_str(if is_address { rest } else { part });
    }
    Cow::Owned(out)
}

fn line_border_before(text: &str, limit: usize) -> usize {
    let bytes = &text.as_bytes()[..limit.min(text.len())];
    memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1)
}

fn line_border_after(text: &str, limit: usize) -> usize {
    let start = limit.min(text.len());
    memchr::memchr(b'\n', &text.as_bytes()[start..]).map_or(text.len(), |at| start + at + 1)
}

#[cfg(test)]
mod tests {
    use super::{excerpt, without_repeats};
    use crate::diagnose::{LogFacts, diagnose};

    #[test]
    fn keeps_head_and_tail_on_line_borders() {
        let text: String = (0..100).map(|n| format!("line {n:02}\n")).collect();
        let cut = excerpt(&text, 900, 2, 80);
        assert!(cut.text.starts_with("line 00\nline 01\n["), "{}", cut.text);
        assert!(cut.text.ends_with("line 98\nline 99\n"));
        let mark = format!("[{} bytes left out]\n", cut.omitted_bytes);
        assert_eq!(
            cut.text.len() as u64,
            800 - cut.omitted_bytes + mark.len() as u64
        );
        assert_eq!((cut.bytes, cut.redactions), (900, 2));
        assert_eq!(excerpt("a\n", 2, 0, 80).text, "a\n");
    }

    fn traceback(test: &str, address: &str, error: &str) -> String {
        let frames: String = (0..8)
            .map(|n| format!("src/shop/store.py:{n}: in load_the_rows\n    rows(self)\n"))
            .collect();
        format!("____ {test} ____\n\nself = <Store at {address}>\n{frames}E   {error}\n")
    }

    #[test]
    fn equal_failures_are_told_once_and_the_others_named() {
        let first = traceback("test_a", "0x7f39720b6050", "ValueError: 1");
        let tests = ["test_b", "test_c", "test_d"];
        let more = tests.map(|it| traceback(it, "0x7f3972aaaaaa", "ValueError: 1"));
        let log = format!("{first}{}==== 4 failed ====\n", more.concat());
        let notes = tests
            .map(|it| format!("____ {it} ____\n[the same 19 lines as above after `test_a`]\n"));
        assert_eq!(
            without_repeats(&log),
            format!("{first}{}==== 4 failed ====\n", notes.concat())
        );
    }

    #[test]
    fn what_was_told_once_still_names_every_test() {
        let frames = "      at deep (src/many.test.jsx:1:66)\n".repeat(8);
        let one = |test: &str| format!("  ● {test}\n\n    the rows cannot be loaded\n\n{frames}\n");
        let tests = ["loads alpha", "loads beta", "loads gamma"];
        let log = format!(
            "FAIL src/many.test.jsx\n{}Tests:       3 failed, 3 total\n",
            tests.map(one).concat()
        );
        let shortened = without_repeats(&log);
        assert!(shortened.len() * 2 < log.len(), "{shortened}");
        for text in [&log, &shortened] {
            let found = diagnose(text, &LogFacts::default(), None);
            assert_eq!(found.failing_tests, tests, "{text}");
        }
    }

    #[test]
    fn what_is_a_failures_own_stays() {
        let first = traceback("test_a", "0x7f39720b6050", "ValueError: 1");
        let other = traceback("test_b", "0x7f3972aaaaaa", "KeyError: 2");
        let shortened = without_repeats(&format!("{first}{other}"));
        let note =
            "____ test_b ____\n[the same 18 lines as above after `test_a`]\nE   KeyError: 2\n";
        assert_eq!(shortened, format!("{first}{note}"));
        // A frame that calls itself, and lines too short to be worth a word.
        let frame = "File \"src/shop/a_long_way_down.py\", line 3, in f\n    return f(n - 1) + 1\n";
        let frames = without_repeats(&frame.repeat(400));
        assert!(frames.len() < 40 * frame.len(), "{frames}");
        let short = "a\nb\n".repeat(40);
        assert!(without_repeats(&short).starts_with(&"a\nb\n".repeat(6)));
    }
}
