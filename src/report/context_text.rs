use super::context_block::one_line;
use super::context_prompt::distinct;
use super::table::table;
use crate::model::{Code, ContextDocument, FileMode, Omission, PacketFile, Role};

/// A context document for people: what is in it and why, totals against caps, what was left out.
/// `prompt_tokens` are those of the prompt that is made of it, with log or issue and all that is said.
#[must_use]
pub fn context_text(context: &ContextDocument, prompt_tokens: u64) -> String {
    let mut text = format!(
        "Level {}: {}\n",
        context.level,
        one_line(&context.escalation_reason)
    );
    if let Some(diagnosis) = &context.diagnosis {
        let subkind = diagnosis
            .subkind
            .as_ref()
            .map(|subkind| format!(" ({subkind})"))
            .unwrap_or_default();
        text.push_str(&format!(
            "Diagnosis: {}{subkind}, confidence {:.2}. {}\n",
            diagnosis.kind,
            diagnosis.confidence,
            one_line(&diagnosis.explanation)
        ));
        for (first, often) in distinct(&diagnosis.evidence).iter().take(MAX_EVIDENCE) {
            let shown = shortened(&first.text);
            text.push_str(&format!("  log line {}: {shown}{often}\n", first.line));
        }
    }
    text.push('\n');
    files(&mut text, &context.files);
    totals(&mut text, context, prompt_tokens);
    text.push_str(&rejected(context));
    text.push_str(&left_out(&context.omitted));
    text.push_str(&unresolved(context));
    if !context.next.is_empty() {
        let next: Vec<_> = context
            .next
            .iter()
            .take(5)
            .map(|it| one_line(it.as_str()))
            .collect();
        text.push_str(&format!("\nWorth requesting next: {}\n", next.join(", ")));
    }
    text
}

const MAX_EVIDENCE: usize = 5;
const MAX_ROWS: usize = 20;
const MAX_WIDTH: usize = 160;

fn files(text: &mut String, files: &[PacketFile]) {
    if files.is_empty() {
        text.push_str("No file is in the packet.\n");
        return;
    }
    let row = |file: &PacketFile| {
        [
            one_line(file.path.as_str()),
            role(file.role).to_owned(),
            mode(file),
            thousands(file.bytes),
            thousands(file.tokens),
            why(file),
        ]
    };
    let header = ["FILE", "ROLE", "MODE", "BYTES", "TOKENS", "WHY"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(header)
        .chain(files.iter().map(row))
        .collect();
    text.push_str(&table(&rows, &[3, 4]));
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Target => "target",
        Role::Requested => "requested",
        Role::Mentioned => "mentioned",
        Role::Closure => "closure",
        Role::Ranked => "ranked",
        Role::Manifest => "manifest",
        Role::Bundle => "bundle",
    }
}

fn mode(file: &PacketFile) -> String {
    match file.mode {
        FileMode::Full => "full".to_owned(),
        FileMode::Skeleton => "skeleton".to_owned(),
        FileMode::Window => {
            let lines: u32 = file.ranges.iter().map(|[from, to]| to - from + 1).sum();
            format!("{lines} lines")
        }
    }
}

fn why(file: &PacketFile) -> String {
    let mut why = one_line(&file.why);
    if !file.redactions.is_empty() {
        why.push_str(&format!(
            "; {} masked",
            count(file.redactions.len(), "secret")
        ));
    }
    if let Some(shortened) = file.shortened.as_ref().filter(|it| it.code != Code::C103) {
        why.push_str(&format!("; truncated: {}", one_line(&shortened.reason)));
    }
    if !file.warnings.is_empty() {
        why.push_str(&format!(
            "; warning: {} with invisible characters",
            count(file.warnings.len(), "line")
        ));
    }
    why
}

fn totals(text: &mut String, context: &ContextDocument, prompt_tokens: u64) {
    let places = context
        .files
        .iter()
        .filter(|file| file.rank.is_some())
        .count();
    text.push_str(&format!(
        "\nTotal: {}, {} bytes, about {} tokens\n",
        count(context.files.len(), "file"),
        thousands(context.total_bytes),
        thousands(context.total_tokens),
    ));
    text.push_str(&format!(
        "As a complete prompt: about {} tokens\n",
        thousands(prompt_tokens)
    ));
    if context.caps.max_files == u64::MAX {
        text.push_str("Caps: none at this level\n");
        return;
    }
    text.push_str(&format!(
        "Caps: {places} of {} places, {} bytes a file, {} bytes in all",
        context.caps.max_files,
        thousands(context.caps.max_file_bytes),
        thousands(context.caps.max_total_bytes),
    ));
    if let Some(max) = context.caps.max_tokens {
        text.push_str(&format!(", {} tokens", thousands(max)));
    }
    text.push('\n');
    let shares = context.files.iter().filter_map(|it| it.shortened.as_ref());
    let shares: Vec<_> = shares.filter(|it| it.code == Code::C103).collect();
    if let Some(last) = shares.last() {
        text.push_str(&format!(
            "{} shown in part to save tokens; for all of it: {}\n",
            count(shares.len(), "file"),
            last.remedy
        ));
    }
}

fn rejected(context: &ContextDocument) -> String {
    let rows = context.files_rejected.iter();
    let rows = rows.map(|rejected| {
        format!(
            "{}  {} {}",
            one_line(&rejected.path),
            rejected.code,
            one_line(&rejected.reason)
        )
    });
    section("Rejected", rows)
}

fn left_out(omitted: &[Omission]) -> String {
    // What many rows have in common is said once, with the first of them.
    let mut given: Vec<(Code, &str)> = Vec::new();
    let rows = omitted.iter().map(|omitted| {
        let row = format!("{}  {}", one_line(&omitted.path), omitted.code);
        let reason = (omitted.code, omitted.reason.as_str());
        if given.contains(&reason) {
            return row;
        }
        given.push(reason);
        let remedy = match omitted.remedy.as_str() {
            "" => String::new(),
            remedy => format!("; {remedy}"),
        };
        format!("{row} {}{remedy}", one_line(&omitted.reason))
    });
    section("Omitted", rows)
}

fn unresolved(context: &ContextDocument) -> String {
    let rows = context.unresolved_imports.iter().map(|import| {
        let path = one_line(import.path.as_str());
        format!("{path}:{}  {}", import.line, shortened(&import.specifier))
    });
    section("Unresolved imports", rows)
}

fn section(title: &str, rows: impl ExactSizeIterator<Item = String>) -> String {
    let all = rows.len();
    if all == 0 {
        return String::new();
    }
    let shown: String = rows.take(MAX_ROWS).map(|it| format!("  {it}\n")).collect();
    let more = match all.saturating_sub(MAX_ROWS) {
        0 => String::new(),
        more => format!("  and {more} more (see --format json)\n"),
    };
    format!("\n{title} ({all}):\n{shown}{more}")
}

fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

fn shortened(text: &str) -> String {
    let text = one_line(text);
    if text.chars().count() <= MAX_WIDTH {
        return text;
    }
    text.chars().take(MAX_WIDTH - 1).chain(['…']).collect()
}

/// A number with its digits in groups of three.
pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::{one_line, shortened, thousands};

    #[test]
    fn numbers_are_grouped() {
        let grouped = [0, 999, 1000, 1_234_567].map(thousands);
        assert_eq!(grouped, ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn nothing_hides_in_a_line() {
        assert_eq!(one_line("a\x1b[2Jb\u{202E}c"), "a\u{FFFD}[2Jb\u{FFFD}c");
        assert_eq!(shortened(&"x".repeat(500)).chars().count(), 160);
    }
}
