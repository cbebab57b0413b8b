//! Formats a packet as a table with reasons.

use super::page::Page;
use super::visible::one_line;
use crate::model::{self, Code, ContextDocument, FileMode, PacketFile, Role};

/// Lists what is in a packet and why, and what was left out.
///
/// `prompt_tokens` are those of the prompt that is made of it.
pub fn context_text(context: &ContextDocument, prompt_tokens: u64) -> String {
    let mut page = Page::default();
    let reason = one_line(&context.escalation_reason);
    page.title(format!("Level {}: {reason}", context.level), "");
    if let Some(diagnosis) = &context.diagnosis {
        let kind = diagnosis.kind_words();
        page.line(format!(
            "Diagnosis: {kind}. {}",
            one_line(&diagnosis.explanation)
        ));
    }
    let head = ["FILE", "ROLE", "MODE", "BYTES", "TOKENS", "WHY"];
    page.table(head, context.files.iter().map(file_cells));
    let (bytes, tokens) = (context.total_bytes, context.total_tokens);
    let files = context.files.len();
    let plural = if files == 1 { "" } else { "s" };
    page.heading(format!(
        "Total: {files} file{plural}, {bytes} bytes, about {tokens} tokens"
    ));
    page.line(format!(
        "As a complete prompt: about {prompt_tokens} tokens"
    ));
    let rejected = context.files_rejected.iter();
    let rejected = rejected.map(|file| left_out(&file.path, file.code, &file.reason));
    page.section("Requested but left out", rejected);
    // The best three by name: whoever misses a file raises the limit of the others too.
    let mut counts = context.omitted_counts.clone();
    let mut omitted = Vec::new();
    for file in context.omitted.iter().take(3) {
        let reason = [file.reason.as_str(), file.remedy.as_str()].join("; ");
        omitted.push(left_out(
            &file.path,
            file.code,
            reason.trim_end_matches("; "),
        ));
        *counts.entry(file.code).or_default() -= 1;
    }
    let more = counts.iter().filter(|(_, count)| **count > 0);
    omitted.extend(more.map(|(code, count)| {
        let title = model::page(&code.to_string()).map_or("", |page| page.title);
        format!("{count} more  {code} {title}")
    }));
    page.section("Left out", omitted);
    let next: Vec<String> =
        context.next.iter().take(5).map(|path| one_line(path.as_str())).collect();
    if !next.is_empty() {
        page.heading(format!("Worth requesting next: {}", next.join(", ")));
    }
    page.text(false)
}

fn file_cells(file: &PacketFile) -> [String; 6] {
    let mode = match file.mode {
        FileMode::Window => {
            let lines: u32 = file.ranges.iter().map(|[from, to]| to - from + 1).sum();
            format!("{lines} lines")
        }
        mode => mode.to_string(),
    };
    let mut why = one_line(&file.why);
    for (count, what) in [
        (file.redactions.len(), "masked secrets"),
        (file.warnings.len(), "lines with invisible characters"),
    ] {
        if count > 0 {
            why.push_str(&format!("; {what}: {count}"));
        }
    }
    if let Some(cut) = &file.shortened {
        why.push_str(&format!("; truncated: {}", one_line(&cut.reason)));
    }
    [
        one_line(file.path.as_str()),
        match file.role {
            Role::Closure => "imported".to_owned(),
            role => role.to_string(),
        },
        mode,
        file.bytes.to_string(),
        file.tokens.to_string(),
        why,
    ]
}

fn left_out(path: &str, code: Code, reason: &str) -> String {
    format!("{}  {code} {}", one_line(path), one_line(reason))
}
