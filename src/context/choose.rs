use std::collections::BTreeSet;

use super::build::PacketInputs;
use super::candidates::{
    Candidate, Place, add_cause, max_hops, merge_paths, ranked_candidates, spec_candidates,
};
use super::failure::Failure;
use super::fill::Fill;
use super::hints::Recovery;
use super::leftover::LeftOut;
use super::manifests::manifests;
use super::requested::{every_file, serve_requests};
use super::snapshot::SnapshotTaker;
use crate::graph::Closure;
use crate::model::{
    Caps, FailureKind, Level, PacketFile, Profile, RejectedFile, RepoPath, Role, Traced,
};
use crate::rank::{Body, FileEvidence, FileInput, Question, known_outline, rank_files};

/// The files of a packet within its caps, and what has no place there.
pub(super) struct Selection {
    pub(super) files: Vec<PacketFile>,
    pub(super) left_out: LeftOut,
    pub(super) rejected: Vec<RejectedFile>,
    /// Targets that may be read.
    pub(super) readable: Vec<RepoPath>,
    /// What the targets import, one wave further than the level takes.
    pub(super) reach: Closure,
}

/// Files whose parts are scored.
const CONSIDERED: usize = 40;

/// Chooses files: question, candidates, scores, shares, snapshots.
pub(super) fn choose_files(
    inputs: &PacketInputs<'_>,
    failure: &Failure,
    recovery: &Recovery,
    taker: &SnapshotTaker<'_>,
    caps: Caps,
) -> Selection {
    let request = inputs.request;
    let is_ranked = request.profile == Profile::Ranked;
    let readable: Vec<RepoPath> = failure
        .targets
        .iter()
        .filter(|path| inputs.may_read(path))
        .cloned()
        .collect();
    // One wave more than the level takes, so that `next` can name what lies behind.
    let reach = inputs
        .graph
        .imported(&readable, (max_hops(failure.level) + 1).min(2), false);
    let question = read_question(inputs, failure, &readable);
    let ranking = rank(inputs, failure, &question, (&readable, &reach));

    let mut fill = Fill::new(taker, caps, failure, request.profile);
    let mut wanted = serve_requests(&mut fill, taker, request);
    if is_ranked {
        add_cause(inputs, &mut wanted);
    }
    let mut candidates = targets(inputs, failure, recovery, &ranking, &mut wanted);
    candidates.extend(project_files(inputs, failure, &readable, &wanted));
    candidates.extend(wanted);
    let best = &ranking.files[..ranking
        .files
        .len()
        .min(CONSIDERED.max(caps.max_files as usize))];
    candidates.extend(match (failure.level, is_ranked) {
        (Level::Bundle, _) => every_file(inputs.source),
        (_, true) => ranked_candidates(failure, &reach, best),
        (_, false) => spec_candidates(failure, &reach),
    });
    let beyond = ranking.files[best.len()..]
        .iter()
        .map(|file| file.path.clone())
        .collect();
    fill.share(
        merge_paths(candidates),
        (&question, &ranking.rarity),
        inputs,
        failure,
    );
    fill.leave_out(beyond);
    let (files, left_out, rejected) = fill.into_files();
    Selection {
        files,
        left_out,
        rejected,
        readable,
        reach,
    }
}

/// Reads the question from the issue, else from the log and the definitions that fail or that the log
/// points at; without a failing test, from the targets as a whole.
fn read_question(inputs: &PacketInputs<'_>, failure: &Failure, targets: &[RepoPath]) -> Question {
    if let Some(issue) = &failure.issue {
        return Question::from_issue(issue);
    }
    let mut files: Vec<String> = Vec::new();
    let mut failing: Vec<String> = Vec::new();
    let mut pointed: Vec<String> = Vec::new();
    for path in targets {
        let Ok(bytes) = inputs.source.read(path) else {
            continue;
        };
        let outline = known_outline(&inputs.known.outlines, path, &bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let body = |at: usize| -> String {
            let [from, to] = outline.definitions[at].lines;
            let lines = text.split_inclusive('\n').skip(from as usize - 1);
            lines.take((to - from) as usize + 1).collect()
        };
        let tests = failure.evidence.failing(path, &outline);
        let lines = failure.mentions.lines(path).iter();
        let mut others: BTreeSet<usize> =
            lines.filter_map(|line| outline.innermost(*line)).collect();
        others.retain(|at| !tests.contains(at));
        pointed.extend(others.into_iter().map(body));
        failing.extend(tests.into_iter().map(body));
        files.push(text);
    }
    let each_test = 1.0 / f64::from(failing.len().max(1) as u32).sqrt();
    let others = if failing.is_empty() { files } else { pointed };
    let others = others.iter().map(|text| Body { text, weight: 1.0 });
    let tests = failing.iter().map(|text| Body {
        text,
        weight: each_test,
    });
    let bodies: Vec<Body<'_>> = others.chain(tests).collect();
    Question::from_log(&failure.evidence.text, &bodies, targets)
}

fn rank(
    inputs: &PacketInputs<'_>,
    failure: &Failure,
    question: &Question,
    (targets, reach): (&[RepoPath], &Closure),
) -> FileEvidence {
    let request = inputs.request;
    let needless = matches!(failure.level, Level::Targets | Level::Bundle);
    if needless || request.profile == Profile::Spec || failure.is_about_cause {
        return FileEvidence::default();
    }
    let hops = reach
        .nodes
        .iter()
        .map(|node| (node.path.clone(), node.hops));
    let input = FileInput {
        targets,
        mentioned: &failure.mentions.order,
        hops: &hops.collect::<Vec<_>>(),
        commits: &request.commits,
        changed: request.change.as_ref().map_or(&[], |change| &change.files),
        ran: &request.traced.as_ref().map_or(Vec::new(), Traced::by_file),
        may_read: &|path| inputs.may_read(path),
    };
    rank_files(inputs.source, question, &input)
}

fn targets(
    inputs: &PacketInputs<'_>,
    failure: &Failure,
    recovery: &Recovery,
    ranking: &FileEvidence,
    wanted: &mut Vec<Candidate>,
) -> Vec<Candidate> {
    let is_named = !inputs.request.targets.is_empty();
    let why = if is_named {
        "named as a target"
    } else {
        "the log points at it"
    };
    let mut found = Vec::new();
    for path in &failure.targets {
        let mut target = Candidate {
            hops: Some(0),
            lines: failure.mentions.lines(path).to_vec(),
            ranked: ranking
                .files
                .iter()
                .find(|file| file.path == *path)
                .cloned(),
            ..Candidate::new(path, Role::Target, Place::Free, why)
        };
        if recovery.is_certain(inputs.request) {
            // Imports stand at the top.
            target.lines.push(1);
        }
        if let Some(at) = wanted.iter().position(|candidate| candidate.path == *path) {
            let other = wanted.remove(at);
            target.asked = other.asked;
            target.lines.extend(other.lines);
            target.why = format!("{why}; {}", other.why);
        }
        found.push(target);
    }
    found
}

fn project_files(
    inputs: &PacketInputs<'_>,
    failure: &Failure,
    readable: &[RepoPath],
    wanted: &[Candidate],
) -> Vec<Candidate> {
    if failure.level < Level::OneHop || failure.is_about_cause {
        return Vec::new();
    }
    let diagnosis = failure.diagnosis.as_ref();
    let is_tsc = diagnosis.is_some_and(|diagnosis| diagnosis.tool.as_deref() == Some("tsc"));
    let kind = failure.kind.unwrap_or(FailureKind::Unknown);
    let listing = inputs.source.listing();
    let mut found = Vec::new();
    for manifest in manifests((kind, is_tsc), inputs.request.profile, readable, listing) {
        let is_asked = wanted
            .iter()
            .any(|candidate| candidate.path == manifest.path);
        if failure.targets.contains(&manifest.path) || is_asked {
            continue;
        }
        let (path, why) = (&manifest.path, &manifest.why);
        found.push(Candidate::new(path, Role::Manifest, Place::Free, why));
    }
    found
}
