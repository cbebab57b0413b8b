use crate::model::{Caps, Code, Level, Omission, PacketFile, RejectedFile, RepoPath, Role};

use super::candidates::Candidate;
use super::manifests::Manifest;
use super::snapshot::{Camera, Snapshot, Unshown, Wanted};
use super::tokens::estimate_tokens;

/// Puts files into a packet, one by one, under the caps; what does not fit is written down.
pub(super) struct Fill<'a> {
    camera: &'a Camera<'a>,
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
    pub(super) fn new(camera: &'a Camera<'a>, caps: Caps, level: Level) -> Self {
        Self {
            camera,
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
            Ok(snapshot) => {
                self.target_bytes += snapshot.content.len() as u64;
                let candidate = Candidate {
                    path: path.clone(),
                    role: Role::Target,
                    hops: Some(0),
                    via: Vec::new(),
                    why: why.to_owned(),
                    lines: Vec::new(),
                    score: None,
                };
                let file = self.packet_file(candidate, None, snapshot);
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
            Ok(snapshot) => {
                self.added_bytes += snapshot.content.len() as u64;
                let candidate = Candidate {
                    path: manifest.path.clone(),
                    role: Role::Manifest,
                    hops: None,
                    via: Vec::new(),
                    why: manifest.why.clone(),
                    lines: Vec::new(),
                    score: None,
                };
                let file = self.packet_file(candidate, None, snapshot);
                self.manifests.push(file);
            }
        }
    }

    /// A file that takes a place. `rank` is its 1-based place among the candidates.
    pub(super) fn place(&mut self, candidate: Candidate, rank: u64) {
        if self.places_used >= self.caps.max_files {
            self.without_place += 1;
            let unshown = Unshown {
                code: Code::new("C101"),
                reason: format!(
                    "the {} places of level {} are taken",
                    self.caps.max_files, self.level
                ),
                bytes: self.size(&candidate.path),
                remedy: self.place_remedy(&candidate.path),
            };
            return self.omit(&candidate.path, Some(rank), unshown);
        }
        match self.take(
            &candidate.path,
            &Wanted::Whole(&candidate.lines),
            self.bytes_left(),
        ) {
            Err(unshown) if candidate.role == Role::Requested => {
                self.reject(candidate.path.as_str(), unshown);
            }
            Err(unshown) => self.omit(&candidate.path, Some(rank), unshown),
            Ok(snapshot) => {
                self.places_used += 1;
                self.added_bytes += snapshot.content.len() as u64;
                let file = self.packet_file(candidate, Some(rank), snapshot);
                self.ranked.push(file);
            }
        }
    }

    /// Writes down a file that was asked for and is not given.
    pub(super) fn reject(&mut self, path: &str, unshown: Unshown) {
        self.rejected.push(RejectedFile {
            path: self.camera.redactor.redact(path).text.into_owned(),
            code: unshown.code,
            reason: unshown.reason,
        });
    }

    /// Writes down a candidate that is left out.
    pub(super) fn omit(&mut self, path: &RepoPath, rank: Option<u64>, unshown: Unshown) {
        self.omitted.push(Omission {
            path: self.camera.names.masked(path).to_string(),
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

    fn take(
        &mut self,
        path: &RepoPath,
        wanted: &Wanted<'_>,
        bytes_left: u64,
    ) -> Result<Snapshot, Unshown> {
        let snapshot = self.camera.take(path, wanted, self.caps.max_file_bytes)?;
        let bytes = snapshot.content.len() as u64;
        if bytes > bytes_left {
            return Err(Unshown {
                code: Code::new("C102"),
                reason: format!("{bytes} bytes do not fit into the {bytes_left} that are left"),
                bytes: Some(bytes),
                remedy: format!(
                    "--max-total-bytes {}",
                    self.caps.max_total_bytes.saturating_add(bytes - bytes_left)
                ),
            });
        }
        let tokens = estimate_tokens(bytes);
        if let Some(max) = self.caps.max_tokens
            && self.tokens + tokens > max
        {
            return Err(Unshown {
                code: Code::new("C103"),
                reason: format!(
                    "{tokens} tokens do not fit into the {} that are left",
                    max - self.tokens
                ),
                bytes: Some(bytes),
                remedy: format!("--max-tokens {}", self.tokens + tokens),
            });
        }
        self.tokens += tokens;
        Ok(snapshot)
    }

    // R20 counts what level 1 adds to the targets, R22 all that level 2 holds.
    fn bytes_left(&self) -> u64 {
        let used = match self.level {
            Level::Targets | Level::OneHop => self.added_bytes,
            _ => self.added_bytes + self.target_bytes,
        };
        self.caps.max_total_bytes.saturating_sub(used)
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
        let listing = self.camera.source.listing();
        listing.get(path.as_str()).map(|entry| entry.bytes)
    }

    fn packet_file(
        &self,
        candidate: Candidate,
        rank: Option<u64>,
        snapshot: Snapshot,
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
        }
    }
}
