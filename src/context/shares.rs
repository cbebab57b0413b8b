use crate::languages::{Definition, skeleton};
use crate::state::Store;

use super::board::{Board, Weighing};
use super::candidate::RequestedParts;
use super::share::{Claim, Form, Limits, Share, Sharer};

/// Shares the bytes out among the files by what their parts are worth: what the log points at and
/// the failing tests first, then the best files whole while they are small, what other files import,
/// the parts that say most, and a few lines of every file that is still unseen.
pub(super) fn shares(
    files: &[Sharer<'_>],
    weighing: Weighing<'_>,
    outlines: &Store,
    limits: Limits,
) -> Vec<Share> {
    let sizes = || files.iter().map(|file| file.text.len() as u64);
    let with_place = files.iter().filter(|it| it.claim != Claim::Free).count();
    let all_fit = sizes().sum::<u64>() <= limits.bytes
        && sizes().all(|it| it <= limits.file_bytes)
        && with_place <= limits.places;
    if all_fit && files.iter().all(|it| it.form != Form::Signatures) {
        return vec![Share::Whole; files.len()];
    }
    let mut board = Board::new(files, weighing, outlines, limits);
    let blamed = board.blamed(&weighing.focus.blamed);
    board.give_places(limits.places, &blamed);
    board.requested();
    for (number, file) in files.iter().enumerate() {
        match file.form {
            Form::Signatures => board.signatures(number, limits.bytes / 10),
            Form::Short if file.text.len() as u64 <= limits.bytes / 20 => {
                board.whole(number);
            }
            Form::Parts | Form::Short => {}
        }
    }
    if all_fit {
        for number in 0..files.len() {
            board.whole(number);
        }
    }
    board.evidence(limits.bytes / 4);
    board.definitions(&blamed, limits.bytes / 8);
    board.tests(limits.bytes / 10 * 3);
    board.leading(limits.bytes);
    let crumbs = (limits.bytes / 32).min(board.left);
    board.left -= crumbs;
    board.best();
    board.left += crumbs;
    board.crumbs();
    // Lines that came to stand together need no marks between them.
    for _ in 0..3 {
        board.left = limits.bytes.saturating_sub(board.used());
        board.best();
    }
    board.into_shares()
}

/// Lines around one that the log points at.
const AROUND: u32 = 6;
const TELLING_PARTS: usize = 2;
/// A name that more definitions bear leads to none of them.
const MAX_NAMESAKES: usize = 3;
/// Files that are shown whole when they are small.
const WHOLE_FILES: usize = 2;
/// Files whose imports are shown.
const IMPORTING_FILES: usize = 5;

impl Board<'_> {
    // What was asked for by name: lines, then whole files, those not seen whole before the others.
    // Where not all fit, each gets the same, but what a small one leaves is shared on.
    fn requested(&mut self) {
        let files = self.files;
        let mut quota = u64::MAX;
        for (file, requested) in (0..).zip(files.iter().map(|it| it.requested)) {
            let count = self.starts[file].len() as u32;
            for [from, to] in requested.map_or(&[][..], |it| &it.lines) {
                let (from, mut to) = (*from, (*to).min(count));
                while from <= to {
                    let definition = self.outlines[file].innermost(from);
                    let ranges = self.with_signatures(file, [from, to], definition);
                    if self.take(file, &ranges, &mut quota) || to == from {
                        break;
                    }
                    to = from + (to - from) / 2;
                }
            }
        }
        let is_seen = |parts: &RequestedParts| parts.seen.contains(&[1, u32::MAX]);
        for seen in [false, true] {
            let wanted = files.iter().map(|it| it.requested);
            let wanted = (0..)
                .zip(wanted)
                .filter(|(_, parts)| parts.is_some_and(|it| it.all && is_seen(it) == seen));
            let mut wanted: Vec<usize> = wanted.map(|(file, _)| file).collect();
            wanted.sort_by_key(|file| files[*file].text.len());
            let reserve = self.left / 8;
            for (at, file) in wanted.iter().enumerate() {
                let others = (wanted.len() - at) as u64;
                let all = [1, self.starts[*file].len() as u32];
                let mut share = self.left / others;
                if !self.take(*file, &[all], &mut share) {
                    share = self.left.saturating_sub(reserve) / others;
                    self.windows(*file, share);
                }
            }
        }
    }

    // The best parts of a file; those that were not seen first.
    fn windows(&mut self, file: usize, mut quota: u64) {
        let seen = self.files[file].requested.map_or(&[][..], |it| &it.seen);
        let is_seen = |[from, to]: [u32; 2]| seen.iter().any(|it| it[0] <= from && to <= it[1]);
        let mut parts: Vec<(bool, f64, [u32; 2], Option<usize>)> = self
            .parts
            .iter()
            .filter(|it| it.file == file)
            .map(|part| {
                (
                    is_seen(part.unit.lines),
                    part.worth,
                    part.unit.lines,
                    part.unit.definition,
                )
            })
            .collect();
        parts.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
        for (_, _, lines, definition) in parts {
            let ranges = self.with_signatures(file, lines, definition);
            self.take(file, &ranges, &mut quota);
        }
    }

    // The places go to what the error names and to the files that are worth most.
    fn give_places(&mut self, places: usize, blamed: &[(usize, usize)]) {
        let claims = |claim| self.files.iter().filter(move |it| it.claim == claim);
        let left = places.saturating_sub(claims(Claim::Placed).count());
        let asking = |file: &usize| self.files[*file].claim == Claim::ByWorth;
        let asking = self.by_worth(TELLING_PARTS, 1.0).into_iter().filter(asking);
        let mut asking: Vec<usize> = asking.collect();
        asking.sort_by_key(|file| blamed.iter().all(|it| it.0 != *file));
        let losers: Vec<usize> = asking.into_iter().skip(left).collect();
        for (place, file) in losers.into_iter().enumerate() {
            self.without_place[file] = Some(place);
        }
    }

    // Of the best files those whole that are small, and what others import: what changes a body often
    // takes one name more.
    fn leading(&mut self, bytes: u64) {
        let shown = |file: &usize| {
            let sharer = &self.files[*file];
            sharer.product && sharer.form == Form::Parts && self.without_place[*file].is_none()
        };
        let best = |parts: usize, prior: f64, most: usize| -> Vec<usize> {
            let order = self.by_worth(parts, prior).into_iter();
            order.filter(shown).take(most).collect()
        };
        let whole = best(TELLING_PARTS + 1, 0.0, WHOLE_FILES);
        let importing = best(TELLING_PARTS, 1.0, IMPORTING_FILES);
        for file in whole {
            if self.files[file].text.len() as u64 <= bytes / 10 * 3 {
                self.whole(file);
            }
        }
        let mut quota = bytes / 10;
        for file in importing {
            if let Some(lines) = self.imports(file) {
                self.take(file, &[lines], &mut quota);
            }
        }
    }

    fn signatures(&mut self, file: usize, max_bytes: u64) {
        let declared = skeleton(self.files[file].path, self.files[file].text.as_bytes());
        // One range is the whole: nothing in it can be left out as a body.
        if declared.len() < 2 {
            return;
        }
        let mut quota = max_bytes;
        self.take(file, &declared, &mut quota);
    }

    fn whole(&mut self, file: usize) -> bool {
        let all = [1, self.starts[file].len() as u32];
        let mut quota = u64::MAX;
        self.take(file, &[all], &mut quota)
    }

    // What the log points at, with the definition around it while that is small; before it what is
    // given a place for a line of its own.
    fn evidence(&mut self, quota: u64) {
        let mut quota = quota;
        let mut order: Vec<usize> = (0..self.files.len()).collect();
        order.sort_by_key(|file| self.files[*file].claim != Claim::Placed);
        for file in order {
            let count = self.starts[file].len() as u32;
            for line in self.files[file].lines {
                if *line == 0 || *line > count {
                    continue;
                }
                let definition = self.outlines[file].innermost(*line);
                for around in [AROUND, AROUND / 3, 0] {
                    let near = [
                        line.saturating_sub(around).max(1),
                        (line + around).min(count),
                    ];
                    let ranges = self.with_signatures(file, near, definition);
                    if self.take(file, &ranges, &mut quota) {
                        break;
                    }
                }
            }
        }
    }

    // The definitions that the error itself names, as `total` or `Cart.total`, while few bear the name.
    fn blamed(&self, names: &[String]) -> Vec<(usize, usize)> {
        let named = |name: &str, owner: Option<&str>| -> Vec<(usize, usize)> {
            let product = self.outlines.iter().enumerate();
            let product = product.filter(|(file, _)| self.files[*file].product);
            let bearers = product.flat_map(|(file, outline)| {
                let all = &outline.definitions;
                let is_owned = move |one: &Definition| match (owner, one.parent) {
                    (None, _) => true,
                    (Some(owner), Some(parent)) => all[parent].name == owner,
                    (Some(_), None) => false,
                };
                let named = all.iter().enumerate();
                let named = named.filter(move |(_, it)| it.name == name && is_owned(it));
                named.map(move |(at, _)| (file, at))
            });
            bearers.collect()
        };
        let mut found = Vec::new();
        for name in names {
            let (owner, name) = match name.rsplit_once('.') {
                Some((owner, name)) => (Some(owner), name),
                None => (None, name.as_str()),
            };
            let mut bearers = named(name, owner);
            if bearers.is_empty() {
                bearers = named(name, None);
            }
            if bearers.len() <= MAX_NAMESAKES {
                found.extend(bearers);
            }
        }
        found
    }

    // Each whole, else its head.
    fn definitions(&mut self, found: &[(usize, usize)], quota: u64) {
        let mut quota = quota;
        for (file, at) in found.iter().copied() {
            let definition = &self.outlines[file].definitions[at];
            let (lines, parent) = (definition.lines, definition.parent);
            let head = [lines[0], lines[1].min(definition.signature_end + AROUND)];
            for lines in [lines, head] {
                let ranges = self.with_signatures(file, lines, parent);
                if self.take(file, &ranges, &mut quota) {
                    break;
                }
            }
        }
    }

    // The failing tests' own bodies; of several the first ones whole.
    fn tests(&mut self, quota: u64) {
        let mut quota = quota;
        for file in 0..self.files.len() {
            for at in self.failing[file].clone() {
                let lines = self.outlines[file].definitions[at].lines;
                let parent = self.outlines[file].definitions[at].parent;
                let ranges = self.with_signatures(file, lines, parent);
                if self.take(file, &ranges, &mut quota) {
                    continue;
                }
                let head = [lines[0], lines[1].min(lines[0] + 2 * AROUND)];
                let ranges = self.with_signatures(file, head, parent);
                self.take(file, &ranges, &mut quota);
            }
        }
    }

    // The parts that say most.
    fn best(&mut self) {
        let mut order: Vec<usize> = (0..self.parts.len())
            .filter(|at| {
                let file = self.parts[*at].file;
                self.without_place[file].is_none() && self.files[file].form != Form::Signatures
            })
            .collect();
        order.sort_by(|a, b| {
            let worth = |at: &usize| self.parts[*at].worth;
            worth(b).total_cmp(&worth(a)).then(a.cmp(b))
        });
        for at in order {
            let part = &self.parts[at];
            let (file, lines) = (part.file, part.unit.lines);
            let definition = part.unit.definition;
            let mut quota = u64::MAX;
            let small =
                self.files[file].product && self.files[file].text.len() as u64 <= self.small;
            let all = [1, self.starts[file].len() as u32];
            if small && self.take(file, &[all], &mut quota) {
                continue;
            }
            let inside = lines[0] as usize - 1..lines[1] as usize;
            let shown = self.taken[file].get(inside);
            if shown.is_some_and(|it| !it.contains(&false)) {
                continue;
            }
            let ranges = self.with_signatures(file, lines, definition);
            self.take(file, &ranges, &mut quota);
        }
    }

    // A few lines of every file that is still unseen: its best signature.
    fn crumbs(&mut self) {
        for file in 0..self.files.len() {
            if self.taken[file].contains(&true) {
                continue;
            }
            let best = self
                .parts
                .iter()
                .filter(|it| it.file == file)
                .max_by(|a, b| {
                    a.worth
                        .total_cmp(&b.worth)
                        .then(b.unit.lines.cmp(&a.unit.lines))
                });
            let Some(best) = best else { continue };
            let [from, to] = best.unit.lines;
            let mut quota = u64::MAX;
            for length in [4, 1] {
                if self.take(file, &[[from, to.min(from + length - 1)]], &mut quota) {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Claim, Form, Limits, Share, Sharer, Weighing, shares};
    use crate::context::candidate::RequestedParts;
    use crate::context::focus::Focus;
    use crate::model::RepoPath;
    use crate::state::Store;

    fn source(names: &[&str]) -> String {
        let body = "    value = compute(value)\n".repeat(20);
        names
            .iter()
            .map(|name| format!("def {name}(value):\n{body}\n"))
            .collect()
    }

    fn shown(text: &str, share: &Share) -> String {
        match share {
            Share::Whole => text.to_owned(),
            Share::Nothing | Share::NoPlace(_) => String::new(),
            Share::Lines(ranges) => (1..)
                .zip(text.lines())
                .filter(|(line, _)| ranges.iter().any(|[from, to]| (*from..=*to).contains(line)))
                .map(|(_, line)| format!("{line}\n"))
                .collect(),
        }
    }

    fn weighing(focus: &Focus) -> Weighing<'_> {
        Weighing {
            focus,
            issue: None,
            traced: None,
        }
    }

    const FOCUS: &str = "E   AssertionError: broken_total(3) == 4\n";

    fn limits(bytes: u64) -> Limits {
        Limits {
            bytes,
            file_bytes: 100_000,
            places: 1,
        }
    }

    fn sharer<'a>(
        path: &'a RepoPath,
        text: &'a str,
        requested: Option<&'a RequestedParts>,
    ) -> Sharer<'a> {
        Sharer {
            path,
            text,
            prior: 1.0,
            product: true,
            lines: &[],
            claim: Claim::Free,
            form: Form::Parts,
            requested,
        }
    }

    #[test]
    fn what_the_failure_names_is_shown_under_any_limit() {
        let path = RepoPath::new("src/a.py").unwrap();
        let other = RepoPath::new("src/b.py").unwrap();
        let text = source(&["first", "second", "broken_total", "fourth"]);
        let second = source(&["fifth", "sixth"]);
        let focus = Focus::of(FOCUS, None);
        let of = |max: u64, lines: &[u32]| {
            let files = [
                Sharer {
                    lines,
                    ..sharer(&path, &text, None)
                },
                Sharer {
                    prior: 0.5,
                    claim: Claim::ByWorth,
                    ..sharer(&other, &second, None)
                },
            ];
            let shares = shares(&files, weighing(&focus), &Store::nothing(), limits(max));
            [shown(&text, &shares[0]), shown(&second, &shares[1])]
        };
        assert_eq!(of(100_000, &[]), [text.clone(), second.clone()]);
        for max in [0, 10, 100, 700, 1500, 2500] {
            let [a, b] = of(max, &[]);
            assert!((a.len() + b.len()) as u64 <= max, "{max}");
            if max >= 700 {
                assert!(a.contains("def broken_total"), "{max}: {a}");
            }
        }
        let [a, _] = of(700, &[3]);
        assert!(
            a.contains("def first"),
            "the line that the log points at: {a}"
        );
    }

    #[test]
    fn what_was_asked_for_comes_first() {
        let path = RepoPath::new("src/a.py").unwrap();
        let other = RepoPath::new("src/b.py").unwrap();
        let text = source(&["first", "second", "broken_total", "fourth"]);
        let second = source(&["fifth", "sixth", "seventh", "eighth"]);
        let focus = Focus::of(FOCUS, None);
        let of = |max: u64, of_first: &RequestedParts, of_second: &RequestedParts| {
            let files = [
                sharer(&path, &text, Some(of_first)),
                sharer(&other, &second, Some(of_second)),
            ];
            let shares = shares(&files, weighing(&focus), &Store::nothing(), limits(max));
            let shown = [shown(&text, &shares[0]), shown(&second, &shares[1])];
            assert!(shown.concat().len() as u64 <= max, "{max}: {shares:?}");
            shown
        };
        let all = |seen: &[[u32; 2]]| RequestedParts {
            all: true,
            seen: seen.to_vec(),
            ..RequestedParts::default()
        };
        let lines = |lines: [u32; 2]| RequestedParts {
            lines: vec![lines],
            ..RequestedParts::default()
        };
        let nothing = RequestedParts::default();
        let [_, b] = of(2500, &nothing, &all(&[]));
        assert_eq!(b, second, "whole, though the log names the other");
        let [_, b] = of(700, &nothing, &lines([68, 80]));
        let expected: String = second.split_inclusive('\n').skip(67).take(13).collect();
        assert!(b.contains(&expected), "{b}");
        let [_, b] = of(100, &nothing, &lines([1, u32::MAX]));
        assert!(b.starts_with("def fifth"), "as far as they fit: {b}");
        // Not both fit: each has its half, and one that was seen whole waits for the other.
        let [a, b] = of(2500, &all(&[]), &all(&[]));
        assert!(a.len() > 500 && b.len() > 500, "{a}{b}");
        let [a, b] = of(2500, &all(&[[1, u32::MAX]]), &all(&[]));
        assert!(b == second && a.len() < 700, "{a}");
        let [_, b] = of(1500, &nothing, &all(&[[1, 46]]));
        let names = ["seventh", "eighth"].map(|it| b.contains(it));
        assert_eq!(names, [true; 2], "what was not seen before: {b}");
    }
}
