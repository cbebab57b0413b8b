use crate::languages::{Outline, skeleton};
use crate::rank::{Piece, Question, Unit, units, worth};
use crate::state::Store;

use super::focus::Focus;
use super::outlines::known_outline;
use super::share::{Claim, Form, Limits, Share, Sharer};

/// Shares the bytes out among the files by what their parts are worth: what the log points at and
/// the failing tests first, then the best files whole while they are small, then the parts that
/// say most, then a few lines of every file that is still unseen.
pub(super) fn shares(
    files: &[Sharer<'_>],
    focus: &Focus,
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
    let mut board = Board::new(files, focus, outlines, limits);
    board.give_places(limits.places);
    for (number, file) in files.iter().enumerate() {
        match file.form {
            Form::Whole => board.whole(number),
            Form::Signatures => board.signatures(number, limits.bytes / 10),
            Form::Short if file.text.len() as u64 <= limits.bytes / 20 => board.whole(number),
            Form::Parts | Form::Short => {}
        }
    }
    if all_fit {
        (0..files.len()).for_each(|number| board.whole(number));
    }
    board.evidence(limits.bytes / 4);
    board.tests(limits.bytes / 10 * 3);
    board.small(limits.bytes / 10 * 3);
    let crumbs = limits.bytes / 32;
    board.left = board.left.saturating_sub(crumbs);
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

struct Part {
    file: usize,
    unit: Unit,
    worth: f64,
}

struct Board<'a> {
    files: &'a [Sharer<'a>],
    outlines: Vec<Outline>,
    starts: Vec<Vec<usize>>,
    parts: Vec<Part>,
    taken: Vec<Vec<bool>>,
    failing: Vec<Vec<usize>>,
    left: u64,
    // A file of no more bytes is one part.
    small: u64,
    file_left: Vec<u64>,
    // Files that are not shown at all, with their place among those.
    without_place: Vec<Option<usize>>,
}

/// What the mark for a gap takes at most, in files of less than a million lines.
const MARK_BYTES: u64 = 34;
/// Lines around one that the log points at.
const AROUND: u32 = 6;
/// Lines of a signature that are shown.
const SIGNATURE_LINES: u32 = 8;
/// Parts of a file that say what it is worth.
const TELLING_PARTS: usize = 2;
/// Files that are shown whole when they are small.
const WHOLE_FILES: usize = 2;

impl<'a> Board<'a> {
    fn new(files: &'a [Sharer<'a>], focus: &Focus, outlines: &Store, limits: Limits) -> Self {
        let outlines: Vec<Outline> = files
            .iter()
            .map(|file| known_outline(outlines, file.path, file.text.as_bytes()))
            .collect();
        let starts: Vec<Vec<usize>> = files.iter().map(|file| line_starts(file.text)).collect();
        let failing: Vec<Vec<usize>> = files
            .iter()
            .zip(&outlines)
            .map(|(file, outline)| focus.failing(file.path, outline, file.text))
            .collect();
        let mut board = Self {
            files,
            taken: starts.iter().map(|it| vec![false; it.len()]).collect(),
            outlines,
            starts,
            parts: Vec::new(),
            failing,
            left: limits.bytes,
            small: limits.bytes / 25,
            file_left: vec![limits.file_bytes; files.len()],
            without_place: vec![None; files.len()],
        };
        board.weigh(focus);
        board
    }

    fn weigh(&mut self, focus: &Focus) {
        let mut names: Vec<Vec<&str>> = Vec::new();
        let mut pieces: Vec<(usize, Unit)> = Vec::new();
        for (number, outline) in self.outlines.iter().enumerate() {
            let count = self.starts[number].len() as u32;
            for unit in units(outline, count) {
                let [from, to] = unit.lines;
                let inside = outline.definitions.iter().filter(|it| {
                    let first = it.signature_end.min(it.lines[1]);
                    (from..=to).contains(&first)
                });
                names.push(inside.map(|it| it.name.as_str()).collect());
                pieces.push((number, unit));
            }
        }
        let mut seeds: Vec<(usize, f64)> = Vec::new();
        let tests: usize = self.failing.iter().map(Vec::len).sum();
        let each = 1.0 / (tests.max(1) as f64).sqrt();
        for (at, (number, unit)) in pieces.iter().enumerate() {
            let touches = |lines: [u32; 2]| unit.lines[0] <= lines[1] && lines[0] <= unit.lines[1];
            let definitions = &self.outlines[*number].definitions;
            let is_test = self.failing[*number]
                .iter()
                .any(|it| touches(definitions[*it].lines));
            let pointed = self.files[*number]
                .lines
                .iter()
                .any(|it| touches([*it, *it]));
            let weight = if is_test { each } else { 0.0 } + if pointed { 1.0 } else { 0.0 };
            if weight > 0.0 {
                seeds.push((at, weight));
            }
        }
        if seeds.is_empty() && focus.text.trim().is_empty() {
            // Nothing fails that is known of: what the targets use is what there is to ask.
            let free = |number: usize| self.files[number].claim == Claim::Free;
            let of_targets = pieces.iter().enumerate().filter(|(_, it)| free(it.0));
            seeds.extend(of_targets.map(|(at, _)| (at, 1.0)));
        }
        let rest = rest_of_definitions(&pieces, &self.outlines);
        let texts: Vec<Piece<'_>> = pieces
            .iter()
            .zip(&names)
            .zip(&rest)
            .map(|(((number, unit), defines), rest)| Piece {
                text: self.text(*number, unit.lines).as_bytes(),
                defines,
                rest,
                prior: self.files[*number].prior,
                product: self.files[*number].product,
            })
            .collect();
        let question = Question {
            evidence: focus.text.as_bytes(),
            seeds,
        };
        let worths = worth(&texts, &question);
        self.parts = pieces
            .into_iter()
            .zip(worths)
            .map(|((file, unit), worth)| Part { file, unit, worth })
            .collect();
    }

    fn text(&self, file: usize, [from, to]: [u32; 2]) -> &'a str {
        let text: &'a str = self.files[file].text;
        &text[self.start(file, from)..self.start(file, to + 1)]
    }

    // What is shown so far takes, marks included.
    fn used(&self) -> u64 {
        let files = self.taken.iter().enumerate();
        let files = files.filter(|(_, taken)| taken.contains(&true));
        files
            .map(|(file, taken)| {
                let mut bytes = 0;
                let mut line = 0;
                for run in taken.chunk_by(|a, b| a == b) {
                    let lines = [line + 1, line + run.len() as u32];
                    line = lines[1];
                    bytes += if run[0] {
                        self.text(file, lines).len() as u64
                    } else {
                        mark_bytes(lines)
                    };
                }
                bytes
            })
            .sum()
    }

    // Where a 1-based line begins in its file's text; behind the last line, where that ends.
    fn start(&self, file: usize, line: u32) -> usize {
        let starts = &self.starts[file];
        let end = self.files[file].text.len();
        starts.get(line as usize - 1).copied().unwrap_or(end)
    }

    // What showing these lines too would take.
    fn cost(&self, file: usize, ranges: &[[u32; 2]]) -> u64 {
        let taken = &self.taken[file];
        let mut cost = 0;
        for [from, to] in ranges {
            let inside = *from as usize - 1..(*to as usize).min(taken.len());
            let mut line = *from;
            for run in taken
                .get(inside)
                .unwrap_or_default()
                .chunk_by(|a, b| a == b)
            {
                let next = line + run.len() as u32;
                if !run[0] {
                    cost += (self.start(file, next) - self.start(file, line)) as u64;
                }
                line = next;
            }
            let joined = |at: Option<usize>| at.and_then(|it| taken.get(it)).is_some_and(|it| *it);
            if !joined((*from as usize).checked_sub(2)) && !joined(Some(*to as usize)) {
                cost += MARK_BYTES;
            }
        }
        if !taken.contains(&true) {
            cost += MARK_BYTES;
        }
        cost
    }

    fn take(&mut self, file: usize, ranges: &[[u32; 2]], quota: &mut u64) -> bool {
        if self.without_place[file].is_some() {
            return false;
        }
        let cost = self.cost(file, ranges);
        if cost > self.left.min(*quota).min(self.file_left[file]) {
            return false;
        }
        self.file_left[file] -= cost;
        self.left -= cost;
        *quota -= cost;
        for [from, to] in ranges {
            for line in *from..=*to {
                if let Some(taken) = self.taken[file].get_mut(line as usize - 1) {
                    *taken = true;
                }
            }
        }
        true
    }

    // The lines with the signatures of the definitions around them.
    fn with_signatures(
        &self,
        file: usize,
        lines: [u32; 2],
        definition: Option<usize>,
    ) -> Vec<[u32; 2]> {
        let mut ranges = vec![lines];
        let mut above = definition;
        while let Some(definition) = above.and_then(|at| self.outlines[file].definitions.get(at)) {
            let first = definition.lines[0];
            let last = definition
                .signature_end
                .max(first)
                .min(first + SIGNATURE_LINES);
            if last < lines[0] {
                // The comment above it is not needed to know where one is.
                ranges.push([last.saturating_sub(SIGNATURE_LINES).max(first), last]);
            }
            above = definition.parent;
        }
        ranges.sort_unstable();
        ranges
    }

    // The worth of a file by its best parts, most first.
    fn by_worth(&self, parts: usize) -> Vec<(usize, f64)> {
        let mut worths: Vec<Vec<f64>> = vec![Vec::new(); self.files.len()];
        for part in &self.parts {
            worths[part.file].push(part.worth);
        }
        let mut files: Vec<(usize, f64)> = worths
            .into_iter()
            .map(|mut worths| {
                worths.sort_by(|a, b| b.total_cmp(a));
                worths.iter().take(parts).sum()
            })
            .enumerate()
            .collect();
        files.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        files
    }

    // The places go to the files that are worth most.
    fn give_places(&mut self, places: usize) {
        let claims = |claim| self.files.iter().filter(move |it| it.claim == claim);
        let left = places.saturating_sub(claims(Claim::Placed).count());
        let by_worth = self.by_worth(TELLING_PARTS);
        let asking = |file: usize| self.files[file].claim == Claim::ByWorth;
        let losers = by_worth.into_iter().filter(|(file, _)| asking(*file));
        let losers: Vec<usize> = losers.skip(left).map(|(file, _)| file).collect();
        for (place, file) in losers.into_iter().enumerate() {
            self.without_place[file] = Some(place);
        }
    }

    // Whole files, the best ones, each in no more than so many bytes.
    fn small(&mut self, max_bytes: u64) {
        let shown = |file: usize| {
            let it = &self.files[file];
            it.product && it.form == Form::Parts && self.without_place[file].is_none()
        };
        let best = self.by_worth(TELLING_PARTS + 1).into_iter();
        let best: Vec<usize> = best.map(|it| it.0).filter(|it| shown(*it)).collect();
        for file in best.into_iter().take(WHOLE_FILES) {
            if self.files[file].text.len() as u64 <= max_bytes {
                self.whole(file);
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

    fn whole(&mut self, file: usize) {
        let all = [1, self.starts[file].len() as u32];
        let mut quota = u64::MAX;
        self.take(file, &[all], &mut quota);
    }

    // What the log points at, with the definition around it while that is small.
    fn evidence(&mut self, quota: u64) {
        let mut quota = quota;
        for file in 0..self.files.len() {
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

    fn into_shares(self) -> Vec<Share> {
        self.taken
            .iter()
            .zip(&self.without_place)
            .map(|(taken, without_place)| {
                if let Some(place) = without_place {
                    return Share::NoPlace(*place);
                }
                if !taken.contains(&true) {
                    return Share::Nothing;
                }
                if !taken.contains(&false) {
                    return Share::Whole;
                }
                let mut ranges: Vec<[u32; 2]> = Vec::new();
                for (line, _) in (1..).zip(taken).filter(|(_, taken)| **taken) {
                    match ranges.last_mut() {
                        Some([_, to]) if *to + 1 == line => *to = line,
                        _ => ranges.push([line, line]),
                    }
                }
                Share::Lines(ranges)
            })
            .collect()
    }
}

// For each piece the others of the definition that begins in it.
fn rest_of_definitions(pieces: &[(usize, Unit)], outlines: &[Outline]) -> Vec<Vec<usize>> {
    let lines = |at: usize| {
        let (file, unit) = &pieces[at];
        let definition = outlines[*file].definitions.get(unit.definition?)?;
        let head = definition.signature_end.min(definition.lines[1]);
        let begins = (unit.lines[0]..=unit.lines[1]).contains(&head);
        (begins && definition.lines[1] > unit.lines[1]).then_some(definition.lines)
    };
    (0..pieces.len())
        .map(|at| {
            let Some([from, to]) = lines(at) else {
                return Vec::new();
            };
            let near = |it: &usize| {
                let (file, unit) = &pieces[*it];
                *file == pieces[at].0 && from <= unit.lines[0] && unit.lines[1] <= to
            };
            let behind = (at + 1..pieces.len()).take_while(near);
            let before = (0..at).rev().take_while(near);
            before.chain(behind).collect()
        })
        .collect()
}

// What `[lines 2 to 21 left out]` and its line end take.
fn mark_bytes(lines: [u32; 2]) -> u64 {
    let digits = lines.map(|line| u64::from(line.max(1).ilog10()) + 1);
    22 + digits[0] + digits[1]
}

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0)
        .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1))
        .filter(|start| *start < text.len())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Claim, Form, Limits, Share, Sharer, shares};
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

    #[test]
    fn what_the_failure_names_is_shown_under_any_limit() {
        let path = RepoPath::new("src/a.py").unwrap();
        let other = RepoPath::new("src/b.py").unwrap();
        let text = source(&["first", "second", "broken_total", "fourth"]);
        let second = source(&["fifth", "sixth"]);
        let focus = Focus::of("E   AssertionError: broken_total(3) == 4\n", None);
        let of = |max: u64, lines: &[u32], asked: bool| {
            let files = [
                Sharer {
                    path: &path,
                    text: &text,
                    prior: 1.0,
                    product: true,
                    lines,
                    claim: Claim::Free,
                    form: Form::Parts,
                },
                Sharer {
                    path: &other,
                    text: &second,
                    prior: 0.5,
                    product: true,
                    lines: &[],
                    claim: Claim::ByWorth,
                    form: if asked { Form::Whole } else { Form::Parts },
                },
            ];
            let shares = shares(
                &files,
                &focus,
                &Store::nothing(),
                Limits {
                    bytes: max,
                    file_bytes: 100_000,
                    places: 1,
                },
            );
            [shown(&text, &shares[0]), shown(&second, &shares[1])]
        };
        assert_eq!(of(100_000, &[], false), [text.clone(), second.clone()]);
        for max in [0, 10, 100, 700, 1500, 2500] {
            let [a, b] = of(max, &[], false);
            assert!((a.len() + b.len()) as u64 <= max, "{max}");
            if max >= 700 {
                assert!(a.contains("def broken_total"), "{max}: {a}");
            }
        }
        let [a, _] = of(700, &[3], false);
        assert!(
            a.contains("def first"),
            "the line that the log points at: {a}"
        );
        let [_, b] = of(1500, &[], true);
        assert_eq!(b, second, "what was asked for comes whole");
    }
}
