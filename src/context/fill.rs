use crate::model::{
    Caps, Code, FileMode, Level, Omission, PacketFile, Profile, RejectedFile, RepoPath, Role,
    Shortening,
};

use super::board::Weighing;
use super::build::Failure;
use super::candidate::{Candidate, Form};
use super::leftover::LeftOut;
use super::manifests::Manifest;
use super::requested::rest;
use super::share::{Claim, Form as Shown, Limits, Share, Sharer};
use super::shares::shares;
use super::snapshot::{Opened, Snapshot, SnapshotTaker, Unshown};
use super::tokens::{bytes_of_tokens, estimate_tokens};

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

fn claim(candidate: &Candidate, rank: Option<u64>, caps: Caps, profile: Profile) -> Claim {
    match (rank, candidate.role, candidate.form) {
        (None, _, _) => Claim::Free,
        _ if profile == Profile::Spec => Claim::Placed,
        (_, Role::Requested, _) => Claim::Placed,
        // Data that the log names, as much of it as is wanted.
        (_, Role::Mentioned, _) if candidate.parts.is_some() => Claim::Placed,
        // The definition of a name that is missing.
        (_, Role::Closure, _) if !candidate.lines.is_empty() => Claim::Placed,
        // A contract was given the last place whatever else there is.
        (Some(rank), _, Form::Signatures) if rank <= caps.max_files => Claim::Placed,
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

// Candidates with their rank, the same with their text, and those that are not looked at.
type Placed = (Candidate, Option<u64>);
type Weighed = (Candidate, Option<u64>, Opened);
type Beyond = (RepoPath, Option<u64>);

/// Puts files into a packet, one by one, under the caps; what does not fit is written down.
pub(super) struct Fill<'a> {
    taker: &'a SnapshotTaker<'a>,
    caps: Caps,
    level: Level,
    profile: Profile,
    without_place: u64,
    added_bytes: u64,
    target_bytes: u64,
    tokens: u64,
    targets: Vec<PacketFile>,
    ranked: Vec<PacketFile>,
    manifests: Vec<PacketFile>,
    left_out: LeftOut,
    pub(super) rejected: Vec<RejectedFile>,
}

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
            added_bytes: 0,
            target_bytes: 0,
            tokens: failure.log_tokens,
            targets: Vec::new(),
            ranked: Vec::new(),
            manifests: Vec::new(),
            left_out: LeftOut::default(),
            rejected: Vec::new(),
        }
    }

    /// A lock file: of it the lines that name what is missing. It takes no place, only bytes.
    pub(super) fn lock(&mut self, manifest: &Manifest, missing: &[String]) {
        let taken = self
            .taker
            .lines_with(&manifest.path, missing, self.caps.max_file_bytes);
        match taken.and_then(|it| self.fitting(it)) {
            Err(unshown) => self.omit(&manifest.path, None, unshown),
            Ok(snapshot) => {
                let bytes = snapshot.content.len() as u64;
                self.tokens += estimate_tokens(bytes);
                self.added_bytes += bytes;
                let candidate = Candidate::new(&manifest.path, Role::Manifest, &manifest.why);
                let file = self.packet_file(candidate, None, snapshot, None);
                self.manifests.push(file);
            }
        }
    }

    /// Files that share what is left of the tokens, or of the bytes. `product` says whether a file is
    /// one that a repair may have to change.
    pub(super) fn share(
        &mut self,
        candidates: Vec<Placed>,
        weighing: Weighing<'_>,
        product: &dyn Fn(&RepoPath) -> bool,
    ) {
        let places = usize::try_from(self.caps.max_files).unwrap_or(usize::MAX);
        let (opened, beyond) = self.open(candidates, places);
        let max_tokens = self.caps.max_tokens.unwrap_or(u64::MAX);
        let sharers: Vec<Sharer<'_>> = opened
            .iter()
            .map(|(candidate, rank, file)| Sharer {
                path: &candidate.path,
                text: &file.text,
                prior: prior(candidate, *rank, product(&candidate.path), max_tokens),
                product: product(&candidate.path),
                lines: &candidate.lines,
                claim: claim(candidate, *rank, self.caps, self.profile),
                requested: candidate.parts.as_ref(),
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
        let shares = shares(&sharers, weighing, self.taker.outlines, limits);
        let mut without_place: Vec<(usize, RepoPath, Option<u64>)> = Vec::new();
        for ((candidate, rank, file), share) in opened.into_iter().zip(shares) {
            match share {
                Share::NoPlace(order) => without_place.push((order, candidate.path, rank)),
                Share::Nothing => self.unseen(&candidate, rank, &file, &scarce),
                Share::Whole => self.show(candidate, rank, file, Vec::new(), &scarce),
                Share::Lines(ranges) => self.show(candidate, rank, file, ranges, &scarce),
            }
        }
        without_place.sort();
        let ordered = without_place.into_iter();
        let ordered = ordered.map(|(_, path, rank)| (path, rank));
        for (path, rank) in ordered.chain(beyond) {
            if rank.is_some_and(|rank| !LeftOut::has_row(rank)) {
                self.left_out.count(Code::C101);
                continue;
            }
            let unshown = self.no_place(&path);
            self.omit(&path, rank, unshown);
        }
    }

    // The files that are weighed, and those beyond them.
    fn open(&mut self, candidates: Vec<Placed>, places: usize) -> (Vec<Weighed>, Vec<Beyond>) {
        let considered = match (places, self.profile) {
            (0, _) | (_, Profile::Spec) => places,
            (places, Profile::Ranked) => places.max(CONSIDERED),
        };
        let (mut opened, mut beyond) = (Vec::new(), Vec::new());
        let mut with_place = 0;
        for (candidate, rank) in candidates {
            if rank.is_some() && with_place >= considered {
                beyond.push((candidate.path, rank));
                continue;
            }
            match self.taker.open(&candidate.path) {
                Err(unshown) => self.refuse(&candidate, rank, unshown),
                Ok(file) => {
                    with_place += usize::from(rank.is_some());
                    opened.push((candidate, rank, file));
                }
            }
        }
        (opened, beyond)
    }

    fn unseen(&mut self, candidate: &Candidate, rank: Option<u64>, file: &Opened, scarce: &Scarce) {
        let whole = file.text.len() as u64;
        let unshown = Unshown {
            code: scarce.code,
            reason: scarce.reason(whole, "found no room in"),
            bytes: Some(whole),
            remedy: scarce.remedy.clone(),
        };
        self.refuse(candidate, rank, unshown);
    }

    // These lines of a file; all of it when there are none.
    fn show(
        &mut self,
        candidate: Candidate,
        rank: Option<u64>,
        file: Opened,
        ranges: Vec<[u32; 2]>,
        scarce: &Scarce,
    ) {
        let whole = file.text.len() as u64;
        let mode = match (ranges.is_empty(), candidate.form) {
            (true, _) => FileMode::Full,
            (_, Form::Signatures) => FileMode::Skeleton,
            (_, Form::Whole) => FileMode::Window,
        };
        let parts = candidate.parts.is_some() && candidate.role != Role::Mentioned;
        let ask = if parts {
            rest(&candidate.path, &file.text, &ranges)
        } else {
            Vec::new()
        };
        let max = self.caps.max_file_bytes;
        let (code, reason, remedy) = if whole > max {
            let reason = format!("{whole} bytes exceed the {max} of one file");
            (Code::C105, reason, format!("--max-file-bytes {whole}"))
        } else {
            let reason = scarce.reason(whole, "share");
            (scarce.code, reason, scarce.remedy.clone())
        };
        let shortened = (mode == FileMode::Window).then_some(Shortening {
            code,
            reason,
            bytes: whole,
            remedy,
            ask,
        });
        let snapshot = file.show(mode, ranges);
        let bytes = snapshot.content.len() as u64;
        self.tokens += estimate_tokens(bytes);
        let role = candidate.role;
        let file = self.packet_file(candidate, rank, snapshot, shortened);
        match role {
            Role::Target => self.targets.push(file),
            Role::Manifest => self.manifests.push(file),
            _ => self.ranked.push(file),
        }
        if role == Role::Target {
            self.target_bytes += bytes;
        } else {
            self.added_bytes += bytes;
        }
    }

    // A file that somebody named is refused, another one left out.
    fn refuse(&mut self, candidate: &Candidate, rank: Option<u64>, unshown: Unshown) {
        if matches!(candidate.role, Role::Requested | Role::Target) {
            self.reject(candidate.path.as_str(), unshown);
        } else {
            self.omit(&candidate.path, rank, unshown);
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
        let mut bytes_left = self.bytes_left();
        if self.level <= Level::OneHop {
            // What level 1 adds is counted apart from the targets.
            let of_targets = sharers.iter().filter(|it| it.claim == Claim::Free);
            let of_targets: u64 = of_targets.map(|it| it.text.len() as u64).sum();
            bytes_left = bytes_left.saturating_add(of_targets.min(self.caps.max_total_bytes));
        }
        let all: u64 = sharers.iter().map(|it| it.text.len() as u64).sum();
        if bytes_left < of_tokens {
            let used = self.caps.max_total_bytes.saturating_sub(bytes_left);
            return Scarce {
                bytes: bytes_left,
                code: Code::C102,
                limit: format!("{bytes_left} bytes"),
                remedy: match self.caps.max_tokens {
                    Some(_) => format!("--max-total-bytes {}, --max-tokens 0", used + all),
                    None => format!("--max-total-bytes {}", used + all),
                },
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
        self.left_out.push(Omission {
            path: self.taker.names.masked(path).to_string(),
            rank,
            code: unshown.code,
            reason: unshown.reason,
            bytes: unshown.bytes.or_else(|| self.size(path)),
            remedy: unshown.remedy,
        });
    }

    /// The files in packet order.
    pub(super) fn into_files(self) -> (Vec<PacketFile>, LeftOut, Vec<RejectedFile>) {
        let mut files = self.targets;
        files.extend(self.ranked);
        files.extend(self.manifests);
        (files, self.left_out, self.rejected)
    }

    // A snapshot, if the bytes and tokens that are left hold it.
    fn fitting(&self, snapshot: Snapshot) -> Result<Snapshot, Unshown> {
        let (bytes, left) = (snapshot.content.len() as u64, self.bytes_left());
        let tokens = estimate_tokens(bytes);
        let unshown = |code, reason, remedy| {
            Err(Unshown {
                code,
                reason,
                bytes: Some(bytes),
                remedy,
            })
        };
        if bytes > left {
            let reason = format!("{bytes} bytes do not fit into the {left} that are left");
            let needed = self.caps.max_total_bytes.saturating_add(bytes - left);
            return unshown(Code::C102, reason, format!("--max-total-bytes {needed}"));
        }
        match self.caps.max_tokens {
            Some(max) if self.tokens + tokens > max => {
                let left = max.saturating_sub(self.tokens);
                let reason = format!("{tokens} tokens do not fit into the {left} that are left");
                let needed = self.tokens + tokens;
                unshown(Code::C103, reason, format!("--max-tokens {needed}"))
            }
            _ => Ok(snapshot),
        }
    }

    // The byte cap of level 1 counts what it adds to the targets, that of level 2 everything.
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
            .find(|level| *level > self.level && Caps::for_level(*level).max_files >= places);
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
