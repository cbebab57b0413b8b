use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::candidate::{Candidate, Reason, candidate};
use super::checkout::Checkouts;
use super::environment::BenchFile;
use super::fix::Sides;
use super::prove::{Verdict, no, prove};
use super::sets;
use super::trial::Bench;
use crate::bench::BenchError;
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

/// A candidate that was tried just now: its number among all, how many they are, how many fixes
/// there are so far.
#[derive(Debug, Clone)]
pub struct Mined<'a> {
    /// From 1.
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
/// earlier in the same words is not tried again.
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
    let found = look(clone, file, options)?;
    let kept = Mutex::new(Kept::open(&options.to)?);
    let search = Search {
        clone,
        file,
        options,
        redactor,
        stop,
        checkouts: Checkouts::new(&options.work),
        environments: environments(file, &found.candidates),
        kept: &kept,
        next: Mutex::new(0),
        done,
    };
    let jobs = options.jobs.clamp(1, found.candidates.len().max(1));
    let failure = Mutex::new(None);
    std::thread::scope(|scope| {
        let work = || {
            if let Err(error) = search.work(&found.candidates) {
                failure
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get_or_insert(error);
            }
        };
        for _ in 1..jobs {
            scope.spawn(work);
        }
        work();
    });
    if let Some(error) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    search.write_set(&found.candidates)?;
    Ok(search.document(&found, started))
}

struct Found {
    candidates: Vec<Candidate>,
    dropped: BTreeMap<String, u64>,
    walked: Walked,
}

// Nothing is run here.
fn look(clone: &Repository, file: &BenchFile, options: &MineOptions) -> Result<Found, BenchError> {
    let mut candidates = Vec::new();
    let mut dropped: BTreeMap<String, u64> = BTreeMap::new();
    let mut looked = 0;
    let walked = clone.main_line(&options.revision, |step| {
        match candidate(&step, file, options.max_files) {
            Some(Ok(found)) => candidates.push(found),
            Some(Err(reason)) => *dropped.entry(reason.as_str().to_owned()).or_default() += 1,
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
    checkouts: Checkouts,
    environments: BTreeMap<String, RealEnvironment>,
    kept: &'a Mutex<Kept>,
    next: Mutex<usize>,
    done: &'a (dyn Fn(&Mined<'_>) + Sync),
}

impl Search<'_> {
    fn work(&self, candidates: &[Candidate]) -> Result<(), BenchError> {
        while let Some((number, candidate)) = self.next(candidates) {
            let verdict = self.try_one(candidate)?;
            // What was stopped in its middle says nothing of the candidate.
            if self.stop.requested() {
                break;
            }
            let mut row = TriedCandidate {
                commit: candidate.commit.clone(),
                words: self.words(candidate),
                fix: None,
                reason: None,
                said: String::new(),
            };
            match verdict {
                Ok(fix) => row.fix = Some(fix),
                Err((reason, seen)) => {
                    row.reason = Some(reason.as_str().to_owned());
                    row.said = self.redactor.redact(&seen).text.into_owned();
                }
            }
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.add(row.clone())?;
            let fixes = self.fixes(&kept, candidates);
            drop(kept);
            (self.done)(&Mined {
                number,
                of: candidates.len(),
                kept: fixes,
                commit: &candidate.commit,
                end: row.reason.as_deref().unwrap_or("kept"),
                seen: &row.said,
            });
            if row.fix.is_some() {
                self.write_set(candidates)?;
            }
        }
        Ok(())
    }

    // The next that was not tried in the same words, unless there are enough fixes.
    fn next<'c>(&self, candidates: &'c [Candidate]) -> Option<(usize, &'c Candidate)> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let enough = |most| self.fixes(&kept, candidates) >= most;
        if self.stop.requested() || self.options.limit.is_some_and(enough) {
            return None;
        }
        while let Some(candidate) = candidates.get(*next) {
            *next += 1;
            if kept
                .result(&candidate.commit, &self.words(candidate))
                .is_none()
            {
                return Some((*next, candidate));
            }
        }
        None
    }

    fn fixes(&self, kept: &Kept, candidates: &[Candidate]) -> usize {
        let kept_fix = |candidate: &&Candidate| {
            kept.result(&candidate.commit, &self.words(candidate))
                .is_some_and(|row| row.fix.is_some())
        };
        candidates.iter().filter(kept_fix).count()
    }

    fn words(&self, candidate: &Candidate) -> String {
        let environment = self.environments.get(&candidate.environment);
        let environment = environment.map(|environment| {
            serde_json::json!([
                environment.name,
                environment.setup,
                environment.test,
                environment.variables,
                environment.timeout_seconds
            ])
        });
        let tests = &candidate.tests;
        sets::digest(&format!(
            "{environment:?} {tests:?} {}",
            self.options.max_lines
        ))
    }

    fn try_one(&self, candidate: &Candidate) -> Result<Verdict, BenchError> {
        let environment = self.environments.get(&candidate.environment);
        let range = self.file.range(candidate.time);
        let (Some(environment), Some(range)) = (environment, range) else {
            return Ok(no(Reason::NoEnvironment, ""));
        };
        let repository = self.file.repository();
        let lease = self.checkouts.take(&repository.name, environment)?;
        let bench = Bench {
            checkout: lease.checkout(),
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
            .and_then(|sides| prove(candidate, range, &sides, &bench, id, self.options.max_lines));
        match tried {
            Err(error @ (BenchError::Lacking(_) | BenchError::Source(_))) => {
                Ok(no(Reason::Unreadable, error.to_string()))
            }
            other => other,
        }
    }

    fn write_set(&self, candidates: &[Candidate]) -> Result<(), BenchError> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let fixes: Vec<_> = candidates
            .iter()
            .filter_map(|it| kept.result(&it.commit, &self.words(it))?.fix.clone())
            .collect();
        let used = |it: &&RealEnvironment| fixes.iter().any(|fix| fix.environment == it.name);
        let set = RealFixes {
            schema_version: SCHEMA_VERSION,
            document: sets::DOCUMENT.to_owned(),
            repository: self.file.repository(),
            environments: self.environments.values().filter(used).cloned().collect(),
            fixes,
        };
        write(&self.options.to.join(sets::FILE), &set)
    }

    fn document(&self, found: &Found, started: Instant) -> MineDocument {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut dropped = found.dropped.clone();
        let mut candidates = Vec::new();
        let (mut tried, mut fixes) = (0, 0);
        for candidate in &found.candidates {
            let Some(row) = kept.result(&candidate.commit, &self.words(candidate)) else {
                continue;
            };
            tried += 1;
            fixes += u64::from(row.fix.is_some());
            if let Some(reason) = &row.reason {
                *dropped.entry(reason.clone()).or_default() += 1;
                candidates.push(DroppedCandidate {
                    commit: row.commit.clone(),
                    reason: reason.clone(),
                    said: row.said.clone(),
                });
            }
        }
        MineDocument {
            schema_version: SCHEMA_VERSION,
            document: "bench-mine".to_owned(),
            repository: self.file.repository().name,
            commits: found.walked.steps,
            tried,
            kept: fixes,
            dropped,
            candidates,
            incomplete: incomplete(&found.walked),
            more: (tried as usize) < found.candidates.len(),
            seconds: started.elapsed().as_millis() as f64 / 1000.0,
        }
    }
}

fn incomplete(walked: &Walked) -> Vec<String> {
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

// A line a fix, so that a change of a set can be read.
fn write(path: &Path, set: &RealFixes) -> Result<(), BenchError> {
    let json = |value: &dyn Fn() -> serde_json::Result<String>| value().unwrap_or_default();
    let head = RealFixes {
        fixes: Vec::new(),
        ..set.clone()
    };
    let head = json(&|| serde_json::to_string_pretty(&head));
    let rows: Vec<String> = set
        .fixes
        .iter()
        .map(|fix| format!("    {}", json(&|| serde_json::to_string(fix))))
        .collect();
    let fixes = if rows.is_empty() {
        "[]".to_owned()
    } else {
        format!("[\n{}\n  ]", rows.join(",\n"))
    };
    let text = head.replacen("\"fixes\": []", &format!("\"fixes\": {fixes}"), 1);
    fs::write(path, text + "\n").map_err(|error| BenchError::write(path, &error))
}

/// What was found of each candidate, a line each, so that an interrupted search goes on.
struct Kept {
    path: PathBuf,
    /// By commit.
    rows: BTreeMap<String, TriedCandidate>,
}

/// What a candidate came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TriedCandidate {
    /// The commit.
    commit: String,
    /// What decided how it was tried; in other words it is tried again.
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

impl Kept {
    /// Reads what a folder holds; a last line that was cut off is left out.
    fn open(folder: &Path) -> Result<Self, BenchError> {
        fs::create_dir_all(folder).map_err(|error| BenchError::write(folder, &error))?;
        let path = folder.join("candidates.jsonl");
        let text = fs::read_to_string(&path).unwrap_or_default();
        let rows = text
            .lines()
            .filter_map(|line| serde_json::from_str::<TriedCandidate>(line).ok())
            .map(|row| (row.commit.clone(), row))
            .collect();
        if !text.is_empty() && !text.ends_with('\n') {
            fs::write(&path, format!("{text}\n"))
                .map_err(|error| BenchError::write(&path, &error))?;
        }
        Ok(Self { path, rows })
    }

    /// What a candidate came to when it was tried in the same words.
    fn result(&self, commit: &str, words: &str) -> Option<&TriedCandidate> {
        self.rows.get(commit).filter(|row| row.words == words)
    }

    /// Notes a candidate.
    fn add(&mut self, row: TriedCandidate) -> Result<(), BenchError> {
        let failed = |error: std::io::Error| BenchError::write(&self.path, &error);
        let line = serde_json::to_string(&row).unwrap_or_default();
        let mut file = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)
            .map_err(failed)?;
        writeln!(file, "{line}").map_err(failed)?;
        self.rows.insert(row.commit.clone(), row);
        Ok(())
    }
}
