use crate::patch::set::{Hunk, LineKind};

/// git's own rules of placement, for a drop-in: the nearest place that fits, counted from the line
/// the header names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of git")]
pub struct GitRules {
    /// Lines of context that must match (`-C`).
    pub min_context: usize,
    /// Hunks without context are fine anywhere (`--unidiff-zero`).
    pub unidiff_zero: bool,
    /// Wrong counts are counted anew (`--recount`).
    pub recount: bool,
    /// A line that one hunk wrote may match another hunk (`--allow-overlap`).
    pub allow_overlap: bool,
    /// Runs of white space count as one blank in context (`--ignore-whitespace`).
    pub ignore_white_space: bool,
}

impl Default for GitRules {
    fn default() -> Self {
        Self {
            min_context: usize::MAX,
            unidiff_zero: false,
            recount: false,
            allow_overlap: false,
            ignore_white_space: false,
        }
    }
}

struct Line {
    bytes: Vec<u8>,
    patched: bool,
}

/// Applies hunks one after another as git does. `Err` gives the index of the hunk that fails.
pub(in crate::patch) fn apply_as_git(
    before: &[u8],
    hunks: &[Hunk<'_>],
    rules: &GitRules,
) -> Result<Vec<u8>, usize> {
    let mut image: Vec<Line> = before
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| Line {
            bytes: line.to_vec(),
            patched: false,
        })
        .collect();
    for (index, hunk) in hunks.iter().enumerate() {
        one(&mut image, hunk, rules).ok_or(index)?;
    }
    Ok(image.into_iter().flat_map(|line| line.bytes).collect())
}

// One side of a hunk as lines with their ends; context lines are marked.
fn side(hunk: &Hunk<'_>, skip: LineKind) -> Vec<(Vec<u8>, bool)> {
    hunk.lines
        .iter()
        .filter(|line| line.kind != skip)
        .map(|line| {
            let mut bytes = line.text().to_vec();
            if !line.no_newline {
                bytes.push(b'\n');
            }
            (bytes, line.kind == LineKind::Context)
        })
        .collect()
}

fn one(image: &mut Vec<Line>, hunk: &Hunk<'_>, rules: &GitRules) -> Option<()> {
    let (mut old, mut new) = (side(hunk, LineKind::Add), side(hunk, LineKind::Remove));
    let is_context = |line: &&crate::patch::HunkLine<'_>| line.kind == LineKind::Context;
    let mut leading = hunk.lines.iter().take_while(is_context).count();
    let mut trailing = hunk.lines.iter().rev().take_while(is_context).count();
    let old_start = hunk.old.map_or(0, |(start, _)| start);
    let new_start = hunk.new.map_or(0, |(start, _)| start);
    let mut at_start = old_start == 0 || (old_start == 1 && !rules.unidiff_zero);
    let mut at_end = !rules.unidiff_zero && trailing == 0;
    let mut guess = (new_start as usize).saturating_sub(1);
    loop {
        if let Some(at) = find(image, &old, guess, (at_start, at_end), rules) {
            put(image, at, &old, new, rules);
            return Some(());
        }
        if leading <= rules.min_context && trailing <= rules.min_context {
            return None;
        }
        if at_start || at_end {
            (at_start, at_end) = (false, false);
            continue;
        }
        if leading >= trailing {
            old.remove(0);
            new.remove(0);
            guess = guess.saturating_sub(1);
            leading -= 1;
        }
        if trailing > leading {
            old.pop();
            new.pop();
            trailing -= 1;
        }
    }
}

// Forward and backward by turns from the line named.
fn find(
    image: &[Line],
    old: &[(Vec<u8>, bool)],
    guess: usize,
    (at_start, at_end): (bool, bool),
    rules: &GitRules,
) -> Option<usize> {
    let guess = if at_start {
        0
    } else if at_end {
        image.len().saturating_sub(old.len())
    } else {
        guess.min(image.len())
    };
    let fits = |at: usize| {
        (!at_start || at == 0)
            && at + old.len() <= image.len()
            && (!at_end || at + old.len() == image.len())
            && old
                .iter()
                .zip(image.get(at..).unwrap_or_default())
                .all(|((want, _), have)| {
                    !have.patched
                        && (*want == have.bytes
                            || (rules.ignore_white_space && squeeze(want) == squeeze(&have.bytes)))
                })
    };
    if fits(guess) {
        return Some(guess);
    }
    (1..=image.len()).find_map(|step| {
        let back = guess.checked_sub(step).filter(|at| fits(*at));
        back.or_else(|| Some(guess + step).filter(|at| *at <= image.len() && fits(*at)))
    })
}

fn squeeze(line: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(line.len());
    for byte in line.trim_ascii_end() {
        if !byte.is_ascii_whitespace() {
            out.push(*byte);
        } else if out.last() != Some(&b' ') {
            out.push(b' ');
        }
    }
    out
}

fn put(
    image: &mut Vec<Line>,
    at: usize,
    old: &[(Vec<u8>, bool)],
    new: Vec<(Vec<u8>, bool)>,
    rules: &GitRules,
) {
    // Context keeps the bytes of the file.
    let mut kept: std::collections::VecDeque<Vec<u8>> = old
        .iter()
        .zip(image.get(at..).unwrap_or_default())
        .filter(|((_, context), _)| *context)
        .map(|(_, line)| line.bytes.clone())
        .collect();
    let lines: Vec<Line> = new
        .into_iter()
        .map(|(bytes, context)| Line {
            bytes: if context {
                kept.pop_front().unwrap_or(bytes)
            } else {
                bytes
            },
            patched: !rules.allow_overlap,
        })
        .collect();
    image.splice(at..at + old.len(), lines);
}

#[cfg(test)]
mod tests {
    use super::{GitRules, apply_as_git};
    use crate::patch::read;

    fn apply(file: &str, patch: &str) -> Option<String> {
        read(
            patch.as_bytes(),
            &crate::patch::ReadOptions::default(),
            |set| {
                let crate::patch::Body::Hunks(hunks) = &set.files[0].body else {
                    panic!("no hunks");
                };
                let bytes = apply_as_git(file.as_bytes(), hunks, &GitRules::default()).ok()?;
                String::from_utf8(bytes).ok()
            },
        )
        .unwrap()
    }

    #[test]
    fn takes_the_nearest_place() {
        let file = "a\nx\nb\na\nx\nb\na\nx\nb\n";
        let patch = "--- a/f\n+++ b/f\n@@ -5,3 +5,3 @@\n a\n-x\n+y\n b\n";
        assert_eq!(
            apply(file, patch).as_deref(),
            Some("a\nx\nb\na\ny\nb\na\nx\nb\n")
        );
    }

    #[test]
    fn a_hunk_without_trailing_context_belongs_at_the_end() {
        let patch = "--- a/f\n+++ b/f\n@@ -2,1 +2,2 @@\n b\n+c\n";
        assert_eq!(apply("a\nb\n", patch).as_deref(), Some("a\nb\nc\n"));
        assert_eq!(apply("a\nb\nz\n", patch), None);
    }
}
