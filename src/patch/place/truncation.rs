use super::rule::MendNote;
use crate::model::{Code, Refusal};
use crate::patch::set::{Hunk, HunkLine, LineKind};
use crate::patch::text::Text;

/// Whether a hunk that stands in the file up to line `end` is whole.
///
/// Wrong counts are no harm where something follows the hunk. Where the input ends with it, lines
/// may be lost, so its counts or its context have to show that none are.
pub(super) fn whole(
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
        return if open { Err(cut_off()) } else { Ok(None) };
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
    if !hunk.ends_input || (lost_old, lost_new) == (0, 0) {
        return Ok(Some(recount));
    }
    // A cut takes lines away; more lines than the header promises do not come from one.
    let more = lost_old < 0 && lost_new < 0 && closed(lines);
    if hunk.cut
        && !more
        && lines
            .last()
            .is_some_and(|line| line.kind != LineKind::Context)
    {
        return Err(cut_off());
    }
    if lost_old == lost_new && blank_lines_follow(text, end, lost_old) {
        return Ok(Some(MendNote::safe(
            Code::M303,
            "put back blank context lines that were stripped from the end of the patch",
        )));
    }
    // What a cut takes away: changes, and the context after them up to three lines or the end.
    let promised_more = lost_old >= 0 && lost_new >= 0;
    let reaches_end =
        i64::try_from(text.len() - end.min(text.len())).is_ok_and(|left| left == lost_old);
    if promised_more && (reaches_end || (lost_old.min(lost_new) >= 3 && lost_old + lost_new >= 7)) {
        return Err(cut_off());
    }
    if (lost_old > 0 || lost_new > 0) && trail < lead.min(3) && !at_end {
        return Err(cut_off());
    }
    Ok(Some(recount))
}

fn cut_off() -> Refusal {
    Refusal::new(Code::P104, "the patch seems to be cut off inside this hunk")
}

// Whether added lines close every bracket that they open.
fn closed(lines: &[HunkLine<'_>]) -> bool {
    let added = lines.iter().filter(|line| line.kind == LineKind::Add);
    let mut open = 0_i64;
    for byte in added.flat_map(HunkLine::text) {
        match byte {
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => open -= 1,
            _ => {}
        }
    }
    open <= 0
}

fn blank_lines_follow(text: &Text<'_>, end: usize, count: i64) -> bool {
    let Ok(count) = usize::try_from(count) else {
        return false;
    };
    count > 0
        && end + count <= text.len()
        && (end..end + count).all(|at| text.line(at).trim_ascii().is_empty())
}
