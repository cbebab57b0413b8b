//! Searches a history for commits whose tests fail before and pass after.

use super::candidate::{
    Candidate, NO_ENVIRONMENT, UNREADABLE, Verdict, find_candidate, no_fix, prove_candidate,
};
use super::checkout::Checkout;
use super::environment::BenchFile;
use super::fix::Sides;
use super::sets;
use super::trial::CheckoutRunner;
use crate::bench::BenchError;
use crate::bench::run::in_parallel;
use crate::exec::Stop;
use crate::git::Repository;
use crate::model::{
    AtPath as _, DroppedCandidate, MineDocument, RealEnvironment, RealFix, RealFixes,
    SCHEMA_VERSION, WorkplaceMode,
};
use crate::policy::Redactor;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Instant;

/// How a history is searched for fixes.
#[derive(Debug, Clone)]
pub struct MineOptions {
    /// Where the main line begins.
    pub revision: String,
    /// The folder that takes the set.
    pub to: PathBuf,
    /// The folder for checkouts and environments.
    pub work: PathBuf,
    /// Fixes after which the search ends; all when missing.
    pub limit: Option<usize>,
    /// How many candidates are tried at a time.
    pub jobs: usize,
    /// Which workplace a run of tests gets.
    pub workplace: WorkplaceMode,
}

/// Searches the main line of a repository for fixes whose tests fail before and pass after, twice
/// the same, and writes `fixes.json` into the folder. `watch` gets a line for each candidate that was tried.
///
/// # Errors
/// [`BenchError`] when the history cannot be read or a folder cannot be written.
pub fn mine(
    clone: &Repository,
    file: &BenchFile,
    options: &MineOptions,
    redactor: &Redactor,
    stop: &Stop,
    watch: &(dyn Fn(&str) + Sync),
) -> Result<MineDocument, BenchError> {
    let started = Instant::now();
    let steps = clone.main_line(&options.revision)?;
    let mut dropped: BTreeMap<String, u64> = BTreeMap::new();
    let found = steps.iter().filter_map(|step| find_candidate(step, file));
    let mut drop_for = |reason: &str| *dropped.entry(reason.to_owned()).or_default() += 1;
    let candidates: Vec<Candidate> =
        found.filter_map(|found| found.map_err(&mut drop_for).ok()).collect();
    fs::create_dir_all(&options.to).at(&options.to)?;
    let search = Search {
        clone,
        file,
        options,
        redactor,
        stop,
        environments: environments(file, &candidates),
    };
    let (kept, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let all = candidates.len();
    let numbered: Vec<(usize, &Candidate)> = candidates.iter().enumerate().collect();
    let rows = in_parallel(&numbered, options.jobs, stop, |(at, candidate)| {
        if failed.load(SeqCst) || options.limit.is_some_and(|most| kept.load(SeqCst) >= most) {
            return Ok(None);
        }
        let verdict = search.try_candidate(candidate);
        failed.fetch_or(verdict.is_err(), SeqCst);
        let verdict = verdict?;
        // Dropped, because an interrupted run says nothing about the candidate.
        if stop.requested() {
            return Ok(None);
        }
        let is_fix = usize::from(verdict.is_ok());
        let kept = kept.fetch_add(is_fix, SeqCst) + is_fix;
        let (number, row) = (at + 1, progress_row(candidate, &verdict));
        watch(&format!("{number:>4}/{all} kept {kept:<3} {row}\n"));
        Ok(Some((&candidate.commit, verdict)))
    });
    let (mut fixes, mut failed) = (Vec::new(), Vec::new());
    let rows: Vec<_> = rows.into_iter().collect::<Result<_, BenchError>>()?;
    for (commit, verdict) in rows.into_iter().flatten() {
        match verdict {
            Ok(fix) => fixes.push(fix),
            Err((reason, said)) => {
                drop_for(reason);
                failed.push(DroppedCandidate {
                    commit: commit.clone(),
                    reason: reason.to_owned(),
                    said,
                });
            }
        }
    }
    let tried = fixes.len() + failed.len();
    let kept = fixes.len() as u64;
    search.write_set(fixes)?;
    Ok(MineDocument {
        schema_version: SCHEMA_VERSION,
        document: "bench-mine".to_owned(),
        repository: file.repository().name,
        commits: steps.len() as u64,
        tried: tried as u64,
        kept,
        dropped,
        candidates: failed,
        more: tried < all,
        seconds: started.elapsed().as_millis() as f64 / 1000.0,
    })
}

fn progress_row(candidate: &Candidate, verdict: &Verdict) -> String {
    let commit = &candidate.commit;
    let commit = commit.get(..9).unwrap_or(commit);
    match verdict {
        Ok(_) => format!("{commit} kept"),
        Err((reason, seen)) => format!("{commit} {reason}: {seen}"),
    }
}

// Each set up on the newest commit that it is for.
fn environments(file: &BenchFile, candidates: &[Candidate]) -> BTreeMap<String, RealEnvironment> {
    let mut environments = BTreeMap::new();
    for candidate in candidates {
        if let Some(range) = file.range(candidate.time) {
            environments
                .entry(candidate.environment.clone())
                .or_insert_with(|| range.at(&candidate.parent));
        }
    }
    environments
}

struct Search<'a> {
    clone: &'a Repository,
    file: &'a BenchFile,
    options: &'a MineOptions,
    redactor: &'a Redactor,
    stop: &'a Stop,
    environments: BTreeMap<String, RealEnvironment>,
}

impl Search<'_> {
    fn try_candidate(&self, candidate: &Candidate) -> Result<Verdict, BenchError> {
        let environment = self.environments.get(&candidate.environment);
        let range = self.file.range(candidate.time);
        let (Some(environment), Some(range)) = (environment, range) else {
            return Ok(no_fix(NO_ENVIRONMENT, ""));
        };
        let repository = self.file.repository();
        let checkout = Checkout::take(&self.options.work, &repository.name, environment)?;
        let runner = CheckoutRunner {
            checkout: &checkout,
            environment,
            workplace: self.options.workplace,
            redactor: self.redactor,
            stop: self.stop,
        };
        let id = sets::id(&repository.name, &candidate.commit);
        let tried = runner
            .checkout
            .set_up(environment, self.clone, self.stop)
            .and_then(|()| Sides::open(self.clone, &candidate.parent, &candidate.commit))
            .and_then(|sides| prove_candidate(candidate, range, &sides, &runner, id));
        match tried {
            Err(error @ (BenchError::Lacking(_) | BenchError::Source(_))) => {
                Ok(no_fix(UNREADABLE, error.to_string()))
            }
            Ok(Err((reason, seen))) => Ok(no_fix(reason, self.redactor.mask(&seen))),
            other => other,
        }
    }

    fn write_set(&self, fixes: Vec<RealFix>) -> Result<(), BenchError> {
        let environments = self
            .environments
            .values()
            .filter(|own| fixes.iter().any(|fix| fix.environment == own.name));
        let set = RealFixes {
            schema_version: SCHEMA_VERSION,
            document: sets::DOCUMENT.to_owned(),
            repository: self.file.repository(),
            environments: environments.cloned().collect(),
            fixes,
        };
        let path = self.options.to.join(sets::FILE);
        let text = serde_json::to_string_pretty(&set).unwrap_or_default() + "\n";
        Ok(fs::write(&path, text).at(&path)?)
    }
}
