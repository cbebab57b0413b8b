use super::build::PacketInputs;
use super::candidates::{Candidate, Place};
use super::failure::Failure;
use super::leftover::LeftOut;
use super::pack::{Form, Limits, PackFile, Share, pack};
use super::requested::rest;
use super::snapshot::{Opened, Snapshot, SnapshotTaker, Unshown};
use super::tokens::{bytes_of_tokens, estimate_tokens};
use crate::languages::{Language, Outline};
use crate::model::{
    Caps, Code, FileMode, Level, Omission, PacketFile, Profile, RejectedFile, RepoPath, Role,
    Shortening, Traced,
};
use crate::rank::{PartFile, Pool, Question, Unit, known_outline, score_parts};

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
        let scarce = self.scarce(sizes.collect(), free);
        let files: Vec<PackFile<'_>> = entries.iter().map(|entry| self.pack_file(entry)).collect();
        let limits = Limits {
            bytes: scarce.bytes,
            file_bytes: self.caps.max_file_bytes,
        };
        let shares = pack(&files, limits);
        drop(files);
        for (entry, share) in entries.into_iter().zip(shares) {
            let Entry {
                candidate,
                rank,
                file,
                ..
            } = entry;
            match share {
                Share::Nothing => {
                    let whole = file.text.len() as u64;
                    let unshown = Unshown {
                        code: scarce.code,
                        reason: scarce.reason(whole, "found no room in"),
                        bytes: Some(whole),
                        remedy: scarce.remedy.clone(),
                    };
                    self.refuse(&candidate, rank, unshown);
                }
                Share::Whole => {
                    self.show(candidate, rank, file, (FileMode::Full, Vec::new()), &scarce)
                }
                Share::Lines(lines) => {
                    self.show(candidate, rank, file, (FileMode::Window, lines), &scarce)
                }
                Share::Signatures(lines) => {
                    self.show(candidate, rank, file, (FileMode::Skeleton, lines), &scarce);
                }
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
        let ran: Vec<Box<dyn Fn(&Unit) -> Option<f64> + '_>> = entries
            .iter()
            .map(|entry| {
                let path = entry.candidate.path.clone();
                Box::new(move |unit: &Unit| ran_in_failing(traced?, &path, unit)) as _
            })
            .collect();
        let files: Vec<PartFile<'_>> = entries
            .iter()
            .zip(&ran)
            .map(|(entry, ran)| PartFile {
                text: &entry.file.text,
                outline: &entry.outline,
                lines: &entry.candidate.lines,
                failing: &entry.failing,
                is_product: entry.is_product && entry.candidate.role != Role::Manifest,
                ran: ran.as_ref(),
            })
            .collect();
        let scores = score_parts(&files, question, rarity);
        drop(files);
        drop(ran);
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
                remedy: self.place_remedy(&path),
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

    fn show(
        &mut self,
        candidate: Candidate,
        rank: Option<u64>,
        file: Opened,
        (mode, ranges): (FileMode, Vec<[u32; 2]>),
        scarce: &Scarce,
    ) {
        let whole = file.text.len() as u64;
        let shortened = (mode != FileMode::Full).then(|| {
            let max = self.caps.max_file_bytes;
            let (code, reason, remedy) = if whole > max {
                let reason = format!("{whole} bytes exceed the {max} of one file");
                (Code::C105, reason, format!("--max-file-bytes {whole}"))
            } else {
                (
                    scarce.code,
                    scarce.reason(whole, "share"),
                    scarce.remedy.clone(),
                )
            };
            let is_requested = candidate.asked.is_some() && candidate.role != Role::Mentioned;
            Shortening {
                code,
                reason,
                bytes: whole,
                remedy,
                ask: if is_requested {
                    rest(&candidate.path, &file.text, &ranges)
                } else {
                    Vec::new()
                },
            }
        });
        self.add(candidate, rank, file.show(mode, ranges), shortened);
    }

    fn add(
        &mut self,
        candidate: Candidate,
        rank: Option<u64>,
        snapshot: Snapshot,
        shortened: Option<Shortening>,
    ) {
        let bytes = snapshot.content.len() as u64;
        self.tokens += estimate_tokens(bytes);
        let (score, scores) = match &candidate.ranked {
            Some(file) => {
                let (score, scores) = file.evidence.scores();
                (Some(score), scores)
            }
            None => (None, Default::default()),
        };
        let reason = candidate.ranked.as_ref().map(|file| file.evidence.reason());
        let why = [candidate.why, reason.unwrap_or_default()];
        let why: Vec<String> = why.into_iter().filter(|part| !part.is_empty()).collect();
        let file = PacketFile {
            path: candidate.path,
            role: candidate.role,
            rank,
            hops: candidate.hops,
            via: candidate.via,
            why: why.join("; "),
            score,
            scores,
            mode: snapshot.mode,
            ranges: snapshot.ranges,
            bytes,
            tokens: estimate_tokens(bytes),
            blob_id: snapshot.blob_id,
            sha256: snapshot.sha256,
            encoding: snapshot.encoding,
            content: snapshot.content,
            redactions: snapshot.redactions,
            warnings: snapshot.warnings,
            shortened,
        };
        // The byte cap of level 1 counts what it adds to the targets, that of level 2 everything.
        if file.role != Role::Target || self.level > Level::OneHop {
            self.added_bytes += bytes;
        }
        match file.role {
            Role::Target => self.targets.push(file),
            Role::Manifest => self.manifests.push(file),
            _ => self.ranked.push(file),
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

    fn scarce(&self, sizes: Vec<u64>, free: u64) -> Scarce {
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

    // The flags that would give the next file without a place one.
    fn place_remedy(&self, path: &RepoPath) -> String {
        let places = self.caps.max_files + self.without_place;
        let level = [Level::OneHop, Level::TwoHops]
            .into_iter()
            .find(|level| *level > self.level && Caps::for_level(*level).max_files >= places);
        let level = level.map_or(String::new(), |level| format!("--level {level}, "));
        format!("{level}--max-files {places}, or --request-path {path}")
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

/// Returns how much a part is of the failing tests alone; `None` where that is not known. A file
/// that was not loaded, where others of its language were, did not run.
fn ran_in_failing(traced: &Traced, path: &RepoPath, unit: &Unit) -> Option<f64> {
    let language = Language::of_path(path.as_str())?;
    let is_same = |other: &RepoPath| Language::of_path(other.as_str()) == Some(language);
    let is_loaded = traced.files.contains_key(path);
    if !is_loaded && unit.definition.is_some() && traced.files.keys().any(is_same) {
        return Some(0.0);
    }
    traced.score(path, unit.lines)
}
