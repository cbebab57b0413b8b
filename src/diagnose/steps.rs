//! Finds the steps of a CI job and how each ended.

use super::line::{Line, Mark};
use super::providers::{ENDS, Event, PROVIDERS};
use crate::runners::pattern;

/// A CI job as its service logs it: the steps in order, and how each ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Job {
    /// In log order, without overlap.
    pub(super) steps: Vec<Step>,
    /// How the job ended, when the service says so.
    pub(super) passed: Option<bool>,
    /// The line that says that it passed.
    pub(super) passed_at: Option<usize>,
}

/// Lines `from` to `to` (exclusive) and how the command behind them ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) end: End,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Passed,
    /// With the exit code, when the log states it.
    Failed(Option<i32>),
    /// The log does not say.
    Open,
    /// Clean-up after the work, which decides nothing.
    CleanUp,
}

impl Job {
    /// The steps that failed, in log order.
    pub(super) fn failed(&self) -> impl Iterator<Item = Step> + '_ {
        self.steps.iter().copied().filter(|step| matches!(step.end, End::Failed(_)))
    }
}

/// Reads a job's steps out of its lines.
pub(super) fn read_job(lines: &[Line<'_>]) -> Job {
    let mut reader = Reader::default();
    for (at, line) in lines.iter().enumerate() {
        let ending = step_ending(line);
        // A Travis line can close a fold and give the exit code at once.
        let exits = matches!(ending, Some((Event::Exited, Some(_))));
        if (exits || reader.read_fold(at, line))
            && let Some((event, code)) = ending
        {
            reader.record_event(at, event, code);
        }
    }
    reader.finish_job(lines)
}

#[derive(Default)]
struct Reader {
    steps: Vec<Step>,
    // Folds that are open, with their first line.
    open: Vec<(String, usize)>,
    from: usize,
    // Whether what is being read began with words of a service.
    begun: bool,
    clean_up: bool,
    end_of_job: Option<(usize, bool, Option<i32>)>,
}

impl Reader {
    // What a line says of a fold; whether words behind that count too, as in the traces of GitLab.
    fn read_fold(&mut self, at: usize, line: &Line<'_>) -> bool {
        match &line.mark {
            Mark::Open(name) if name.starts_with("Run ") || name.starts_with("Starting: ") => {
                self.close_begun(at);
                self.begun = true;
            }
            Mark::Open(name) if name.starts_with("Finishing: ") => self.close(at + 1, End::Passed),
            Mark::Open(name) if !name.is_empty() && *name != line.text => {
                // Folds inside folds that are kept in mind.
                if self.open.len() < 1_000 {
                    self.open.push((name.clone(), at));
                }
            }
            Mark::Close(name) => {
                self.close_fold(at, name);
                return true;
            }
            _ => return true,
        }
        false
    }

    fn close_fold(&mut self, at: usize, name: &str) {
        let Some(index) = self.open.iter().rposition(|row| row.0 == name) else {
            return;
        };
        let from = self.open[index].1;
        self.open.truncate(index);
        // What was folded inside is part of it.
        let first = self.steps.partition_point(|step| step.from < from);
        let mut inside = self.steps.split_off(first);
        inside.retain(|step| matches!(step.end, End::Failed(_)));
        self.steps.append(&mut inside);
        self.from = self.from.min(from.max(self.steps.last().map_or(0, |step| step.to)));
        if self.from < from {
            self.close(from, End::Open);
        }
        self.close(at + 1, section_end(name));
    }

    fn record_event(&mut self, at: usize, event: Event, code: Option<i32>) {
        match (event, code) {
            (Event::Exited, Some(code)) => {
                let failed = Some(code).filter(|code| *code != 0);
                let end = failed.map_or(End::Passed, |code| End::Failed(Some(code)));
                match self.steps.last_mut() {
                    Some(last)
                        if self.open.iter().all(|row| row.1 < last.from)
                            && at < self.from + 400 =>
                    {
                        last.end = end;
                        last.to = at + 1;
                        self.from = at + 1;
                    }
                    _ => self.close(at + 1, end),
                }
            }
            (Event::Step, Some(0)) | (Event::Passed, _) => self.close(at + 1, End::Passed),
            (Event::Step, code) => {
                self.close(at + 1, End::Failed(code));
                self.begun = false;
            }
            (Event::Job, Some(0)) | (Event::JobPassed, _) => {
                self.end_of_job = Some((at, true, Some(0)));
            }
            (Event::Job, code) if self.end_of_job.is_none_or(|end| end.1) => {
                self.end_of_job = Some((at, false, code));
            }
            (Event::CleanUp, _) if !self.clean_up => {
                self.close_begun(at);
                self.clean_up = true;
            }
            _ => {}
        }
    }

    fn close_begun(&mut self, to: usize) {
        self.close(to, if self.begun { End::Passed } else { End::Open });
    }

    fn close(&mut self, to: usize, end: End) {
        let end = if self.clean_up { End::CleanUp } else { end };
        if to > self.from {
            self.steps.push(Step {
                from: self.from,
                to,
                end,
            });
        }
        self.from = to;
    }

    fn finish_job(mut self, lines: &[Line<'_>]) -> Job {
        self.close(lines.len(), End::Open);
        let says_error = lines.iter().any(|line| line.mark == Mark::Error);
        let failed = self.steps.iter().any(|step| matches!(step.end, End::Failed(_)));
        let passed = match self.end_of_job {
            Some((at, passed, code)) => {
                if !passed && !failed {
                    self.blame_step(at, code, lines);
                }
                Some(passed)
            }
            None if failed => Some(false),
            None if !self.clean_up || says_error => None,
            // Steps that went on to the clean-up without an error are a job that passed, unless the last one
            // ends with a word of failure that the log was cut behind.
            None => (!self.open_failed_end(lines)).then_some(true),
        };
        let success = self.end_of_job.filter(|end| end.1);
        Job {
            steps: self.steps,
            passed,
            passed_at: success.map(|end| end.0),
        }
    }

    // Takes back that the last step passed, where its last lines say that something failed.
    fn open_failed_end(&mut self, lines: &[Line<'_>]) -> bool {
        pattern!(FAILED, r"^(?:fatal|error|Error|ERROR|FATAL)(?:\[\w+\])?: ");
        let last_own = self.steps.iter_mut().rfind(|step| step.end != End::CleanUp);
        last_own.is_some_and(|step| {
            // Lines that a tool says below its error.
            let mut last = lines[step.from..step.to].iter().rev().take(10);
            let failed = last.any(|line| !line.quiet && FAILED.is_match(&line.text));
            step.end = if failed { End::Open } else { step.end };
            failed
        })
    }

    // For a service that reports the job alone: the step that ran last before that line failed.
    fn blame_step(&mut self, at: usize, code: Option<i32>, lines: &[Line<'_>]) {
        let last = self.steps.iter().rposition(|step| {
            let own = lines.get(step.from..step.to.min(at)).unwrap_or_default();
            step.end != End::CleanUp
                && own.iter().filter(|line| !line.text.trim().is_empty()).count() > 2
        });
        if let Some(index) = last {
            self.steps[index].end = End::Failed(code);
        }
    }
}

// Returns the first row that matches a line, with its exit code.
fn step_ending(line: &Line<'_>) -> Option<(Event, Option<i32>)> {
    let mut rows: Vec<usize> = ENDS.rows(&line.text).collect();
    rows.sort_unstable();
    rows.into_iter().find_map(|row| {
        let row = &PROVIDERS.end[row];
        let found = row.line.get().captures(&line.text)?;
        let code = found.iter().skip(1).flatten().next();
        let code = code.and_then(|number| number.as_str().parse().ok());
        (!row.error || line.mark == Mark::Error).then_some((row.event, code))
    })
}

/// Whether a service, a shell or a program that ran others says that something failed.
pub(super) fn tells_failure(line: &Line<'_>) -> bool {
    step_ending(line).is_some_and(|(event, code)| match event {
        Event::Exited | Event::Step | Event::Job => code != Some(0),
        Event::Failure => true,
        Event::JobPassed | Event::Passed | Event::CleanUp => false,
    })
}

fn section_end(name: &str) -> End {
    match PROVIDERS.fold.iter().find(|fold| fold.names.iter().any(|known| known == name)) {
        Some(fold) if fold.clean_up => End::CleanUp,
        Some(_) => End::Open,
        None => End::Passed,
    }
}

#[cfg(test)]
mod tests {
    use super::{End, read_job};
    use crate::diagnose::normalise::lines;

    #[test]
    fn reads_step_and_job_ends() {
        let cases: &[(&str, &[End], Option<bool>)] = &[
            (
                "##[group]Run a\na\n##[endgroup]\n##[group]Run b\n##[endgroup]\nboom\n##[error]Process completed with exit code 2.\nPost job cleanup.\nx",
                &[End::Passed, End::Failed(Some(2)), End::CleanUp],
                Some(false),
            ),
            (
                "##[group]Run a\na\n##[endgroup]\nPost job cleanup.\nx",
                &[End::Passed, End::CleanUp],
                Some(true),
            ),
            (
                "travis_time:start:01\r$ a\nx\ntravis_time:end:01:start=1\rThe command \"a\" exited with 0.\ntravis_time:start:02\r$ b\ny\ntravis_time:end:02:start=1\r\nThe command \"b\" exited with 1.\n\nDone. Your build exited with 1.",
                &[End::Passed, End::Failed(Some(1)), End::Open],
                Some(false),
            ),
            (
                "a\nb\nc\nRunning after script...\nx\nERROR: Job failed: exit code 3",
                &[End::Failed(Some(3)), End::CleanUp],
                Some(false),
            ),
            (
                "a\nb\nc\nFinished: FAILURE",
                &[End::Failed(None)],
                Some(false),
            ),
            ("a\nb", &[End::Open], None),
        ];
        for (log, ends, passed) in cases {
            let job = read_job(&lines(log));
            let found: Vec<End> = job.steps.iter().map(|step| step.end).collect();
            assert_eq!((found.as_slice(), job.passed), (*ends, *passed), "{log}");
        }
    }
}
