//! Places all hunks of a file against the same lines.

use std::ops::Range;

use super::hunk::{Placement, place_hunk};
use super::indent::find_indent;
use super::placed::{Placed, old_of};
use super::site::Site;
use crate::model::{Code, Mend, Safety};
use crate::patch::set::{Hunk, HunkLine, LineKind};
use crate::patch::text::Text;

/// Places the hunks of one file, all against the same lines; those behind many that fail are left out.
pub(in crate::patch) fn place<'h, 'a>(
    site: &Site<'_, '_>,
    hunks: &'h [Hunk<'a>],
) -> Vec<Placement<'h, 'a>> {
    if let Some(outcomes) = place_without_blanks(site, hunks) {
        return outcomes;
    }
    let mut shift = Some(0);
    let mut failures = 0;
    let mut outcomes = Vec::with_capacity(hunks.len());
    for hunk in hunks {
        let outcome = place_hunk(site, hunk, shift);
        shift = shift.map(|shift| shift + count_net(hunk));
        match &outcome {
            Ok(placed) => {
                let has_moved = hunk.old.filter(|(start, count)| {
                    *start as usize != placed.at + usize::from(*count > 0)
                });
                // Its numbers count lines of another file than this one.
                shift = shift.filter(|_| has_moved.is_none());
                tracing::debug!("hunk placed at line {}", placed.at + 1);
            }
            Err(refusal) => {
                failures += 1;
                tracing::debug!("hunk refused, {}: {}", refusal.code, refusal.message);
            }
        }
        outcomes.push(outcome);
        // After this many failures in one file, searching for further hunks is a waste.
        if failures == 16 {
            break;
        }
    }
    outcomes
}

/// Places the hunks of a file without a blank behind the marks of all changed lines, or of all lines: with it some of
/// them are nowhere, and without it each is in one place.
fn place_without_blanks<'h, 'a>(
    site: &Site<'_, '_>,
    hunks: &'h [Hunk<'a>],
) -> Option<Vec<Placement<'h, 'a>>> {
    let placed = [false, true].into_iter().find_map(|in_context| -> Option<Vec<_>> {
        let placed = hunks.iter().map(|hunk| {
            let read = without_blanks(&hunk.lines, in_context).filter(|_| hunk.counts_hold)?;
            let at = site.only_row(&old_of(&read))?;
            let message = "dropped a space after the marks; without it the lines match the file";
            let mend = Mend::new(Code::M303, Safety::Lossy, hunk.line, message);
            Some(Ok(Placed::new(read, at, vec![mend])))
        });
        placed.collect()
    });
    placed.filter(|_| !hunks.iter().all(|hunk| !site.exact_rows(&old_of(&hunk.lines)).is_empty()))
}

/// Removes a blank behind the marks of changed lines, or of those of context too; `None` where one has none.
fn without_blanks<'a>(lines: &[HunkLine<'a>], in_context: bool) -> Option<Vec<HunkLine<'a>>> {
    let read = lines.iter().map(|line| match line.text() {
        b"" => Some(line.clone()),
        _ if line.kind == LineKind::Context && !in_context => Some(line.clone()),
        text => Some(line.with_text(text.strip_prefix(b" ")?.to_vec())),
    });
    read.collect()
}

fn count_net(hunk: &Hunk<'_>) -> i64 {
    i64::try_from(hunk.new_lines().count()).unwrap_or(0)
        - i64::try_from(hunk.old_lines().count()).unwrap_or(0)
}

/// Finds the rows of the scope that a hunk names, each scope inside the one before; `None` where one of
/// them is nowhere or several times.
pub(super) fn find_scope(text: &Text<'_>, hunk: &Hunk<'_>) -> Option<Range<usize>> {
    if hunk.scope.is_empty() {
        return None;
    }
    let scopes = hunk.outer.iter().chain([&hunk.scope]);
    scopes.copied().try_fold(0..text.len(), |mut inside, scope| {
        let row = inside.find(|row| names_scope(text.line(*row), scope))?;
        let is_only = !inside.any(|row| names_scope(text.line(row), scope));
        is_only.then(|| row..block_end(text, row))
    })
}

// Whether a line is that of a scope, which may leave out what follows its name.
fn names_scope(line: &[u8], scope: &[u8]) -> bool {
    let rest = line.trim_ascii().strip_prefix(scope.trim_ascii());
    rest.is_some_and(|rest| {
        !rest.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    })
}

// The block that a line opens: all below it that is indented more, blank lines aside.
fn block_end(text: &Text<'_>, scope: usize) -> usize {
    let own = find_indent(text.line(scope)).len();
    (scope + 1..text.len())
        .find(|row| {
            let line = text.line(*row);
            !line.trim_ascii().is_empty() && find_indent(line).len() <= own
        })
        .unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use crate::patch::place::trial::expect;

    #[test]
    fn numbers_of_later_hunks_follow_earlier_ones() {
        let file = "a = 1\nb = 2\nc = 3\nd = 4\ne = 5\n";
        let first = "@@ -1 +1,2 @@\n a = 1\n+a = 2\n";
        let change = Some(("a = 1\nb = 2\nc = 3\n", "a = 1\na = 2\nb = 2\nc = 3\nx\n"));
        expect(file, &format!("{first}@@ -3,0 +5 @@\n+x\n"), "M401", change);
        expect(file, &format!("{first}@@ -3,0 +4 @@\n+x\n"), "P410", None);
    }

    #[test]
    fn scope_chooses_of_equal_places() {
        let file = "def g():\n    x = 1\n\ndef g_2():\n    x = 1\n";
        let hunk = |scope: &str| format!("@@ -9 +9 @@ {scope}\n-    x = 1\n+    x = 2\n");
        let first = Some(("def g():\n    x = 1", "def g():\n    x = 2"));
        let second = Some(("def g_2():\n    x = 1", "def g_2():\n    x = 2"));
        expect(file, &hunk("def g():"), "M410 M401", first);
        expect(file, &hunk("def g"), "M410 M401", first);
        expect(file, &hunk("def g_2():"), "M410 M401", second);
        expect(file, &hunk("def h():"), "P403", None);
        expect(&file.repeat(2), &hunk("def g():"), "P403", None);
        expect(file, &hunk(""), "P403", None);
    }

    #[test]
    fn drops_one_blank_after_marks_where_counts_hold() {
        let file = "def f():\n    a = 1\n    b = 2\n";
        let hunk = |header: &str, blank: &str| {
            format!(
                "@@ {header} @@\n {blank}def f():\n-     a = 1\n+     a = 2\n {blank}    b = 2\n"
            )
        };
        let change = Some(("1", "2"));
        expect(file, &hunk("-1,3 +1,3", ""), "M303", change);
        expect(file, &hunk("-1,3 +1,3", " "), "M303", change);
        expect(file, &hunk("-1,4 +1,3", ""), "P401", None);
        // A hunk that is there as it is keeps its blanks.
        expect(
            &file.replace("    a", "     a"),
            &hunk("-1,3 +1,3", ""),
            "",
            change,
        );
    }
}
