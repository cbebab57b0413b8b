use std::collections::BTreeSet;

use super::problem;
use super::reader::{Lines, number};
use crate::model::{Code, PatchFormat, PatchProblem};
use crate::patch::set::{Body, PatchSet};

/// The problem of a reply whose words offer its changes as solutions of which one is meant, or show a
/// change as what not to do. Words count where they stand between the changes; those of commits in a
/// mailbox do not.
pub(super) fn alternatives(lines: &Lines<'_>, set: &PatchSet<'_>) -> Option<PatchProblem> {
    let changes = changes(set);
    let mut labels: BTreeSet<(String, String)> = BTreeSet::new();
    let mut from = 0;
    for (index, (start, end)) in changes.iter().enumerate() {
        let gap = (from..*start).filter_map(|at| Some((at, prose(lines.get(at))?)));
        let gap: Vec<(usize, String)> = gap.collect();
        from = *end;
        if changes.len() < 2 || gap.iter().any(|(_, line)| is_mail(line)) {
            continue;
        }
        let here = gap.iter().filter_map(|(_, line)| label(line));
        let here: BTreeSet<(String, String)> = here.collect();
        let mut others = labels
            .iter()
            .flat_map(|one| here.iter().map(move |it| (one, it)));
        let starts = |line: &str, words: &[&str]| words.iter().any(|it| line.starts_with(it));
        let offers_other = |(at, line): &(usize, String)| {
            (index > 0 && starts(line, INSTEAD)) || (starts(line, NOT_THIS) && start - at <= NEAR)
        };
        if others.any(|(one, it)| one.0 == it.0 && one.1 != it.1) || gap.iter().any(offers_other) {
            let message = "the words around the changes offer them as alternatives, or show one as \
                           what not to do";
            return Some(problem(Code::P315, number(*start), message));
        }
        labels.extend(here);
    }
    None
}

const INSTEAD: &[&str] = &[
    "alternatively",
    "or alternatively",
    "or, alternatively",
    "as an alternative",
    "another option",
];

const NOT_THIS: &[&str] = &[
    "do not do this",
    "don't do this",
    "do not use this",
    "don't use this",
    "not like this",
    "wrong:",
    "bad:",
];

// Rows between such words and the change that they speak of.
const NEAR: usize = 6;

// The rows of each change, the end past the last, in the order of the reply.
fn changes(set: &PatchSet<'_>) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    if set.format == PatchFormat::Edits {
        return found;
    }
    let row = |line: u32| (line as usize).saturating_sub(1);
    for file in &set.files {
        match &file.body {
            Body::Hunks(hunks) => found.extend(hunks.iter().map(|hunk| {
                let last = hunk.lines.last().map_or(hunk.line, |line| line.at);
                (row(hunk.line), row(last.max(hunk.line)) + 1)
            })),
            Body::Whole(content) | Body::Code(content) => {
                let rows = memchr::memchr_iter(b'\n', content).count();
                found.push((row(file.line), row(file.line) + rows + 1));
            }
            _ => {}
        }
    }
    found.sort_unstable();
    found
}

// A line of prose in lower case, without the marks of Markdown; `None` for what is indented or long.
fn prose(line: &[u8]) -> Option<String> {
    if line.is_empty() || line.starts_with(b"  ") || line.len() > LONGEST {
        return None;
    }
    let text = std::str::from_utf8(line).ok()?;
    let text = text.trim_matches(|it: char| matches!(it, '#' | '*' | '_' | '>' | '-' | ' '));
    Some(text.to_lowercase().replace('’', "'"))
}

const LONGEST: usize = 400;

fn is_mail(line: &str) -> bool {
    line.starts_with("subject: ") || line.starts_with("commit ") || line.starts_with("from ")
}

// `Option A: …`, `2. Approach 2`: the word and the letter.
fn label(line: &str) -> Option<(String, String)> {
    let line = line.trim_start_matches(|it: char| it.is_ascii_digit() || matches!(it, '.' | ' '));
    let mut words = line.split(|it: char| !it.is_alphanumeric());
    let word = words.next()?;
    let letter = words.next()?;
    let words = ["option", "alternative", "approach", "variant", "solution"];
    let letters = [
        "a", "b", "c", "d", "1", "2", "3", "4", "one", "two", "three",
    ];
    (words.contains(&word) && letters.contains(&letter))
        .then(|| (word.to_owned(), letter.to_owned()))
}

#[cfg(test)]
mod tests {
    use crate::model::Code;
    use crate::patch::{ReadOptions, read};

    fn refused(text: &str) -> bool {
        let problems = read(text.as_bytes(), &ReadOptions::default(), |set| set.problems);
        problems.unwrap().iter().any(|it| it.code == Code::P315)
    }

    #[test]
    fn one_of_several_solutions_is_meant() {
        let block =
            |file: &str| format!("{file}\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n");
        let diff = |file: &str| format!("--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-a\n+b\n");
        for (first, second, expected) in [
            (
                "**Option A** (simple):\n\n",
                "\n**Option B** (robust):\n\n",
                true,
            ),
            ("", "\nAlternatively, change the caller:\n\n", true),
            (
                "Do NOT do this, it hides the error:\n\n",
                "\nInstead:\n\n",
                true,
            ),
            ("## Approach 1\n", "## Approach 1, second file\n", false),
            (
                "Alternatively we could wait. I take this:\n",
                "and\n",
                false,
            ),
            (
                "From 1234 Mon Sep\nSubject: x\n",
                "From 12 Mon\nSubject: y\n\nAlternatively, z.\n",
                false,
            ),
            ("Option A is to wait, option B is this:\n", "", false),
        ] {
            for (one, other) in [(block("x"), block("y")), (diff("x"), diff("y"))] {
                let text = format!("{first}{one}{second}{other}");
                assert_eq!(refused(&text), expected, "{text}");
            }
        }
        let files = "Option 1:\n\nx.py\n```\nx = 1\n```\n\nOption 2:\n\ny.py\n```\ny = 1\n```\n";
        assert!(refused(files));
    }
}
