use crate::languages::Outline;
use crate::rank::Unit;

use super::candidates::RequestedParts;
use super::snapshot::{line_starts, ranges};

/// A file that competes for the bytes of a packet.
pub(super) struct PackFile<'a> {
    /// As the packet would show it.
    pub(super) text: &'a str,
    pub(super) outline: &'a Outline,
    /// Its parts in order, each with its worth.
    pub(super) units: Vec<(Unit, f64)>,
    /// What of it was asked for by name.
    pub(super) asked: Option<&'a RequestedParts>,
    /// Definitions of it that are failing tests.
    pub(super) failing: &'a [usize],
    /// 1-based lines that the failure points at.
    pub(super) lines: &'a [u32],
    pub(super) form: Form,
}

/// How much of a file is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The parts of most worth.
    Parts,
    /// All of it while that is little, else its best parts: project files.
    Short,
    /// All of it while it fits, else its best parts: the order of the specification.
    Whole,
}

/// The bytes of a packet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) bytes: u64,
    pub(super) file_bytes: u64,
}

/// What of a file is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Share {
    Whole,
    /// 1-based lines.
    Lines(Vec<[u32; 2]>),
    /// 1-based lines, all of signatures.
    Signatures(Vec<[u32; 2]>),
    Nothing,
}

/// Lines around a line that the failure points at.
const AROUND: u32 = 6;
/// Failing tests get a fifth of the bytes at most.
const TESTS_SHARE: u64 = 5;
/// A project file of up to a twentieth of the bytes is shown whole.
const SHORT_SHARE: u64 = 20;
/// Bytes kept for signatures of the next best parts.
const SIGNATURES_SHARE: u64 = 32;
/// The most that the mark for a gap takes in files of less than a million lines.
const MARK_BYTES: u64 = 34;
/// Lines of a signature that are shown.
const SIGNATURE_LINES: u32 = 8;

/// Gives out the bytes: what was asked for by name, the failing tests, then the parts of most worth.
pub(super) fn pack(files: &[PackFile<'_>], limits: Limits) -> Vec<Share> {
    let sizes = || files.iter().map(|file| file.text.len() as u64);
    let fits = sizes().all(|size| size <= limits.file_bytes);
    if fits && sizes().sum::<u64>() <= limits.bytes {
        return vec![Share::Whole; files.len()];
    }
    let mut packer = Packer::new(files, limits);
    packer.claim_asked();
    packer.claim_short();
    packer.claim_tests(limits.bytes / TESTS_SHARE);
    packer.take_whole();
    let reserve = (limits.bytes / SIGNATURES_SHARE).min(packer.left);
    packer.left -= reserve;
    packer.take_best();
    packer.left += reserve;
    packer.take_signatures();
    packer.left = limits.bytes.saturating_sub(packer.used());
    packer.take_best();
    packer.into_shares()
}

struct Packer<'a> {
    files: &'a [PackFile<'a>],
    starts: Vec<Vec<usize>>,
    taken: Vec<Vec<bool>>,
    // Files of which nothing but signatures is shown.
    signed: Vec<bool>,
    // File and unit, by worth.
    order: Vec<(usize, usize)>,
    left: u64,
    file_left: Vec<u64>,
}

impl<'a> Packer<'a> {
    fn new(files: &'a [PackFile<'a>], limits: Limits) -> Self {
        let starts: Vec<Vec<usize>> = files.iter().map(|file| line_starts(file.text)).collect();
        let mut order: Vec<(usize, usize)> = Vec::new();
        for (at, file) in files.iter().enumerate() {
            order.extend((0..file.units.len()).map(|unit| (at, unit)));
        }
        let worth = |(file, unit): (usize, usize)| files[file].units[unit].1;
        order.sort_by(|a, b| worth(*b).total_cmp(&worth(*a)).then(a.cmp(b)));
        Self {
            files,
            taken: starts
                .iter()
                .map(|starts| vec![false; starts.len()])
                .collect(),
            signed: vec![false; files.len()],
            starts,
            order,
            left: limits.bytes,
            file_left: vec![limits.file_bytes; files.len()],
        }
    }

    /// Shows what was asked for by name: lines first, then whole files. Where not all fit,
    /// each gets the same.
    fn claim_asked(&mut self) {
        let files = self.files;
        for (file, asked) in files.iter().enumerate() {
            let count = self.line_count(file);
            for [from, to] in asked.asked.map_or(&[][..], |asked| &asked.lines) {
                let (from, mut to) = (*from, (*to).min(count));
                while from <= to {
                    let ranges = self.with_signatures(file, [from, to]);
                    if self.take(file, &ranges) || to == from {
                        break;
                    }
                    to = from + (to - from) / 2;
                }
            }
        }
        let is_wanted = |file: &usize| files[*file].asked.is_some_and(|asked| asked.all);
        let mut wanted: Vec<usize> = (0..files.len()).filter(is_wanted).collect();
        wanted.sort_by_key(|file| files[*file].text.len());
        for (at, file) in wanted.iter().enumerate() {
            let mut share = self.left / (wanted.len() - at) as u64;
            let all = [[1, self.line_count(*file)]];
            if !self.take_within(*file, &all, &mut share) {
                self.take_best_of(*file, share);
            }
        }
    }

    fn take_best_of(&mut self, file: usize, mut quota: u64) {
        let own = self.order.iter().filter(|(other, _)| *other == file);
        let own = own.map(|(_, unit)| self.files[file].units[*unit].0.lines);
        for lines in own.collect::<Vec<_>>() {
            let ranges = self.with_signatures(file, lines);
            self.take_within(file, &ranges, &mut quota);
        }
    }

    fn claim_short(&mut self) {
        let most = self.left / SHORT_SHARE;
        for (file, of) in self.files.iter().enumerate() {
            if of.form == Form::Short && of.text.len() as u64 <= most {
                self.take(file, &[[1, self.line_count(file)]]);
            }
        }
    }

    /// Takes the bodies of the failing tests; of several the first ones whole, of the others the head.
    fn claim_tests(&mut self, mut quota: u64) {
        for (file, of) in self.files.iter().enumerate() {
            for at in of.failing {
                let [from, to] = of.outline.definitions[*at].lines;
                for end in [to, to.min(from + 2 * AROUND)] {
                    let ranges = self.with_signatures(file, [from, end]);
                    if self.take_within(file, &ranges, &mut quota) {
                        break;
                    }
                }
            }
        }
    }

    fn take_whole(&mut self) {
        for (file, of) in self.files.iter().enumerate() {
            if of.form == Form::Whole {
                self.take(file, &[[1, self.line_count(file)]]);
            }
        }
    }

    fn take_best(&mut self) {
        for (file, unit) in self.order.clone() {
            let of = &self.files[file];
            let lines = of.units[unit].0.lines;
            if self.is_shown(file, lines) {
                continue;
            }
            let ranges = self.with_signatures(file, lines);
            if self.take(file, &ranges) {
                self.signed[file] = false;
                continue;
            }
            // Of a part that does not fit, the lines that the failure points at.
            for line in of
                .lines
                .iter()
                .filter(|line| (lines[0]..=lines[1]).contains(line))
            {
                let near = [
                    line.saturating_sub(AROUND).max(1),
                    (line + AROUND).min(self.line_count(file)),
                ];
                let near = self.with_signatures(file, near);
                self.take(file, &near);
            }
        }
    }

    /// Takes the signatures of the best parts that found no room.
    fn take_signatures(&mut self) {
        for (file, unit) in self.order.clone() {
            let of = &self.files[file];
            let [from, to] = of.units[unit].0.lines;
            if self.is_shown(file, [from, to]) {
                continue;
            }
            let definition = of.units[unit]
                .0
                .definition
                .and_then(|at| of.outline.definitions.get(at));
            let head =
                definition.map_or(from, |definition| definition.signature_end.clamp(from, to));
            let first = head.saturating_sub(SIGNATURE_LINES).max(from);
            let is_first = !self.taken[file].contains(&true);
            if self.take(file, &[[first, head]]) {
                self.signed[file] |= is_first;
            }
        }
    }

    fn line_count(&self, file: usize) -> u32 {
        self.starts[file].len() as u32
    }

    fn is_shown(&self, file: usize, [from, to]: [u32; 2]) -> bool {
        let lines = self.taken[file].get(from as usize - 1..to as usize);
        lines.is_some_and(|lines| !lines.contains(&false))
    }

    // Where a 1-based line begins; behind the last line, where the text ends.
    fn start(&self, file: usize, line: u32) -> usize {
        let end = self.files[file].text.len();
        self.starts[file]
            .get(line as usize - 1)
            .copied()
            .unwrap_or(end)
    }

    fn bytes(&self, file: usize, [from, to]: [u32; 2]) -> u64 {
        (self.start(file, to + 1) - self.start(file, from)) as u64
    }

    /// Returns what is shown so far takes, marks included.
    fn used(&self) -> u64 {
        let mut used = 0;
        for (file, taken) in self
            .taken
            .iter()
            .enumerate()
            .filter(|(_, taken)| taken.contains(&true))
        {
            let mut line = 1;
            for run in taken.chunk_by(|a, b| a == b) {
                let next = line + run.len() as u32;
                let lines = [line, next - 1];
                used += if run[0] {
                    self.bytes(file, lines)
                } else {
                    mark_bytes(lines)
                };
                line = next;
            }
        }
        used
    }

    /// Returns what it takes to show these lines too.
    fn cost(&self, file: usize, ranges: &[[u32; 2]]) -> u64 {
        let taken = &self.taken[file];
        let mut cost = if taken.contains(&true) { 0 } else { MARK_BYTES };
        for [from, to] in ranges {
            let inside = taken.get(*from as usize - 1..(*to as usize).min(taken.len()));
            for (line, taken) in (*from..).zip(inside.unwrap_or_default()) {
                cost += if *taken {
                    0
                } else {
                    self.bytes(file, [line, line])
                };
            }
            let is_taken = |at: Option<usize>| at.and_then(|at| taken.get(at)) == Some(&true);
            if !is_taken((*from as usize).checked_sub(2)) && !is_taken(Some(*to as usize)) {
                cost += MARK_BYTES;
            }
        }
        cost
    }

    fn take(&mut self, file: usize, ranges: &[[u32; 2]]) -> bool {
        let mut quota = self.left;
        self.take_within(file, ranges, &mut quota)
    }

    fn take_within(&mut self, file: usize, ranges: &[[u32; 2]], quota: &mut u64) -> bool {
        let cost = self.cost(file, ranges);
        if cost > self.left.min(*quota).min(self.file_left[file]) {
            return false;
        }
        self.file_left[file] -= cost;
        self.left -= cost;
        *quota -= cost;
        for [from, to] in ranges {
            let end = (*to as usize).min(self.taken[file].len());
            if let Some(lines) = self.taken[file].get_mut(*from as usize - 1..end) {
                lines.fill(true);
            }
        }
        true
    }

    /// Returns the lines with the signatures of the definitions around them.
    fn with_signatures(&self, file: usize, lines: [u32; 2]) -> Vec<[u32; 2]> {
        let outline = self.files[file].outline;
        let mut ranges = vec![lines];
        let mut above = outline.innermost(lines[0]);
        while let Some(definition) = above.and_then(|at| outline.definitions.get(at)) {
            let first = definition.lines[0];
            let last = definition
                .signature_end
                .clamp(first, first + SIGNATURE_LINES);
            if last < lines[0] {
                ranges.push([last.saturating_sub(SIGNATURE_LINES).max(first), last]);
            }
            above = definition.parent;
        }
        ranges.sort_unstable();
        ranges
    }

    fn into_shares(self) -> Vec<Share> {
        let shown = self.taken.iter().zip(self.signed);
        let shares = shown.map(|(taken, signed)| match taken.contains(&true) {
            false => Share::Nothing,
            true if !taken.contains(&false) => Share::Whole,
            true if signed => Share::Signatures(ranges(taken)),
            true => Share::Lines(ranges(taken)),
        });
        shares.collect()
    }
}

// What `[lines 2 to 21 left out]` and its line end take.
fn mark_bytes(lines: [u32; 2]) -> u64 {
    let digits = lines.map(|line| u64::from(line.max(1).ilog10()) + 1);
    22 + digits[0] + digits[1]
}
