//! Chooses files for a packet: question, candidates, scores, budget.

use std::collections::BTreeSet;

use super::candidates::{Candidate, add_cause, merge_paths, ranked_candidates, spec_candidates};
use super::failure::Failure;
use super::fill::Fill;
use super::inputs::PacketInputs;
use super::manifests::manifests;
use super::requested::{every_file, serve_requests};
use crate::model::{Caps, Level, Profile, Role, Traced};
use crate::rank::{FileEvidence, FileInput, Lines, Question, rank_files};

/// Chooses files: question, candidates, scores, shares, snapshots.
pub(super) fn choose_files<'a>(
    inputs: &'a PacketInputs<'a>,
    failure: &'a Failure,
    caps: Caps,
) -> Fill<'a> {
    let is_ranked = inputs.request.profile == Profile::Ranked;
    let question = read_question(inputs, failure);
    let ranking = rank(inputs, failure, &question);
    // Only the best files are scored by parts, because parsing is slow.
    let considered = 40_usize.max(caps.max_files as usize);
    let (best, beyond) = ranking.files.split_at(ranking.files.len().min(considered));

    let mut fill = Fill::new(inputs, failure, caps);
    let mut wanted = serve_requests(&mut fill, inputs);
    if is_ranked {
        add_cause(inputs, &mut wanted);
    }
    let mut candidates = targets(inputs, failure, &ranking, &mut wanted);
    if failure.level >= Level::OneHop && !failure.is_about_cause {
        let mut found = manifests(inputs, failure);
        found.retain(|manifest| {
            let is_asked = wanted.iter().any(|one| one.path == manifest.path);
            !is_asked && !failure.targets.contains(&manifest.path)
        });
        candidates.append(&mut found);
    }
    candidates.append(&mut wanted);
    candidates.extend(match (failure.level, is_ranked) {
        (Level::Bundle, _) => every_file(inputs.source),
        (_, true) => ranked_candidates(failure, best),
        (_, false) => spec_candidates(failure),
    });
    fill.share(merge_paths(candidates), &question, &ranking.rarity);
    for file in beyond {
        fill.leave_out(&file.path);
    }
    fill
}

/// Reads the question from the issue, else from the log and the definitions that fail or that the log
/// points at; without a failing test, from the targets as a whole.
fn read_question(inputs: &PacketInputs<'_>, failure: &Failure) -> Question {
    if let Some(issue) = &failure.issue {
        return Question::from_issue(issue);
    }
    let mut files: Vec<String> = Vec::new();
    let mut failing: Vec<String> = Vec::new();
    let mut pointed: Vec<String> = Vec::new();
    for path in &failure.readable {
        let Ok(bytes) = inputs.source.read(path) else {
            continue;
        };
        let outline = inputs.outline(path, &bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let lines = Lines::new(&text);
        let body = |at: usize| lines.cut(outline.definitions[at].lines).to_owned();
        let tests = failure.evidence.failing(path, &outline);
        let named = failure.mentions.lines(path).iter();
        let mut others: BTreeSet<usize> =
            named.filter_map(|line| outline.innermost(*line)).collect();
        others.retain(|at| !tests.contains(at));
        pointed.extend(others.into_iter().map(body));
        failing.extend(tests.into_iter().map(body));
        files.push(text);
    }
    let each_test = 1.0 / f64::from(failing.len().max(1) as u32).sqrt();
    let others = if failing.is_empty() { files } else { pointed };
    let others = others.into_iter().map(|text| (text, 1.0));
    let tests = failing.into_iter().map(|text| (text, each_test));
    let bodies: Vec<(String, f64)> = others.chain(tests).collect();
    Question::from_log(&failure.evidence.text, &bodies, &failure.readable)
}

fn rank(inputs: &PacketInputs<'_>, failure: &Failure, question: &Question) -> FileEvidence {
    let request = inputs.request;
    let needless = matches!(failure.level, Level::Targets | Level::Bundle);
    if needless || request.profile == Profile::Spec || failure.is_about_cause {
        return FileEvidence::default();
    }
    let hops = failure.import_closure.nodes.iter().map(|node| (node.path.clone(), node.hops));
    let input = FileInput {
        targets: &failure.readable,
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
    ranking: &FileEvidence,
    wanted: &mut Vec<Candidate>,
) -> Vec<Candidate> {
    let why = match inputs.request.targets.is_empty() {
        true => "the log points to it",
        false => "named as a target",
    };
    let mut found = Vec::new();
    for path in &failure.targets {
        let mut ranked = ranking.files.iter();
        let mut target = Candidate {
            hops: Some(0),
            lines: failure.mentions.lines(path).to_vec(),
            ranked: ranked.find(|file| file.path == *path).cloned(),
            ..Candidate::new(path, Role::Target, why)
        };
        if failure.is_certain {
            // Imports are at the top.
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
