//! Puts files into a packet under its caps. What does not fit is recorded, so that an agent can request
//! it.

use super::candidates::Candidate;
use super::failure::Failure;
use super::inputs::{Opened, PacketInputs, Unshown};
use super::pack::pack;
use super::requested::rest;
use super::tokens::{bytes_of_tokens, estimate_tokens};
use crate::languages::Outline;
use crate::model::{
    Caps, Code, FileMode, Level, Omission, PacketFile, Profile, RejectedFile, RepoPath, Role,
    Shortening,
};
use crate::rank::{Evidence, PartFile, Pool, Question, Unit, score_parts};

/// Puts files into a packet under the caps of a level; what does not fit is written down.
pub(super) struct Fill<'a> {
    inputs: &'a PacketInputs<'a>,
    failure: &'a Failure,
    caps: Caps,
    next_rank: u64,
    /// Targets, then by rank, project files last.
    pub(super) files: Vec<PacketFile>,
    pub(super) left_out: Vec<Omission>,
    pub(super) rejected: Vec<RejectedFile>,
}

/// A candidate with its text.
pub(super) struct Entry {
    pub(super) candidate: Candidate,
    rank: Option<u64>,
    pub(super) file: Opened,
    pub(super) outline: Outline,
    /// Definitions of it that are failing tests.
    pub(super) failing: Vec<usize>,
    is_product: bool,
    /// Its parts in order, each with its worth.
    pub(super) units: Vec<(Unit, f64)>,
}

/// Which of tokens and bytes runs out first.
struct Scarce {
    bytes: u64,
    code: Code,
    limit: String,
    // With the placeholder PATH for the path of the file.
    remedy: String,
}

impl<'a> Fill<'a> {
    pub(super) fn new(inputs: &'a PacketInputs<'a>, failure: &'a Failure, caps: Caps) -> Self {
        Self {
            inputs,
            failure,
            caps,
            next_rank: 1,
            files: Vec::new(),
            left_out: Vec::new(),
            rejected: Vec::new(),
        }
    }

    /// Shares bytes and places among the candidates.
    pub(super) fn share(
        &mut self,
        candidates: Vec<Candidate>,
        question: &Question,
        rarity: &[f64],
    ) {
        let mut entries = self.open(candidates);
        self.score(&mut entries, question, rarity);
        let entries = self.give_places(entries);
        let scarce = self.scarce(&entries);
        let is_spec = self.inputs.request.profile == Profile::Spec;
        let shares = pack(&entries, scarce.bytes, self.caps.max_file_bytes, is_spec);
        for (entry, share) in entries.into_iter().zip(shares) {
            if let Some((mode, ranges)) = share {
                self.show(entry, mode, ranges, &scarce);
                continue;
            }
            let whole = entry.file.text.len() as u64;
            let unshown = Unshown {
                code: scarce.code,
                reason: scarce.reason(whole),
                bytes: Some(whole),
                remedy: scarce.remedy.replace("PATH", entry.candidate.path.as_str()),
            };
            self.refuse(&entry.candidate, entry.rank, unshown);
        }
        self.files.sort_by_key(|file| match file.role {
            Role::Target => 0,
            Role::Manifest => 2,
            _ => 1,
        });
    }

    fn open(&mut self, candidates: Vec<Candidate>) -> Vec<Entry> {
        let (inputs, failure) = (self.inputs, self.failure);
        let pool = Pool::new(&failure.targets, inputs.source.listing());
        let mut entries = Vec::new();
        for mut candidate in candidates {
            let file = match inputs.open(&candidate.path) {
                Ok(file) => file,
                Err(unshown) => {
                    self.refuse(&candidate, None, unshown);
                    continue;
                }
            };
            let outline = inputs.outline(&candidate.path, file.text.as_bytes());
            if candidate.role == Role::Target && failure.is_silent() {
                // No failure is known, so every line of a target is relevant.
                candidate.lines = (1..=file.text.lines().count() as u32).collect();
            }
            let is_source = pool.standing(&candidate.path).is_some();
            entries.push(Entry {
                failing: failure.evidence.failing(&candidate.path, &outline),
                is_product: is_source && candidate.role != Role::Manifest,
                candidate,
                rank: None,
                file,
                outline,
                units: Vec::new(),
            });
        }
        entries
    }

    /// Scores the parts, sorts the ranked files by all evidence, and weighs each part by the place
    /// of its file.
    fn score(&self, entries: &mut [Entry], question: &Question, rarity: &[f64]) {
        let files = entries.iter().map(|entry| PartFile {
            path: &entry.candidate.path,
            text: &entry.file.text,
            outline: &entry.outline,
            lines: &entry.candidate.lines,
            failing: &entry.failing,
            is_product: entry.is_product,
        });
        let files: Vec<PartFile<'_>> = files.collect();
        let traced = self.inputs.request.traced.as_ref();
        let scores = score_parts(&files, question, rarity, traced);
        drop(files);
        let mut ranked: Vec<(f64, &mut Entry)> = Vec::new();
        for (entry, units) in entries.iter_mut().zip(scores) {
            entry.units = units;
            if let Some(file) = &entry.candidate.ranked {
                ranked.push((file.score(), entry));
            }
        }
        ranked.sort_by(|(a, one), (b, other)| {
            b.total_cmp(a).then_with(|| one.candidate.path.cmp(&other.candidate.path))
        });
        for (place, (_, entry)) in ranked.into_iter().enumerate() {
            entry.rank = Some(place as u64);
            let factor = self.caps.max_tokens.map_or(1.0, |tokens| {
                let tokens = tokens.max(1) as f64;
                // A file is worth half of the first once 600 tokens for each file before it use up the budget: the more tokens
                // there are, the further down the order it pays to look.
                tokens / (tokens + 600.0 * place as f64)
            });
            entry.units.iter_mut().for_each(|(_, worth)| *worth *= factor);
        }
    }

    /// Keeps the candidates that have a place, in packet order, and leaves out the others.
    fn give_places(&mut self, mut entries: Vec<Entry>) -> Vec<Entry> {
        let is_spec = self.inputs.request.profile == Profile::Spec;
        entries.sort_by_key(|entry| group(entry, is_spec));
        let ranked = entries.partition_point(|entry| group(entry, is_spec).0 < 2);
        let others = entries.partition_point(|entry| group(entry, is_spec).0 < 3);
        // Ranked files come before files without a score, such as test helpers.
        let further = others.min(ranked + 24);
        entries[further..].rotate_left(others - further);
        let mut kept = Vec::new();
        for mut entry in entries {
            entry.rank = (!entry.is_outside_limit()).then_some(self.next_rank);
            if entry.rank > Some(self.caps.max_files) {
                self.leave_out(&entry.candidate.path);
                continue;
            }
            self.next_rank += u64::from(entry.rank.is_some());
            kept.push(entry);
        }
        kept
    }

    /// Writes down a file for which there is no place.
    pub(super) fn leave_out(&mut self, path: &RepoPath) {
        let (rank, places) = (self.next_rank, self.caps.max_files);
        self.next_rank += 1;
        let level = self.failure.level;
        let unshown = Unshown {
            code: Code::C101,
            reason: format!("all {places} places for related files at level {level} are used"),
            bytes: None,
            remedy: format!(
                "--max-files {}, or --request-path {path}",
                rank.max(places + 1)
            ),
        };
        self.omit(path, Some(rank), unshown);
    }

    fn show(&mut self, entry: Entry, mode: FileMode, ranges: Vec<[u32; 2]>, scarce: &Scarce) {
        let shortened = (mode != FileMode::Full).then(|| self.shortening(&entry, &ranges, scarce));
        let (candidate, mut file) = (entry.candidate, entry.file);
        let content = file.show(&ranges);
        let bytes = content.len() as u64;
        let evidence = candidate.ranked.as_ref().map(|ranked| &ranked.evidence);
        let (score, scores) = evidence.map(Evidence::scores).unzip();
        let reason = evidence.map(Evidence::reason);
        let why = [candidate.why, reason.unwrap_or_default()];
        let why: Vec<String> = why.into_iter().filter(|part| !part.is_empty()).collect();
        self.files.push(PacketFile {
            path: candidate.path,
            role: candidate.role,
            rank: entry.rank,
            hops: candidate.hops,
            via: candidate.via,
            why: why.join("; "),
            score,
            scores: scores.unwrap_or_default(),
            mode,
            ranges,
            bytes,
            tokens: estimate_tokens(bytes),
            blob_id: file.blob_id,
            sha256: file.sha256,
            encoding: file.encoding,
            content,
            redactions: file.redactions,
            warnings: file.warnings,
            shortened,
        });
    }

    fn shortening(&self, entry: &Entry, ranges: &[[u32; 2]], scarce: &Scarce) -> Shortening {
        let (candidate, text) = (&entry.candidate, &entry.file.text);
        let (bytes, max) = (text.len() as u64, self.caps.max_file_bytes);
        let (code, reason, remedy) = if bytes > max {
            let reason = format!("{bytes} bytes exceed the limit of {max} per file");
            (Code::C105, reason, format!("--max-file-bytes {bytes}"))
        } else {
            let reason = scarce.reason(bytes);
            (scarce.code, reason, scarce.remedy.clone())
        };
        let is_requested = candidate.asked.is_some() && candidate.role != Role::Mentioned;
        let ask = is_requested.then(|| rest(&candidate.path, text, ranges));
        Shortening {
            code,
            reason,
            bytes,
            remedy: remedy.replace("PATH", candidate.path.as_str()),
            ask: ask.unwrap_or_default(),
        }
    }

    fn scarce(&self, entries: &[Entry]) -> Scarce {
        let files = entries.len() as u64;
        let all: u64 = entries.iter().map(|entry| entry.file.text.len() as u64).sum();
        let tokens = self.caps.max_tokens.unwrap_or(u64::MAX);
        let log = self.failure.log_tokens(self.inputs.request);
        // The tokens of each file are rounded up.
        let by_tokens = bytes_of_tokens(tokens.saturating_sub(log + files));
        let mut left = self.caps.max_total_bytes;
        if self.failure.level <= Level::OneHop {
            // The byte cap of level 1 counts what it adds to the targets, that of level 2 everything.
            let free = entries.iter().filter(|entry| entry.is_outside_limit());
            left = left.saturating_add(
                free.map(|entry| entry.file.text.len() as u64).sum::<u64>().min(left),
            );
        }
        if left < by_tokens {
            let zero = match self.caps.max_tokens {
                Some(_) => ", --max-tokens 0",
                None => "",
            };
            return Scarce {
                bytes: left,
                code: Code::C102,
                limit: format!("{left} bytes"),
                remedy: format!("--max-total-bytes {all}{zero}"),
            };
        }
        Scarce {
            bytes: by_tokens,
            code: Code::C103,
            limit: format!("{tokens} tokens"),
            // With more tokens other files would come in too: no figure gives a file its place.
            remedy: "--request-path PATH".to_owned(),
        }
    }

    // A file that the caller named is refused, another is left out.
    fn refuse(&mut self, candidate: &Candidate, rank: Option<u64>, unshown: Unshown) {
        if matches!(candidate.role, Role::Requested | Role::Target) {
            self.reject(candidate.path.as_str(), unshown);
        } else {
            self.omit(&candidate.path, rank, unshown);
        }
    }

    /// Writes down a file that was asked for and is not given.
    pub(super) fn reject(&mut self, path: &str, unshown: Unshown) {
        self.rejected.push(RejectedFile {
            path: self.inputs.redactor.mask(path),
            code: unshown.code,
            reason: unshown.reason,
        });
    }

    fn omit(&mut self, path: &RepoPath, rank: Option<u64>, unshown: Unshown) {
        let entry = self.inputs.source.listing().get(path.as_str());
        self.left_out.push(Omission {
            path: self.inputs.mask_name(path).to_string(),
            rank,
            code: unshown.code,
            reason: unshown.reason,
            bytes: unshown.bytes.or(entry.map(|entry| entry.bytes)),
            remedy: unshown.remedy,
        });
    }
}

fn group(entry: &Entry, is_spec: bool) -> (u8, Option<u64>) {
    match (entry.is_outside_limit(), entry.rank) {
        (true, _) => (0, None),
        _ if is_spec || entry.candidate.asked.is_some() => (1, None),
        (_, Some(rank)) => (2, Some(rank)),
        (_, None) => (3, None),
    }
}

impl Entry {
    // Whether it takes none of the places of a level.
    fn is_outside_limit(&self) -> bool {
        matches!(self.candidate.role, Role::Target | Role::Manifest)
    }
}

impl Scarce {
    fn reason(&self, whole: u64) -> String {
        let size = match self.code {
            Code::C103 => format!("{} tokens", estimate_tokens(whole)),
            _ => format!("{whole} bytes"),
        };
        format!("no room for {size}; the packet's limit is {}", self.limit)
    }
}
