use std::collections::{BTreeSet, HashMap};

use crate::model::Outputs;

/// Two runs of the same commands side by side: the lines that only one of them wrote, with their
/// neighbours. Lines that differ in times and addresses alone are the same.
#[must_use]
pub(super) fn outputs(before: &str, after: &str) -> Outputs {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let (gone, come) = (only_in(&old, &new), only_in(&new, &old));
    if gone.is_empty() && come.is_empty() {
        return Outputs {
            same: true,
            before: String::new(),
            after: String::new(),
        };
    }
    Outputs {
        same: false,
        before: windows(&old, &gone, MAX_BEFORE),
        after: windows(&new, &come, MAX_AFTER),
    }
}

// The run without the change stands in the log of the packet, too, unless the change was kept.
const MAX_BEFORE: usize = 3_000;
const MAX_AFTER: usize = 6_000;
const NEIGHBOURS: usize = 3;

// Lines as a multiset: how often the other side has one counts, too.
fn only_in(these: &[&str], others: &[&str]) -> BTreeSet<usize> {
    let mut left: HashMap<String, usize> = HashMap::new();
    for line in others {
        *left.entry(steady(line)).or_default() += 1;
    }
    let mut only = BTreeSet::new();
    for (at, line) in these.iter().enumerate() {
        match left.get_mut(&steady(line)) {
            Some(count) if *count > 0 => *count -= 1,
            _ => {
                only.insert(at);
            }
        }
    }
    only
}

// Without what differs between two runs of the same: times, addresses, temporary paths.
fn steady(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let unit = |word: Option<&&str>| {
        let word = word.map(|it| it.trim_matches(|c: char| !c.is_alphanumeric()));
        matches!(word, Some("s" | "ms" | "sec" | "seconds"))
    };
    let varies = |at: usize, word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let number = |text: &str| text.parse::<f64>().is_ok();
        let timed = bare
            .strip_suffix("ms")
            .or_else(|| bare.strip_suffix('s'))
            .is_some_and(number);
        timed
            || word.contains("0x")
            || word.contains("/tmp/")
            || (number(bare) && unit(words.get(at + 1)))
    };
    let kept = words
        .iter()
        .enumerate()
        .filter(|(at, word)| !varies(*at, word));
    kept.map(|(_, word)| *word).collect::<Vec<_>>().join(" ")
}

fn windows(lines: &[&str], marked: &BTreeSet<usize>, max: usize) -> String {
    let shown: BTreeSet<usize> = marked
        .iter()
        .flat_map(|at| at.saturating_sub(NEIGHBOURS)..=at + NEIGHBOURS)
        .filter(|at| *at < lines.len())
        .collect();
    let mut rows: Vec<String> = Vec::new();
    let mut next = 0;
    for at in shown {
        if at > next {
            rows.push(format!("[{} lines left out]\n", at - next));
        }
        let short: String = lines[at].chars().take(MAX_LINE).collect();
        rows.push(format!("{short}\n"));
        next = at + 1;
    }
    if next < lines.len() {
        rows.push(format!("[{} lines left out]\n", lines.len() - next));
    }
    within(&rows, max)
}

const MAX_LINE: usize = 500;

// A third from the beginning, the rest from the end, where most tools sum up.
fn within(rows: &[String], max: usize) -> String {
    if rows.iter().map(String::len).sum::<usize>() <= max {
        return rows.concat();
    }
    let fitting = |rows: &mut dyn Iterator<Item = &String>, room: usize| {
        let mut used = 0;
        rows.take_while(|row| {
            used += row.len();
            used <= room
        })
        .count()
    };
    let head = fitting(&mut rows.iter(), max / 3);
    let tail = fitting(&mut rows[head..].iter().rev(), max - max / 3);
    let end = rows.len() - tail;
    let (first, last) = (rows[..head].concat(), rows[end..].concat());
    format!("{first}[{} rows left out]\n{last}", end - head)
}

#[cfg(test)]
mod tests {
    use super::outputs;

    #[test]
    fn only_what_differs_is_shown_with_its_neighbours() {
        let log = |message: &str, took: &str| {
            let noise: String = (0..50).map(|at| format!("line {at}\n")).collect();
            format!("{noise}{message}\nRan 3 tests in {took}s\n{noise}")
        };
        let two = outputs(&log("-2 != 5", "0.01"), &log("3 != 5", "1.25"));
        assert!(!two.same);
        assert!(
            two.before.starts_with("[47 lines left out]\nline 47\n"),
            "{}",
            two.before
        );
        assert!(two.before.contains("-2 != 5\n") && !two.before.contains("line 3\n"));
        assert!(two.after.contains("\n3 != 5\n"), "{}", two.after);
        assert!(outputs(&log("x", "0.01"), &log("x", "0.9")).same);
    }

    #[test]
    fn what_is_shown_is_bounded() {
        let long: String = (0..9000).map(|at| format!("error {at}\n")).collect();
        let two = outputs("all is well\n", &long);
        assert!(two.after.len() < 6_100, "{}", two.after.len());
        assert!(two.after.starts_with("error 0\n") && two.after.ends_with("error 8999\n"));
    }
}
