use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::candidate::{Candidate, find_candidate};
use super::candidate::{NO_ENVIRONMENT, UNREADABLE};
use super::checkout::Checkout;
use super::environment::BenchFile;
use super::fix::Sides;
use super::prove::{Verdict, no_fix, prove_candidate};
use super::sets;
use super::trial::Bench;
use crate::bench::BenchError;
use crate::bench::run::in_parallel;
use crate::exec::Stop;
use crate::git::{Repository, Walked};
use crate::model::{
    DroppedCandidate, MineDocument, RealEnvironment, RealFix, RealFixes, SCHEMA_VERSION,
    WorkplaceMode,
};
use crate::policy::Redactor;

/// How a history is searched for fixes.
#[derive(Debug, Clone)]
pub struct MineOptions {
    /// Where the main line begins.
    pub revision: String,
    /// The folder that takes the set, and what was found of each candidate.
    pub to: PathBuf,
    /// The folder for checkouts and environments.
    pub work: PathBuf,
    /// Fixes after which the search ends; all when missing.
    pub limit: Option<usize>,
    /// Commits of the main line to look at; all when missing.
    pub max_commits: Option<u64>,
    /// The most product files that a fix may change.
    pub max_files: usize,
    /// The most lines of product that a fix may take away and bring.
    pub max_lines: usize,
    /// How many candidates are tried at a time.
    pub jobs: usize,
    /// Which workplace a run of tests gets.
    pub workplace: WorkplaceMode,
}

/// A candidate that was tried just now.
#[derive(Debug, Clone)]
pub struct Mined<'a> {
    /// Its number among all, from 1.
    pub number: usize,
    /// Of how many.
    pub of: usize,
    /// Fixes so far.
    pub kept: usize,
    /// The commit.
    pub commit: &'a str,
    /// What it came to: `kept`, or a reason.
    pub end: &'a str,
    /// What was seen.
    pub seen: &'a str,
}

/// Searches the main line of a repository for fixes whose tests fail before and pass after, twice
/// the same, and writes `fixes.json` and `candidates.jsonl` into the folder. What was tried there
/// earlier in the same environment is not tried again.
///
/// # Errors
/// [`BenchError`] when the history cannot be read or a folder cannot be written.
pub fn mine(
    clone: &Repository,
    file: &BenchFile,
    options: &MineOptions,
    redactor: &Redactor,
    stop: &Stop,
    done: &(dyn Fn(&Mined<'_>) + Sync),
) -> Result<MineDocument, BenchError> {
    let started = Instant::now();
    let found = find_candidates(clone, file, options)?;
    fs::create_dir_all(&options.to).map_err(|error| BenchError::disk(&options.to, &error))?;
    let log = options.to.join("candidates.jsonl");
    let search = Search {
        clone,
        file,
        options,
        redactor,
        stop,
        environments: environments(file, &found.candidates),
        known: read_log(&log),
        log: Mutex::new(log),
        of: found.candidates.len(),
        fixes: AtomicUsize::new(0),
        failed: AtomicBool::new(false),
        done,
    };
    let candidates: Vec<(usize, &Candidate)> = found.candidates.iter().enumerate().collect();
    let rows = in_parallel(&candidates, options.jobs, stop, |(at, candidate)| {
        let row = search.mine_result(at + 1, candidate);
        if row.is_err() {
            search.failed.store(true, SeqCst);
        }
        row
    });
    let rows: Vec<Option<TriedCandidate>> = rows.into_iter().collect::<Result<_, _>>()?;
    let rows: Vec<TriedCandidate> = rows.into_iter().flatten().collect();
    search.write_set(&rows)?;
    let mut dropped = found.dropped;
    let failed = rows.iter().filter_map(|row| {
        let reason = row.reason.clone()?;
        *dropped.entry(reason.clone()).or_default() += 1;
        Some(DroppedCandidate {
            commit: row.commit.clone(),
            reason,
            said: row.said.clone(),
        })
    });
    let failed: Vec<DroppedCandidate> = failed.collect();
    Ok(MineDocument {
        schema_version: SCHEMA_VERSION,
        document: "bench-mine".to_owned(),
        repository: file.repository().name,
        commits: found.walked.steps,
        tried: rows.len() as u64,
        kept: (rows.len() - failed.len()) as u64,
        dropped,
        candidates: failed,
        incomplete: list_incomplete(&found.walked),
        more: rows.len() < search.of,
        seconds: started.elapsed().as_millis() as f64 / 1000.0,
    })
}

struct Found {
    candidates: Vec<Candidate>,
    dropped: BTreeMap<String, u64>,
    walked: Walked,
}

// Nothing is run here.
fn find_candidates(
    clone: &Repository,
    file: &BenchFile,
    options: &MineOptions,
) -> Result<Found, BenchError> {
    let mut candidates = Vec::new();
    let mut dropped: BTreeMap<String, u64> = BTreeMap::new();
    let mut looked = 0;
    let walked = clone.main_line(&options.revision, |step| {
        match find_candidate(&step, file, options.max_files) {
            Some(Ok(found)) => candidates.push(found),
            Some(Err(reason)) => *dropped.entry(reason.to_owned()).or_default() += 1,
            None => {}
        }
        looked += 1;
        if options.max_commits.is_some_and(|most| looked >= most) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    Ok(Found {
        candidates,
        dropped,
        walked,
    })
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
    known: BTreeMap<String, TriedCandidate>,
    log: Mutex<PathBuf>,
    of: usize,
    fixes: AtomicUsize,
    failed: AtomicBool,
    done: &'a (dyn Fn(&Mined<'_>) + Sync),
}

impl Search<'_> {
    // What a candidate comes to; `None` when there are enough fixes or the search is to end.
    fn mine_result(
        &self,
        number: usize,
        candidate: &Candidate,
    ) -> Result<Option<TriedCandidate>, BenchError> {
        let is_enough = |most| self.fixes.load(SeqCst) >= most;
        if self.failed.load(SeqCst) || self.options.limit.is_some_and(is_enough) {
            return Ok(None);
        }
        let words = self.describe_candidate(candidate);
        let known = self.known.get(&candidate.commit);
        if let Some(row) = known.filter(|row| row.words == words) {
            self.fixes.fetch_add(usize::from(row.fix.is_some()), SeqCst);
            return Ok(Some(row.clone()));
        }
        let verdict = self.try_one(candidate)?;
        // What was stopped in its middle says nothing of the candidate.
        if self.stop.requested() {
            return Ok(None);
        }
        let mut row = TriedCandidate {
            commit: candidate.commit.clone(),
            words,
            fix: None,
            reason: None,
            said: String::new(),
        };
        match verdict {
            Ok(fix) => row.fix = Some(fix),
            Err((reason, seen)) => {
                row.reason = Some(reason.to_owned());
                row.said = self.redactor.redact(&seen).text.into_owned();
            }
        }
        self.add_to_log(&row)?;
        let is_fix = usize::from(row.fix.is_some());
        (self.done)(&Mined {
            number,
            of: self.of,
            kept: self.fixes.fetch_add(is_fix, SeqCst) + is_fix,
            commit: &candidate.commit,
            end: row.reason.as_deref().unwrap_or("kept"),
            seen: &row.said,
        });
        Ok(Some(row))
    }

    // What decides how a candidate is tried; in other words it is tried again.
    fn describe_candidate(&self, candidate: &Candidate) -> String {
        let environment = self.environments.get(&candidate.environment);
        let environment = environment.map(|own| (&own.setup, &own.test, &own.variables));
        let (tests, lines) = (&candidate.tests, self.options.max_lines);
        sets::digest(&format!("{environment:?} {tests:?} {lines}"))
    }

    fn try_one(&self, candidate: &Candidate) -> Result<Verdict, BenchError> {
        let environment = self.environments.get(&candidate.environment);
        let range = self.file.range(candidate.time);
        let (Some(environment), Some(range)) = (environment, range) else {
            return Ok(no_fix(NO_ENVIRONMENT, ""));
        };
        let repository = self.file.repository();
        let checkout = Checkout::take(&self.options.work, &repository.name, environment)?;
        let bench = Bench {
            checkout: &checkout,
            environment,
            workplace: self.options.workplace,
            redactor: self.redactor,
            stop: self.stop,
        };
        let id = sets::id(&repository.name, &candidate.commit);
        let tried = bench
            .checkout
            .set_up(environment, self.clone, self.stop)
            .and_then(|()| Sides::open(self.clone, &candidate.parent, &candidate.commit))
            .and_then(|sides| {
                prove_candidate(candidate, range, &sides, &bench, id, self.options.max_lines)
            });
        match tried {
            Err(error @ (BenchError::Lacking(_) | BenchError::Source(_))) => {
                Ok(no_fix(UNREADABLE, error.to_string()))
            }
            other => other,
        }
    }

    // Adds a line, so that an interrupted search goes on.
    fn add_to_log(&self, row: &TriedCandidate) -> Result<(), BenchError> {
        let path = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = |error: std::io::Error| BenchError::disk(&path, &error);
        let line = serde_json::to_string(row).unwrap_or_default();
        let mut options = fs::OpenOptions::new();
        let mut file = options
            .create(true)
            .append(true)
            .open(&*path)
            .map_err(failed)?;
        writeln!(file, "{line}").map_err(failed)
    }

    fn write_set(&self, rows: &[TriedCandidate]) -> Result<(), BenchError> {
        let fixes: Vec<RealFix> = rows.iter().filter_map(|row| row.fix.clone()).collect();
        let is_used = |own: &&RealEnvironment| fixes.iter().any(|fix| fix.environment == own.name);
        let set = RealFixes {
            schema_version: SCHEMA_VERSION,
            document: sets::DOCUMENT.to_owned(),
            repository: self.file.repository(),
            environments: self
                .environments
                .values()
                .filter(is_used)
                .cloned()
                .collect(),
            fixes,
        };
        let path = self.options.to.join(sets::FILE);
        let text = serde_json::to_string_pretty(&set).unwrap_or_default() + "\n";
        fs::write(&path, text).map_err(|error| BenchError::disk(&path, &error))
    }
}

fn list_incomplete(walked: &Walked) -> Vec<String> {
    let mut reasons = Vec::new();
    if walked.cut {
        reasons.push(format!(
            "the clone is shallow: nothing before its edge, {} commits back, was looked at \
             (`git fetch --unshallow`)",
            walked.steps
        ));
    }
    if walked.unreadable > 0 {
        reasons.push(format!(
            "the clone is partial: of {} commits the files are not here \
             (`git fetch --refetch --no-filter`)",
            walked.unreadable
        ));
    }
    reasons
}

/// What a candidate came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TriedCandidate {
    /// The commit.
    commit: String,
    /// What decided how it was tried.
    words: String,
    /// The fix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fix: Option<RealFix>,
    /// Why it is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What was seen.
    #[serde(default)]
    said: String,
}

// What was found of each candidate, by commit; a line that was cut off is left out.
fn read_log(path: &Path) -> BTreeMap<String, TriedCandidate> {
    let text = fs::read_to_string(path).unwrap_or_default();
    if !text.is_empty() && !text.ends_with('\n') {
        // A search that goes on begins a line of its own; the write that follows reports what cannot be written.
        let _ = fs::write(path, format!("{text}\n"));
    }
    let rows = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    rows.map(|row: TriedCandidate| (row.commit.clone(), row))
        .collect()
}
