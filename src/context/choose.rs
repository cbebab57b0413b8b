use std::collections::BTreeSet;

use super::board::Weighing;
use super::build::{Failure, Given, is_certain};
use super::candidate::{Candidate, Form};
use super::candidates::{max_hops, places};
use super::contract::{contracts, with_contracts};
use super::data_files::data_files;
use super::fill::Fill;
use super::hints::Recovery;
use super::leftover::LeftOut;
use super::manifests::manifests;
use super::requested::{everything, requested};
use super::snapshot::SnapshotTaker;
use super::tokens::bytes_of_tokens;
use crate::graph::Closure;
use crate::model::{
    Caps, FailureKind, Level, PacketFile, Profile, RejectedFile, RepoPath, Role, Traced,
};
use crate::rank::known_outline;
use crate::rank::{IssueInput, Pool, RankInput, Ranked, Ranking, rank, rank_issue};

/// The files of a packet within its caps, and what has no place there.
pub(super) struct Chosen {
    pub(super) files: Vec<PacketFile>,
    pub(super) left_out: LeftOut,
    pub(super) rejected: Vec<RejectedFile>,
    /// Targets that may be read.
    pub(super) readable: Vec<RepoPath>,
    /// What the targets import, a wave further than the level takes.
    pub(super) reach: Closure,
}

/// Gathers candidates in the order of their worth and gives them places: targets, manifests, what
/// was asked for, what the ranking says.
pub(super) fn choose(
    given: &Given<'_>,
    failure: &Failure,
    recovery: &Recovery,
    taker: &SnapshotTaker<'_>,
    caps: Caps,
) -> Chosen {
    let request = given.request;
    let may_read = given.may_read();
    let readable: Vec<RepoPath> = (failure.targets.iter())
        .filter(|path| may_read(path))
        .cloned()
        .collect();
    let mut places = Places {
        fill: Fill::new(taker, caps, failure, request.profile),
        sharing: Vec::new(),
    };
    let mut wanted = requested(&mut places.fill, taker, request);
    if request.profile == Profile::Ranked {
        caused(given, &mut wanted);
    }
    places.targets(given, failure, is_certain(request, recovery), &mut wanted);
    // One wave more than the level takes, so that `next` can name what lies behind.
    let hops = (max_hops(failure.level) + 1).min(2);
    let reach = given.graph.closure(&readable, hops);
    if failure.level >= Level::OneHop {
        places.manifests(given, failure, &readable, &wanted);
    }
    wanted.retain(|candidate| !failure.targets.contains(&candidate.path));
    let mut taken = failure.targets.clone();
    taken.extend(wanted.iter().map(|candidate| candidate.path.clone()));
    let mut candidates = wanted;
    let mut ranking = Ranking::default();
    if failure.level == Level::Bundle {
        candidates.extend(everything(given.source, &taken));
    } else {
        let places_left = caps.max_files.saturating_sub(candidates.len() as u64);
        ranking = rank_all(given, failure, &readable, &reach);
        let files = &ranking.files;
        let mut ranked = ranked(given, failure, files, &reach, &taken, places_left);
        if request.profile == Profile::Ranked && failure.level >= Level::OneHop {
            lead(&recovery.leads, &taken, &mut ranked);
            let max_bytes = caps.max_tokens.map_or(u64::MAX, bytes_of_tokens);
            named_data(given, failure, &taken, max_bytes, &mut ranked);
        }
        candidates.extend(ranked);
    }
    let ranked = (1..).zip(candidates);
    let ranked = ranked.map(|(rank, candidate)| (candidate, Some(rank)));
    places.sharing.extend(ranked);
    let pool = Pool::new(&failure.targets, given.source.listing());
    let mut fill = places.fill;
    let weighing = Weighing {
        focus: &failure.focus,
        issue: failure.issue.as_ref().map(|it| (it, &ranking.rarity)),
        traced: request.traced.as_ref(),
    };
    fill.share(places.sharing, weighing, &|path| {
        pool.standing(path).is_some()
    });
    let (files, left_out, rejected) = fill.into_files();
    Chosen {
        files,
        left_out,
        rejected,
        readable,
        reach,
    }
}

// The packet as it fills.
struct Places<'a> {
    fill: Fill<'a>,
    sharing: Vec<(Candidate, Option<u64>)>,
}

impl Places<'_> {
    fn targets(
        &mut self,
        given: &Given<'_>,
        failure: &Failure,
        certain: bool,
        wanted: &mut [Candidate],
    ) {
        let why = if given.request.targets.is_empty() {
            "the log points at it"
        } else {
            "named as a target"
        };
        for target in &failure.targets {
            let lines = failure.mentions.lines(target);
            let mut candidate = Candidate::target(target, lines, why);
            if certain {
                // Imports stand at the top.
                candidate.lines.push(1);
            }
            if let Some(wanted) = wanted.iter_mut().find(|it| it.path == *target) {
                candidate.parts = wanted.parts.take();
                candidate.why = format!("{}; {}", candidate.why, wanted.why);
            }
            self.sharing.push((candidate, None));
        }
    }

    fn manifests(
        &mut self,
        given: &Given<'_>,
        failure: &Failure,
        readable: &[RepoPath],
        wanted: &[Candidate],
    ) {
        let diagnosis = failure.diagnosis.as_ref();
        let missing = diagnosis.map_or(&[][..], |it| &it.missing_modules);
        let kind = failure.kind.unwrap_or(FailureKind::Unknown);
        let listing = given.source.listing();
        for manifest in manifests(kind, given.request.profile, readable, listing) {
            let is_asked = wanted.iter().any(|it| it.path == manifest.path);
            if failure.targets.contains(&manifest.path) || is_asked {
                continue;
            }
            if manifest.is_lock {
                self.fill.lock(&manifest, missing);
            } else {
                let candidate = Candidate::new(&manifest.path, Role::Manifest, &manifest.why);
                self.sharing.push((candidate, None));
            }
        }
    }
}

/// Definitions of missing names that are given a place, whatever else there is.
const MAX_LEADS: usize = 3;
/// Candidates that are weighed before the data that the log names.
const BEFORE_DATA: usize = 8;

fn ranked(
    given: &Given<'_>,
    failure: &Failure,
    ranking: &[Ranked],
    reach: &Closure,
    taken: &[RepoPath],
    places_left: u64,
) -> Vec<Candidate> {
    let contracts = if failure.level >= Level::TwoHops {
        contracts(&given.graph, reach, taken)
    } else {
        Vec::new()
    };
    let chosen = places(
        failure.level,
        given.request.profile,
        reach,
        ranking,
        &failure.mentions,
        taken,
        given.source.listing(),
    );
    with_contracts(chosen, contracts, places_left)
}

fn rank_all(
    given: &Given<'_>,
    failure: &Failure,
    targets: &[RepoPath],
    reach: &Closure,
) -> Ranking {
    let request = given.request;
    if failure.level == Level::Targets || request.profile == Profile::Spec {
        return Ranking::default();
    }
    if let Some(issue) = &failure.issue {
        let input = IssueInput {
            commits: &request.commits,
            words: &given.known.words,
            outlines: &given.known.outlines,
            may_read: &given.may_read(),
        };
        return rank_issue(given.source, issue, &input);
    }
    let hops: Vec<(RepoPath, u32)> = reach
        .nodes
        .iter()
        .map(|node| (node.path.clone(), node.hops))
        .collect();
    let input = RankInput {
        log: &failure.focus.text,
        targets,
        asking: &asking(given, failure, targets),
        hops: &hops,
        commits: &request.commits,
        changed: request.change.as_ref().map_or(&[], |change| &change.files),
        ran: &request.traced.as_ref().map_or(Vec::new(), Traced::by_file),
        words: &given.known.words,
        may_read: &given.may_read(),
    };
    Ranking {
        files: rank(given.source, &input),
        ..Ranking::default()
    }
}

// What of the targets asks: the failing tests' own bodies, and the definitions that the log points
// into; a target without either asks as a whole while no other has a failing test.
fn asking(given: &Given<'_>, failure: &Failure, targets: &[RepoPath]) -> Vec<(RepoPath, Vec<u8>)> {
    let (focus, mentions) = (&failure.focus, &failure.mentions);
    let may_read = given.may_read();
    let mut asking: Vec<(RepoPath, Vec<u8>)> = Vec::new();
    let mut any_failing = false;
    for path in targets.iter().filter(|path| may_read(path)) {
        let Ok(bytes) = given.source.read(path) else {
            continue;
        };
        let outline = known_outline(&given.known.outlines, path, &bytes);
        let failing = focus.failing(path, &outline, &String::from_utf8_lossy(&bytes));
        any_failing |= !failing.is_empty();
        let pointed = mentions.lines(path).iter();
        let pointed = pointed.filter_map(|line| outline.innermost(*line));
        let parts: BTreeSet<usize> = failing.into_iter().chain(pointed).collect();
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let parts = parts.iter().map(|at| outline.definitions[*at].lines);
        let body = parts
            .filter_map(|[from, to]| lines.get(from as usize - 1..to as usize))
            .flat_map(<[&[u8]]>::concat)
            .collect();
        asking.push((path.clone(), body));
    }
    if !any_failing {
        asking.clear();
    }
    asking
}

// The lines without which the tests pass, like what was asked for: before all that was only found.
fn caused(given: &Given<'_>, wanted: &mut Vec<Candidate>) {
    let may_read = given.may_read();
    for change in given.request.cause.iter().flat_map(|it| &it.changes) {
        let path = RepoPath::new(&change.path).ok();
        let path = path.filter(|it| may_read(it) && given.source.listing().has_file(it.as_str()));
        let (Some(path), Some(line)) = (path, change.line) else {
            continue;
        };
        let added = change
            .diff
            .lines()
            .filter(|it| it.starts_with('+') && !it.starts_with("+++"));
        let lines = [line, line + (added.count() as u32).saturating_sub(1)];
        let found = wanted.iter().position(|it| it.path == path);
        let at = found.unwrap_or_else(|| {
            let why = "without the change there the tests pass";
            wanted.push(Candidate::new(&path, Role::Mentioned, why));
            wanted.len() - 1
        });
        wanted[at].parts.get_or_insert_default().lines.push(lines);
    }
}

// Puts the files that define what is missing first, each at the lines that do.
fn lead(leads: &[(String, RepoPath, u32)], taken: &[RepoPath], chosen: &mut Vec<Candidate>) {
    let mut found: Vec<Candidate> = Vec::new();
    for (name, path, line) in leads.iter().filter(|it| !taken.contains(&it.1)) {
        if let Some(same) = found.iter_mut().find(|it| it.path == *path) {
            same.lines.push(*line);
            continue;
        }
        if found.len() == MAX_LEADS {
            continue;
        }
        let why = format!("defines `{name}`, which is missing");
        let ranked = chosen.iter().position(|it| it.path == *path);
        let ranked = ranked.map(|at| chosen.remove(at));
        found.push(match ranked {
            Some(ranked) => Candidate {
                role: Role::Closure,
                why: format!("{why}; {}", ranked.why),
                lines: [vec![*line], ranked.lines].concat(),
                form: Form::Whole,
                ..ranked
            },
            None => Candidate {
                lines: vec![*line],
                ..Candidate::new(path, Role::Closure, &why)
            },
        });
    }
    chosen.splice(..0, found);
}

// Puts the data files that the log names among the first.
fn named_data(
    given: &Given<'_>,
    failure: &Failure,
    taken: &[RepoPath],
    max_bytes: u64,
    chosen: &mut Vec<Candidate>,
) {
    let data = failure.diagnosis.as_ref().map(|diagnosis| {
        data_files(
            (given.source, given.committed),
            &failure.focus,
            diagnosis,
            &failure.targets,
            &given.may_read(),
            max_bytes,
        )
    });
    for named in data.into_iter().flatten() {
        if !taken.contains(&named.path) {
            chosen.retain(|it| it.path != named.path);
            chosen.insert(chosen.len().min(BEFORE_DATA), named);
        }
    }
}
