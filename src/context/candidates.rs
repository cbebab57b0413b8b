use std::collections::{BTreeMap, HashMap, HashSet};

use crate::graph::{Closure, ClosureNode};
use crate::model::{Diagnosis, Level, Profile, RepoPath, Role};
use crate::rank::{Pool, Ranked};
use crate::source::Listing;

use super::candidate::{Candidate, Form};
use super::contract::is_contract;

/// Files the log names, with their lines, in the log's order of weight.
pub(super) struct Mentions {
    order: Vec<RepoPath>,
    lines: BTreeMap<RepoPath, Vec<u32>>,
}

impl Mentions {
    /// `untold` says of a file that is named without a line whether to pass it over.
    pub(super) fn of(diagnosis: Option<&Diagnosis>, untold: &dyn Fn(&RepoPath) -> bool) -> Self {
        let mut mentions = Self {
            order: Vec::new(),
            lines: BTreeMap::new(),
        };
        for file in diagnosis.map_or(&[][..], |diagnosis| &diagnosis.files) {
            let Some(path) = file.repo_path() else {
                continue;
            };
            if file.line.is_none() && untold(&path) {
                continue;
            }
            let lines = mentions.lines.entry(path.clone()).or_default();
            lines.extend(file.line);
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

/// The places of a level in order: mentioned files, then by rank, or in import order under the
/// `spec` profile. Targets and `taken` files are not among them.
pub(super) fn places(
    level: Level,
    profile: Profile,
    closure: &Closure,
    ranking: &[Ranked],
    mentions: &Mentions,
    taken: &[RepoPath],
    listing: &Listing,
) -> Vec<Candidate> {
    if level == Level::Targets {
        return Vec::new();
    }
    let mut seen: HashSet<&RepoPath> = taken.iter().collect();
    let nodes: HashMap<&RepoPath, &ClosureNode> = closure
        .nodes
        .iter()
        .map(|node| (&node.path, node))
        .collect();
    let mut found = Vec::new();
    // The specification adds files named in messages at level 2.
    if level >= Level::TwoHops || profile == Profile::Ranked {
        let pool = Pool::new(taken, listing);
        let telling = |path: &&RepoPath| {
            profile == Profile::Spec
                || !mentions.lines(path).is_empty()
                || pool.standing(path).is_some()
        };
        for path in mentions
            .order
            .iter()
            .filter(telling)
            .filter(|path| seen.insert(path))
        {
            let near = nodes.get(path);
            found.push(Candidate {
                hops: near.map(|node| node.hops),
                via: near.map(|node| node.via.clone()).unwrap_or_default(),
                lines: mentions.lines(path).to_vec(),
                ..Candidate::new(path, Role::Mentioned, "the log names it")
            });
        }
    }
    let mut imported: Vec<&ClosureNode> = closure
        .nodes
        .iter()
        .filter(|node| (1..=max_hops(level)).contains(&node.hops))
        .collect();
    if profile == Profile::Spec {
        imported.sort_by_key(|node| (node.hops, node.order));
        let imported = imported.into_iter().filter(|node| seen.insert(&node.path));
        found.extend(imported.map(of_node));
        return found;
    }
    let ranked_paths: HashSet<&RepoPath> = ranking.iter().map(|ranked| &ranked.path).collect();
    let mut by_rank: Vec<Candidate> = ranking
        .iter()
        .filter(|ranked| seen.insert(&ranked.path))
        .map(|ranked| of_ranked(ranked, nodes.get(&ranked.path).copied()))
        .collect();
    // What the ranking does not know, such as helpers beside a test, follows its first files.
    let helpers = imported
        .into_iter()
        .filter(|node| !ranked_paths.contains(&node.path) && seen.insert(&node.path))
        .map(of_node);
    let rest = by_rank.split_off(by_rank.len().min(RANKED_BEFORE_HELPERS));
    found.extend(by_rank);
    found.extend(helpers);
    found.extend(rest);
    found
}

/// Almost all the places of level 2.
const RANKED_BEFORE_HELPERS: usize = 24;

fn of_node(node: &ClosureNode) -> Candidate {
    Candidate {
        hops: Some(node.hops),
        via: node.via.clone(),
        ..Candidate::new(&node.path, Role::Closure, &why_reached(node))
    }
}

fn of_ranked(ranked: &Ranked, node: Option<&ClosureNode>) -> Candidate {
    let why = match node {
        Some(node) => format!("{}; {}", why_reached(node), ranked.why),
        None => ranked.why.clone(),
    };
    Candidate {
        path: ranked.path.clone(),
        role: if node.is_some() {
            Role::Closure
        } else {
            Role::Ranked
        },
        hops: node.map(|node| node.hops),
        via: node.map(|node| node.via.clone()).unwrap_or_default(),
        why,
        lines: ranked.lines.clone(),
        form: Form::Whole,
        parts: None,
        score: Some((ranked.score, ranked.scores.clone())),
    }
}

/// Imports away from a target that a level reaches.
pub(super) fn max_hops(level: Level) -> u32 {
    match level {
        Level::Targets => 0,
        Level::OneHop => 1,
        _ => 2,
    }
}

fn why_reached(node: &ClosureNode) -> String {
    let contract = if is_contract(&node.path, node.facts.as_deref()) {
        "declares shared types; "
    } else {
        ""
    };
    match node.via.last() {
        None => format!("{contract}imported by a target"),
        Some(importer) => format!("{contract}imported by {importer}"),
    }
}
