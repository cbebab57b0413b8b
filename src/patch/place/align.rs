//! Aligns a hunk with a file where white space or outer context differs. Ties are refused, because a
//! wrong place costs more than a retry.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::counts::lost_lines;
use super::hunk::refuse_ambiguous;
use super::indent::reindent_lines;
use super::placed::{Placed, old_of, trim_end};
use super::site::Site;
use crate::model::{Code, Mend, Refusal, Safety};
use crate::patch::set::{Hunk, HunkLine, LineKind, has_kind};
use crate::patch::text::Text;

/// What was done to context that lost its mark.
pub(super) const PUT_BACK: &str = "put back the space that marks context lines";

/// How near a line of the file is to the line of the patch, the nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    Same,
    /// A context line lost the space that marks it.
    Mark,
    WhiteSpace,
    /// Quotes or blanks that an editor of prose made typographic.
    Glyphs,
    Indent,
}

impl Likeness {
    fn between(line: &HunkLine<'_>, file: &[u8]) -> Option<Self> {
        let text = line.text();
        let is_context = line.kind == LineKind::Context;
        if text == file {
            Some(Self::Same)
        } else if trim_end(text) == trim_end(file) {
            Some(Self::WhiteSpace)
        } else if is_context && line.prefixed && trim_end(&line.line) == trim_end(file) {
            Some(Self::Mark)
        } else if has_same_glyphs(text, file) {
            Some(Self::Glyphs)
        } else {
            let is_moved = !line.is_blank() && text.trim_ascii() == file.trim_ascii();
            is_moved.then_some(Self::Indent)
        }
    }

    /// Returns the mend of a hunk whose lines all match at least this closely.
    fn find_mend(self, line: u32) -> Option<Mend> {
        let (code, message) = match self {
            Self::Mark => (Code::M303, PUT_BACK),
            Self::WhiteSpace => (Code::M403, "used the file's white space at line ends"),
            Self::Glyphs => (Code::M403, "used the file's quotes and spaces"),
            Self::Same | Self::Indent => return None,
        };
        Some(Mend::new(code, Safety::Safe, line, message))
    }
}

/// Whether two lines differ in typographic quotes and blanks alone.
fn has_same_glyphs(one: &[u8], other: &[u8]) -> bool {
    let is_ascii = one.is_ascii() && other.is_ascii();
    !is_ascii
        && plain_letters(one)
            .zip(plain_letters(other))
            .is_some_and(|(one, other)| one.eq(other))
}

fn plain_letters(line: &[u8]) -> Option<impl Iterator<Item = char>> {
    let letters = std::str::from_utf8(trim_end(line)).ok()?.chars();
    Some(letters.map(|letter| match letter {
        '\u{2018}' | '\u{2019}' => '\'',
        '\u{201c}' | '\u{201d}' => '"',
        '\u{a0}' => ' ',
        letter => letter,
    }))
}

/// Places a hunk where its lines match except for white space and punctuation; several equally good
/// places are refused.
pub(super) fn align_hunk<'h, 'a>(
    site: &Site<'_, '_>,
    hunk: &'h Hunk<'a>,
) -> Result<Option<Placed<'h, 'a>>, Refusal> {
    let lines = hunk.firm_lines(hunk.loose_tail);
    let old = old_of(lines);
    let mut found = Vec::new();
    for start in likely_starts(site, hunk, &old) {
        if !site.work.spend(old.len() as u64) {
            return Ok(None);
        }
        found.extend(least_likeness(site.text, &old, start).map(|likeness| (start, likeness)));
    }
    let stated = hunk.old.filter(|_| hunk.counts_hold);
    let stated = stated.and_then(|(line, _)| line.checked_sub(1));
    if let Some((at, likeness)) = found.iter().find(|(start, likeness)| {
        Some(*start) == stated.map(|row| row as usize) && *likeness <= Likeness::WhiteSpace
    }) {
        let mends = likeness.find_mend(hunk.line).into_iter().collect();
        return Ok(Some(Placed::new(lines, *at, mends)));
    }
    found.sort_by_key(|(start, likeness)| (*likeness, *start));
    let Some((at, likeness)) = found.first().copied() else {
        return Ok(None);
    };
    let places: Vec<usize> = found.iter().map(|(start, _)| *start).collect();
    if likeness == Likeness::Indent {
        let lines = reindent_lines(site.text, lines, &old, at).filter(|_| places.len() == 1);
        let message = "re-indented the whole hunk to match the file";
        let mend = Mend::new(Code::M416, Safety::Lossy, hunk.line, message);
        return Ok(lines.map(|lines| Placed::new(lines, at, vec![mend])));
    }
    if places.len() > 1 {
        return Err(refuse_ambiguous(site.text, &places, hunk));
    }
    let mends = likeness.find_mend(hunk.line).into_iter().collect();
    Ok(Some(Placed::new(lines, at, mends)))
}

/// Returns how near the lines of the file from `start` on are to old lines: as near as the farthest of
/// them. `None` when one is another line.
fn least_likeness(text: &Text<'_>, old: &[&HunkLine<'_>], start: usize) -> Option<Likeness> {
    if start + old.len() > text.len() {
        return None;
    }
    let pairs = old.iter().zip(start..);
    let likeness = pairs.map(|(line, row)| Likeness::between(line, text.line(row)));
    let all: Option<Vec<Likeness>> = likeness.collect();
    all?.into_iter().max()
}

/// Returns the likely start rows, those with the most matching lines first; ties by distance from the line that the
/// hunk states.
pub(super) fn likely_starts(
    site: &Site<'_, '_>,
    hunk: &Hunk<'_>,
    old: &[&HunkLine<'_>],
) -> Vec<usize> {
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (index, line) in old.iter().enumerate().filter(|(_, line)| !line.is_blank()) {
        let rows = site.rows_of_words(line.text());
        // A line with more rows in the file says nothing of the place.
        if rows.len() <= 64 && site.work.spend(rows.len() as u64) {
            for start in rows.iter().filter_map(|row| (*row as usize).checked_sub(index)) {
                *votes.entry(start).or_default() += 1;
            }
        }
    }
    let mut starts: Vec<(usize, usize)> = votes.into_iter().collect();
    let stated = hunk.old.map_or(0, |(line, _)| line.saturating_sub(1) as usize);
    starts.sort_by_key(|(start, votes)| (Reverse(*votes), start.abs_diff(stated), *start));
    let starts = starts.into_iter().map(|(start, _)| start);
    // Bounded, to avoid quadratic work; starts with the most matching lines come first.
    starts.take(64).collect()
}

/// Places a hunk without outer lines of its context that the file does not have, as few of them as it
/// takes and half of the context at the most; the rest is in one place, with a line of context on each side that
/// has any.
pub(super) fn without_edges<'h, 'a>(
    site: &Site<'_, '_>,
    hunk: &'h Hunk<'a>,
) -> Option<Placed<'h, 'a>> {
    let lines = hunk.firm_lines(hunk.loose_tail);
    let lead = lines.iter().take_while(|line| line.is_context()).count();
    let trail = lines.iter().rev().take_while(|line| line.is_context()).count();
    let removes = has_kind(lines, LineKind::Remove);
    // Lines that are only added need a line beside them: the one that differs may be theirs.
    let opens = lines.get(lead).is_some_and(|line| line.kind == LineKind::Remove);
    let mut last_run = lines.iter().rev().skip(trail);
    let closes = last_run.find(|line| line.is_context() || (line.kind == LineKind::Remove));
    let closes = closes.is_some_and(|line| line.kind == LineKind::Remove);
    let added: Vec<_> = lines.iter().filter(|line| line.kind == LineKind::Add).collect();
    if lost_marks(hunk, lines) > 0 || !removes && !site.exact_rows(&added).is_empty() {
        return None;
    }
    let most = lines.iter().filter(|line| line.is_context()).count() / 2;
    let cuts = (1..=most).flat_map(|all| (0..=all).map(move |front| (front, all - front)));
    // Each cut looks up its lines, which costs some comparisons for each.
    let cuts = cuts.take_while(|_| site.work.spend(8 * lines.len() as u64));
    let mut inner = cuts.filter_map(|(front, back)| {
        let end = lines.len() - back;
        let left_out = [lines.get(..front), lines.get(end..)];
        // A line that is to stay and equals one to remove may be the only one that the file has.
        let mut stays = left_out.into_iter().flatten().flatten();
        let is_fit = {
            let kept = lead.checked_sub(front).zip(trail.checked_sub(back));
            kept.is_some_and(|(above, below)| {
                above + below > 0
                    && (above > 0 || lead == 0 && opens)
                    && (below > 0 || trail == 0 && closes)
            })
        } && left_out.into_iter().all(all_marked)
            && !stays.any(|kept| {
                let mut removed = lines.iter().filter(|line| line.kind == LineKind::Remove);
                removed
                    .any(|line| trim_end(line.text()) == trim_end(kept.text()) && !line.is_blank())
            });
        lines.get(front..end).filter(|_| is_fit)
    });
    inner.find_map(|inner| {
        let old = old_of(inner);
        let tells = old.iter().any(|line| {
            let is_asked = !removes || line.kind == LineKind::Remove;
            // A shorter line can occur anywhere, so it is weak evidence.
            is_asked && line.text().trim_ascii().len() >= 8
        });
        let at = site.only_row(&old)?;
        let message =
            "accepted context that differs from the file, around lines that occur there once";
        let note = Mend::new(Code::M417, Safety::Lossy, hunk.line, message);
        tells.then(|| Placed::new(inner, at, vec![note]))
    })
}

// A line without any mark may be one to add.
fn all_marked(lines: Option<&[HunkLine<'_>]>) -> bool {
    lines.is_some_and(|lines| lines.iter().all(|line| !line.bare))
}

/// How many lines of context may have lost their `+`: the header counts so many fewer old lines than there
/// are, and as many new ones.
pub(super) fn lost_marks(hunk: &Hunk<'_>, lines: &[HunkLine<'_>]) -> usize {
    match lost_lines(hunk, lines) {
        Some((old, 0)) => usize::try_from(-old).unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use crate::patch::place::trial::{expect, tried};
    use crate::patch::{JudgeOptions, judge};
    use crate::source::Memory;

    const FILE: &str = "def f(values):\n    total = 0\n    for value in values:\n        total += value\n    return total\n";

    #[test]
    fn places_unique_lines_in_changed_context() {
        // The parameter was renamed since.
        let body = " def f(items):\n     total = 0\n-    for value in values:\n+    for value in set(values):\n         total += value\n";
        let (codes, after) = tried(FILE, body);
        assert_eq!(codes, "M417");
        let expected = FILE.replace("in values", "in set(values)");
        assert_eq!(after, Some(expected));
        // The line of the header is that of the context that is left out.
        let patch = format!("--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n{body}");
        let source = Memory::named([("f", FILE)]);
        let judged = judge(patch.as_bytes(), &source, &JudgeOptions::default());
        let codes: Vec<String> =
            judged.verdict.mends.iter().map(|mend| mend.code.to_string()).collect();
        assert_eq!(codes, ["M417"]);
    }

    #[test]
    fn removed_lines_must_match() {
        for body in [
            // The line to remove is to stay, too, further below.
            "     total = 0\n-    for value in values:\n+    values = list(values)\n+\n     for value in values:\n         total += value\n",
            // The removed line differs.
            " def f(items):\n     total = 0\n-    for value in items:\n+    for value in set(items):\n",
            // Nothing that adjoins is there.
            " def f(values):\n     count = 0\n-    for value in values:\n+    for value in set(values):\n         count += value\n     return total\n",
            // The line below was the body of another condition.
            "     total = 0\n-    for value in values:\n+    for value in set(values):\n         print(value)\n",
            // Most context is another.
            " def g(a, b):\n     x = a\n     y = b\n     total = 0\n-    for value in values:\n+    pass\n",
            // Only added lines, between lines that are not side by side.
            " def f(values):\n+    count = 0\n     for value in values:\n         total += value\n     return total\n",
        ] {
            assert_eq!(tried(FILE, body).1, None, "{body}");
        }
        let twice = format!("{FILE}{FILE}");
        let body = " def f(items):\n     total = 0\n-    for value in values:\n+    for value in set(values):\n";
        assert_eq!(tried(&twice, body).1, None);
    }

    #[test]
    fn aligns_white_space_glyphs_marks_and_indentation() {
        let body = "-    for value in values:\n+    for value in set(values):\n";
        let set = Some(("in values", "in set(values)"));
        let hunk = |context: &str| format!("@@ -2,2 +2,2 @@\n {context}\n{body}");
        expect(FILE, &hunk("    total = 0  "), "M403", set);
        expect(FILE, &hunk("    total = 1"), "P401", None);
        // The mark of a context line is lost.
        expect(FILE, &hunk("   total = 0"), "M303", set);
        let deep = FILE.replace("    ", "        ");
        expect(&deep, &hunk("    total = 0"), "M416", set);
        expect(&deep.repeat(2), &hunk("    total = 0"), "P401", None);
        let quoted = "print('a', \"b\")\nend = 1\n";
        let hunk = |letter: &str| {
            let line = format!("print(\u{2018}{letter}\u{2019},\u{a0}\u{201c}b\u{201d})");
            format!("@@ -1,2 +1,2 @@\n {line}\n-end = 1\n+end = 2\n")
        };
        expect(quoted, &hunk("a"), "M403", Some(("1", "2")));
        expect(quoted, &hunk("c"), "P401", None);
    }

    #[test]
    fn aligns_at_stated_line_where_counts_hold() {
        let hunk = |header: &str| format!("@@ {header} @@\n first = 1\n-next = 2\n+next = 3\n");
        let file = "first = 1 \nnext = 2\nother\nfirst = 1 \nnext = 2\n";
        expect(file, &hunk("-1,2 +1,2"), "M403", Some(("2", "3")));
        let last = Some(("other\nfirst = 1 \nnext = 2", "other\nfirst = 1 \nnext = 3"));
        expect(file, &hunk("-4,2 +4,2"), "M403", last);
        expect(file, &hunk("-2,2 +2,2"), "P403", None);
        expect(file, &hunk("-4,3 +4,2"), "P403", None);
        // The file ends before the hunk.
        expect("first = 1 \n", &hunk("-1,2 +1,2"), "P402", None);
    }

    #[test]
    fn leaves_out_edges_only_beside_firm_lines() {
        let hunk = |header: &str, lines: &[&str]| format!("@@ {header} @@\n{}\n", lines.join("\n"));
        let (head, total) = (" def f(items):", "     total = 0");
        let (each, sum) = ("     for value in values:", "         total += other");
        // Only added lines, with a firm line on each side, that are not there already.
        let added = Some(("0\n", "0\n    count = 0\n"));
        let lines = [head, total, "+    count = 0", each];
        expect(FILE, &hunk("-1,3 +1,4", &lines), "M417", added);
        let lines = [
            "     count = 0", "+    more = 0", each, "         total += value",
        ];
        expect(FILE, &hunk("-2,3 +2,4", &lines), "P401", None);
        let lines = [head, total, "+        total += value", each];
        expect(FILE, &hunk("-1,3 +1,4", &lines), "P401", None);
        // Removed lines begin or end the hunk.
        let lines = ["-    total = 0", "+    total = 1", each, sum];
        expect(FILE, &hunk("-2,3 +2,3", &lines), "M417", Some(("0", "1")));
        let lines = [
            head, total, "-    for value in values:", "+    for each in values:",
        ];
        let change = Some(("for value", "for each"));
        expect(FILE, &hunk("-1,3 +1,3", &lines), "M417", change);
        // Added lines begin or end it.
        let lines = ["+    count = 0", total, each, sum];
        expect(FILE, &hunk("-2,3 +2,4", &lines), "P401", None);
        let lines = [head, total, each, "+        count += 1"];
        expect(FILE, &hunk("-1,3 +1,4", &lines), "P401", None);
        // A context line without a mark may be one to add.
        let lines = [
            "def f(items):", total, "-    for value in values:", "+    pass",
        ];
        expect(FILE, &hunk("-1,3 +1,3", &lines), "P401", None);
        // The line to remove is to stay, too.
        let lines = [
            total, "-    for value in values:", "+    pass", "         total += value",
        ];
        let lines = [&lines[..], &["     for value in values:"]].concat();
        expect(FILE, &hunk("-2,4 +2,4", &lines), "P401", None);
        // A removed line of fewer than eight letters can occur anywhere.
        for (text, codes) in [("12345678", "M417"), ("1234567", "P401")] {
            let file = format!("one\ntwo\n {text} \nfour\n");
            let removed = format!("- {text} ");
            let change = Some((&removed[1..], "3")).filter(|_| codes == "M417");
            let lines = [" 1", " two", &removed, "+3", " four"];
            expect(&file, &hunk("-1,4 +1,4", &lines), codes, change);
        }
    }

    #[test]
    fn reads_only_line_that_makes_counts_hold_as_added() {
        let hunk = "@@ -1,3 +1,4 @@\n def f(values):\n     total = 0\n     count = 0\n     for value in values:\n";
        let added = Some(("0\n", "0\n    count = 0\n"));
        expect(FILE, hunk, "M301", added);
        expect(&FILE.repeat(2), hunk, "P401", None);
        expect(
            FILE,
            &hunk.replace("     count", "-    count"),
            "P402",
            None,
        );
        // Either of two lines may be the added one.
        let either = "@@ -1,3 +1,4 @@\n a1\n b1\n b1\n c1\n";
        expect("a1\nb1\nc1\n", either, "P401", None);
    }

    #[test]
    fn ambiguous_hunk_lists_places_and_shows_nearest() {
        let file = "x = 1\ny = 2\n".repeat(60);
        let source = Memory::named([("f", &*file)]);
        let refuse = |lines: &str| {
            let patch = format!("--- a/f\n+++ b/f\n@@ {lines} @@\n x = 1\n-y = 2\n+y = 3\n");
            judge(patch.as_bytes(), &source, &JudgeOptions::default()).verdict
        };
        let verdict = refuse("-52,2 +52,2");
        let hunk = &verdict.files[0].hunks[0];
        assert_eq!(hunk.message, "it fits in 60 places");
        let listed: Vec<u64> = (0..49).map(|place| 2 * place + 1).chain([119]).collect();
        assert_eq!(hunk.mismatch.candidates, listed);
        let feedback = &verdict.feedback;
        let shown = "until only one place fits (3 places are shown)";
        assert!(feedback.contains(shown), "{feedback}");
        let excerpts: Vec<&str> = feedback.split("f now has:\n").skip(1).collect();
        let ranges = excerpts.iter().map(|text| {
            let lines = text.lines().filter_map(|line| line.split_once(" | "));
            let lines: Vec<u32> = lines.map(|(row, _)| row.trim().parse().unwrap()).collect();
            (lines[0], lines[lines.len() - 1])
        });
        assert_eq!(ranges.collect::<Vec<_>>(), [(45, 54), (47, 56), (49, 58)]);
    }
}
