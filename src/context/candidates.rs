//! Collects the files that may go into a packet, with the reasons for each.

use std::collections::{BTreeMap, HashMap};

use super::failure::Failure;
use super::inputs::PacketInputs;
use crate::graph::ClosureNode;
use crate::model::{Diagnosis, Level, RepoPath, Role};
use crate::rank::RankedFile;

/// A file that may go into the packet.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    pub(super) path: RepoPath,
    pub(super) role: Role,
    pub(super) hops: Option<u32>,
    pub(super) via: Vec<RepoPath>,
    pub(super) why: String,
    /// 1-based lines that the failure points at.
    pub(super) lines: Vec<u32>,
    /// The part of it that was requested by name.
    pub(super) asked: Option<RequestedParts>,
    /// The evidence for it, when it was ranked.
    pub(super) ranked: Option<RankedFile>,
}

/// The part of a file that was requested by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct RequestedParts {
    /// Whether all of it was.
    pub(super) all: bool,
    /// 1-based line ranges that were; they come before the rest.
    pub(super) lines: Vec<[u32; 2]>,
}

impl Candidate {
    pub(super) fn new(path: &RepoPath, role: Role, why: impl Into<String>) -> Self {
        Self {
            path: path.clone(),
            role,
            hops: None,
            via: Vec::new(),
            why: why.into(),
            lines: Vec::new(),
            asked: None,
            ranked: None,
        }
    }

    fn imported(node: &ClosureNode) -> Self {
        let why = match node.via.last() {
            None => "imported by a target".to_owned(),
            Some(importer) => format!("imported by {importer}"),
        };
        Self {
            hops: Some(node.hops),
            via: node.via.clone(),
            ..Self::new(&node.path, Role::Closure, why)
        }
    }

    fn mentioned(failure: &Failure, path: &RepoPath) -> Self {
        Self {
            lines: failure.mentions.lines(path).to_vec(),
            ..Self::new(path, Role::Mentioned, "named in the log")
        }
    }

    fn complete(&mut self, other: Self) {
        if self.hops.is_none() {
            self.hops = other.hops;
            self.via = other.via;
        }
        if self.lines.is_empty() {
            self.lines = other.lines;
        }
        self.ranked = self.ranked.take().or(other.ranked);
    }
}

/// Files that the log names, with their lines, most telling first.
#[derive(Debug, Default)]
pub(super) struct Mentions {
    pub(super) order: Vec<RepoPath>,
    lines: BTreeMap<RepoPath, Vec<u32>>,
}

impl Mentions {
    /// `is_header` says of a file that is named without a line whether only the head of the log
    /// names it.
    pub(super) fn read(
        diagnosis: Option<&Diagnosis>,
        is_header: impl Fn(&RepoPath) -> bool,
    ) -> Self {
        let mut mentions = Self::default();
        for file in diagnosis.iter().flat_map(|diagnosis| &diagnosis.files) {
            let path = file.repo_path();
            let Some(path) = path.filter(|path| file.line.is_some() || !is_header(path)) else {
                continue;
            };
            mentions.lines.entry(path.clone()).or_default().extend(file.line);
            if !mentions.order.contains(&path) {
                mentions.order.push(path);
            }
        }
        mentions
    }

    pub(super) fn lines(&self, path: &RepoPath) -> &[u32] {
        self.lines.get(path).map_or(&[], Vec::as_slice)
    }
}

/// Returns the imports away from a target that a level reaches.
pub(super) fn max_hops(level: Level) -> u32 {
    match level {
        Level::Targets => 0,
        Level::OneHop => 1,
        _ => 2,
    }
}

/// Lists the places of the specification: files that the log names from level 2 on, then imports in
/// their order.
pub(super) fn spec_candidates(failure: &Failure) -> Vec<Candidate> {
    let mut found = Vec::new();
    if failure.level >= Level::TwoHops {
        let named = failure.mentions.order.iter();
        found.extend(named.map(|path| Candidate::mentioned(failure, path)));
    }
    let mut imported: Vec<&ClosureNode> = reached(failure).collect();
    imported.sort_by_key(|node| (node.hops, node.order));
    found.extend(imported.into_iter().map(Candidate::imported));
    found
}

/// Lists candidates of the ranked profile: the best files, and helpers that the failure leads to.
pub(super) fn ranked_candidates(failure: &Failure, ranking: &[RankedFile]) -> Vec<Candidate> {
    if failure.level == Level::Targets {
        return Vec::new();
    }
    let mut found = Vec::new();
    for file in ranking {
        let mut nodes = failure.import_closure.nodes.iter();
        let base = nodes.find(|node| node.path == file.path).map_or_else(
            || Candidate::new(&file.path, Role::Ranked, ""),
            Candidate::imported,
        );
        let is_named = failure.mentions.order.contains(&file.path);
        found.push(Candidate {
            role: if is_named { Role::Mentioned } else { base.role },
            lines: failure.mentions.lines(&file.path).to_vec(),
            ranked: Some(file.clone()),
            ..base
        });
    }
    // Helpers of tests and whatever else the ranking does not hold.
    let pointed = failure.mentions.order.iter();
    let pointed = pointed.filter(|path| !failure.mentions.lines(path).is_empty());
    found.extend(pointed.map(|path| Candidate::mentioned(failure, path)));
    found.extend(reached(failure).map(Candidate::imported));
    found
}

/// Keeps one candidate for each path: the first, completed by what later ones know of the file.
pub(super) fn merge_paths(candidates: Vec<Candidate>) -> Vec<Candidate> {
    let mut places: HashMap<RepoPath, usize> = HashMap::new();
    let mut kept: Vec<Candidate> = Vec::new();
    for candidate in candidates {
        match places.get(&candidate.path) {
            Some(place) => kept[*place].complete(candidate),
            None => {
                places.insert(candidate.path.clone(), kept.len());
                kept.push(candidate);
            }
        }
    }
    kept
}

fn reached(failure: &Failure) -> impl Iterator<Item = &ClosureNode> {
    let hops = 1..=max_hops(failure.level);
    let nodes = failure.import_closure.nodes.iter();
    nodes.filter(move |node| hops.contains(&node.hops))
}

/// Adds the lines without which the tests pass to what was asked for by name.
pub(super) fn add_cause(inputs: &PacketInputs<'_>, wanted: &mut Vec<Candidate>) {
    for change in inputs.request.cause.iter().flat_map(|cause| &cause.changes) {
        let path = RepoPath::new(&change.path).ok();
        let path = path.filter(|path| {
            inputs.may_read(path) && inputs.source.listing().has_file(path.as_str())
        });
        let (Some(path), Some(line)) = (path, change.line) else {
            continue;
        };
        let added = change.diff.lines();
        let added = added.filter(|line| line.starts_with('+') && !line.starts_with("+++"));
        let lines = [line, line + (added.count() as u32).saturating_sub(1)];
        let at = wanted.iter().position(|candidate| candidate.path == path).unwrap_or_else(|| {
            let why = "the culprit changed it";
            wanted.push(Candidate::new(&path, Role::Mentioned, why));
            wanted.len() - 1
        });
        // The definition around the lines is read with them.
        wanted[at].lines.push(line);
        wanted[at].asked.get_or_insert_default().lines.push(lines);
    }
}
