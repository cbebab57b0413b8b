use crate::model::{Code, Partition};

/// Why a part of the fixtures cannot be told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PartitionError(String);

impl PartitionError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        Code::F305
    }
}

/// Reads `K/N`, K from 1.
///
/// # Errors
/// [`PartitionError`] for anything else.
pub fn parse_partition(text: &str) -> Result<Partition, PartitionError> {
    let numbers = text
        .split_once('/')
        .and_then(|(index, count)| Some((index.trim().parse().ok()?, count.trim().parse().ok()?)));
    match numbers {
        Some((index, count)) => checked(index, count, text),
        None => Err(PartitionError(format!(
            "`{text}`: K/N is expected, such as 2/5"
        ))),
    }
}

/// The part that a CI job or an array task is meant to run, and what said so.
/// `None` outside of such.
///
/// # Errors
/// [`PartitionError`] when the variables are there and make no sense.
pub fn partition_from_environment(
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<(Partition, &'static str)>, PartitionError> {
    for row in VARIABLES {
        let number = |name: &str| variable(name).and_then(|it| it.trim().parse::<u32>().ok());
        let (Some(index), Some(count)) = (number(row.index), number(row.count)) else {
            continue;
        };
        let first = match row.first {
            First::Is(first) => first,
            First::Named(name) => number(name).unwrap_or(0),
        };
        let step = row.step.and_then(number).unwrap_or(1).max(1);
        let from_one = index
            .checked_sub(first)
            .map(|it| (it / step).saturating_add(1));
        let text = format!("{}={index}, {}={count}", row.index, row.count);
        let partition = checked(from_one.unwrap_or(0), count, &text)?;
        return Ok(Some((partition, row.index)));
    }
    Ok(None)
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

struct PartVariables {
    index: &'static str,
    count: &'static str,
    first: First,
    step: Option<&'static str>,
}

enum First {
    Is(u32),
    Named(&'static str),
}

// From the vendors' manuals. GitLab counts from 1; its variables are looked at before those of
// systems that count from 0 under other names.
const VARIABLES: &[PartVariables] = &[
    PartVariables {
        index: "CI_NODE_INDEX",
        count: "CI_NODE_TOTAL",
        first: First::Is(1),
        step: None,
    },
    PartVariables {
        index: "CIRCLE_NODE_INDEX",
        count: "CIRCLE_NODE_TOTAL",
        first: First::Is(0),
        step: None,
    },
    PartVariables {
        index: "BUILDKITE_PARALLEL_JOB",
        count: "BUILDKITE_PARALLEL_JOB_COUNT",
        first: First::Is(0),
        step: None,
    },
    PartVariables {
        index: "SLURM_ARRAY_TASK_ID",
        count: "SLURM_ARRAY_TASK_COUNT",
        first: First::Named("SLURM_ARRAY_TASK_MIN"),
        step: Some("SLURM_ARRAY_TASK_STEP"),
    },
];

fn checked(index: u32, count: u32, text: &str) -> Result<Partition, PartitionError> {
    if (1..=count).contains(&index) {
        Ok(Partition { index, count })
    } else {
        let said = format!("`{text}`: the part must be from 1 to the number of parts");
        Err(PartitionError(said))
    }
}

#[cfg(test)]
mod tests {
    use super::{parse_partition, part_of, partition_from_environment};
    use crate::model::Partition;

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
        assert_eq!(parse_partition("2/5"), Ok(Partition { index: 2, count: 5 }));
        for text in ["", "2", "0/5", "6/5", "a/b", "1/0", "-1/2", "1/2/3"] {
            assert!(parse_partition(text).is_err(), "{text}");
        }
    }

    #[test]
    fn jobs_are_told_by_their_environment() {
        for (variables, expected) in [
            ("", None),
            ("CI_NODE_INDEX=2 CI_NODE_TOTAL=4", Some((2, 4))),
            ("CIRCLE_NODE_INDEX=0 CIRCLE_NODE_TOTAL=4", Some((1, 4))),
            (
                "BUILDKITE_PARALLEL_JOB=3 BUILDKITE_PARALLEL_JOB_COUNT=4",
                Some((4, 4)),
            ),
            (
                "SLURM_ARRAY_TASK_ID=14 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_STEP=2 \
                 SLURM_ARRAY_TASK_COUNT=3",
                Some((3, 3)),
            ),
        ] {
            let found = partition_from_environment(|name| {
                let mut rows = variables.split(' ').filter_map(|it| it.split_once('='));
                rows.find_map(|(it, value)| (it == name).then(|| value.to_owned()))
            });
            let found = found.unwrap().map(|(it, _)| (it.index, it.count));
            assert_eq!(found, expected, "{variables:?}");
        }
        let wrong = |name: &str| match name {
            "CI_NODE_INDEX" => Some("5".to_owned()),
            "CI_NODE_TOTAL" => Some("4".to_owned()),
            _ => None,
        };
        assert!(partition_from_environment(wrong).is_err());
    }
}
