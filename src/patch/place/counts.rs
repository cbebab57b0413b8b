use super::placed::MendNote;
use crate::model::{Code, Refusal};
use crate::patch::set::{Hunk, HunkLine, LineKind};
use crate::patch::text::Text;

/// Whether a hunk that stands in the file up to line `end` is whole.
///
/// Wrong counts are no harm where something follows the hunk. Where the input ends with it, lines
/// may be lost, so its counts or its context have to show that none are.
pub(super) fn check_counts(
    text: &Text<'_>,
    hunk: &Hunk<'_>,
    lines: &[HunkLine<'_>],
    end: usize,
) -> Result<Option<MendNote>, Refusal> {
    let recount = MendNote::safe(Code::M301, "counted the lines of the hunk anew");
    let is_context = |line: &&HunkLine<'_>| line.kind == LineKind::Context;
    let lead = lines.iter().take_while(is_context).count();
    let trail = lines.iter().rev().take_while(is_context).count();
    let at_end = end == text.len();
    let (Some((_, old)), Some((_, new))) = (hunk.old, hunk.new) else {
        let open = hunk.ends_input && trail == 0 && lead > 0 && !at_end;
        return if open {
            Err(cut_off(hunk, lines))
        } else {
            Ok(None)
        };
    };
    if hunk.counts_hold {
        return Ok(None);
    }
    let count = |skip: LineKind| {
        let has = lines.iter().filter(|line| line.kind != skip).count();
        i64::try_from(has).unwrap_or(i64::MAX)
    };
    let lost_old = i64::from(old) - count(LineKind::Add);
    let lost_new = i64::from(new) - count(LineKind::Remove);
    let may_lack_minus = (lost_old, lost_new) == (0, -1)
        && lines.iter().any(|line| line.kind == LineKind::Add)
        && lines
            .iter()
            .any(|line| is_context(&line) && !line.is_blank());
    if may_lack_minus {
        let message =
            "the header counts one new line less than follow: a line may have lost its `-`";
        let refusal = Refusal::new(Code::P104, message);
        return Err(refusal.hint("mark the line that goes with `-`, or correct the counts"));
    }
    if !hunk.ends_input || (lost_old, lost_new) == (0, 0) {
        return Ok(Some(recount));
    }
    let ends_in_change = lines.last().is_some_and(|line| !is_context(&line));
    if hunk.cut && ends_in_change {
        return Err(cut_off(hunk, lines));
    }
    if lost_old == lost_new && blank_lines_follow(text, end, lost_old) {
        return Ok(Some(MendNote::safe(
            Code::M303,
            "put back blank context lines that were stripped from the end of the patch",
        )));
    }
    // What a cut takes away: changes, and the context after them up to three lines or the end.
    let is_much = lost_old.min(lost_new) >= 3 && lost_old + lost_new >= 7;
    let lost = lost_old.max(lost_new);
    if is_much || lost > 0 && trail < lead.min(3) && !at_end {
        return Err(cut_off(hunk, lines));
    }
    Ok(Some(recount))
}

/// Refuses a hunk that seems to have lost its end, with the header that it should have otherwise.
fn cut_off(hunk: &Hunk<'_>, lines: &[HunkLine<'_>]) -> Refusal {
    let message = "the patch seems to be cut off inside this hunk";
    let (Some((from, old)), Some((to, new))) = (hunk.old, hunk.new) else {
        return Refusal::new(Code::P104, message);
    };
    let count = |skip: LineKind| lines.iter().filter(|line| line.kind != skip).count();
    let (has_old, has_new) = (count(LineKind::Add), count(LineKind::Remove));
    let message = format!(
        "{message}: its header announces {old} old and {new} new lines, {has_old} and {has_new} follow"
    );
    Refusal::new(Code::P104, message).hint(format!(
        "if the hunk is whole, write `@@ -{from},{has_old} +{to},{has_new} @@`; else send the rest"
    ))
}

fn blank_lines_follow(text: &Text<'_>, end: usize, count: i64) -> bool {
    let Ok(count) = usize::try_from(count) else {
        return false;
    };
    count > 0
        && end + count <= text.len()
        && (end..end + count).all(|at| text.line(at).trim_ascii().is_empty())
}
