use super::set::{HunkLine, LineKind};

/// Removed and added lines as a hunk: lines that both sides share at the start and the end are context.
pub(in crate::patch) fn with_context<'a>(
    old: Vec<HunkLine<'a>>,
    new: Vec<HunkLine<'a>>,
) -> Vec<HunkLine<'a>> {
    let mut lines = Vec::with_capacity(old.len() + new.len());
    let same = |a: &HunkLine<'_>, b: &HunkLine<'_>| a.text() == b.text();
    let head = old.iter().zip(&new).take_while(|(a, b)| same(a, b)).count();
    let most = old.len().min(new.len()) - head;
    let tail = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(most)
        .take_while(|(a, b)| same(a, b))
        .count();
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let mut after = Vec::new();
    for (index, mut line) in old.into_iter().enumerate() {
        if index < head {
            line.kind = LineKind::Context;
            lines.push(line);
        } else if index < old_end {
            lines.push(line);
        } else {
            line.kind = LineKind::Context;
            after.push(line);
        }
    }
    let added = new.into_iter().enumerate();
    lines.extend(
        added
            .filter(|(index, _)| (head..new_end).contains(index))
            .map(|(_, line)| line),
    );
    lines.extend(after);
    lines
}
