use super::diff_text::diff_text;
use crate::model::{Remedy, WhyChange, WhyDocument, WhyReason, WhyVerdict};

/// The answer in one line.
#[must_use]
pub fn why_line(document: &WhyDocument) -> String {
    match (document.verdict, document.cause.as_slice()) {
        (WhyVerdict::Caused, causes @ [first, rest @ ..]) => {
            let whose = if first.commit.is_some() {
                "the change"
            } else {
                "your change"
            };
            let mut about: Vec<String> =
                first.commit.iter().map(|it| short(it).to_owned()).collect();
            if rest.is_empty() {
                about.extend(became(&first.diff));
            }
            let about = if about.is_empty() {
                String::new()
            } else {
                format!(" ({})", about.join(", "))
            };
            let places: Vec<String> = causes.iter().map(place).collect();
            let (places, whose) = match places.as_slice() {
                [one] => (one.clone(), whose.to_owned()),
                [first, rest @ ..] => {
                    let all = format!("{first} with {}", rest.join(", "));
                    (all, format!("{whose}s"))
                }
                [] => (String::new(), whose.to_owned()),
            };
            format!("{whose} at {places}{about}: reverted, {}", passes(document))
        }
        (_, _) => unknown(document),
    }
}

fn passes(document: &WhyDocument) -> String {
    match document.tests.len() {
        0 if document.failed_before.is_empty() => "the command passes".to_owned(),
        0 => "the new findings are gone".to_owned(),
        1 => "the failing test passes".to_owned(),
        count => format!("{count} of {count} failing tests pass"),
    }
}

fn unknown(document: &WhyDocument) -> String {
    let base = document.base.as_ref().map(|it| short(&it.commit));
    let since = base.map_or(String::new(), |base| format!(" since {base}"));
    let likely = document.suspects.first();
    let likely = likely
        .filter(|it| it.why.contains("passed once"))
        .map(place);
    let likely = likely.map_or(String::new(), |place| {
        format!("likely {place} (reverted, the failing tests passed once); ")
    });
    match document.reason {
        Some(WhyReason::Flaky) => {
            "unknown: flaky, the same files passed once and failed once".to_owned()
        }
        Some(WhyReason::Passes) => "nothing to explain: the command passes".to_owned(),
        Some(WhyReason::NoBase) => {
            "unknown: no commit is known at which the tests passed".to_owned()
        }
        Some(WhyReason::NoChange) => format!("unknown: no file changed{since}"),
        Some(WhyReason::Budget) => {
            format!("{likely}not finished: out of time or runs")
        }
        Some(WhyReason::DoesNotBuild) => {
            format!("unknown: with every change{since} reverted, something else fails")
        }
        Some(WhyReason::Interrupted) => format!("{likely}not finished: interrupted"),
        Some(WhyReason::CommandNotFound) => "nothing ran: command not found".to_owned(),
        Some(WhyReason::NotExecutable) => "nothing ran: the file is not executable".to_owned(),
        Some(WhyReason::FailsWithout) | None if document.verdict == WhyVerdict::Unknown => {
            format!(
                "unknown: still fails with every change{since} reverted; a submodule was not reverted"
            )
        }
        Some(WhyReason::FailsWithout) | None => {
            format!("not by these changes: still fails with every change{since} reverted")
        }
    }
}

/// Formats the count of failures that no change caused.
pub(super) fn failed_before(count: usize) -> String {
    match count {
        1 => "1 more failed before the change".to_owned(),
        count => format!("{count} more failed before the change"),
    }
}

/// Formats the answer: one line, the changes, the cost, and what to type next.
#[must_use]
pub fn why_text(document: &WhyDocument, color: bool) -> String {
    let mut text = format!("{}\n", document.message);
    for cause in &document.cause {
        text.push_str(&format!(
            "\n{}\n{}",
            heading(cause),
            diff_text(&cause.diff, color)
        ));
    }
    if !document.failed_before.is_empty() && !document.cause.is_empty() {
        text.push_str(&format!(
            "\n{}:\n",
            failed_before(document.failed_before.len())
        ));
        for test in document.failed_before.iter().take(SHOWN) {
            text.push_str(&format!("  {test}\n"));
        }
    }
    if document.cause.is_empty() && !document.suspects.is_empty() {
        text.push_str("\nsuspects, the likeliest first:\n");
        for suspect in document.suspects.iter().take(SHOWN) {
            text.push_str(&format!("  {}: {}\n", place(suspect), suspect.why));
        }
        let more = document.suspects.len().saturating_sub(SHOWN) as u64 + document.more_suspects;
        if more > 0 {
            text.push_str(&format!("  and {more} more\n"));
        }
    }
    if !document.around.is_empty() {
        text.push('\n');
        text.extend(document.around.iter().map(around));
    }
    text.push_str(&format!("\n{}\n", cost(document)));
    if let Some(next) = advice(document) {
        text.push_str(&format!("next: {next}\n"));
    }
    text
}

/// The same as Markdown.
#[must_use]
pub fn why_markdown(document: &WhyDocument) -> String {
    let mut text = format!("**{}**\n", document.message);
    for cause in &document.cause {
        text.push_str(&format!(
            "\n`{}`\n\n```diff\n{}```\n",
            place(cause),
            cause.diff
        ));
    }
    for remedy in &document.around {
        text.push_str(&format!("\n{}", around(remedy)));
    }
    text.push_str(&format!("\n{}\n", cost(document)));
    text
}

// An environment problem, and what to type.
fn around(remedy: &Remedy) -> String {
    match &remedy.command {
        Some(command) => format!("{}: `{command}`\n", remedy.problem),
        None => format!("{}\n", remedy.problem),
    }
}

/// Suspects that are shown.
const SHOWN: usize = 5;

fn heading(change: &WhyChange) -> String {
    match &change.commit {
        Some(commit) => format!("{}, commit {}", place(change), short(commit)),
        None => place(change),
    }
}

fn place(change: &WhyChange) -> String {
    match change.line {
        Some(line) => format!("{}:{line}", change.path),
        None if change.why.starts_with("deleted") => format!("{} (deleted)", change.path),
        None => change.path.clone(),
    }
}

fn cost(document: &WhyDocument) -> String {
    let changes = document.suspects.len() as u64 + document.more_suspects;
    let plural = |count: u64, one: &str| {
        if count == 1 {
            format!("1 {one}")
        } else {
            format!("{count} {one}s")
        }
    };
    let mut runs = Vec::new();
    if document.runs > 0 {
        let tests = plural(document.tests.len() as u64, "test");
        runs.push(format!(
            "{} of {tests}",
            plural(u64::from(document.runs), "run")
        ));
    }
    if document.whole_runs > 0 || document.runs == 0 {
        runs.push(format!(
            "{} of the whole command",
            plural(u64::from(document.whole_runs), "run")
        ));
    }
    format!(
        "{} looked at, {}, {:.1} s",
        plural(changes, "change"),
        runs.join(", "),
        document.duration_seconds
    )
}

fn advice(document: &WhyDocument) -> Option<&'static str> {
    Some(match (document.verdict, document.reason) {
        (WhyVerdict::Caused, _) if document.undo.is_some() => "`mendit fix --undo` reverts it",
        (WhyVerdict::Caused, _) => "`mendit fix` tries fixes that need no LLM",
        (_, Some(WhyReason::NoBase | WhyReason::FailsWithout | WhyReason::NoChange)) => {
            "`mendit why --since REV` names a commit at which it passed; `mendit doctor` checks the environment"
        }
        (_, Some(WhyReason::DoesNotBuild)) => {
            "`mendit why --since REV` names a commit at which it passed"
        }
        (_, Some(WhyReason::Flaky)) => "`mendit run --retry-flaky 2` counts how often it fails",
        (_, Some(WhyReason::Budget)) => "`mendit why` alone has no time limit",
        _ => return None,
    })
}

fn short(commit: &str) -> &str {
    commit.get(..9).unwrap_or(commit)
}

// What one line became, as far as one part of it differs: `> became >=`.
fn became(diff: &str) -> Option<String> {
    let mut lines = diff.lines();
    let old = lines.next()?.strip_prefix('-')?;
    let new = lines.next()?.strip_prefix('+')?;
    if lines.next().is_some() {
        return None;
    }
    let (old, new) = (parts(old), parts(new));
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let tails = old.iter().rev().zip(new.iter().rev());
    let most = old.len().min(new.len()) - head;
    let tail = tails.take_while(|(a, b)| a == b).count().min(most);
    let middle = |parts: &[&str]| {
        let of = parts.get(head..parts.len() - tail).unwrap_or_default();
        of.concat().trim().to_owned()
    };
    let (old, new) = (middle(&old), middle(&new));
    let fits = |text: &str| text.chars().count() <= MOST_SHOWN;
    if !fits(&old) || !fits(&new) {
        return None;
    }
    match (old.as_str(), new.as_str()) {
        ("", "") => None,
        ("", new) => Some(format!("`{new}` added")),
        (old, "") => Some(format!("`{old}` removed")),
        (old, new) => Some(format!("{old} became {new}")),
    }
}

/// Characters of a change that fit into the line.
const MOST_SHOWN: usize = 30;

// Words, and what stands between them: runs of blanks, runs of signs.
fn parts(text: &str) -> Vec<&str> {
    let class = |letter: char| match letter {
        letter if letter.is_alphanumeric() || letter == '_' => 0,
        letter if letter.is_whitespace() => 1,
        '(' | ')' | '[' | ']' | '{' | '}' | ',' | '"' | '\'' => 3,
        _ => 2,
    };
    let mut found = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, letter) in text.char_indices() {
        let here = class(letter);
        if last.is_some_and(|last| last != here || here == 3) {
            found.push(&text[start..at]);
            start = at;
        }
        last = Some(here);
    }
    found.push(&text[start..]);
    found
}

#[cfg(test)]
mod tests {
    use super::became;

    #[test]
    fn one_part_that_differs_is_named() {
        for (diff, expected) in [
            ("-    if a > b:\n+    if a >= b:\n", Some("> became >=")),
            ("-x = 10\n+x = 100\n", Some("10 became 100")),
            ("-    return a\n+    return not a\n", Some("`not` added")),
            ("-f(a, b)\n+f(a)\n", Some("`, b` removed")),
            ("-a\n+b\n+c\n", None),
            ("+a\n", None),
            (
                "-one line that is long enough to fill it\n+and another that has no word in common\n",
                None,
            ),
        ] {
            assert_eq!(became(diff).as_deref(), expected, "{diff}");
        }
    }
}
