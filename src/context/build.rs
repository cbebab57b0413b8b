use std::collections::{BTreeSet, HashSet};

use super::candidate::{Candidate, Form, RequestedParts};
use super::candidates::{Mentions, max_hops, places};
use super::contract::{contracts, with_contracts};
use super::data_files::data_files;
use super::digest::{input_digest, packet_digest};
use super::error::ContextError;
use super::fill::Fill;
use super::focus::Focus;
use super::hints::recovery;
use super::ladder::choose_level;
use super::leftover::{next, unreadable_entries, unresolved};
use super::log_excerpt::excerpt;
use super::manifests::manifests;
use super::outlines::known_outline;
use super::repo_index::{NameSecrets, repo_index};
use super::request::Request;
use super::requested::{everything, requested};
use super::snapshot::SnapshotTaker;
use super::targets::targets_of_log;
use super::tokens::bytes_of_tokens;
use crate::diagnose::{LogFacts, Scene, diagnose_masked};
use crate::graph::{Closure, Graph};
use crate::hint::Earlier;
use crate::model::{
    ContextDocument, FailureKind, Level, LogExcerpt, PacketFile, Profile, RecoveryContext,
    RepoPath, Role, SCHEMA_VERSION, UnchangedFile,
};
use crate::policy::{ReadPolicy, Redactor, sanitize_log};
use crate::rank::{Pool, RankInput, Ranked, rank};
use crate::source::Source;
use crate::state::Known;

/// A context document and the cleaned log beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Built {
    /// What was chosen, and why.
    pub context: ContextDocument,
    /// The log within its limits; `None` without a log.
    pub log: Option<LogExcerpt>,
    /// Import hints for undefined names; `None` when the log names none.
    pub recovery: Option<RecoveryContext>,
}

/// Builds the packet of a failure: diagnoses the log, chooses the rung of the ladder, gathers
/// candidates, fills the caps and writes down what is left out.
///
/// Deterministic: the same source, policy, redactor, request and `earlier` versions of its files
/// give the same bytes for any number of threads, whatever is `known`: that spares reading and
/// parsing, no more.
///
/// # Errors
/// A [`ContextError`] when the request cannot be met at all. A file that cannot be given is no
/// error; it stands in `omitted` or `filesRejected`.
pub fn build(
    source: &dyn Source,
    (known, earlier): (&Known, &Earlier<'_>),
    policy: &ReadPolicy,
    redactor: &Redactor,
    request: &Request,
) -> Result<Built, ContextError> {
    let graph = &Graph::knowing(source, &known.facts);
    let listing = source.listing();
    let log = clean_log(redactor, request)?;
    let diagnosis = log.as_ref().and(request.log.as_ref()).map(|log| {
        let facts = LogFacts {
            exit_code: request.exit_code,
            command: request.test_commands.first().cloned(),
            timed_out: request.timed_out,
            rules: request.rules.clone(),
        };
        let scene = Scene {
            source: Some(source),
            directory: &request.directory,
        };
        diagnose_masked(log, &facts, scene, &request.reports, redactor)
    });
    let kind = diagnosis.as_ref().map(|diagnosis| diagnosis.kind);
    let (level, escalation_reason) = choose_level(
        request.level,
        kind,
        request.retry,
        request.requested.len(),
        request.include_bundle,
    )?;
    let escalation_reason = request.level_reason.clone().unwrap_or(escalation_reason);
    let mut caps = request
        .caps
        .over(crate::model::Caps::of(level), request.profile);
    let names = NameSecrets::find(source, redactor);
    let taker = SnapshotTaker {
        source,
        policy,
        redactor,
        names: &names,
        outlines: &known.outlines,
    };
    let targets = match (&request.targets[..], &diagnosis) {
        ([], Some(diagnosis)) => targets_of_log(diagnosis, listing),
        (targets, _) => deduplicated(targets),
    };

    let text = log.as_ref().map_or("", |log| &log.text);
    let focus = Focus::of(text, diagnosis.as_ref());
    let only_in_header =
        |path: &RepoPath| text.contains(path.as_str()) && !focus.text.contains(path.as_str());
    let mentions = Mentions::of(diagnosis.as_ref(), &only_in_header);
    let may_read = |path: &RepoPath| policy.refuse(path).is_none() && !names.contains(path);
    let recovery = recovery(
        graph,
        redactor,
        diagnosis.as_ref(),
        &targets,
        (&request.known_names, &request.installed),
        earlier,
        &may_read,
    );
    // A fix that is certain needs no more than the lines that it is about.
    let certain = recovery.certain && request.retry.stop_reason.is_none();
    if certain
        && let Some(tokens) = caps
            .max_tokens
            .as_mut()
            .filter(|_| request.caps.max_tokens.is_none())
    {
        *tokens = TOKENS_WHEN_CERTAIN.min(*tokens);
    }
    let mut fill = Fill::new(&taker, caps, level);
    let why = if request.targets.is_empty() {
        "the log points at it"
    } else {
        "named as a target"
    };
    // With a limit of tokens the files share it by worth; without one each is given whole.
    let by_worth = caps.max_tokens.is_some() && request.profile == Profile::Ranked;
    let mut sharing: Vec<(Candidate, Option<u64>)> = Vec::new();
    let mut asked = requested(&mut fill, &taker, request);
    for target in &targets {
        if by_worth {
            let mut candidate = Candidate::target(target, mentions.lines(target), why);
            if certain {
                // Imports stand at the top.
                candidate.lines.push(1);
            }
            candidate.asked = asked_of(&mut asked, target);
            if candidate.asked.is_some() {
                candidate.why.push_str("; the agent asked for it");
            }
            sharing.push((candidate, None));
        } else {
            fill.target(target, mentions.lines(target), why);
        }
    }
    let readable: Vec<RepoPath> = targets
        .iter()
        .filter(|path| policy.refuse(path).is_none() && !names.contains(path))
        .cloned()
        .collect();
    // One wave more than the level takes, so that `next` can name what lies behind.
    let reach = graph.closure(&readable, (max_hops(level) + 1).min(2));
    if level >= Level::OneHop {
        let missing = diagnosis.as_ref().map_or(&[][..], |it| &it.missing_modules);
        let kind = kind.unwrap_or(FailureKind::Unknown);
        for manifest in manifests(kind, request.profile, &readable, listing) {
            let is_asked = asked.iter().any(|it| it.path == manifest.path);
            if !targets.contains(&manifest.path) && !is_asked {
                if by_worth && !manifest.is_lock {
                    sharing.push((
                        Candidate::new(&manifest.path, Role::Manifest, &manifest.why),
                        None,
                    ));
                } else {
                    fill.manifest(&manifest, missing);
                }
            }
        }
    }
    let mut taken = targets.clone();
    asked.retain(|candidate| !targets.contains(&candidate.path));
    let mut candidates = asked;
    taken.extend(candidates.iter().map(|candidate| candidate.path.clone()));
    if level == Level::Bundle {
        candidates.extend(everything(source, &taken));
    } else {
        let asked = (&focus, &mentions);
        let ranking = ranking(
            (source, known),
            level,
            request,
            &asked,
            &readable,
            &reach,
            &may_read,
        );
        let contracts = if level >= Level::TwoHops {
            contracts(graph, &reach, &taken)
        } else {
            Vec::new()
        };
        let places_left = caps.max_files.saturating_sub(candidates.len() as u64);
        let chosen = places(
            level,
            request.profile,
            &reach,
            &ranking,
            &mentions,
            &taken,
            source.listing(),
        );
        let mut chosen = with_contracts(chosen, contracts, places_left);
        if by_worth && level >= Level::OneHop {
            lead(&recovery.leads, &taken, &mut chosen);
            let data = diagnosis.as_ref().map(|it| {
                let max_bytes = caps.max_tokens.map_or(u64::MAX, bytes_of_tokens);
                let from = (source, earlier);
                data_files(from, &focus, it, &targets, &may_read, max_bytes)
            });
            for named in data.into_iter().flatten() {
                if !taken.contains(&named.path) {
                    chosen.retain(|it| it.path != named.path);
                    chosen.insert(chosen.len().min(BEFORE_DATA), named);
                }
            }
        }
        candidates.extend(chosen);
    }
    for (rank, candidate) in (1..).zip(candidates) {
        if by_worth {
            sharing.push((candidate, Some(rank)));
        } else {
            fill.place(candidate, rank);
        }
    }
    let pool = Pool::of(&targets, source.listing());
    fill.share(sharing, &focus, &|path| pool.standing(path).is_some());
    let (files, mut omitted, rejected) = fill.into_files();
    let (unreadable, more_omitted) = unreadable_entries(source, redactor, &targets);
    omitted.extend(unreadable);

    let touched: Vec<RepoPath> = (request.touched.iter())
        .filter(|path| may_read(path) && listing.has_file(path.as_str()))
        .cloned()
        .collect();
    let mut importers = Closure::default();
    if !touched.is_empty() {
        importers = graph.symbol_importers(&touched, 1);
        let is_product = |path: &RepoPath| pool.standing(path).is_some();
        importers
            .nodes
            .retain(|it| it.hops == 0 || is_product(&it.path));
    }
    let paths = |files: &[PacketFile]| files.iter().map(|file| file.path.clone()).collect();
    let chosen: Vec<RepoPath> = paths(&files);
    let (files, unchanged) = split_unchanged(files, &request.since);
    let recovery = recovery.context;
    let suggested = recovery.iter().flat_map(|it| it.suggested_imports.values());
    let next_why = next((&reach, &importers), &chosen, &omitted, &may_read);
    let mut context = ContextDocument {
        schema_version: SCHEMA_VERSION,
        document: "context",
        level,
        escalation_reason,
        profile: request.profile,
        caps,
        total_bytes: files.iter().map(|file| file.bytes).sum(),
        total_tokens: files.iter().map(|file| file.tokens).sum(),
        files_requested: request
            .requested
            .iter()
            .map(|path| redactor.redact(path).text.into_owned())
            .collect(),
        files_rejected: rejected,
        unresolved_imports: unresolved(&reach, &chosen, redactor),
        next: next_why.iter().map(|it| it.path.clone()).collect(),
        next_why,
        repo_index: repo_index(source, level, &readable, &names, policy),
        history: request.history,
        hints: suggested.cloned().collect(),
        change: request.change.clone(),
        input_sha256: String::new(),
        packet_sha256: String::new(),
        files_included: paths(&files),
        files,
        unchanged,
        omitted,
        more_omitted,
        diagnosis,
    };
    context.input_sha256 = input_digest(source, request, &context);
    context.packet_sha256 = packet_digest(&context);
    Ok(Built {
        log: log.map(|log| {
            // Who asks for few tokens has no room for a long log either.
            let most = request.caps.max_tokens.filter(|it| *it > 0);
            let most = most.map_or(u64::MAX, bytes_of_tokens);
            let mut cut = excerpt(
                &log.text,
                log.original_bytes,
                log.redactions,
                request.max_log_bytes.min(most),
            );
            cut.omitted_bytes += log.passed_over;
            cut
        }),
        context,
        recovery,
    })
}

/// Definitions of missing names that are given a place, whatever else there is.
const MAX_LEADS: usize = 3;
/// Candidates that are weighed before the data that the log names.
const BEFORE_DATA: usize = 8;
/// What the files of a packet take beside a fix that is certain.
const TOKENS_WHEN_CERTAIN: u64 = 3_000;

fn ranking(
    (source, known): (&dyn Source, &Known),
    level: Level,
    request: &Request,
    (focus, mentions): &(&Focus, &Mentions),
    targets: &[RepoPath],
    reach: &Closure,
    may_read: &(dyn Fn(&RepoPath) -> bool + Sync),
) -> Vec<Ranked> {
    if level == Level::Targets || request.profile == Profile::Spec {
        return Vec::new();
    }
    let hops: Vec<(RepoPath, u32)> = reach
        .nodes
        .iter()
        .map(|node| (node.path.clone(), node.hops))
        .collect();
    let asking = asking((source, known), focus, mentions, targets, may_read);
    let input = RankInput {
        log: &focus.text,
        targets,
        asking: &asking,
        hops: &hops,
        commits: &request.commits,
        changed: request.change.as_ref().map_or(&[], |change| &change.files),
        words: &known.words,
        may_read,
    };
    rank(source, &input)
}

// What of the targets asks: the failing tests' own bodies, and the definitions that the log points
// into; a target without either asks as a whole while no other has a failing test.
fn asking(
    (source, known): (&dyn Source, &Known),
    focus: &Focus,
    mentions: &Mentions,
    targets: &[RepoPath],
    may_read: &(dyn Fn(&RepoPath) -> bool + Sync),
) -> Vec<(RepoPath, Vec<u8>)> {
    let mut asking: Vec<(RepoPath, Vec<u8>)> = Vec::new();
    let mut any_failing = false;
    for path in targets.iter().filter(|path| may_read(path)) {
        let Ok(bytes) = source.read(path) else {
            continue;
        };
        let outline = known_outline(&known.outlines, path, &bytes);
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

// What was asked for of a target.
fn asked_of(asked: &mut [Candidate], path: &RepoPath) -> Option<RequestedParts> {
    let mut of_target = asked.iter_mut().filter(|it| it.path == *path);
    of_target.find_map(|it| it.asked.take())
}

// Puts the files that define what is missing first, each at the lines that do.
fn lead(leads: &[(String, RepoPath, u32)], taken: &[RepoPath], chosen: &mut Vec<Candidate>) {
    let mut found: Vec<Candidate> = Vec::new();
    for (name, path, line) in leads.iter().filter(|it| !taken.contains(&it.1)) {
        if let Some(known) = found.iter_mut().find(|it| it.path == *path) {
            known.lines.push(*line);
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

struct CleanLog {
    text: String,
    original_bytes: u64,
    passed_over: u64,
    redactions: u64,
}

fn clean_log(redactor: &Redactor, request: &Request) -> Result<Option<CleanLog>, ContextError> {
    let Some(log) = &request.log else {
        return Ok(None);
    };
    let text = sanitize_log(log.text().as_bytes());
    if text.trim().is_empty() {
        // With something else to go by, an empty log is as good as none.
        let alone = request.targets.is_empty() && request.requested.is_empty();
        return if alone {
            Err(ContextError::EmptyLog)
        } else {
            Ok(None)
        };
    }
    let redacted = redactor.redact(&text);
    Ok(Some(CleanLog {
        redactions: redacted.findings.len() as u64,
        text: redacted.text.into_owned(),
        original_bytes: log.bytes(),
        passed_over: log.bytes_passed_over(),
    }))
}

fn deduplicated(paths: &[RepoPath]) -> Vec<RepoPath> {
    let mut seen = std::collections::HashSet::new();
    paths
        .iter()
        .filter(|path| seen.insert(*path))
        .cloned()
        .collect()
}

/// Takes out the files that an earlier packet held in the same form, and names them instead.
fn split_unchanged(
    files: Vec<PacketFile>,
    earlier: &[UnchangedFile],
) -> (Vec<PacketFile>, Vec<UnchangedFile>) {
    let earlier: HashSet<&UnchangedFile> = earlier.iter().collect();
    let mut new = Vec::new();
    let mut unchanged = Vec::new();
    for file in files {
        let known = UnchangedFile::of(&file);
        if earlier.contains(&known) {
            unchanged.push(known);
        } else {
            new.push(file);
        }
    }
    (new, unchanged)
}
