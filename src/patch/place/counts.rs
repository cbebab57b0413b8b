//! Checks the line counts of a hunk header. Wrong counts at the end of the input may mean that the
//! patch was cut off.

use super::placed::quote;
use crate::model::{Code, Mend, Refusal, Safety};
use crate::patch::set::{Hunk, HunkLine, LineKind, without_kind};
use crate::patch::text::Text;

/// Whether a hunk that is in the file up to line `end` is whole.
///
/// Wrong counts are no harm where something follows the hunk. Where the input ends with it, lines
/// may be lost, so its counts or its context have to show that none are.
pub(super) fn check_counts(
    text: &Text<'_>,
    hunk: &Hunk<'_>,
    lines: &[HunkLine<'_>],
    end: usize,
) -> Result<Option<Mend>, Refusal> {
    let mend = |code, message| Mend::new(code, Safety::Safe, hunk.line, message);
    let recount = mend(Code::M301, "recounted the lines of the hunk");
    let lead = lines.iter().take_while(|line| line.is_context()).count();
    let back = lines.iter().rev();
    let trail = back.take_while(|line| line.is_context()).count();
    let at_end = end == text.len();
    let Some((lost_old, lost_new)) = lost_lines(hunk, lines) else {
        let open = hunk.ends_input && trail == 0 && lead > 0 && !at_end;
        return if open { Err(cut_off(hunk, lines)) } else { Ok(None) };
    };
    if hunk.counts_hold {
        return Ok(None);
    }
    if let Some(kept) = kept_beside_its_change(lines, (lost_old, lost_new)) {
        let kept = quote(kept);
        let message = format!(
            "the header counts one new line fewer than the hunk has: {kept} may have lost its `-`"
        );
        let hint = "to remove the line, put a `-` before it; to keep it, correct the counts";
        return Err(Refusal::new(Code::P104, message).hint(hint));
    }
    if !hunk.ends_input || (lost_old, lost_new) == (0, 0) {
        return Ok(Some(recount));
    }
    if hunk.cut && trail == 0 {
        return Err(cut_off(hunk, lines));
    }
    if lost_old == lost_new && blank_lines_follow(text, end, lost_old) {
        let message = "put back blank context lines that were stripped from the end of the patch";
        return Ok(Some(mend(Code::M303, message)));
    }
    // What a cut takes away: changes, and the context after them up to three lines or the end.
    // Added lines that the header counts and that are missing at the end, more than writers miscount by.
    let is_tail = trail == 0 && lost_new >= 5;
    let is_much = is_tail || lost_old.min(lost_new) >= 3 && lost_old + lost_new >= 7;
    let lost = lost_old.max(lost_new);
    if is_much || lost > 0 && trail < lead.min(3) && !at_end {
        return Err(cut_off(hunk, lines));
    }
    Ok(Some(recount))
}

/// How many old and new lines the header counts beyond those that are there.
pub(super) fn lost_lines(hunk: &Hunk<'_>, lines: &[HunkLine<'_>]) -> Option<(i64, i64)> {
    let sides = [(hunk.old?, LineKind::Add), (hunk.new?, LineKind::Remove)];
    let [old, new] = sides.map(|((_, announced), gone)| {
        let has = without_kind(lines, gone).count();
        i64::from(announced) - i64::try_from(has).unwrap_or(i64::MAX)
    });
    Some((old, new))
}

/// Refuses a hunk that seems to have lost its end, with the header that it should have otherwise.
fn cut_off(hunk: &Hunk<'_>, lines: &[HunkLine<'_>]) -> Refusal {
    let message = "the patch seems to be cut off inside this hunk";
    let (Some((_, old)), Some((_, new))) = (hunk.old, hunk.new) else {
        return Refusal::new(Code::P104, message);
    };
    let [has_old, has_new] =
        [LineKind::Add, LineKind::Remove].map(|gone| without_kind(lines, gone).count());
    let message = format!(
        "{message}: its header announces {old} old and {new} new lines, but {has_old} and {has_new} follow"
    );
    Refusal::new(Code::P104, message).hint(format!(
        "if the hunk is complete, its counts are {has_old} and {has_new}; else send the rest"
    ))
}

// The context line that may have lost its `-`: the header counts all old lines and one new line less than the body
// has, and a removed line is right before those that take its place.
fn kept_beside_its_change<'l>(lines: &'l [HunkLine<'_>], lost: (i64, i64)) -> Option<&'l [u8]> {
    let mut pairs = lines.windows(2).filter(|_| lost == (0, -1));
    let kept = pairs.find(|pair| pair[0].is_context() && pair[1].kind == LineKind::Add);
    kept.map(|pair| pair[0].text())
}

/// Returns which part of two lines is the same, white space around them aside.
pub(super) fn likeness(one: &[u8], two: &[u8]) -> f64 {
    let (one, two) = (String::from_utf8_lossy(one), String::from_utf8_lossy(two));
    strsim::normalized_levenshtein(one.trim(), two.trim())
}

// The part of a line that is the same in the line that takes its place: half, as in M417.
pub(super) const ALIKE: f64 = 0.5;
// Longer lines are not compared letter by letter.
pub(super) const LONGEST: usize = 400;

fn blank_lines_follow(text: &Text<'_>, end: usize, count: i64) -> bool {
    let count = usize::try_from(count).unwrap_or(0);
    count > 0
        && end + count <= text.len()
        && (end..end + count).all(|at| text.line(at).trim_ascii().is_empty())
}

#[cfg(test)]
mod tests {
    use crate::patch::place::trial::{expect, expect_last};

    const FILE: &str = "one = 1\ntwo = 2\n\n\nfive = 5\nsix = 6\nseven = 7\n";
    const TWO: &str = " one = 1\n-two = 2\n+two = 3\n";
    const CHANGE: Option<(&str, &str)> = Some(("two = 2", "two = 3"));

    #[test]
    fn names_line_that_may_have_lost_its_mark() {
        let hunk = |header: &str| format!("@@ {header} @@\n one = 1\n two = 2\n+two = 3\n");
        expect(FILE, &hunk("-1,2 +1,2"), "P104", None);
        expect(
            FILE,
            &hunk("-1,2 +1,3"),
            "",
            Some(("two = 2", "two = 2\ntwo = 3")),
        );
        let change = Some(("two = 2", "two = 3\nmore"));
        expect(
            FILE,
            &format!("@@ -1,2 +1,2 @@\n{TWO}+more\n"),
            "M301",
            change,
        );
    }

    #[test]
    fn counts_tell_whether_last_hunk_is_cut_off() {
        let last = |header: &str, lines: &str, codes: &str| {
            let change = CHANGE.filter(|_| !codes.starts_with('P'));
            expect_last(FILE, &format!("@@ {header} @@\n{lines}"), codes, change);
        };
        last("-1,2 +1,2", TWO, "");
        // Blank lines that follow in the file were stripped, and no other lines.
        last("-1,3 +1,3", TWO, "M303");
        last("-1,4 +1,4", TWO, "M303");
        last("-1,5 +1,5", TWO, "P104");
        last("-1,4 +1,3", TWO, "P104");
        // Context follows: as few lines as writers miscount by are no cut.
        let closed = format!("{TWO} \n \n five = 5\n");
        last("-1,8 +1,8", &closed, "M301");
        last("-1,9 +1,9", &closed, "P104");
        last("-1,8 +1,9", &closed, "P104");
        last("-1,7 +1,10", &closed, "M301");
        last("-1,4 +1,4", &closed, "M301");
        // No context before or after.
        last("-2,1 +2,5", "-two = 2\n+two = 3\n", "M301");
        last("-2,1 +2,6", "-two = 2\n+two = 3\n", "P104");
        // No counts at all.
        last("", TWO, "P104");
        last("", &closed, "M401");
        last("", "-two = 2\n+two = 3\n", "M401");
        // The hunk ends where the file ends.
        expect_last(
            "one = 1\ntwo = 2\n",
            &format!("@@ -1,3 +1,3 @@\n{TWO}"),
            "M301",
            CHANGE,
        );
        expect(FILE, &format!("@@ -1,9 +1,9 @@\n{TWO}"), "M301", CHANGE);
    }
}
