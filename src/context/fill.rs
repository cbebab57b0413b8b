use crate::model::{
    Caps, Code, FileMode, Level, Omission, PacketFile, RejectedFile, RepoPath, Role, Shortening,
};

use super::candidate::{Candidate, Form};
use super::focus::Focus;
use super::manifests::Manifest;
use super::requested::rest;
use super::share::{Claim, Form as Shown, Limits, Share, Sharer};
use super::shares::shares;
use super::snapshot::{Opened, Snapshot, SnapshotTaker, Unshown, Wanted};
use super::tokens::{bytes_of_tokens, estimate_tokens};

/// Signatures in less than this say too little to be worth a place.
const MIN_SKELETON_BYTES: u64 = 1024;

// How much a file has to say, by what speaks for it: tests are there to be read, not changed. The
// more tokens there are, the further down the order it pays to look.
fn prior(candidate: &Candidate, rank: Option<u64>, product: bool, max_tokens: u64) -> f64 {
    match (candidate.role, rank) {
        _ if !product => 0.1,
        (Role::Manifest, _) => 0.05,
        (Role::Closure | Role::Ranked, Some(rank)) => {
            let tokens = max_tokens.max(1) as f64;
            tokens / (tokens + TOKENS_A_PLACE * rank as f64)
        }
        _ => 1.0,
    }
}

/// Of so many tokens for each file before it, one that was only found is worth half of the first.
const TOKENS_A_PLACE: f64 = 16_000.0 / 9.0;
/// Files that are weighed for the places, at least.
const CONSIDERED: usize = 25;

fn claim(candidate: &Candidate, rank: Option<u64>, places: u64) -> Claim {
    match (rank, candidate.role, candidate.form) {
        (None, _, _) => Claim::Free,
        (_, Role::Requested, _) => Claim::Placed,
        // Data that the log names, as much of it as is wanted.
        (_, Role::Mentioned, _) if candidate.asked.is_some() => Claim::Placed,
        // The definition of a name that is missing.
        (_, Role::Closure, _) if !candidate.lines.is_empty() => Claim::Placed,
        // A contract was given the last place whatever else there is.
        (Some(rank), _, Form::Signatures) if rank <= places => Claim::Placed,
        _ => Claim::ByWorth,
    }
}

struct Scarce {
    bytes: u64,
    code: Code,
    limit: String,
    remedy: String,
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

/// Puts files into a packet, one by one, under the caps; what does not fit is written down.
pub(super) struct Fill<'a> {
    taker: &'a SnapshotTaker<'a>,
    caps: Caps,
    level: Level,
    places_used: u64,
    without_place: u64,
    added_bytes: u64,
    target_bytes: u64,
    tokens: u64,
    targets: Vec<PacketFile>,
    ranked: Vec<PacketFile>,
    manifests: Vec<PacketFile>,
    pub(super) omitted: Vec<Omission>,
    pub(super) rejected: Vec<RejectedFile>,
}

impl<'a> Fill<'a> {
    pub(super) fn new(taker: &'a SnapshotTaker<'a>, caps: Caps, level: Level) -> Self {
        Self {
            taker,
            caps,
            level,
            places_used: 0,
            without_place: 0,
            added_bytes: 0,
            target_bytes: 0,
            tokens: 0,
            targets: Vec::new(),
            ranked: Vec::new(),
            manifests: Vec::new(),
            omitted: Vec::new(),
            rejected: Vec::new(),
        }
    }

    /// A target: it takes no place, only bytes.
    pub(super) fn target(&mut self, path: &RepoPath, lines: &[u32], why: &str) {
        let left = self.caps.max_total_bytes.saturating_sub(self.target_bytes);
        match self.take(path, &Wanted::Whole(lines), left) {
            Err(unshown) => self.reject(path.as_str(), unshown),
            Ok((snapshot, shortened)) => {
                self.target_bytes += snapshot.content.len() as u64;
                let candidate = Candidate::target(path, &[], why);
                let file = self.packet_file(candidate, None, snapshot, shortened);
                self.targets.push(file);
            }
        }
    }

    /// A project file: it takes no place, only bytes.
    pub(super) fn manifest(&mut self, manifest: &Manifest, missing: &[String]) {
        let wanted = if manifest.is_lock {
            Wanted::LinesWith(missing)
        } else {
            Wanted::Whole(&[])
        };
        match self.take(&manifest.path, &wanted, self.bytes_left()) {
            Err(unshown) => self.omit(&manifest.path, None, unshown),
            Ok((snapshot, shortened)) => {
                self.added_bytes += snapshot.content.len() as u64;
                let candidate = Candidate::new(&manifest.path, Role::Manifest, &manifest.why);
                let file = self.packet_file(candidate, None, snapshot, shortened);
                self.manifests.push(file);
            }
        }
    }

    /// A file that takes a place. `rank` is its 1-based place among the candidates.
    pub(super) fn place(&mut self, candidate: Candidate, rank: u64) {
        if self.places_used >= self.caps.max_files {
            let unshown = self.no_place(&candidate.path);
            return self.omit(&candidate.path, Some(rank), unshown);
        }
        let wanted = match candidate.form {
            Form::Whole => Wanted::Whole(&candidate.lines),
            Form::Signatures => Wanted::Signatures(&candidate.lines),
        };
        match self.take(&candidate.path, &wanted, self.bytes_left()) {
            Err(unshown) if candidate.role == Role::Requested => {
                self.reject(candidate.path.as_str(), unshown);
            }
            Err(unshown) => self.omit(&candidate.path, Some(rank), unshown),
            Ok((snapshot, shortened)) => {
                self.places_used += 1;
                self.added_bytes += snapshot.content.len() as u64;
                let file = self.packet_file(candidate, Some(rank), snapshot, shortened);
                self.ranked.push(file);
            }
        }
    }

    /// Files that share what is left of the tokens. `product` says whether a file is one that a
    /// repair may have to change.
    pub(super) fn share(
        &mut self,
        candidates: Vec<(Candidate, Option<u64>)>,
        focus: &Focus,
        product: &dyn Fn(&RepoPath) -> bool,
    ) {
        let places = usize::try_from(self.caps.max_files).unwrap_or(usize::MAX);
        let considered = if places == 0 {
            0
        } else {
            places.max(CONSIDERED)
        };
        let mut opened: Vec<(Candidate, Option<u64>, Opened)> = Vec::new();
        let mut beyond: Vec<(RepoPath, Option<u64>)> = Vec::new();
        let mut with_place = 0;
        for (candidate, rank) in candidates {
            if rank.is_some() && with_place >= considered {
                beyond.push((candidate.path, rank));
                continue;
            }
            match self.taker.open(&candidate.path) {
                Err(unshown) if matches!(candidate.role, Role::Requested | Role::Target) => {
                    self.reject(candidate.path.as_str(), unshown);
                }
                Err(unshown) => self.omit(&candidate.path, rank, unshown),
                Ok(file) => {
                    with_place += usize::from(rank.is_some());
                    opened.push((candidate, rank, file));
                }
            }
        }
        let max_tokens = self.caps.max_tokens.unwrap_or(u64::MAX);
        let sharers: Vec<Sharer<'_>> = opened
            .iter()
            .map(|(candidate, rank, file)| Sharer {
                path: &candidate.path,
                text: &file.text,
                prior: prior(candidate, *rank, product(&candidate.path), max_tokens),
                product: product(&candidate.path),
                lines: &candidate.lines,
                claim: claim(candidate, *rank, self.caps.max_files),
                asked: candidate.asked.as_ref(),
                form: match (candidate.role, candidate.form) {
                    (Role::Manifest, _) => Shown::Short,
                    (_, Form::Signatures) => Shown::Signatures,
                    (_, Form::Whole) => Shown::Parts,
                },
            })
            .collect();
        let scarce = self.scarce(&sharers);
        let limits = Limits {
            bytes: scarce.bytes,
            file_bytes: self.caps.max_file_bytes,
            places,
        };
        let shares = shares(&sharers, focus, self.taker.outlines, limits);
        let mut without_place: Vec<(usize, RepoPath, Option<u64>)> = Vec::new();
        for ((candidate, rank, file), share) in opened.into_iter().zip(shares) {
            let whole = file.text.len() as u64;
            let (mode, ranges) = match share {
                Share::Whole => (FileMode::Full, Vec::new()),
                Share::Lines(ranges) if candidate.form == Form::Signatures => {
                    (FileMode::Skeleton, ranges)
                }
                Share::Lines(ranges) => (FileMode::Window, ranges),
                Share::Nothing => {
                    let unshown = Unshown {
                        code: scarce.code,
                        reason: scarce.reason(whole, "found no room in"),
                        bytes: Some(whole),
                        remedy: scarce.remedy.clone(),
                    };
                    if matches!(candidate.role, Role::Requested | Role::Target) {
                        self.reject(candidate.path.as_str(), unshown);
                    } else {
                        self.omit(&candidate.path, rank, unshown);
                    }
                    continue;
                }
                Share::NoPlace(order) => {
                    without_place.push((order, candidate.path, rank));
                    continue;
                }
            };
            let ask = match candidate.asked {
                Some(_) if candidate.role != Role::Mentioned => {
                    rest(&candidate.path, &file.text, &ranges)
                }
                _ => Vec::new(),
            };
            let shortened = match mode {
                FileMode::Full | FileMode::Skeleton => None,
                FileMode::Window if whole > self.caps.max_file_bytes => Some(Shortening {
                    code: Code::C105,
                    reason: format!(
                        "{whole} bytes exceed the {} of one file",
                        self.caps.max_file_bytes
                    ),
                    bytes: whole,
                    remedy: format!("--max-file-bytes {whole}"),
                    ask,
                }),
                FileMode::Window => Some(Shortening {
                    code: scarce.code,
                    reason: scarce.reason(whole, "share"),
                    bytes: whole,
                    remedy: scarce.remedy.clone(),
                    ask,
                }),
            };
            let snapshot = file.show(mode, ranges);
            let bytes = snapshot.content.len() as u64;
            self.tokens += estimate_tokens(bytes);
            let role = candidate.role;
            let file = self.packet_file(candidate, rank, snapshot, shortened);
            match role {
                Role::Target => {
                    self.target_bytes += bytes;
                    self.targets.push(file);
                }
                Role::Manifest => {
                    self.added_bytes += bytes;
                    self.manifests.push(file);
                }
                _ => {
                    self.added_bytes += bytes;
                    self.places_used += 1;
                    self.ranked.push(file);
                }
            }
        }
        without_place.sort();
        let ordered = without_place
            .into_iter()
            .map(|(_, path, rank)| (path, rank));
        for (path, rank) in ordered.chain(beyond) {
            let unshown = self.no_place(&path);
            self.omit(&path, rank, unshown);
        }
    }

    // What files that share must do with: the tokens left, or the bytes where those are fewer.
    fn scarce(&self, sharers: &[Sharer<'_>]) -> Scarce {
        let tokens = self.caps.max_tokens.unwrap_or(u64::MAX);
        // Each file's tokens are rounded up.
        let of_tokens = tokens
            .saturating_sub(self.tokens)
            .saturating_sub(sharers.len() as u64);
        let of_tokens = bytes_of_tokens(of_tokens);
        let bytes_left = self.bytes_left();
        let all: u64 = sharers.iter().map(|it| it.text.len() as u64).sum();
        if bytes_left < of_tokens {
            let used = self.caps.max_total_bytes - bytes_left;
            return Scarce {
                bytes: bytes_left,
                code: Code::C102,
                limit: format!("{bytes_left} bytes"),
                remedy: format!("--max-total-bytes {}, --max-tokens 0", used + all),
            };
        }
        let needed = self.tokens + estimate_tokens(all) + 2 * sharers.len() as u64;
        Scarce {
            bytes: of_tokens,
            code: Code::C103,
            limit: format!("{tokens} tokens"),
            remedy: format!("--max-tokens {needed}"),
        }
    }

    /// Writes down a file that was asked for and is not given.
    pub(super) fn reject(&mut self, path: &str, unshown: Unshown) {
        self.rejected.push(RejectedFile {
            path: self.taker.redactor.redact(path).text.into_owned(),
            code: unshown.code,
            reason: unshown.reason,
        });
    }

    /// Writes down a candidate that is left out.
    pub(super) fn omit(&mut self, path: &RepoPath, rank: Option<u64>, unshown: Unshown) {
        self.omitted.push(Omission {
            path: self.taker.names.masked(path).to_string(),
            rank,
            code: unshown.code,
            reason: unshown.reason,
            bytes: unshown.bytes.or_else(|| self.size(path)),
            remedy: unshown.remedy,
        });
    }

    /// The files in packet order.
    pub(super) fn into_files(self) -> (Vec<PacketFile>, Vec<Omission>, Vec<RejectedFile>) {
        let mut files = self.targets;
        files.extend(self.ranked);
        files.extend(self.manifests);
        (files, self.omitted, self.rejected)
    }

    // What the bytes or tokens left cannot hold is tried again as signatures in half of them, so
    // that a long file neither falls out nor takes all that is left for those behind it.
    fn take(
        &mut self,
        path: &RepoPath,
        wanted: &Wanted<'_>,
        bytes_left: u64,
    ) -> Result<(Snapshot, Option<Shortening>), Unshown> {
        let snapshot = self.taker.take(path, wanted, self.caps.max_file_bytes)?;
        let (snapshot, shortened) = match (self.excess(&snapshot, bytes_left), wanted) {
            (None, _) => {
                let shortened = self.over_file_cap(&snapshot, wanted);
                (snapshot, shortened)
            }
            (Some(over), Wanted::LinesWith(_)) => return Err(over),
            (Some(over), Wanted::Whole(lines) | Wanted::Signatures(lines)) => {
                let room = self.room(bytes_left) / 2;
                let whole_bytes = snapshot.whole_bytes;
                let shorter = (room >= MIN_SKELETON_BYTES)
                    .then(|| self.taker.take(path, &Wanted::Signatures(lines), room))
                    .and_then(Result::ok)
                    .filter(|it| it.mode == FileMode::Skeleton);
                let Some(shorter) = shorter else {
                    return Err(over);
                };
                let shortened = Shortening {
                    code: over.code,
                    reason: over.reason,
                    bytes: whole_bytes,
                    remedy: over.remedy,
                    ask: Vec::new(),
                };
                (shorter, Some(shortened))
            }
        };
        self.tokens += estimate_tokens(snapshot.content.len() as u64);
        Ok((snapshot, shortened))
    }

    // Why a snapshot does not fit into what is left.
    fn excess(&self, snapshot: &Snapshot, bytes_left: u64) -> Option<Unshown> {
        let bytes = snapshot.content.len() as u64;
        if bytes > bytes_left {
            return Some(Unshown {
                code: Code::C102,
                reason: format!("{bytes} bytes do not fit into the {bytes_left} that are left"),
                bytes: Some(bytes),
                remedy: format!(
                    "--max-total-bytes {}",
                    self.caps.max_total_bytes.saturating_add(bytes - bytes_left)
                ),
            });
        }
        let tokens = estimate_tokens(bytes);
        let max = self.caps.max_tokens?;
        (self.tokens + tokens > max).then(|| Unshown {
            code: Code::C103,
            reason: format!(
                "{tokens} tokens do not fit into the {} that are left",
                max.saturating_sub(self.tokens)
            ),
            bytes: Some(bytes),
            remedy: format!("--max-tokens {}", self.tokens + tokens),
        })
    }

    fn over_file_cap(&self, snapshot: &Snapshot, wanted: &Wanted<'_>) -> Option<Shortening> {
        let bytes = snapshot.whole_bytes;
        let cut = matches!(wanted, Wanted::Whole(_)) && snapshot.mode != FileMode::Full;
        cut.then(|| Shortening {
            code: Code::C105,
            reason: format!(
                "{bytes} bytes exceed the {} of one file",
                self.caps.max_file_bytes
            ),
            bytes,
            remedy: format!("--max-file-bytes {bytes}"),
            ask: Vec::new(),
        })
    }

    // Bytes that both the byte and the token cap leave.
    fn room(&self, bytes_left: u64) -> u64 {
        match self.caps.max_tokens {
            None => bytes_left,
            Some(max) => bytes_left.min(bytes_of_tokens(max.saturating_sub(self.tokens))),
        }
    }

    // R20 counts what level 1 adds to the targets, R22 all that level 2 holds.
    fn bytes_left(&self) -> u64 {
        let used = match self.level {
            Level::Targets | Level::OneHop => self.added_bytes,
            _ => self.added_bytes + self.target_bytes,
        };
        self.caps.max_total_bytes.saturating_sub(used)
    }

    fn no_place(&mut self, path: &RepoPath) -> Unshown {
        self.without_place += 1;
        Unshown {
            code: Code::C101,
            reason: format!(
                "the {} places of level {} are taken",
                self.caps.max_files, self.level
            ),
            bytes: self.size(path),
            remedy: self.place_remedy(path),
        }
    }

    // The flags that would give the next file without a place one.
    fn place_remedy(&self, path: &RepoPath) -> String {
        let places = self.caps.max_files + self.without_place;
        let level = [Level::OneHop, Level::TwoHops]
            .into_iter()
            .find(|level| *level > self.level && Caps::of(*level).max_files >= places);
        let level = level.map_or(String::new(), |level| format!("--level {level}, "));
        format!("{level}--max-files {places}, or --request-path {path}")
    }

    fn size(&self, path: &RepoPath) -> Option<u64> {
        let listing = self.taker.source.listing();
        listing.get(path.as_str()).map(|entry| entry.bytes)
    }

    fn packet_file(
        &self,
        candidate: Candidate,
        rank: Option<u64>,
        snapshot: Snapshot,
        shortened: Option<Shortening>,
    ) -> PacketFile {
        let bytes = snapshot.content.len() as u64;
        let (score, scores) = candidate.score.unzip();
        PacketFile {
            path: candidate.path,
            role: candidate.role,
            rank,
            hops: candidate.hops,
            via: candidate.via,
            why: candidate.why,
            score,
            scores: scores.unwrap_or_default(),
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::prior;
    use crate::context::candidate::Candidate;
    use crate::model::{RepoPath, Role};

    #[test]
    fn more_tokens_look_further_down_the_order() {
        let of = |role, rank, product, tokens| {
            let candidate = Candidate::new(&RepoPath::new("src/a.py").unwrap(), role, "");
            prior(&candidate, rank, product, tokens)
        };
        for (tokens, above, below) in [(4_000, 2, 3), (16_000, 8, 10), (32_000, 17, 19)] {
            let at = |rank| of(Role::Ranked, Some(rank), true, tokens);
            assert!(at(above) > 0.5 && at(below) < 0.5, "{tokens}");
        }
        let ranks: Vec<f64> = (1..30)
            .map(|rank| of(Role::Closure, Some(rank), true, 8_000))
            .collect();
        assert!(ranks.is_sorted_by(|a, b| a > b), "{ranks:?}");
        // What the log points at is there whatever its place, a test whatever the tokens.
        assert!(of(Role::Mentioned, Some(20), true, 8_000) > ranks[0]);
        assert!(of(Role::Target, None, false, 32_000) < 0.2);
    }
}
