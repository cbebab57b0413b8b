use super::markup::{cell, fenced};
use super::proof_text::{proof_rows, word};
use super::run_text::status_word;
use crate::model::{AttemptRecord, Origin, Proof, RunRecord, RunResult};

/// A run as Markdown: the comment under a pull request. What it was, what was tried, the patch;
/// long parts are folded.
#[must_use]
pub fn run_markdown(run: &RunRecord) -> String {
    let result = &run.result;
    let mut text = format!(
        "## mendit: {}\n\n{}\n",
        status_word(result),
        cell(&result.message)
    );
    if let Some(failure) = &result.failure {
        text.push_str(&format!(
            "\n**Failure** {}: {}\n",
            failure.kind,
            cell(&failure.message)
        ));
        for test in failure.failing_tests.iter().take(MAX_TESTS) {
            text.push_str(&format!("- {}\n", cell(test)));
        }
        let more = failure.failing_tests.len().saturating_sub(MAX_TESTS);
        if more > 0 {
            text.push_str(&format!("- and {more} more\n"));
        }
    }
    if let Some(cause) = &result.cause {
        text.push_str(&format!("\n**What did it** {}\n", cell(cause)));
    }
    if let Some(proof) = &result.proof {
        text.push_str(&proof_list(proof));
    }
    if let Some(trouble) = &result.agent_trouble {
        let lines = trouble.last_lines.join("\n");
        text.push_str(&format!(
            "\n**What the agent said last**\n\n{}\n",
            fenced(&lines, "")
        ));
    }
    if !result.children.is_empty() {
        text.push_str("\n**Parts**\n");
        for part in &result.children {
            text.push_str(&format!("- {}\n", cell(part)));
        }
    }
    if !run.attempts.is_empty() {
        text.push_str("\n| attempt | by | level | verdict | end | bytes | seconds | why |\n");
        text.push_str("|---:|---|---:|---|---|---:|---:|---|\n");
        for attempt in &run.attempts {
            text.push_str(&row(attempt));
        }
    }
    if let Some(patch) = &run.patch {
        let files = result.files_modified.len();
        text.push_str(&folded(&format!("Patch, {files} files"), patch, "diff"));
    }
    if !result.suggested_actions.is_empty() {
        text.push_str("\n**Next**\n");
        for action in &result.suggested_actions {
            text.push_str(&format!("- {}\n", cell(action)));
        }
    }
    let last = run.attempts.iter().rev().find(|it| !it.log.is_empty());
    let log = last.map_or(&run.log, |it| &it.log);
    if result.patch_digest.is_none() && !log.is_empty() {
        text.push_str(&folded("End of the log", end_of(log), ""));
    }
    text.push_str(&format!(
        "\nRun `{}`{}: {:.1} s, {} attempts, {} calls of the agent.\n",
        result.run_id.replace('`', "'"),
        belongs_to(result),
        result.duration_seconds,
        result.attempts,
        result.agent_calls
    ));
    text
}

fn proof_list(proof: &Proof) -> String {
    let mut text = String::from("\n**Proof**\n");
    let mut missing = false;
    for (name, said) in proof_rows(proof) {
        missing |= name == "missing";
        let lacks = if missing { "missing: " } else { "" };
        text.push_str(&format!("- {lacks}{}\n", cell(&said)));
    }
    for test in proof.decisive.tests.iter().take(MAX_TESTS) {
        let end = word(test.ended);
        text.push_str(&format!("- {}: {end}\n", cell(&test.id)));
    }
    text
}

fn belongs_to(result: &RunResult) -> String {
    let named = |what: &str, id: &Option<String>| {
        let id = id.as_ref()?;
        Some(format!(" of {what} {}", cell(id)))
    };
    [
        named("task", &result.task_id),
        named("issue", &result.issue),
    ]
    .into_iter()
    .flatten()
    .collect()
}

const MAX_TESTS: usize = 20;
// A comment may have 65,536 characters on the usual hosts.
const MAX_LOG: usize = 4096;

fn row(attempt: &AttemptRecord) -> String {
    let result = &attempt.result;
    let by = match result.origin {
        Origin::Heal => "heal",
        Origin::Agent => "agent",
    };
    format!(
        "| {} | {by} | {} | {} | {} | {} | {:.1} | {} |\n",
        result.attempt,
        result.level,
        attempt.verdict,
        result.stop_reason,
        result.packet_bytes,
        result.duration_seconds,
        cell(&result.message)
    )
}

fn folded(title: &str, text: &str, language: &str) -> String {
    format!(
        "\n<details><summary>{title}</summary>\n\n{}\n</details>\n",
        fenced(text, language)
    )
}

fn end_of(log: &str) -> &str {
    let from = log.len().saturating_sub(MAX_LOG);
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
