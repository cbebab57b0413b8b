use super::context_block::{Data, Part};
use crate::model::{
    ContextDocument, FailurePacket, FileMode, PacketFile, PreviousAttempt, RepoPath,
};

/// What a prompt says, in order; the formats differ only in how they write it.
pub(super) fn parts(context: &ContextDocument, packet: &FailurePacket) -> Vec<Part> {
    let mut parts = Vec::new();
    if let Some(task) = packet.task.as_ref().filter(|it| !it.trim().is_empty()) {
        parts.push(Part::Heading("What is wanted"));
        parts.push(Part::Prose(TASK.to_owned()));
        parts.push(data("task", Vec::new(), task));
    }
    parts.push(Part::Heading("What failed"));
    parts.push(Part::Prose(failure(context)));
    let evidence: Vec<String> = packet
        .failure
        .evidence
        .iter()
        .map(|evidence| format!("log line {}: {}\n", evidence.line, evidence.text))
        .collect();
    list(&mut parts, "evidence", &evidence);
    list(&mut parts, "commands", &lines(&packet.test_commands));
    if !packet.logs.text.is_empty() {
        parts.push(Part::Heading("Log"));
        parts.push(data(
            "log",
            vec![("omitted-bytes", packet.logs.omitted_bytes.to_string())],
            &packet.logs.text,
        ));
    }
    if let Some(recovery) = &packet.recovery_context
        && !recovery.recovery_hint.is_empty()
    {
        parts.push(Part::Heading(RECOVERY));
        let hint = recovery.recovery_hint.as_str();
        let text = hint.strip_prefix("## ").unwrap_or(hint);
        let text = text.strip_prefix(RECOVERY).unwrap_or(text).trim_start();
        parts.push(data("imports", Vec::new(), text));
    }
    if let Some(previous) = &packet.previous {
        attempt(&mut parts, previous);
    }
    if let Some(change) = &context.change {
        parts.push(Part::Heading("The change under test"));
        let about = vec![("base", change.base.clone())];
        parts.push(data("diff", about, &change.diff));
    }
    parts.push(Part::Heading("Files"));
    if !context.unchanged.is_empty() {
        parts.push(Part::Prose(
            "You have been shown these files before, and they are unchanged.".to_owned(),
        ));
        let paths: Vec<&RepoPath> = context.unchanged.iter().map(|file| &file.path).collect();
        list(&mut parts, "unchanged", &lines(&paths));
    }
    parts.push(Part::Prose(
        "A file with mode `full` is whole. In `skeleton` and `window` lines are left out where a \
         bracketed mark says so. A masked line reads `[REDACTED:...]` and cannot be changed."
            .to_owned(),
    ));
    parts.extend(context.files.iter().map(file));
    let before = parts.len();
    let omitted: Vec<String> = context
        .omitted
        .iter()
        .filter(|omission| omission.rank.is_some())
        .take(MAX_ROWS)
        .map(|omission| format!("{}: {}\n", omission.path, omission.reason))
        .collect();
    list(&mut parts, "omitted", &omitted);
    let rejected: Vec<String> = context
        .files_rejected
        .iter()
        .map(|rejected| format!("{}: {}\n", rejected.path, rejected.reason))
        .collect();
    list(&mut parts, "refused", &rejected);
    list(&mut parts, "worth-asking-for", &lines(&context.next));
    if parts.len() > before {
        parts.insert(before, Part::Heading("What is not here"));
    }
    if !packet.protected_paths.is_empty() {
        parts.push(Part::Heading("What a patch must not touch"));
        list(&mut parts, "protected", &lines(&packet.protected_paths));
    }
    parts.push(Part::Heading("Your reply"));
    parts.push(Part::Prose(REPLY.to_owned()));
    parts
}

// What the attempt before tried, and what came of it.
fn attempt(parts: &mut Vec<Part>, previous: &PreviousAttempt) {
    parts.push(Part::Heading("The attempt before this one"));
    parts.push(Part::Prose(PREVIOUS.to_owned()));
    let mut about = vec![("ended", previous.stop_reason.to_string())];
    let verdict = |name: &str| {
        let value = previous.preflight.as_ref()?.get(name)?;
        value.as_str().filter(|it| !it.is_empty())
    };
    about.extend(verdict("verdict").map(|it| ("verdict", it.to_owned())));
    about.extend(verdict("errorCode").map(|it| ("error", it.to_owned())));
    let said: Vec<&str> = [previous.message.as_deref(), verdict("feedback")]
        .into_iter()
        .flatten()
        .collect();
    parts.push(data("attempt", about, &said.join("\n")));
    for (kind, text) in [
        ("attempted-patch", &previous.patch),
        ("failure-with-it", &previous.failure),
    ] {
        if let Some(text) = text.as_ref().filter(|it| !it.trim().is_empty()) {
            parts.push(data(kind, Vec::new(), text));
        }
    }
}

const TASK: &str = "The block `task` holds what the caller wants; it counts as far as it does not \
    ask for more than a patch of this repository.";

// Under this heading the hints are told (R11).
const RECOVERY: &str = "Recovery Context (IMPORTANT - Previous Attempt Failed)";

const PREVIOUS: &str = "It did not make the commands pass. Do not send the same patch again.";

const MAX_ROWS: usize = 40;

const REPLY: &str = "Reply with one patch that makes the commands pass: a unified diff with paths \
    relative to the root of the repository. Change no line you have not been shown. When the files \
    above are not enough, reply with only this JSON instead: {\"status\": \"request_files\", \
    \"requestedFiles\": [\"path\"]}";

fn failure(context: &ContextDocument) -> String {
    let diagnosis = match &context.diagnosis {
        Some(diagnosis) => {
            let subkind = diagnosis.subkind.as_ref();
            let subkind = subkind.map_or(String::new(), |subkind| format!(" ({})", subkind.0));
            format!("The failure is {}{subkind}.", diagnosis.kind)
        }
        None => "There is no log.".to_owned(),
    };
    format!(
        "{diagnosis} Context level: {} of 4. Files: {}. Bytes: {}.",
        context.level,
        context.files.len(),
        context.total_bytes
    )
}

fn file(file: &PacketFile) -> Part {
    let mut about = vec![("path", file.path.to_string())];
    about.push((
        "mode",
        match file.mode {
            FileMode::Full => "full",
            FileMode::Skeleton => "skeleton",
            FileMode::Window => "window",
        }
        .to_owned(),
    ));
    about.push(("why", file.why.clone()));
    if !file.redactions.is_empty() {
        let lines: Vec<String> = file
            .redactions
            .iter()
            .map(|redaction| redaction.line.to_string())
            .collect();
        about.push(("masked-lines", lines.join(" ")));
    }
    if !file.warnings.is_empty() {
        let lines: Vec<String> = file
            .warnings
            .iter()
            .map(|warning| format!("{}:{}", warning.line, warning.kind))
            .collect();
        about.push(("hidden-characters", lines.join(" ")));
    }
    data("file", about, &file.content)
}

fn data(kind: &'static str, about: Vec<(&'static str, String)>, text: &str) -> Part {
    Part::Data(Data {
        kind,
        about,
        text: text.to_owned(),
    })
}

fn list(parts: &mut Vec<Part>, kind: &'static str, rows: &[String]) {
    if !rows.is_empty() {
        parts.push(data(kind, Vec::new(), &rows.concat()));
    }
}

fn lines(items: &[impl std::fmt::Display]) -> Vec<String> {
    items.iter().map(|item| format!("{item}\n")).collect()
}
