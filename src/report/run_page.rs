use super::page::Block::{self, Code, Folded, Heading, List, Prose, Rows, Table, Title};
use super::page::{RUNGS, html, markdown};
use super::proof_text::{proof_rows, word};
use super::run_text::status_word;
use crate::model::{AttemptRecord, Origin, Proof, RunRecord, RunStatus};

/// A run as Markdown: the comment under a pull request. What it was, what was tried, the patch.
#[must_use]
pub fn run_markdown(run: &RunRecord) -> String {
    let mut page = page(run, MOST_TESTS);
    let last = run.attempts.iter().rev().find(|it| !it.log.is_empty());
    let log = last.map_or(&run.log, |it| &it.log);
    if run.result.patch_digest.is_none() {
        page.extend(folded("End of the log", end_of(log), ""));
    }
    markdown(&page)
}

/// A run as a page of its own: the same with every attempt, its packet, verdict, patch and log.
#[must_use]
pub fn run_html(run: &RunRecord) -> String {
    let mut page = page(run, usize::MAX);
    page.extend(folded("End of the first log", &run.log, ""));
    page.extend(run.attempts.iter().flat_map(attempt));
    page.push(Heading("The run".to_owned()));
    page.push(Rows(facts(run)));
    html(
        &format!("{}: {}", status_word(&run.result), run.result.run_id),
        &page,
    )
}

// What both say.
fn page(run: &RunRecord, most_tests: usize) -> Vec<Block> {
    let result = &run.result;
    let mut page = vec![
        Title(
            format!("{}{}", heading(most_tests), status_word(result)),
            color(result.status),
        ),
        Prose(result.message.clone()),
        Prose(origin_and_cost(run)),
    ];
    let mut part = |title: &str, blocks: Vec<Block>| {
        if !blocks.is_empty() {
            page.push(Heading(title.to_owned()));
            page.extend(blocks);
        }
    };
    if let Some(failure) = &result.failure {
        let mut blocks = vec![Prose(format!("{}: {}", failure.kind, failure.message))];
        if !run.evidence.is_empty() {
            blocks.push(Code(run.evidence.join("\n")));
        }
        let mut tests: Vec<_> = failure
            .failing_tests
            .iter()
            .take(most_tests)
            .cloned()
            .collect();
        let more = failure.failing_tests.len() - tests.len();
        tests.extend((more > 0).then(|| format!("and {more} more")));
        blocks.extend(listed(&tests));
        part("The failure", blocks);
    }
    let cause = result.cause.iter().map(|it| Prose(it.clone()));
    part("The culprit", cause.collect());
    let proof = result.proof.iter().map(|it| Rows(proven(it, most_tests)));
    part("The proof", proof.collect());
    let trouble = result.agent_trouble.iter();
    let trouble = trouble.map(|it| Code(it.last_lines.join("\n")));
    part("What the agent said last", trouble.collect());
    part("Parts", listed(&result.children).into_iter().collect());
    if !run.attempts.is_empty() {
        let rows = std::iter::once(TRIED.map(str::to_owned).to_vec());
        let rows = rows.chain(run.attempts.iter().map(tried)).collect();
        part("What was tried", vec![Table(rows, &[0, 8, 9])]);
    }
    let files = result.files_modified.len();
    let patch = run.patch.as_deref().unwrap_or_default();
    let patch = folded(&format!("Patch, {files} files"), patch, "diff");
    part("The patch", patch.into_iter().collect());
    part(
        "Next",
        listed(&result.suggested_actions).into_iter().collect(),
    );
    page
}

// A comment says whose it is.
fn heading(most_tests: usize) -> &'static str {
    if most_tests == MOST_TESTS {
        "mendit: "
    } else {
        ""
    }
}

// The word is printed too: color alone says nothing.
fn color(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Fixed => "good",
        RunStatus::Unproven | RunStatus::Split | RunStatus::UserActionRequired => "weak",
        RunStatus::Blocked | RunStatus::Failed | RunStatus::InvalidTask => "bad",
    }
}

// Which run it is, where and when it ran, and what it cost as far as agents say it.
fn origin_and_cost(run: &RunRecord) -> String {
    let result = &run.result;
    let mut parts = vec![format!("run `{}`", result.run_id.replace('`', "'"))];
    for (what, id) in [("task", &result.task_id), ("issue", &result.issue)] {
        parts.extend(id.as_ref().map(|id| format!("{what} {id}")));
    }
    parts.extend(Some(run.repository.clone()).filter(|it| !it.is_empty()));
    let commit = run.commit.as_deref().and_then(|it| it.get(..12));
    parts.extend(commit.map(|it| format!("at {it}")));
    parts.extend(started(&result.run_id));
    parts.push(match result.agent_calls {
        0 => "no agent call".to_owned(),
        1 => "1 agent call".to_owned(),
        calls => format!("{calls} agent calls"),
    });
    parts.push(format!("{:.1} s", result.duration_seconds));
    let usage = result.usage.unwrap_or_default();
    let tokens = usage.input_tokens + usage.output_tokens;
    parts.extend((tokens > 0).then(|| format!("{tokens} tokens")));
    parts.extend(usage.cost_usd.map(|cost| format!("{cost:.2} USD")));
    parts.join(" · ")
}

// A run is named by when it began, such as `20260131T101502.345-4711`.
fn started(run_id: &str) -> Option<String> {
    let (day, time) = (run_id.get(..8)?, run_id.get(9..13)?);
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let named = digits(day) && digits(time) && run_id.get(8..9) == Some("T");
    named.then(|| {
        let (year, rest) = day.split_at(4);
        let (month, day) = rest.split_at(2);
        let (hour, minute) = time.split_at(2);
        format!("{year}-{month}-{day} {hour}:{minute} UTC")
    })
}

fn facts(run: &RunRecord) -> Vec<(String, String)> {
    let result = &run.result;
    let report = run.report.as_ref();
    let blocked = report.and_then(|it| it.blocked_on.clone());
    let tool = report.and_then(|it| it.last_successful_tool.clone());
    let rows = [
        ("commands", run.commands.join("; ")),
        (
            "agent",
            run.agent.clone().unwrap_or_else(|| "none".to_owned()),
        ),
        ("attempts", result.attempts.to_string()),
        ("highest level", result.level.to_string()),
        ("changed", result.files_modified.join(", ")),
        (
            "category",
            report.map_or_else(String::new, |it| it.category.to_string()),
        ),
        ("blocked on", blocked.unwrap_or_default()),
        ("last successful tool", tool.unwrap_or_default()),
    ];
    let rows = rows.map(|(name, text)| (name.to_owned(), text)).into_iter();
    rows.filter(|(_, text)| !text.is_empty()).collect()
}

fn proven(proof: &Proof, most_tests: usize) -> Vec<(String, String)> {
    let rows = proof_rows(proof).into_iter();
    let mut rows: Vec<_> = rows.map(|(name, value)| (name.to_owned(), value)).collect();
    let tests = proof.decisive.tests.iter().take(most_tests);
    rows.extend(tests.map(|it| (word(it.ended).to_owned(), it.id.clone())));
    rows
}

const TRIED: [&str; 11] = [
    "attempt", "by", "0", "1", "2", "3", "verdict", "end", "bytes", "seconds", "why",
];

// A column a level: which were climbed, and what came of it.
fn tried(attempt: &AttemptRecord) -> Vec<String> {
    let result = &attempt.result;
    let by = match result.origin {
        Origin::Heal => "heal",
        Origin::Agent => "agent",
    };
    let mut cells = vec![result.attempt.to_string(), by.to_owned()];
    let rung = |at: u8| match (at == result.level.number(), result.kept) {
        (true, true) => RUNGS[0],
        (true, false) => RUNGS[1],
        _ => RUNGS[2],
    };
    cells.extend((0..4).map(|at| rung(at).to_owned()));
    cells.extend([
        attempt.verdict.clone(),
        result.stop_reason.to_string(),
        result.packet_bytes.to_string(),
        format!("{:.1}", result.duration_seconds),
        result.message.clone(),
    ]);
    cells
}

fn attempt(attempt: &AttemptRecord) -> Vec<Block> {
    let result = &attempt.result;
    let title = format!("Attempt {}: {}", result.attempt, result.stop_reason);
    let mut page = vec![Heading(title), Prose(result.message.clone())];
    if !result.requested_files.is_empty() {
        let files = result.requested_files.join(", ");
        page.push(Prose(format!("It asked for {files}.")));
    }
    if !attempt.verdict.is_empty() {
        page.push(Prose(format!("Validation result: {}", attempt.verdict)));
    }
    if !attempt.feedback.is_empty() {
        page.push(Code(attempt.feedback.clone()));
    }
    let (files, bytes) = (attempt.files.len(), result.packet_bytes);
    let packet = attempt
        .files
        .iter()
        .map(|(path, why)| format!("{path}: {why}\n"));
    let packet: String = packet.collect();
    page.extend(folded(
        &format!("Packet: {files} files, {bytes} bytes"),
        &packet,
        "",
    ));
    page.extend(folded("Patch", &attempt.patch, "diff"));
    page.extend(folded("End of the test log", &attempt.log, ""));
    page
}

fn listed(items: &[String]) -> Option<Block> {
    (!items.is_empty()).then(|| List(items.to_vec()))
}

fn folded(title: &str, text: &str, language: &'static str) -> Option<Block> {
    let block = || Folded(title.to_owned(), text.to_owned(), language);
    (!text.is_empty()).then(block)
}

const MOST_TESTS: usize = 20;
// A comment may have 65,536 characters on the usual hosts.
const MOST_LOG: usize = 4096;

fn end_of(log: &str) -> &str {
    let from = log.len().saturating_sub(MOST_LOG);
    let from = (from..log.len()).find(|at| log.is_char_boundary(*at));
    log.get(from.unwrap_or(0)..).unwrap_or(log)
}

#[cfg(test)]
mod tests {
    use super::end_of;

    #[test]
    fn the_end_of_a_log_starts_at_a_character() {
        let log = "ä".repeat(5000);
        let end = end_of(&log);
        assert!(end.len() <= 4096 && end.len() > 4000 && log.ends_with(end));
    }
}
