use crate::languages::{Language, Outline};
use crate::model::{RepoPath, Traced};
use crate::rank::{Issue, Piece, Question, Rarity, Unit, Wording, units, worth};
use crate::state::Store;

use super::focus::Focus;
use super::share::{Claim, Limits, Share, Sharer};
use super::snapshot::{line_starts, ranges};
use crate::rank::known_outline;

/// A part of a file and what it is worth.
pub(super) struct Part {
    pub(super) file: usize,
    pub(super) unit: Unit,
    pub(super) worth: f64,
}

/// What parts are weighed by.
#[derive(Clone, Copy)]
pub(super) struct Weighing<'a> {
    pub(super) focus: &'a Focus,
    /// What a person asks for, in place of a log.
    pub(super) issue: Option<(&'a Issue, &'a Rarity)>,
    /// What the failing tests ran.
    pub(super) traced: Option<&'a Traced>,
}

impl Weighing<'_> {
    // How much lines are of the failing tests alone; `None` where that is not known. What was not loaded, where
    // other files of its language were, did not run.
    fn ran(&self, path: &RepoPath, lines: [u32; 2], in_definition: bool) -> Option<f64> {
        let traced = self.traced?;
        let language = Language::of_path(path.as_str())?;
        let of_it = |it: &RepoPath| Language::of_path(it.as_str()) == Some(language);
        let loaded = traced.files.contains_key(path);
        if !loaded && in_definition && traced.files.keys().any(of_it) {
            return Some(0.0);
        }
        traced.score(path, lines)
    }

    fn is_silent(&self) -> bool {
        self.issue.is_none() && self.focus.text.trim().is_empty()
    }
}

/// What is shown so far of the files that share, and what is left for the rest.
pub(super) struct Board<'a> {
    pub(super) files: &'a [Sharer<'a>],
    pub(super) outlines: Vec<Outline>,
    pub(super) starts: Vec<Vec<usize>>,
    pub(super) parts: Vec<Part>,
    pub(super) taken: Vec<Vec<bool>>,
    pub(super) failing: Vec<Vec<usize>>,
    pub(super) left: u64,
    // A file of no more bytes is one part.
    pub(super) small: u64,
    pub(super) file_left: Vec<u64>,
    // Files that are not shown at all, with their place among those.
    pub(super) without_place: Vec<Option<usize>>,
}

/// How statements begin that take names from other files.
const IMPORTS: [&str; 3] = ["import ", "from ", "export "];
/// Lines of imports that are shown.
const MOST_IMPORTS: u32 = 40;
/// What the mark for a gap takes at most, in files of less than a million lines.
const MARK_BYTES: u64 = 34;
/// Lines of a signature that are shown.
const SIGNATURE_LINES: u32 = 8;

impl<'a> Board<'a> {
    pub(super) fn new(
        files: &'a [Sharer<'a>],
        weighing: Weighing<'_>,
        outlines: &Store,
        limits: Limits,
    ) -> Self {
        let outlines: Vec<Outline> = files
            .iter()
            .map(|file| known_outline(outlines, file.path, file.text.as_bytes()))
            .collect();
        let starts: Vec<Vec<usize>> = files.iter().map(|file| line_starts(file.text)).collect();
        let failing: Vec<Vec<usize>> = files
            .iter()
            .zip(&outlines)
            .map(|(file, outline)| weighing.focus.failing(file.path, outline, file.text))
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
        board.weigh(weighing);
        board
    }

    fn weigh(&mut self, weighing: Weighing<'_>) {
        let mut names: Vec<Vec<&str>> = Vec::new();
        let mut pieces: Vec<(usize, Unit)> = Vec::new();
        for (number, outline) in self.outlines.iter().enumerate() {
            let count = self.starts[number].len() as u32;
            for unit in units(outline, count) {
                let [from, to] = unit.lines;
                let inside = outline.definitions.iter().filter(|definition| {
                    let first = definition.signature_end.min(definition.lines[1]);
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
        if seeds.is_empty() && weighing.is_silent() {
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
                ran: weighing.ran(
                    self.files[*number].path,
                    unit.lines,
                    unit.definition.is_some(),
                ),
            })
            .collect();
        let question = Question {
            wording: match weighing.issue {
                Some((issue, rarity)) => Wording::Issue(issue, rarity),
                None => Wording::Log(weighing.focus.text.as_bytes()),
            },
            seeds: &seeds,
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
    pub(super) fn used(&self) -> u64 {
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
    pub(super) fn start(&self, file: usize, line: u32) -> usize {
        let starts = &self.starts[file];
        let end = self.files[file].text.len();
        starts.get(line as usize - 1).copied().unwrap_or(end)
    }

    // What showing these lines too would take.
    pub(super) fn cost(&self, file: usize, ranges: &[[u32; 2]]) -> u64 {
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

    pub(super) fn take(&mut self, file: usize, ranges: &[[u32; 2]], quota: &mut u64) -> bool {
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
    pub(super) fn with_signatures(
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

    // The files by their best parts, and by what speaks for each `prior` times, those first that are worth most.
    pub(super) fn by_worth(&self, parts: usize, prior: f64) -> Vec<usize> {
        let mut worths: Vec<Vec<f64>> = vec![Vec::new(); self.files.len()];
        for part in &self.parts {
            worths[part.file].push(part.worth);
        }
        let worths = worths
            .into_iter()
            .zip(self.files)
            .map(|(mut worths, file)| {
                worths.sort_by(|a, b| b.total_cmp(a));
                prior * file.prior + worths.iter().take(parts).sum::<f64>()
            });
        let mut files: Vec<(usize, f64)> = worths.enumerate().collect();
        files.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        files.into_iter().map(|it| it.0).collect()
    }

    // The lines with which a file says what it takes from others; the outermost statements of its head.
    pub(super) fn imports(&self, file: usize) -> Option<[u32; 2]> {
        let outline = &self.outlines[file];
        let end = outline
            .definitions
            .first()
            .map_or(u32::MAX, |it| it.lines[0]);
        let depth = outline.statements.iter().map(|it| it.1).min()?;
        let outermost = outline.statements.iter().filter(|it| it.1 == depth);
        let head: Vec<u32> = outermost
            .map(|it| it.0)
            .take_while(|it| *it < end)
            .collect();
        let count = self.starts[file].len() as u32;
        let is_import = |line: &u32| {
            let text = self.text(file, [*line, (*line).min(count)]);
            IMPORTS.iter().any(|it| text.starts_with(it))
        };
        let first = *head.iter().find(|it| is_import(it))?;
        let last = head.iter().rposition(is_import)?;
        let behind = head.get(last + 1).map_or(end.min(head[last] + 1), |it| *it);
        Some([first, (behind - 1).min(first + MOST_IMPORTS).min(count)])
    }

    pub(super) fn into_shares(self) -> Vec<Share> {
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
                Share::Lines(ranges(taken))
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
            let near = |line: &usize| {
                let (file, unit) = &pieces[*line];
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
