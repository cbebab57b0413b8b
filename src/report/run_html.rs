use super::markup::{escaped, message, page};
use super::proof_text::{proof_rows, word};
use super::run_text::status_word;
use crate::model::{AttemptRecord, Origin, RunRecord, RunStatus};

/// A run as a page of its own: how it ended, the change, what failed, the ladder of what was tried, and
/// for each attempt its packet, verdict, patch and log. No script, nothing loaded from elsewhere.
#[must_use]
pub fn run_html(run: &RunRecord) -> String {
    let result = &run.result;
    let status = status_word(result);
    let mut text = format!(
        "<h1 class=\"{}\">{status}</h1>\n<p>{}</p>\n<p class=\"cost\">{}</p>\n",
        color(result.status),
        message(&result.message),
        escaped(&origin_and_cost(run))
    );
    if let Some(patch) = &run.patch {
        text.push_str(&format!("<h2>The patch</h2>\n{}", diff(patch)));
    }
    if let Some(failure) = &result.failure {
        text.push_str(&format!(
            "<h2>The failure</h2>\n<p><b>{}</b> {}</p>\n",
            failure.kind,
            message(&failure.message)
        ));
        if !run.evidence.is_empty() {
            let lines = escaped(&run.evidence.join("\n"));
            text.push_str(&format!("<pre>{lines}</pre>\n"));
        }
        text.push_str(&list(&failure.failing_tests));
    }
    if let Some(cause) = &result.cause {
        text.push_str(&format!(
            "<h2>What did it</h2>\n<p>{}</p>\n",
            message(cause)
        ));
    }
    text.push_str(&folded("End of the first log", &run.log));
    if !result.suggested_actions.is_empty() {
        text.push_str("<h2>Next</h2>\n");
        text.push_str(&list(&result.suggested_actions));
    }
    if let Some(proof) = &result.proof {
        text.push_str("<h2>The proof</h2>\n<table>\n");
        for (name, said) in proof_rows(proof) {
            text.push_str(&format!("<tr><th>{name}<td>{}</tr>\n", escaped(&said)));
        }
        for test in &proof.decisive.tests {
            let end = word(test.ended);
            text.push_str(&format!("<tr><th>{end}<td>{}</tr>\n", escaped(&test.id)));
        }
        text.push_str("</table>\n");
    }
    if let Some(trouble) = &result.agent_trouble {
        text.push_str("<h2>What the agent said last</h2>\n");
        text.push_str(&list(&trouble.last_lines));
    }
    if !result.children.is_empty() {
        text.push_str("<h2>Parts</h2>\n");
        text.push_str(&list(&result.children));
    }
    if !run.attempts.is_empty() {
        text.push_str("<h2>What was tried</h2>\n");
        text.push_str(&ladder(run));
        for attempt in &run.attempts {
            text.push_str(&section(attempt));
        }
    }
    text.push_str("<h2>The run</h2>\n");
    text.push_str(&facts(run));
    page(&format!("{status}: {}", result.run_id), &text)
}

// The word stands there too: colour says nothing alone.
fn color(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Fixed => "good",
        RunStatus::Unproven | RunStatus::Split | RunStatus::UserActionRequired => "weak",
        RunStatus::Blocked | RunStatus::Failed | RunStatus::InvalidTask => "bad",
    }
}

// Where and when it ran, and what it cost as far as agents say it.
fn origin_and_cost(run: &RunRecord) -> String {
    let result = &run.result;
    let mut parts = Vec::new();
    if !run.repository.is_empty() {
        parts.push(run.repository.clone());
    }
    if let Some(commit) = run.commit.as_deref().and_then(|it| it.get(..12)) {
        parts.push(format!("at {commit}"));
    }
    parts.extend(started(&result.run_id));
    let calls = result.agent_calls;
    parts.push(match calls {
        0 => "no call of a model".to_owned(),
        1 => "1 call of a model".to_owned(),
        _ => format!("{calls} calls of a model"),
    });
    parts.push(format!("{:.1} s", result.duration_seconds));
    let usage = result.usage.unwrap_or_default();
    let tokens = usage.input_tokens + usage.output_tokens;
    if tokens > 0 {
        parts.push(format!("{tokens} tokens"));
    }
    if let Some(cost) = usage.cost_usd {
        parts.push(format!("{cost:.2} USD"));
    }
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

fn facts(run: &RunRecord) -> String {
    let result = &run.result;
    let mut text = String::from("<table>\n");
    let mut row = |name: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(&format!("<tr><th>{name}<td>{}</tr>\n", escaped(value)));
        }
    };
    row("run", &result.run_id);
    row("task", result.task_id.as_deref().unwrap_or(""));
    row("issue", result.issue.as_deref().unwrap_or(""));
    row("commands", &run.commands.join("; "));
    row("agent", run.agent.as_deref().unwrap_or("none"));
    row("took", &format!("{:.1} s", result.duration_seconds));
    row("attempts", &result.attempts.to_string());
    row("calls of the agent", &result.agent_calls.to_string());
    row("highest level", &result.level.to_string());
    row("changed", &result.files_modified.join(", "));
    if let Some(report) = &run.report {
        row("category", &report.category.to_string());
        row("blocked on", report.blocked_on.as_deref().unwrap_or(""));
        let last_tool = report.last_successful_tool.as_deref();
        row("last tool that worked", last_tool.unwrap_or(""));
    }
    text.push_str("</table>\n");
    text
}

// A row an attempt and a column a level: which were climbed, and what came of it.
fn ladder(run: &RunRecord) -> String {
    let mut text = String::from(
        "<table class=\"ladder\">\n<thead><tr><th>attempt<th>0<th>1<th>2<th>3<th>packet<th>took<th>end</tr></thead>\n<tbody>\n",
    );
    for attempt in &run.attempts {
        let result = &attempt.result;
        let level = u32::from(result.level.number());
        text.push_str(&format!("<tr><td>{}", result.attempt));
        for rung in 0..4 {
            let mark = match (rung == level, result.kept) {
                (true, true) => "<td class=\"rung kept\">●",
                (true, false) => "<td class=\"rung tried\">○",
                _ => "<td class=\"rung\">",
            };
            text.push_str(mark);
        }
        text.push_str(&format!(
            "<td>{} bytes<td>{:.1} s<td>{}</tr>\n",
            result.packet_bytes, result.duration_seconds, result.stop_reason,
        ));
    }
    text.push_str("</tbody>\n</table>\n<p class=\"cost\">● a change that was kept, ○ none; columns are context levels.</p>\n");
    text
}

fn section(attempt: &AttemptRecord) -> String {
    let result = &attempt.result;
    let by = match result.origin {
        Origin::Heal => "without a model",
        Origin::Agent => "by the agent",
    };
    let mut text = format!(
        "<h3>{} {by}, level {}: {}</h3>\n<p>{}</p>\n",
        result.attempt,
        result.level,
        result.stop_reason,
        message(&result.message)
    );
    if !result.requested_files.is_empty() {
        text.push_str(&format!(
            "<p>It asked for {}.</p>\n",
            escaped(&result.requested_files.join(", "))
        ));
    }
    if !attempt.verdict.is_empty() {
        text.push_str(&format!(
            "<p>Verdict on the patch: <b>{}</b></p>\n",
            escaped(&attempt.verdict)
        ));
    }
    if !attempt.feedback.is_empty() {
        text.push_str(&format!("<pre>{}</pre>\n", escaped(&attempt.feedback)));
    }
    if !attempt.files.is_empty() {
        text.push_str(&format!(
            "<details><summary>Packet: {} files, {} bytes</summary>\n<table>\n",
            attempt.files.len(),
            result.packet_bytes
        ));
        for (path, why) in &attempt.files {
            text.push_str(&format!(
                "<tr><td>{}<th>{}</tr>\n",
                escaped(path),
                escaped(why)
            ));
        }
        text.push_str("</table>\n</details>\n");
    }
    if !attempt.patch.is_empty() {
        text.push_str(&format!(
            "<details><summary>Patch</summary>\n{}</details>\n",
            diff(&attempt.patch)
        ));
    }
    text.push_str(&folded("End of the test log", &attempt.log));
    text
}

fn folded(title: &str, log: &str) -> String {
    if log.is_empty() {
        return String::new();
    }
    format!(
        "<details><summary>{title}</summary>\n<pre>{}</pre>\n</details>\n",
        escaped(log)
    )
}

fn list(items: &[String]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let items: String = items
        .iter()
        .map(|item| format!("<li>{}</li>\n", message(item)))
        .collect();
    format!("<ul>\n{items}</ul>\n")
}

// The signs stay, so that nothing depends on colour.
fn diff(patch: &str) -> String {
    let mut text = String::from("<pre>");
    // Above the first hunk of a file the same signs stand before names.
    let mut in_hunk = false;
    for line in patch.lines() {
        in_hunk = line.starts_with("@@") || in_hunk && !line.starts_with("diff --git ");
        let line_text = escaped(line);
        match line.as_bytes().first().filter(|_| in_hunk) {
            Some(b'+') => text.push_str(&format!("<ins>{line_text}</ins>\n")),
            Some(b'-') => text.push_str(&format!("<del>{line_text}</del>\n")),
            _ => text.push_str(&format!("{line_text}\n")),
        }
    }
    text.push_str("</pre>\n");
    text
}
