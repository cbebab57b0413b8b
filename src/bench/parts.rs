//! Splits fixtures into parts for a job array, and joins the documents of the parts.

use std::collections::BTreeSet;

use super::error::BenchError;
use super::score::{Heading, score};
use crate::model::{BenchDocument, Partition};

/// Reads `K/N`, K from 1.
///
/// # Errors
/// [`BenchError`] for anything else.
pub fn parse_partition(text: &str) -> Result<Partition, BenchError> {
    text.split_once('/')
        .and_then(|(index, count)| {
            let (index, count) = (index.trim().parse().ok()?, count.trim().parse().ok()?);
            (1..=count).contains(&index).then_some(Partition { index, count })
        })
        .ok_or_else(|| {
            let message = format!("`{text}`: expected K/N with K from 1 to N, such as 2/5");
            BenchError::Part(message)
        })
}

/// What of a list, in its order, belongs to a part: every N-th, so that neighbours, which are
/// alike, are spread.
pub fn part_of<T>(all: Vec<T>, partition: Option<Partition>) -> Vec<T> {
    let Some(Partition { index, count }) = partition else {
        return all;
    };
    let (index, count) = (index.saturating_sub(1) as usize, count.max(1) as usize);
    all.into_iter().skip(index).step_by(count).collect()
}

/// Joins the parts of one run into what the run in one piece would have given.
///
/// # Errors
/// [`BenchError`] when they are not all parts of one run.
pub fn merge(documents: Vec<BenchDocument>) -> Result<BenchDocument, BenchError> {
    let Some(first) = documents.first() else {
        return wrong_part("nothing to join".to_owned());
    };
    let heading = Heading {
        agent: first.agent.clone(),
        max_level: first.max_level,
        partition: None,
    };
    let count = first.partition.map_or(0, |partition| partition.count);
    let mut missing: BTreeSet<u32> = (1..=count).collect();
    for document in &documents {
        let Some(part) = document.partition else {
            return wrong_part(
                "a document is not a part: it was made without `--partition`".to_owned(),
            );
        };
        let is_same_run = document.agent == heading.agent
            && document.max_level == heading.max_level
            && part.count == count;
        if !is_same_run {
            return wrong_part(format!(
                "part {} belongs to another run: agent, max level and number of parts must agree",
                part.index
            ));
        }
        if !missing.remove(&part.index) {
            return wrong_part(format!("part {} appears twice", part.index));
        }
    }
    if let Some(first) = missing.first() {
        let missing: Vec<String> = missing.iter().take(20).map(u32::to_string).collect();
        return wrong_part(format!(
            "parts are missing: {} of {count}; run each with `--partition {first}/{count}`",
            missing.join(", ")
        ));
    }
    let outcomes = documents.into_iter().flat_map(|document| document.fixtures);
    Ok(score(heading, outcomes.collect()))
}

fn wrong_part<T>(message: String) -> Result<T, BenchError> {
    Err(BenchError::Part(message))
}

#[cfg(test)]
mod tests {
    use super::super::score::tests::{heading, outcome};
    use super::super::score::{Heading, score};
    use super::{merge, parse_partition, part_of};
    use crate::model::{FixtureResult as R, Level, Partition};

    #[test]
    fn parts_are_disjoint_and_whole() {
        for count in 1..6 {
            let mut all: Vec<u32> = (1..=count)
                .flat_map(|index| part_of((0..11).collect(), Some(Partition { index, count })))
                .collect();
            all.sort_unstable();
            assert_eq!(all, (0..11).collect::<Vec<_>>());
        }
    }

    #[test]
    fn rejects_wrong_part() {
        let part = parse_partition("2/5").unwrap();
        assert_eq!(part, Partition { index: 2, count: 5 });
        for text in ["", "2", "0/5", "6/5", "a/b", "1/0", "-1/2", "1/2/3"] {
            assert!(parse_partition(text).is_err(), "{text}");
        }
    }

    #[test]
    fn joined_parts_are_the_whole() {
        let all: Vec<_> =
            (0..7).map(|n| outcome(&format!("py-{n}"), R::Passed, Level::OneHop)).collect();
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
