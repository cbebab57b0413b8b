//! Programs that write into one log at the same time: their lines are put together again.

use super::log::{Run, View};
use super::normalise::SAMPLE;
use super::prefix;

/// The same log with the lines of each program together, under their own numbers; none where nobody
/// speaks between the lines of another. A line that names nobody ends what may be put together.
pub(super) fn together(view: View<'_>) -> Option<(String, Vec<Run>)> {
    if !view.text.contains(['\t', '|', '[', '#', ':']) {
        return None;
    }
    let wrapper = prefix::wrapper(view.text, SAMPLE);
    let mut out: Vec<(u64, &str)> = Vec::new();
    let mut mixed = false;
    let mut stretch = Stretch::default();
    for row in view.lines('\n') {
        match prefix::speaker(row.1, &wrapper) {
            Some(name) => mixed |= stretch.add(&name, row),
            None if row.1.trim().is_empty() && stretch.is_open() => stretch.follow(row),
            None => {
                stretch.end(&mut out);
                out.push(row);
            }
        }
    }
    stretch.end(&mut out);
    mixed.then(|| joined(&out))
}

// More jobs and programs than one log has: GitHub allows 256 in a matrix.
const MOST: usize = 1024;

// Lines that all name who speaks.
#[derive(Default)]
struct Stretch<'a> {
    of: Vec<(String, Vec<(u64, &'a str)>)>,
    last: usize,
}

impl<'a> Stretch<'a> {
    fn is_open(&self) -> bool {
        !self.of.is_empty()
    }

    // Whether somebody speaks again after another.
    fn add(&mut self, name: &str, row: (u64, &'a str)) -> bool {
        let earlier = self.of.iter().position(|it| it.0 == name);
        let again = earlier.is_some_and(|at| at != self.last);
        if earlier.is_none() && self.of.len() < MOST {
            self.of.push((name.to_owned(), Vec::new()));
            self.last = self.of.len() - 1;
        }
        self.last = earlier.unwrap_or(self.last);
        self.follow(row);
        again
    }

    fn follow(&mut self, row: (u64, &'a str)) {
        if let Some(it) = self.of.get_mut(self.last) {
            it.1.push(row);
        }
    }

    fn end(&mut self, out: &mut Vec<(u64, &'a str)>) {
        out.extend(self.of.drain(..).flat_map(|it| it.1));
        self.last = 0;
    }
}

/// Lines with their numbers as the text of a log.
pub(super) fn joined(rows: &[(u64, impl AsRef<str>)]) -> (String, Vec<Run>) {
    let length = rows.iter().map(|row| row.1.as_ref().len() + 1).sum();
    let mut text = String::with_capacity(length);
    let mut runs: Vec<Run> = Vec::new();
    let mut next = 0;
    for (at, (number, line)) in rows.iter().enumerate() {
        if *number != next {
            runs.push(Run {
                from: at,
                number: *number,
            });
        }
        next = number + 1;
        if at > 0 {
            text.push('\n');
        }
        text.push_str(line.as_ref());
    }
    (text, runs)
}

#[cfg(test)]
mod tests {
    use crate::diagnose::Log;

    fn numbered(log: &Log) -> Vec<(u64, &str)> {
        log.view().lines('\n').collect()
    }

    #[test]
    fn lines_of_services_stand_together_under_their_numbers() {
        let log = "a-1  | one\nb-1  | two\n\u{1b}[36ma-1  |\u{1b}[0m three\nb-1  | four\ndone\na-1  | five";
        let read = Log::from(log.to_owned());
        let numbers: Vec<u64> = numbered(&read).iter().map(|row| row.0).collect();
        assert_eq!(numbers, [1, 3, 2, 4, 5, 6]);
        assert_eq!(read.bytes(), log.len() as u64);
    }

    #[test]
    fn what_is_not_mixed_is_kept_as_it_is() {
        for log in [
            "a-1  | one\na-1  | two\nb-1  | three",
            "job\tstep\t2026-11-22T10:10:03.0Z one\njob\tother\t2026-11-22T10:10:03.0Z two\n",
            "E   assert 1 == 2\n\tat f (a.js:1:2)\n",
        ] {
            assert_eq!(Log::from(log.to_owned()).text(), log);
        }
    }
}
