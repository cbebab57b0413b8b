//! The lines that tests executed.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RepoPath;

/// Which lines of functions ran in tests that fail and in others of their files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traced {
    /// Tests that failed.
    pub failing: u32,
    /// Tests that passed.
    pub passing: u32,
    /// Every file that was loaded.
    pub files: BTreeMap<RepoPath, LinesRun>,
}

/// Lines of a file in functions, 1-based; what runs while the file is loaded is in neither.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinesRun {
    /// Those that ran, with how many tests that fail and that pass ran them; none of either for what ran
    /// outside of tests.
    pub ran: BTreeMap<u32, [u32; 2]>,
    /// Those that did not.
    pub idle: BTreeSet<u32>,
}

impl LinesRun {
    /// Whether a line ran in the failing tests or outside of tests.
    pub fn ran_in_failing(&self, line: u32) -> bool {
        let row = self.ran.get(&line);
        row.is_some_and(|[failing, passing]| *failing > 0 || *passing == 0)
    }

    /// Whether a line is known not to have.
    pub fn idle_in_failing(&self, line: u32) -> bool {
        self.idle.contains(&line) || (self.ran.contains_key(&line) && !self.ran_in_failing(line))
    }
}

impl Traced {
    /// How much the lines of a function are of the failing tests and not of the passing ones, 0 to 1 (Ochiai,
    /// of the line that has most); 0 where the failing tests run none of them, `None` where no line is known.
    pub fn score(&self, path: &RepoPath, [from, to]: [u32; 2]) -> Option<f64> {
        let file = self.files.get(path).filter(|_| from <= to)?;
        let ran = file.ran.range(from..=to).map(|(_, row)| self.suspicion(*row));
        let best = ran.fold(None, |best: Option<f64>, one| {
            Some(best.map_or(one, |best| best.max(one)))
        });
        best.or_else(|| file.idle.range(from..=to).next().map(|_| 0.0))
    }

    fn suspicion(&self, [failing, passing]: [u32; 2]) -> f64 {
        if failing + passing == 0 {
            return OUTSIDE;
        }
        let all = f64::from(self.failing.max(failing)) * (f64::from(failing) + f64::from(passing));
        f64::from(failing) / all.sqrt()
    }

    /// The files that failing tests run, each with the score of the line that has most.
    pub fn by_file(&self) -> Vec<(RepoPath, f64)> {
        let scores = self.files.keys().filter_map(|path| {
            Some((path.clone(), self.score(path, [0, u32::MAX])?)).filter(|row| row.1 > OUTSIDE)
        });
        scores.collect()
    }
}

/// What runs while files are loaded or fixtures are made speaks a little for itself.
const OUTSIDE: f64 = 0.2;

/// How many tests ran under the trace.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestTrace {
    /// Tests that failed.
    pub failing: u32,
    /// Tests of the same files that passed.
    pub passing: u32,
}

#[cfg(test)]
mod tests {
    use super::{LinesRun, Traced};
    use crate::model::RepoPath;

    fn path() -> RepoPath {
        RepoPath::new("a.py").unwrap()
    }

    fn traced() -> Traced {
        let lines = LinesRun {
            ran: [(2, [2, 6]), (3, [2, 0]), (9, [0, 6]), (12, [0, 0])].into(),
            idle: [10, 20].into(),
        };
        Traced {
            failing: 2,
            passing: 6,
            files: [(path(), lines)].into(),
        }
    }

    #[test]
    fn lines_of_failing_tests_score_most() {
        let traced = traced();
        let of = |lines| traced.score(&path(), lines);
        assert_eq!(of([2, 2]), Some(0.5));
        assert_eq!(of([2, 3]), Some(1.0));
        assert_eq!(of([9, 10]), Some(0.0));
        assert_eq!(of([20, 21]), Some(0.0));
        assert_eq!(of([30, 40]), None);
        assert!(of([12, 12]).is_some_and(|it| it > 0.0 && it < 0.5));
        let file = &traced.files[&path()];
        let ran = [2, 9, 12, 10].map(|line| file.ran_in_failing(line));
        assert_eq!(ran, [true, false, true, false]);
        let idle = [2, 9, 10, 30].map(|line| file.idle_in_failing(line));
        assert_eq!(idle, [false, true, true, false]);
    }
}
