use std::collections::BTreeSet;

use super::error::BenchError;
use super::score::{Heading, score};
use crate::model::{BenchDocument, FixtureOutcome, Partition};

/// Reads `K/N`, K from 1.
///
/// # Errors
/// [`BenchError`] for anything else.
pub fn parse_partition(text: &str) -> Result<Partition, BenchError> {
    let numbers = text.split_once('/');
    let numbers = numbers
        .and_then(|(index, count)| Some((index.trim().parse().ok()?, count.trim().parse().ok()?)));
    let Some((index, count)) = numbers else {
        let message = format!("`{text}`: K/N is expected, such as 2/5");
        return Err(BenchError::Part(message));
    };
    if (1..=count).contains(&index) {
        return Ok(Partition { index, count });
    }
    let message = format!("`{text}`: the part must be from 1 to the number of parts");
    Err(BenchError::Part(message))
}

/// What of a list, in its order, belongs to a part: every N-th, so that neighbours, which are
/// alike, are spread.
#[must_use]
pub fn part_of<T>(all: Vec<T>, partition: Option<Partition>) -> Vec<T> {
    let Some(Partition { index, count }) = partition else {
        return all;
    };
    let (index, count) = (index.saturating_sub(1) as usize, count.max(1) as usize);
    let numbered = all.into_iter().enumerate();
    numbered
        .filter(|(at, _)| at % count == index)
        .map(|(_, it)| it)
        .collect()
}

/// Joins the parts of one run into what the run in one piece would have given.
///
/// # Errors
/// [`BenchError`] when they are not all parts of one run.
pub fn merge(documents: Vec<BenchDocument>) -> Result<BenchDocument, BenchError> {
    let wrong = BenchError::Part;
    let Some(first) = documents.first() else {
        return Err(wrong("there is nothing to join".to_owned()));
    };
    let heading = Heading {
        agent: first.agent.clone(),
        max_level: first.max_level,
        partition: None,
    };
    let count = first.partition.map_or(0, |it| it.count);
    let mut seen = BTreeSet::new();
    for document in &documents {
        let of = |it: &BenchDocument| [it.agent.clone(), it.max_level.to_string()];
        let pairs = of(first).into_iter().zip(of(document));
        for (what, (first, other)) in ["agent", "max level"].into_iter().zip(pairs) {
            if first != other {
                let message = format!("the documents differ in {what}: `{first}` and `{other}`");
                return Err(wrong(message));
            }
        }
        let message = match document.partition {
            None => "a document is no part: it was made without `--partition`".to_owned(),
            Some(part) if part.count != count => {
                "the documents are parts of different numbers of parts".to_owned()
            }
            Some(part) if !seen.insert(part.index) => format!("part {} is there twice", part.index),
            Some(_) => continue,
        };
        return Err(wrong(message));
    }
    let missing = (1..=count).filter(|index| !seen.contains(index)).take(20);
    let missing: Vec<String> = missing.map(|it| it.to_string()).collect();
    if let Some(first) = missing.first() {
        return Err(wrong(format!(
            "parts are missing: {} of {count}; each is run alone with `--partition {first}/{count}`",
            missing.join(", ")
        )));
    }
    let outcomes: Vec<FixtureOutcome> = documents.into_iter().flat_map(|it| it.fixtures).collect();
    let mut ids = BTreeSet::new();
    if let Some(twice) = outcomes.iter().find(|it| !ids.insert(it.id.as_str())) {
        let message = format!("the fixture `{}` stands in two documents", twice.id);
        return Err(wrong(message));
    }
    Ok(score(heading, outcomes))
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
    fn what_is_no_part_is_an_error() {
        let part = parse_partition("2/5").unwrap();
        assert_eq!(part, Partition { index: 2, count: 5 });
        for text in ["", "2", "0/5", "6/5", "a/b", "1/0", "-1/2", "1/2/3"] {
            assert!(parse_partition(text).is_err(), "{text}");
        }
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
