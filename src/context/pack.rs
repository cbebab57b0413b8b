//! Distributes the byte budget over files and parts of files.

use super::fill::Entry;
use super::inputs::cut;
use crate::model::{FileMode, Role};
use crate::rank::Lines;

/// Lines around a line that the failure points at.
const AROUND: u32 = 6;
/// Lines of a signature that are shown.
const SIGNATURE_LINES: u32 = 8;

/// How much of a file is shown, and which lines, from 1.
pub(super) type Share = Option<(FileMode, Vec<[u32; 2]>)>;

/// Distributes the bytes: first requested files, then short project files, failing tests, whole files in the order of
/// the specification, and the best parts.
pub(super) fn pack(entries: &[Entry], bytes: u64, file_bytes: u64, is_spec: bool) -> Vec<Share> {
    let sizes = entries.iter().map(|entry| entry.file.text.len() as u64);
    if sizes.clone().all(|size| size <= file_bytes) && sizes.sum::<u64>() <= bytes {
        return vec![Some((FileMode::Full, Vec::new())); entries.len()];
    }
    let mut packer = Packer::new(entries, bytes, file_bytes);
    packer.claim_asked();
    // A project file of up to a twentieth of the bytes is shown whole.
    let short = packer.left / 20;
    packer.take_whole(|entry| {
        let is_short = entry.file.text.len() as u64 <= short;
        entry.candidate.role == Role::Manifest && is_short
    });
    // Failing tests get a fifth of the bytes at most.
    packer.claim_tests(bytes / 5);
    packer.take_whole(|entry| entry.candidate.role != Role::Manifest && is_spec);
    // Bytes kept for signatures of the next best parts.
    let reserve = (bytes / 32).min(packer.left);
    packer.left -= reserve;
    packer.take_best();
    packer.left += reserve;
    packer.take_signatures();
    packer.left = bytes.saturating_sub(packer.used());
    packer.take_best();
    packer.files.iter().map(Shown::share).collect()
}

struct Packer<'a> {
    entries: &'a [Entry],
    files: Vec<Shown<'a>>,
    // File and part, by worth.
    order: Vec<(usize, usize)>,
    left: u64,
}

// The parts of a file that are shown so far.
struct Shown<'a> {
    lines: Lines<'a>,
    taken: Vec<bool>,
    // Whether that is signatures and no more.
    is_signed: bool,
    left: u64,
}

impl<'a> Packer<'a> {
    fn new(entries: &'a [Entry], bytes: u64, file_bytes: u64) -> Self {
        let mut order: Vec<(usize, usize)> = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            order.extend((0..entry.units.len()).map(|unit| (at, unit)));
        }
        order.sort_by(|a, b| {
            let [one, other] = [a, b].map(|(file, unit)| entries[*file].units[*unit].1);
            other.total_cmp(&one).then(a.cmp(b))
        });
        let files = entries.iter().map(|entry| {
            let lines = Lines::new(&entry.file.text);
            Shown {
                taken: vec![false; lines.count() as usize],
                lines,
                is_signed: false,
                left: file_bytes,
            }
        });
        Self {
            entries,
            files: files.collect(),
            order,
            left: bytes,
        }
    }

    /// Shows what was asked for by name: lines first, then whole files. Where not all fit,
    /// each gets the same.
    fn claim_asked(&mut self) {
        let mut wanted: Vec<usize> = Vec::new();
        for (file, entry) in self.entries.iter().enumerate() {
            let Some(asked) = &entry.candidate.asked else {
                continue;
            };
            for [from, to] in &asked.lines {
                let (from, mut to) = (*from, (*to).min(self.files[file].lines.count()));
                while from <= to && !self.take_with_signatures(file, [from, to]) && to > from {
                    to = from + (to - from) / 2;
                }
            }
            if asked.all {
                wanted.push(file);
            }
        }
        wanted.sort_by_key(|file| self.entries[*file].file.text.len());
        for (at, file) in wanted.iter().copied().enumerate() {
            let mut share = self.left / (wanted.len() - at) as u64;
            let all = self.files[file].all();
            if !self.take_within(file, &all, &mut share) {
                for (_, unit) in self.order.clone().into_iter().filter(|row| row.0 == file) {
                    let lines = self.entries[file].units[unit].0.lines;
                    let ranges = self.with_signatures(file, lines);
                    self.take_within(file, &ranges, &mut share);
                }
            }
        }
    }

    fn take_whole(&mut self, is_wanted: impl Fn(&Entry) -> bool) {
        for (file, entry) in self.entries.iter().enumerate() {
            if is_wanted(entry) {
                let all = self.files[file].all();
                self.take(file, &all);
            }
        }
    }

    /// Takes the bodies of the failing tests; of several the first ones whole, of the others the head.
    fn claim_tests(&mut self, mut quota: u64) {
        for (file, entry) in self.entries.iter().enumerate() {
            for at in &entry.failing {
                let [from, to] = entry.outline.definitions[*at].lines;
                let head = to.min(from + 2 * AROUND);
                let _ = [to, head].into_iter().any(|end| {
                    let ranges = self.with_signatures(file, [from, end]);
                    self.take_within(file, &ranges, &mut quota)
                });
            }
        }
    }

    fn take_best(&mut self) {
        for (file, unit) in self.order.clone() {
            let entry = &self.entries[file];
            let lines = entry.units[unit].0.lines;
            if self.files[file].holds(lines) {
                continue;
            }
            if self.take_with_signatures(file, lines) {
                self.files[file].is_signed = false;
                continue;
            }
            // When a part does not fit, only the lines that the failure points at are shown.
            let pointed = entry.candidate.lines.iter();
            for line in pointed.filter(|line| (lines[0]..=lines[1]).contains(*line)) {
                let last = self.files[file].lines.count();
                let from = line.saturating_sub(AROUND).max(1);
                self.take_with_signatures(file, [from, (line + AROUND).min(last)]);
            }
        }
    }

    /// Takes the signatures of the best parts that found no room.
    fn take_signatures(&mut self) {
        for (file, unit) in self.order.clone() {
            let entry = &self.entries[file];
            let unit = &entry.units[unit].0;
            let [from, to] = unit.lines;
            if self.files[file].holds([from, to]) {
                continue;
            }
            let definition = unit.definition.and_then(|at| entry.outline.definitions.get(at));
            let head =
                definition.map_or(from, |definition| definition.signature_end.clamp(from, to));
            let first = head.saturating_sub(SIGNATURE_LINES).max(from);
            let is_first = self.files[file].is_empty();
            if self.take(file, &[[first, head]]) {
                self.files[file].is_signed |= is_first;
            }
        }
    }

    /// Returns what is shown so far takes, marks included.
    fn used(&self) -> u64 {
        let shown = self.files.iter().filter(|file| !file.is_empty());
        shown.map(|file| cut(&file.lines, &file.ranges()).len() as u64).sum()
    }

    fn take_with_signatures(&mut self, file: usize, lines: [u32; 2]) -> bool {
        let ranges = self.with_signatures(file, lines);
        self.take(file, &ranges)
    }

    fn take(&mut self, file: usize, ranges: &[[u32; 2]]) -> bool {
        let mut quota = self.left;
        self.take_within(file, ranges, &mut quota)
    }

    fn take_within(&mut self, file: usize, ranges: &[[u32; 2]], quota: &mut u64) -> bool {
        let shown = &mut self.files[file];
        let cost = shown.cost(ranges);
        if cost > self.left.min(*quota).min(shown.left) {
            return false;
        }
        shown.left -= cost;
        self.left -= cost;
        *quota -= cost;
        for [from, to] in ranges {
            let end = (*to as usize).min(shown.taken.len());
            if let Some(lines) = shown.taken.get_mut(*from as usize - 1..end) {
                lines.fill(true);
            }
        }
        true
    }

    /// Returns the lines with the signatures of the definitions around them.
    fn with_signatures(&self, file: usize, lines: [u32; 2]) -> Vec<[u32; 2]> {
        let outline = &self.entries[file].outline;
        let mut ranges = vec![lines];
        let mut above = outline.innermost(lines[0]);
        while let Some(definition) = above.and_then(|at| outline.definitions.get(at)) {
            let first = definition.lines[0];
            let last = definition.signature_end.clamp(first, first + SIGNATURE_LINES);
            if last < lines[0] {
                ranges.push([last.saturating_sub(SIGNATURE_LINES).max(first), last]);
            }
            above = definition.parent;
        }
        ranges.sort_unstable();
        ranges
    }
}

impl Shown<'_> {
    fn all(&self) -> [[u32; 2]; 1] {
        [[1, self.lines.count()]]
    }

    fn is_empty(&self) -> bool {
        !self.taken.contains(&true)
    }

    fn holds(&self, [from, to]: [u32; 2]) -> bool {
        let lines = self.taken.get(from as usize - 1..to as usize);
        lines.is_some_and(|lines| !lines.contains(&false))
    }

    /// Returns how many bytes these lines would add.
    fn cost(&self, ranges: &[[u32; 2]]) -> u64 {
        let is_taken = |line: u32| line > 0 && self.taken.get(line as usize - 1) == Some(&true);
        // The most that the mark for a gap takes in files of less than a million lines.
        let mark_bytes = 34;
        let mut cost = if self.is_empty() { mark_bytes } else { 0 };
        for [from, to] in ranges {
            let new = (*from..=(*to).min(self.lines.count())).filter(|line| !is_taken(*line));
            let sizes = new.map(|line| self.lines.cut([line, line]).len() as u64);
            cost += sizes.sum::<u64>();
            if !is_taken(from - 1) && !is_taken(to + 1) {
                cost += mark_bytes;
            }
        }
        cost
    }

    fn ranges(&self) -> Vec<[u32; 2]> {
        let mut ranges: Vec<[u32; 2]> = Vec::new();
        for (line, _) in (1..).zip(&self.taken).filter(|(_, taken)| **taken) {
            match ranges.last_mut() {
                Some([_, to]) if *to + 1 == line => *to = line,
                _ => ranges.push([line, line]),
            }
        }
        ranges
    }

    fn share(&self) -> Share {
        match (self.is_empty(), self.taken.contains(&false)) {
            (true, _) => None,
            (false, false) => Some((FileMode::Full, Vec::new())),
            (false, true) if self.is_signed => Some((FileMode::Skeleton, self.ranges())),
            (false, true) => Some((FileMode::Window, self.ranges())),
        }
    }
}
