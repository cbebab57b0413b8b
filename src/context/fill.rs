use super::build::PacketInputs;
use super::candidates::{Candidate, Place};
use super::failure::Failure;
use super::leftover::LeftOut;
use super::pack::{Form, Limits, PackFile, Share, pack};
use super::requested::rest;
use super::snapshot::{Opened, SnapshotTaker, Unshown};
use super::tokens::{bytes_of_tokens, estimate_tokens};
use crate::languages::Outline;
use crate::model::{
    Caps, Code, FileMode, Level, Omission, PacketFile, Profile, RejectedFile, RepoPath, Role,
    Shortening, Traced,
};
use crate::rank::{Evidence, PartFile, Pool, Question, Unit, known_outline, score_parts};

/// Puts files into a packet under the caps of a level; what does not fit is written down.
pub(super) struct Fill<'a> {
    taker: &'a SnapshotTaker<'a>,
    caps: Caps,
    level: Level,
    profile: Profile,
    without_place: u64,
    next_rank: u64,
    added_bytes: u64,
    tokens: u64,
    targets: Vec<PacketFile>,
    ranked: Vec<PacketFile>,
    manifests: Vec<PacketFile>,
    left_out: LeftOut,
    rejected: Vec<RejectedFile>,
}

/// A candidate with its text.
struct Entry {
    candidate: Candidate,
    rank: Option<u64>,
    file: Opened,
    outline: Outline,
    failing: Vec<usize>,
    is_product: bool,
    units: Vec<(Unit, f64)>,
}

/// Which of tokens and bytes runs out first.
struct Scarce {
    bytes: u64,
    code: Code,
    limit: String,
    remedy: String,
}

/// Of so many tokens for each file before it, a file is worth half of the first: the more tokens
/// there are, the further down the order it pays to look.
const TOKENS_PER_PLACE: f64 = 600.0;
/// Ranked files before those that no score speaks for, such as helpers of tests.
const BEFORE_HELPERS: usize = 24;

impl<'a> Fill<'a> {
    pub(super) fn new(
        taker: &'a SnapshotTaker<'a>,
        caps: Caps,
        failure: &Failure,
        profile: Profile,
    ) -> Self {
        Self {
            taker,
            caps,
            level: failure.level,
            profile,
            without_place: 0,
            next_rank: 1,
            added_bytes: 0,
            tokens: failure.log_tokens,
            targets: Vec::new(),
            ranked: Vec::new(),
            manifests: Vec::new(),
            left_out: LeftOut::default(),
            rejected: Vec::new(),
        }
    }

    /// Shares bytes and places among the candidates.
    pub(super) fn share(
        &mut self,
        candidates: Vec<Candidate>,
        (question, rarity): (&Question, &[f64]),
        inputs: &PacketInputs<'_>,
        failure: &Failure,
    ) {
        let mut entries = self.open(candidates, failure, inputs);
        self.score(
            &mut entries,
            question,
            rarity,
            inputs.request.traced.as_ref(),
        );
        let entries = self.give_places(entries);
        let sizes = entries.iter().map(|entry| entry.file.text.len() as u64);
        let free = entries
            .iter()
            .filter(|entry| entry.candidate.place == Place::Free);
        let free = free.map(|entry| entry.file.text.len() as u64).sum();
        let scarce = self.scarce(&sizes.collect::<Vec<_>>(), free);
        let files: Vec<PackFile<'_>> = entries.iter().map(|entry| self.pack_file(entry)).collect();
        let limits = Limits {
            bytes: scarce.bytes,
            file_bytes: self.caps.max_file_bytes,
        };
        let shares = pack(&files, limits);
        drop(files);
        for (entry, share) in entries.into_iter().zip(shares) {
            match share {
                Share::Nothing => {
                    let whole = entry.file.text.len() as u64;
                    let unshown = Unshown {
                        code: scarce.code,
                        reason: scarce.reason(whole, "found no room in"),
                        bytes: Some(whole),
                        remedy: scarce.remedy.clone(),
                    };
                    self.refuse(&entry.candidate, entry.rank, unshown);
                }
                Share::Whole => self.show(entry, FileMode::Full, Vec::new(), &scarce),
                Share::Lines(lines) => self.show(entry, FileMode::Window, lines, &scarce),
                Share::Signatures(lines) => self.show(entry, FileMode::Skeleton, lines, &scarce),
            }
        }
    }

    fn open(
        &mut self,
        candidates: Vec<Candidate>,
        failure: &Failure,
        inputs: &PacketInputs<'_>,
    ) -> Vec<Entry> {
        let pool = Pool::new(&failure.targets, inputs.source.listing());
        let mut entries = Vec::new();
        for mut candidate in candidates {
            let file = match self.taker.open(&candidate.path) {
                Ok(file) => file,
                Err(unshown) => {
                    self.refuse(&candidate, None, unshown);
                    continue;
                }
            };
            let outline = known_outline(self.taker.outlines, &candidate.path, file.text.as_bytes());
            if candidate.role == Role::Target && failure.is_silent() {
                // Nothing fails that is known of: the targets are the question.
                candidate.lines = (1..=file.text.lines().count() as u32).collect();
            }
            entries.push(Entry {
                failing: failure.evidence.failing(&candidate.path, &outline),
                is_product: pool.standing(&candidate.path).is_some(),
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
    fn score(
        &self,
        entries: &mut [Entry],
        question: &Question,
        rarity: &[f64],
        traced: Option<&Traced>,
    ) {
        let files: Vec<PartFile<'_>> = entries
            .iter()
            .map(|entry| PartFile {
                path: &entry.candidate.path,
                text: &entry.file.text,
                outline: &entry.outline,
                lines: &entry.candidate.lines,
                failing: &entry.failing,
                is_product: entry.is_product && entry.candidate.role != Role::Manifest,
            })
            .collect();
        let scores = score_parts(&files, question, rarity, traced);
        drop(files);
        for (entry, units) in entries.iter_mut().zip(scores) {
            entry.units = units;
        }
        let score = |entry: &Entry| entry.candidate.ranked.as_ref().map(|file| file.score());
        let mut order: Vec<usize> = (0..entries.len())
            .filter(|at| score(&entries[*at]).is_some())
            .collect();
        order.sort_by(|a, b| {
            let [a, b] = [&entries[*a], &entries[*b]];
            let by_score = score(b).unwrap_or(0.0).total_cmp(&score(a).unwrap_or(0.0));
            by_score.then_with(|| a.candidate.path.cmp(&b.candidate.path))
        });
        for (place, at) in order.iter().enumerate() {
            let entry = &mut entries[*at];
            entry.rank = Some(place as u64);
            let factor = self.place_factor(place);
            entry
                .units
                .iter_mut()
                .for_each(|(_, worth)| *worth *= factor);
        }
    }

    fn place_factor(&self, place: usize) -> f64 {
        self.caps.max_tokens.map_or(1.0, |tokens| {
            let tokens = tokens.max(1) as f64;
            tokens / (tokens + TOKENS_PER_PLACE * place as f64)
        })
    }

    /// Keeps the candidates that have a place, in packet order, and leaves out the others.
    fn give_places(&mut self, entries: Vec<Entry>) -> Vec<Entry> {
        let (mut kept, mut given, mut ranked, mut others) = (vec![], vec![], vec![], vec![]);
        for entry in entries {
            let is_scored = entry.candidate.ranked.is_some();
            match entry.candidate.place {
                Place::Free => kept.push(entry),
                Place::Given
                    if entry.candidate.asked.is_some() || self.profile == Profile::Spec =>
                {
                    given.push(entry);
                }
                Place::ByScore if is_scored => ranked.push(entry),
                Place::Given | Place::ByScore => others.push(entry),
            }
        }
        ranked.sort_by_key(|entry| entry.rank);
        let further = ranked.split_off(ranked.len().min(BEFORE_HELPERS));
        kept.iter_mut().for_each(|entry| entry.rank = None);
        let placed = given.into_iter().chain(ranked).chain(others).chain(further);
        for mut entry in placed {
            if self.next_rank <= self.caps.max_files {
                entry.rank = Some(self.next_rank);
                self.next_rank += 1;
                kept.push(entry);
            } else {
                self.leave_out(vec![entry.candidate.path]);
            }
        }
        kept
    }

    /// Writes down files for which there is no place, best first.
    pub(super) fn leave_out(&mut self, paths: Vec<RepoPath>) {
        for path in paths {
            let rank = self.next_rank;
            self.next_rank += 1;
            if !LeftOut::has_row(rank) {
                self.left_out.count(Code::C101);
                continue;
            }
            self.without_place += 1;
            let unshown = Unshown {
                code: Code::C101,
                reason: format!(
                    "the {} places of level {} are taken",
                    self.caps.max_files, self.level
                ),
                bytes: self.size(&path),
                remedy: format!(
                    "--max-files {}, or --request-path {path}",
                    self.caps.max_files + self.without_place
                ),
            };
            self.omit(&path, Some(rank), unshown);
        }
    }

    fn pack_file<'e>(&self, entry: &'e Entry) -> PackFile<'e> {
        let form = match (entry.candidate.role, self.profile) {
            (Role::Manifest, _) => Form::Short,
            (_, Profile::Spec) => Form::Whole,
            (_, Profile::Ranked) => Form::Parts,
        };
        PackFile {
            text: &entry.file.text,
            outline: &entry.outline,
            units: entry.units.clone(),
            asked: entry.candidate.asked.as_ref(),
            failing: &entry.failing,
            lines: &entry.candidate.lines,
            form,
        }
    }

    fn show(&mut self, entry: Entry, mode: FileMode, ranges: Vec<[u32; 2]>, scarce: &Scarce) {
        let (candidate, mut file) = (entry.candidate, entry.file);
        let shortened = (mode != FileMode::Full)
            .then(|| self.shortening(&candidate, &file.text, &ranges, scarce));
        let content = file.show(&ranges);
        let bytes = content.len() as u64;
        let evidence = candidate.ranked.as_ref().map(|ranked| &ranked.evidence);
        let (score, scores) = evidence.map(Evidence::scores).unzip();
        let reason = evidence.map(Evidence::reason);
        let why = [candidate.why, reason.unwrap_or_default()];
        let why: Vec<String> = why.into_iter().filter(|part| !part.is_empty()).collect();
        // The byte cap of level 1 counts what it adds to the targets, that of level 2 everything.
        if candidate.role != Role::Target || self.level > Level::OneHop {
            self.added_bytes += bytes;
        }
        let files = match candidate.role {
            Role::Target => &mut self.targets,
            Role::Manifest => &mut self.manifests,
            _ => &mut self.ranked,
        };
        files.push(PacketFile {
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

    fn shortening(
        &self,
        candidate: &Candidate,
        text: &str,
        ranges: &[[u32; 2]],
        scarce: &Scarce,
    ) -> Shortening {
        let (whole, max) = (text.len() as u64, self.caps.max_file_bytes);
        let (code, reason, remedy) = if whole > max {
            let reason = format!("{whole} bytes exceed the {max} of one file");
            (Code::C105, reason, format!("--max-file-bytes {whole}"))
        } else {
            let reason = scarce.reason(whole, "share");
            (scarce.code, reason, scarce.remedy.clone())
        };
        let is_requested = candidate.asked.is_some() && candidate.role != Role::Mentioned;
        let ask = is_requested.then(|| rest(&candidate.path, text, ranges));
        Shortening {
            code,
            reason,
            bytes: whole,
            remedy,
            ask: ask.unwrap_or_default(),
        }
    }

    // A file that somebody named is refused, another is left out.
    fn refuse(&mut self, candidate: &Candidate, rank: Option<u64>, unshown: Unshown) {
        if matches!(candidate.role, Role::Requested | Role::Target) {
            self.reject(candidate.path.as_str(), unshown);
        } else {
            self.omit(&candidate.path, rank, unshown);
        }
    }

    fn scarce(&self, sizes: &[u64], free: u64) -> Scarce {
        let files = sizes.len() as u64;
        let all: u64 = sizes.iter().sum();
        let tokens = self.caps.max_tokens.unwrap_or(u64::MAX);
        // The tokens of each file are rounded up.
        let by_tokens = bytes_of_tokens(tokens.saturating_sub(self.tokens + files));
        let mut left = self.bytes_left();
        if self.level <= Level::OneHop {
            left = left.saturating_add(free.min(self.caps.max_total_bytes));
        }
        if left < by_tokens {
            let used = self.caps.max_total_bytes.saturating_sub(left);
            let zero = if self.caps.max_tokens.is_some() {
                ", --max-tokens 0"
            } else {
                ""
            };
            return Scarce {
                bytes: left,
                code: Code::C102,
                limit: format!("{left} bytes"),
                remedy: format!("--max-total-bytes {}{zero}", used + all),
            };
        }
        let needed = self.tokens + estimate_tokens(all) + 2 * files;
        Scarce {
            bytes: by_tokens,
            code: Code::C103,
            limit: format!("{tokens} tokens"),
            remedy: format!("--max-tokens {needed}"),
        }
    }

    fn bytes_left(&self) -> u64 {
        self.caps.max_total_bytes.saturating_sub(self.added_bytes)
    }

    /// Writes down a file that was asked for and is not given.
    pub(super) fn reject(&mut self, path: &str, unshown: Unshown) {
        self.rejected.push(RejectedFile {
            path: self.taker.redactor.redact(path).text.into_owned(),
            code: unshown.code,
            reason: unshown.reason,
        });
    }

    fn omit(&mut self, path: &RepoPath, rank: Option<u64>, unshown: Unshown) {
        self.left_out.push(Omission {
            path: self.taker.names.masked(path).to_string(),
            rank,
            code: unshown.code,
            reason: unshown.reason,
            bytes: unshown.bytes.or_else(|| self.size(path)),
            remedy: unshown.remedy,
        });
    }

    fn size(&self, path: &RepoPath) -> Option<u64> {
        let listing = self.taker.source.listing();
        listing.get(path.as_str()).map(|entry| entry.bytes)
    }

    /// Returns the files in packet order, what is left out, and what is rejected.
    pub(super) fn into_files(self) -> (Vec<PacketFile>, LeftOut, Vec<RejectedFile>) {
        let mut files = self.targets;
        files.extend(self.ranked);
        files.extend(self.manifests);
        (files, self.left_out, self.rejected)
    }
}

impl Scarce {
    fn reason(&self, whole: u64, verb: &str) -> String {
        let size = match self.code {
            Code::C103 => format!("{} tokens", estimate_tokens(whole)),
            _ => format!("{whole} bytes"),
        };
        format!("{size} {verb} the {} of this packet", self.limit)
    }
}
