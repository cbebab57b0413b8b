//! Formats the culprit and what to type next.

use std::ops::Range;

use super::page::Page;
use crate::model::{WhyChange, WhyDocument, WhyReason, WhyVerdict};

/// Formats the answer in one line.
pub fn why_line(document: &WhyDocument) -> String {
    let [first, rest @ ..] = document.cause.as_slice() else {
        return unknown(document);
    };
    let mut about: Vec<String> = first.commit.iter().map(|commit| short(commit)).collect();
    about.extend(changed_words(&first.diff).filter(|_| rest.is_empty()));
    let about = match about.as_slice() {
        [] => String::new(),
        about => format!(" ({})", about.join(", ")),
    };
    let whose = if first.commit.is_some() { "the change" } else { "your change" };
    let places: Vec<String> = rest.iter().map(place).collect();
    let others = match places.as_slice() {
        [] => String::new(),
        [one, two, more @ ..] if more.len() > 2 => {
            format!(", {one}, {two} and {} more places", more.len())
        }
        [one] => format!(" and {one}"),
        [places @ .., last] => format!(", {} and {last}", places.join(", ")),
    };
    let (plural, them) = if rest.is_empty() { ("", "it") } else { ("s", "them") };
    let first = place(first);
    let effect = effect_of_revert(document);
    format!("{whose}{plural} at {first}{others}{about}: reverting {them} {effect}")
}

fn effect_of_revert(document: &WhyDocument) -> String {
    let lasting = document.breaks.iter().filter(|id| document.tests.contains(id)).count();
    let names = match document.breaks.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    };
    let broken = match document.undo {
        _ if lasting > 0 => "; still failing: ",
        Some(_) => ", but breaks ",
        None => "; failing then: ",
    };
    if document.undo.is_none() && !names.is_empty() {
        return format!("alone is not enough{broken}{names}");
    }
    let (skipped, left) = (document.skipped.len(), document.not_rerun);
    let all = document.tests.len() + skipped;
    let mut helps = match document.tests.len() - lasting {
        0 if document.failed_before.is_empty() => "makes the command pass".to_owned(),
        0 => "removes the new findings".to_owned(),
        1 if all == 1 => "makes the failing test pass".to_owned(),
        count => format!("makes {count} of {all} failing tests pass"),
    };
    helps.extend((skipped > 0).then(|| format!(" ({skipped} skipped)")));
    helps.extend((left > 0).then(|| format!(" ({left} more were not rerun)")));
    helps.extend((!names.is_empty()).then(|| format!("{broken}{names}")));
    helps
}

fn unknown(document: &WhyDocument) -> String {
    let base = document.base.as_ref().map(|base| format!(" since {}", short(&base.commit)));
    let since = base.unwrap_or_default();
    let likely = document.suspects.iter().filter(|change| change.why.contains("passed once"));
    let likely: Vec<String> = likely.map(place).collect();
    let likely = match likely.as_slice() {
        [] => String::new(),
        [one] => format!("likely {one} (the failing tests passed once with it reverted); "),
        several => format!(
            "likely {} (the failing tests passed once with them reverted); ",
            several.join(", ")
        ),
    };
    let runs = document.runs + document.whole_runs;
    let runs = if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") };
    match document.reason {
        Some(WhyReason::Flaky) => {
            "unknown: flaky (the tests passed once and failed once on the same files)".to_owned()
        }
        Some(WhyReason::Passes) => "nothing to find: the command passes".to_owned(),
        Some(WhyReason::NoBase) => "unknown: no commit is known to pass".to_owned(),
        Some(WhyReason::NoChange) => format!("unknown: no file changed{since}"),
        Some(WhyReason::Budget) if document.runs + document.whole_runs == 0 => {
            "not searched: the command is slow, and its failing tests cannot be run alone"
                .to_owned()
        }
        Some(WhyReason::Budget) if !likely.is_empty() => {
            format!("{likely}not confirmed within {runs}")
        }
        Some(WhyReason::Budget) => format!("no culprit after {runs} (search limit)"),
        Some(WhyReason::DoesNotBuild) => {
            format!("unknown: without the changes{since}, the command fails with another error")
        }
        Some(WhyReason::NewTest) => format!("the failing tests are new{since}"),
        Some(WhyReason::Interrupted) => format!("{likely}search interrupted after {runs}"),
        Some(WhyReason::CommandNotFound) => "no test ran: a program was not found".to_owned(),
        Some(WhyReason::NotExecutable) => "no test ran: a file is not executable".to_owned(),
        Some(WhyReason::FailsWithout) | None if document.verdict == WhyVerdict::Unknown => {
            format!(
                "unknown: still fails without the changes{since}; the cause may be in a submodule, or in a package installed from this repository"
            )
        }
        Some(WhyReason::FailsWithout) | None => {
            format!("not caused by the changes{since}: still fails without them")
        }
    }
}

/// Formats the count of failures that no change caused.
pub(super) fn failed_before(names: &[String]) -> Option<String> {
    let (first, rest) = names.split_first()?;
    let more = (!rest.is_empty()).then(|| format!(" and {} more", rest.len()));
    let more = more.unwrap_or_default();
    Some(format!("{first}{more} also failed before the change"))
}

/// Reports the answer: one line, the changes, the cost, and what to type next.
pub fn why_page(document: &WhyDocument) -> Page {
    let mut page = Page::default();
    page.title(&document.message, "");
    for cause in &document.cause {
        page.heading(match &cause.commit {
            Some(commit) => format!("{}, commit {}", place(cause), short(commit)),
            None => place(cause),
        });
        page.diff(&cause.diff);
    }
    if document.cause.is_empty() {
        let suspects = document.suspects.iter();
        let suspects = suspects.map(|change| format!("{}: {}", place(change), change.why));
        let more = document.more_suspects;
        let more = (more > 0).then(|| format!("and {more} more"));
        page.section("suspects, most likely first:", suspects.chain(more));
    } else {
        page.section(
            "also failed before the change:",
            document.failed_before.iter().cloned(),
        );
    }
    let remedies = document.around.iter().map(|remedy| match &remedy.command {
        Some(command) => format!("{}: `{command}`", remedy.problem),
        None => remedy.problem.clone(),
    });
    page.section("environment:", remedies);
    page.heading(search_cost(document));
    if let Some(next) = next_step(document) {
        page.line(format!("next: {next}"));
    }
    page
}

fn place(change: &WhyChange) -> String {
    let is_deleted = change.line.is_none() && change.why.starts_with("deleted");
    let mark = if is_deleted { " (deleted)" } else { "" };
    format!("{}{mark}", change.place())
}

fn search_cost(document: &WhyDocument) -> String {
    let changes = document.suspects.len() as u64 + document.more_suspects;
    let mut runs = vec![format!("changes searched: {changes}")];
    if document.runs > 0 {
        runs.push(format!("runs of the failing tests: {}", document.runs));
    }
    if document.whole_runs > 0 || document.runs == 0 {
        runs.push(format!(
            "runs of the whole command: {}",
            document.whole_runs
        ));
    }
    format!("{}, {:.1} s", runs.join(", "), document.duration_seconds)
}

fn next_step(document: &WhyDocument) -> Option<&'static str> {
    use WhyReason::{FailsWithout, NoBase, NoChange};
    Some(match (document.verdict, document.reason) {
        (WhyVerdict::Caused, _) if document.undo.is_none() => {
            "revert by hand, then run `mendit why` for the tests that still fail"
        }
        // A later commit may fail the tests too.
        (WhyVerdict::Caused, _) if document.cause.iter().any(|change| change.commit.is_some()) => {
            "revert with `mendit fix --undo`; if tests still fail, run `mendit why` again"
        }
        (WhyVerdict::Caused, _) => "revert with `mendit fix --undo`",
        (_, Some(NoBase | FailsWithout | NoChange)) if document.around.is_empty() => {
            "pass a commit where it passed: `mendit why --since REV`; check the environment: `mendit doctor`"
        }
        (_, Some(NoBase | FailsWithout | NoChange | WhyReason::DoesNotBuild)) => {
            "pass a commit where it passed: `mendit why --since REV`"
        }
        (_, Some(WhyReason::NewTest)) => {
            "`mendit context` shows the code that they reach; if they passed before: `mendit why --since REV`"
        }
        (_, Some(WhyReason::Flaky)) => "the test itself is flaky: run it several times",
        (_, Some(WhyReason::Budget)) => "run `mendit why`, which searches longer",
        _ => return None,
    })
}

fn short(commit: &str) -> String {
    commit.chars().take(9).collect()
}

/// Names what changed in a line, such as "`>` became `>=`"; `None` for longer changes.
fn changed_words(diff: &str) -> Option<String> {
    let (old, new) = diff.strip_prefix('-')?.split_once("\n+")?;
    let is_one_line = !new.trim_end().contains('\n');
    let [old_words, new_words] = [old, new].map(words);
    let pairs = old_words.iter().zip(&new_words);
    let head = pairs.take_while(|(a, b)| old[(*a).clone()] == new[(*b).clone()]).count();
    let [old_words, new_words] = [&old_words[head..], &new_words[head..]];
    let pairs = old_words.iter().rev().zip(new_words.iter().rev());
    let tail = pairs.take_while(|(a, b)| old[(*a).clone()] == new[(*b).clone()]).count();
    let [old, new] = [(old, old_words), (new, new_words)].map(|(line, words)| {
        let kept = &words[..words.len() - tail];
        kept.first()
            .zip(kept.last())
            .map_or("", |(first, last)| &line[first.start..last.end])
    });
    // A longer change does not fit into the line.
    let is_short = is_one_line && old.len().max(new.len()) <= 30;
    let words = match (old, new) {
        ("", "") => return None,
        ("", new) => format!("`{new}` added"),
        (old, "") => format!("`{old}` removed"),
        (old, new) => format!("`{old}` became `{new}`"),
    };
    is_short.then_some(words)
}

// Names, operators and single marks.
fn words(line: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut before = None;
    for (at, c) in line.char_indices() {
        let kind = match c {
            _ if c.is_whitespace() => None,
            _ if c.is_alphanumeric() || c == '_' => Some('a'),
            '.' if line[..at].ends_with(|c: char| c.is_ascii_digit()) => Some('a'),
            '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' | ':' | '.' | '"' | '\'' => Some(c),
            _ => Some('='),
        };
        let is_longer = kind == before && matches!(kind, Some('a' | '='));
        match words.last_mut().filter(|_| is_longer) {
            Some(word) => word.end = at + c.len_utf8(),
            None => words.extend(kind.map(|_| at..at + c.len_utf8())),
        }
        before = kind;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::changed_words;

    #[test]
    fn changed_words_of_one_line() {
        for (diff, expected) in [
            ("-    if a > b:\n+    if a >= b:\n", Some("`>` became `>=`")),
            ("-x = 10\n+x = 100\n", Some("`10` became `100`")),
            ("-x = 1.5\n+x = 1.25\n", Some("`1.5` became `1.25`")),
            ("-    return a\n+    return not a\n", Some("`not` added")),
            ("-f(a, b)\n+f(a)\n", Some("`, b` removed")),
            ("-if (a > 1) {\n+if (a > 2) {\n", Some("`1` became `2`")),
            (
                "-if (!a.includes(b)) {\n+if (a.includes(b)) {\n",
                Some("`!` removed"),
            ),
            (
                "-  for (const one of [...all].reverse()) {\n+  for (const one of all) {\n",
                Some("`[...all].reverse()` became `all`"),
            ),
            ("-    a == b\n+  a == b\n", None),
            ("-def a(\n+def b(\n", Some("`a` became `b`")),
            ("-a\n+b\n+c\n", None),
            ("+a\n", None),
            (
                "-one line that is long enough to fill it\n+and another that has no word in common\n",
                None,
            ),
        ] {
            assert_eq!(changed_words(diff).as_deref(), expected, "{diff}");
        }
    }
}
