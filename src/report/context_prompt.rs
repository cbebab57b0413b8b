use super::context_block::{Data, Part};
use crate::model::{
    ContextDocument, Evidence, FailurePacket, FileMode, KeptChange, Origin, PacketFile,
    PreviousAttempt, StopReason, WhyChange,
};

/// How the reader of a prompt is to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplyForm {
    /// With a patch.
    #[default]
    Patch,
    /// By editing the files in place.
    Edits,
}

/// What a prompt says, in order; the formats differ only in how they write it.
pub(super) fn parts(
    context: &ContextDocument,
    packet: &FailurePacket,
    form: ReplyForm,
) -> Vec<Part> {
    let mut parts = Vec::new();
    if let Some(task) = packet.task.as_ref().filter(|it| !it.trim().is_empty()) {
        parts.push(Part::Heading("What is wanted"));
        parts.extend([prose(TASK), data("task", Vec::new(), task)]);
    }
    parts.extend(failed(context, packet));
    parts.extend(recovery(packet));
    if !packet.logs.text.is_empty() {
        let about = vec![("omitted-bytes", packet.logs.omitted_bytes.to_string())];
        parts.push(Part::Heading("Log"));
        parts.push(data("log", about, &packet.logs.text));
    }
    parts.push(Part::Heading("What a patch must not touch"));
    parts.push(prose(PROTECTED));
    let mut protected = lines(&packet.protected_paths);
    protected.extend((packet.more_protected_paths).map(|more| format!("and {more} more\n")));
    parts.extend(list("protected", &protected));
    parts.push(Part::Heading("Your reply"));
    parts.push(prose(match form {
        ReplyForm::Patch => REPLY,
        ReplyForm::Edits => EDIT,
    }));
    if !packet.kept.is_empty() {
        let rows: Vec<String> = packet.kept.iter().map(kept).collect();
        parts.push(Part::Heading("What is done already"));
        parts.push(prose(KEPT));
        parts.extend(list("kept", &rows));
    }
    if let Some(previous) = &packet.previous {
        attempt(&mut parts, previous);
    }
    if let Some(change) = &context.change {
        parts.push(Part::Heading("The change under test"));
        let about = vec![("base", change.base.clone())];
        parts.push(data("diff", about, &change.diff));
    }
    parts.extend(files(context));
    parts.extend(not_here(context));
    parts
}

fn recovery(packet: &FailurePacket) -> Vec<Part> {
    let hint = packet.recovery_context.as_ref();
    let Some(hint) = hint
        .map(|it| it.recovery_hint.as_str())
        .filter(|it| !it.is_empty())
    else {
        return Vec::new();
    };
    let text = hint.strip_prefix("## ").unwrap_or(hint);
    let heading = if text.starts_with(IMPORTS) {
        IMPORTS
    } else {
        RECOVERY
    };
    let text = text.strip_prefix(heading).unwrap_or(text).trim_start();
    vec![Part::Heading(heading), data("imports", Vec::new(), text)]
}

fn files(context: &ContextDocument) -> Vec<Part> {
    let mut parts = vec![Part::Heading("Files")];
    parts.push(prose(MODES));
    let table: Vec<String> = context.files.iter().map(row).collect();
    parts.extend(list("table", &table));
    parts.extend(context.files.iter().map(file));
    parts
}

fn not_here(context: &ContextDocument) -> Vec<Part> {
    let omitted = context.omitted.iter().filter(|it| it.rank.is_some());
    let omitted = omitted.map(|it| format!("{}: {}\n", it.path, it.reason));
    let rejected = context.files_rejected.iter();
    let rejected = rejected.map(|it| format!("{}: {}\n", it.path, it.reason));
    let next = context.next_why.iter();
    let next = next.map(|it| format!("{}: {}\n", it.path, it.why));
    let lists = [
        list("omitted", &omitted.take(MAX_ROWS).collect::<Vec<_>>()),
        list("refused", &rejected.collect::<Vec<_>>()),
        list("worth-asking-for", &next.collect::<Vec<_>>()),
    ];
    let mut parts: Vec<Part> = lists.into_iter().flatten().collect();
    if !parts.is_empty() {
        parts.insert(0, Part::Heading("What is not here"));
    }
    parts
}

/// Deduplicates evidence lines, with a count for repeats.
pub(super) fn distinct(evidence: &[Evidence]) -> Vec<(&Evidence, String)> {
    let mut rows: Vec<(&Evidence, usize)> = Vec::new();
    for one in evidence {
        let same = rows
            .iter_mut()
            .find(|it| it.0.text.trim() == one.text.trim());
        match same {
            Some(row) => row.1 += 1,
            None => rows.push((one, 1)),
        }
    }
    let often = |count| match count {
        1 => String::new(),
        count => format!(" ({count} times)"),
    };
    let rows = rows.into_iter();
    rows.map(|(one, count)| (one, often(count))).collect()
}

// The failure and its culprit.
fn failed(context: &ContextDocument, packet: &FailurePacket) -> Vec<Part> {
    let mut parts = Vec::new();
    parts.push(Part::Heading("What failed"));
    parts.push(prose(&failure(context)));
    let evidence = distinct(&packet.failure.evidence);
    let evidence = evidence.iter().take(MAX_EVIDENCE);
    let evidence: Vec<String> = evidence
        .map(|(first, often)| format!("log line {}: {}{often}\n", first.line, first.text))
        .collect();
    parts.extend(list("evidence", &evidence));
    let failing = context.diagnosis.iter().flat_map(|it| &it.failing_tests);
    let failing: Vec<&String> = failing.take(MAX_ROWS).collect();
    parts.extend(list("failing-tests", &lines(&failing)));
    parts.extend(list("commands", &lines(&packet.test_commands)));
    if let Some(cause) = &context.cause {
        parts.push(Part::Heading("The culprit"));
        parts.push(prose(CAUSE));
        parts.extend(cause.changes.iter().map(changed));
    }
    parts
}

fn changed(change: &WhyChange) -> Part {
    let mut about = vec![("path", change.path.clone())];
    about.extend(change.line.map(|line| ("line", line.to_string())));
    about.extend(change.commit.clone().map(|commit| ("commit", commit)));
    data("change", about, &change.diff)
}

fn kept(change: &KeptChange) -> String {
    let by = match change.origin {
        Origin::Heal => "without a model",
        Origin::Agent => "by you",
    };
    format!(
        "attempt {}, {by}, {}: {}\n",
        change.attempt,
        change.files.join(", "),
        change.message
    )
}

// What the attempt before tried, and what came of it.
fn attempt(parts: &mut Vec<Part>, previous: &PreviousAttempt) {
    parts.push(Part::Heading("The attempt before this one"));
    let outcome = match (previous.kept, previous.stop_reason) {
        (true, _) => KEPT_ONE,
        (false, StopReason::RequestedFiles) => ASKED,
        (false, StopReason::NoPatch) => NOTHING,
        (false, StopReason::AgentTimeout | StopReason::AgentError) => CUT_OFF,
        (false, _) if previous.outputs.is_some() => UNDONE,
        (false, _) => REFUSED,
    };
    parts.push(prose(outcome));
    let mut about = vec![("ended", previous.stop_reason.to_string())];
    let verdict = |name: &str| {
        let value = previous.preflight.as_ref()?.get(name)?;
        value.as_str().filter(|it| !it.is_empty())
    };
    about.extend(verdict("verdict").map(|it| ("verdict", it.to_owned())));
    about.extend(verdict("errorCode").map(|it| ("error", it.to_owned())));
    let messages: Vec<&str> = [previous.message.as_deref(), verdict("feedback")]
        .into_iter()
        .flatten()
        .collect();
    parts.push(data("attempt", about, &messages.join("\n")));
    let outputs = previous.outputs.as_ref();
    let shown = |text: &String| Some(text.clone()).filter(|it| !it.trim().is_empty());
    for (kind, text) in [
        ("attempted-patch", previous.patch.as_ref().and_then(shown)),
        ("failure-with-it", previous.failure.as_ref().and_then(shown)),
        (
            "output-without-it",
            outputs.and_then(|it| shown(&it.before)),
        ),
        ("output-with-it", outputs.and_then(|it| shown(&it.after))),
    ] {
        if let Some(text) = text {
            parts.push(data(kind, Vec::new(), &text));
        }
    }
    if outputs.is_some_and(|it| it.same) {
        let note = "With it, the commands printed the same as without it, as in the log above.";
        parts.push(prose(note));
    }
}

const TASK: &str = "The block `task` holds what the caller wants; it counts as far as it does not \
    ask for more than a patch of this repository.";

// Under this heading the hints are told.
const RECOVERY: &str = "Recovery Context (IMPORTANT - Previous Attempt Failed)";

// On a first try nothing failed before, and the hints are told under this one.
const IMPORTS: &str = "Imports that may be missing";

const KEPT: &str = "These changes helped and are kept: the log above and the files below include \
    them. Build on them; do not make them again.";
const KEPT_ONE: &str = "It helped and is kept, and the commands still fail: go on from there. What \
    it changed is in the files below; do not send it again.";
const UNDONE: &str = "It was tried, did not make the commands pass and was reverted: the log \
    above and the files below are without it. Do not send the same patch again; the output with it \
    shows its effect.";
const REFUSED: &str = "It was not tried: its reply was refused, for the reason in the block. \
    Nothing was changed.";
const ASKED: &str = "It asked for files. Those that may be shown are below.";
const NOTHING: &str = "Its reply held no patch that could be read.";
const CUT_OFF: &str = "It was cut off. Nothing of it is kept.";

const CAUSE: &str = "With the change below reverted, the failing tests pass; mendit tried it. Keep its \
    intent, and correct what it broke.";

const PROTECTED: &str = "Refused, also when the commands would pass: changes to what decides \
    whether a test passes (settings of test runners, `conftest.py`, scripts of the test command), to \
    lock files, CI, hooks, credentials and the settings of editors and agents; deleting, skipping or \
    weakening tests; making the commands pass by any other way than correcting the code.";

const MODES: &str = "A file with mode `full` is whole. In `skeleton` and `window` lines are left out where a \
    mark in brackets says so; the mark is no part of the file. A masked line reads `[REDACTED:...]` and \
    cannot be changed.";

const MAX_ROWS: usize = 40;
const MAX_EVIDENCE: usize = 8;

const REPLY: &str = "Reply with one patch that makes the commands pass: a unified diff with paths \
    relative to the root of the repository. Change no line you have not been shown. When the files \
    shown are not enough, reply with only this JSON instead: {\"status\": \"request_files\", \
    \"requestedFiles\": [\"path\"]}. Of a long file name what you need: `path:120-200` is lines, \
    `path#name` the definition of that name.";

const EDIT: &str = "Make the commands pass by editing files: you are in a copy of the repository, \
    and your changes to it are your answer. Edit the files themselves, save them and end; do not \
    answer with a diff, do not commit. Files that are not shown can be read there. Where you may \
    run commands, test with those named above, in those very words; writing outside the copy is refused. \
    What you print is kept as a note; when the task cannot be done, say why.";

fn failure(context: &ContextDocument) -> String {
    let diagnosis = match &context.diagnosis {
        Some(diagnosis) => {
            let subkind = diagnosis.subkind.as_ref();
            let subkind = subkind.map_or(String::new(), |subkind| format!(" ({subkind})"));
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

fn row(file: &PacketFile) -> String {
    let shown = if file.mode == FileMode::Full {
        "all lines".to_owned()
    } else {
        let ranges = file.ranges.iter().map(|[from, to]| format!("{from}-{to}"));
        format!("lines {}", ranges.collect::<Vec<_>>().join(", "))
    };
    let ask = file.shortened.as_ref().map_or(&[][..], |it| &it.ask);
    let rest = match ask {
        [] => String::new(),
        ask => format!(
            "; it was asked for and does not fit; of the rest ask for {}",
            ask.join(", ")
        ),
    };
    format!(
        "{}: {shown}, about {} tokens{rest}\n",
        file.path, file.tokens
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

fn list(kind: &'static str, rows: &[String]) -> Option<Part> {
    (!rows.is_empty()).then(|| data(kind, Vec::new(), &rows.concat()))
}

fn prose(text: &str) -> Part {
    Part::Prose(text.to_owned())
}

fn lines(items: &[impl std::fmt::Display]) -> Vec<String> {
    items.iter().map(|item| format!("{item}\n")).collect()
}
