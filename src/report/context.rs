use super::page::Page;
use super::visible::one_line;
use crate::model::{ContextDocument, FileMode, Omission, PacketFile};

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
    page.table(head, context.files.iter().map(cells));
    page.heading(format!(
        "Total: {} files, {} bytes, about {} tokens",
        context.files.len(),
        thousands(context.total_bytes),
        thousands(context.total_tokens)
    ));
    page.line(format!(
        "As a complete prompt: about {} tokens",
        thousands(prompt_tokens)
    ));
    let rejected = context.files_rejected.iter();
    let rejected = rejected.map(|file| {
        format!(
            "{}  {} {}",
            one_line(&file.path),
            file.code,
            one_line(&file.reason)
        )
    });
    page.section("Rejected", rejected);
    page.section("Omitted", context.omitted.iter().map(omission));
    let next: Vec<String> = context
        .next
        .iter()
        .take(5)
        .map(|path| one_line(path.as_str()))
        .collect();
    if !next.is_empty() {
        page.heading(format!("Worth requesting next: {}", next.join(", ")));
    }
    page.text(false)
}

fn cells(file: &PacketFile) -> [String; 6] {
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
        file.role.to_string(),
        mode,
        thousands(file.bytes),
        thousands(file.tokens),
        why,
    ]
}

fn omission(file: &Omission) -> String {
    let remedy = match file.remedy.as_str() {
        "" => String::new(),
        remedy => format!("; {remedy}"),
    };
    format!(
        "{}  {} {}{remedy}",
        one_line(&file.path),
        file.code,
        one_line(&file.reason)
    )
}

/// Writes a number with its digits in groups of three.
pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
