use std::collections::{BTreeMap, BTreeSet};

use super::score::{Heading, score};
use crate::model::{BenchDocument, Code, Comparison, FixtureOutcome, FixtureResult};

/// Compares with an earlier document. A fixture that is skipped now is missing, not regressed.
#[must_use]
pub fn compare(now: &BenchDocument, before: &BenchDocument) -> Comparison {
    let passed = |document: &BenchDocument| -> BTreeSet<String> {
        let all = document.fixtures.iter();
        all.filter(|it| it.result == FixtureResult::Passed)
            .map(|it| it.id.clone())
            .collect()
    };
    let results: BTreeMap<&str, FixtureResult> = now
        .fixtures
        .iter()
        .map(|it| (it.id.as_str(), it.result))
        .collect();
    let known: BTreeSet<&str> = before.fixtures.iter().map(|it| it.id.as_str()).collect();
    let (old, new) = (passed(before), passed(now));
    let mut comparison = Comparison::default();
    for id in &old {
        match results.get(id.as_str()) {
            Some(FixtureResult::Passed) => {}
            Some(FixtureResult::Failed | FixtureResult::Error) => {
                comparison.regressed.push(id.clone());
            }
            Some(FixtureResult::Skipped) | None => comparison.missing.push(id.clone()),
        }
    }
    for id in &new {
        if !known.contains(id.as_str()) {
            comparison.added.push(id.clone());
        } else if !old.contains(id) {
            comparison.gained.push(id.clone());
        }
    }
    comparison
}

/// Why documents cannot be joined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// Nothing was given.
    #[error("there is nothing to join")]
    Nothing,
    /// They come from different runs.
    #[error("the documents differ in {what}: `{first}` and `{other}`")]
    Different {
        /// In what.
        what: &'static str,
        /// In the first.
        first: String,
        /// In another.
        other: String,
    },
    /// A part is missing, there twice, or no part at all.
    #[error("{0}")]
    Parts(String),
    /// A fixture stands in two of them.
    #[error("the fixture `{0}` stands in two documents")]
    Twice(String),
}

impl MergeError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        Code::F306
    }
}

/// Joins the parts of one run into what the run in one piece would have given.
///
/// # Errors
/// [`MergeError`] when they are not all parts of one run.
pub fn merge(documents: Vec<BenchDocument>) -> Result<BenchDocument, MergeError> {
    let Some(first) = documents.first() else {
        return Err(MergeError::Nothing);
    };
    let heading = Heading {
        agent: first.agent.clone(),
        measures: first.measures.clone(),
        max_level: first.max_level,
        partition: None,
    };
    let count = first.partition.map(|it| it.count);
    let mut seen = BTreeSet::new();
    for document in &documents {
        let pairs = [
            ("agent", heading.agent.clone(), document.agent.clone()),
            (
                "max level",
                heading.max_level.to_string(),
                document.max_level.to_string(),
            ),
        ];
        for (what, first, other) in pairs {
            if first != other {
                return Err(MergeError::Different { what, first, other });
            }
        }
        let Some(partition) = document.partition else {
            let said = "a document is no part: it was made without `--partition`";
            return Err(MergeError::Parts(said.to_owned()));
        };
        if Some(partition.count) != count {
            let said = "the documents are parts of different numbers of parts";
            return Err(MergeError::Parts(said.to_owned()));
        }
        if !seen.insert(partition.index) {
            let said = format!("part {} is there twice", partition.index);
            return Err(MergeError::Parts(said));
        }
    }
    let count = count.unwrap_or_default();
    if seen.len() != count as usize {
        let missing: Vec<String> = (1..=count)
            .filter(|index| !seen.contains(index))
            .take(20)
            .map(|index| index.to_string())
            .collect();
        let first = missing.first().map_or("", String::as_str);
        let said = format!(
            "parts are missing: {} of {count}; each is run alone with `--partition {first}/{count}`",
            missing.join(", ")
        );
        return Err(MergeError::Parts(said));
    }
    let outcomes: Vec<FixtureOutcome> = documents.into_iter().flat_map(|it| it.fixtures).collect();
    let mut ids = BTreeSet::new();
    if let Some(twice) = outcomes.iter().find(|it| !ids.insert(it.id.as_str())) {
        return Err(MergeError::Twice(twice.id.clone()));
    }
    Ok(score(heading, outcomes))
}

#[cfg(test)]
mod tests {
    use super::super::partition::part_of;
    use super::super::score::tests::{heading, outcome};
    use super::super::score::{Heading, score};
    use super::{compare, merge};
    use crate::model::{FixtureResult as R, Level, Partition};

    #[test]
    fn a_comparison_tells_regressed_from_missing() {
        let level = Level::Targets;
        let before = score(
            heading(),
            vec![
                outcome("a", R::Passed, level),
                outcome("b", R::Passed, level),
                outcome("c", R::Passed, level),
                outcome("d", R::Failed, level),
            ],
        );
        let now = score(
            heading(),
            vec![
                outcome("a", R::Failed, level),
                outcome("b", R::Skipped, level),
                outcome("d", R::Passed, level),
                outcome("e", R::Passed, level),
            ],
        );
        let found = compare(&now, &before);
        assert_eq!(found.regressed, ["a"]);
        assert_eq!(found.missing, ["b", "c"]);
        assert_eq!(found.gained, ["d"]);
        assert_eq!(found.added, ["e"]);
    }

    #[test]
    fn joined_parts_are_the_whole() {
        let all: Vec<_> = (0..7)
            .map(|n| outcome(&format!("py-{n}"), R::Passed, Level::OneHop))
            .collect();
        let whole = score(heading(), all.clone());
        let part = |index| {
            let partition = Partition { index, count: 3 };
            let heading = Heading {
                partition: Some(partition),
                ..heading()
            };
            score(heading, part_of(all.clone(), Some(partition)))
        };
        assert_eq!(merge(vec![part(3), part(1), part(2)]).unwrap(), whole);
        for wrong in [
            vec![],
            vec![part(1), part(2)],
            vec![part(1), part(1), part(2)],
            vec![whole],
        ] {
            assert!(merge(wrong).is_err());
        }
    }
}
