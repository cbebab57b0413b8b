use std::fmt::Write as _;

use crate::model::{Diagnosis, FailedTest, Failure, FailureKind, LeftOut, MentionedFile};

const MOST: usize = 10;

/// Formats a diagnosis: kind, evidence, files, what to do. Color changes no word: the kind is red, or green when
/// nothing failed, and titles are bold.
#[must_use]
pub fn diagnosis_text(diagnosis: &Diagnosis, color: bool) -> String {
    let text = plain(diagnosis);
    if !color {
        return text;
    }
    let kind = diagnosis.kind.to_string();
    let ink = if diagnosis.kind == FailureKind::None {
        "32"
    } else {
        "31"
    };
    let paint = |(at, line): (usize, &str)| match line.split_once(": ") {
        _ if at == 0 => line.replacen(&kind, &format!("\x1b[1;{ink}m{kind}\x1b[0m"), 1) + "\n",
        _ if !line.starts_with(' ') && line.ends_with(':') => format!("\x1b[1m{line}\x1b[0m\n"),
        Some((title, rest)) if title.starts_with("What to do") => {
            format!("\x1b[1m{title}:\x1b[0m {rest}\n")
        }
        _ => format!("{line}\n"),
    };
    text.lines().enumerate().map(paint).collect()
}

fn plain(diagnosis: &Diagnosis) -> String {
    let mut text = diagnosis.kind.to_string();
    // Writing to a string cannot fail.
    if let Some(subkind) = &diagnosis.subkind {
        let _ = write!(text, " ({subkind})");
    }
    let _ = write!(text, ", confidence {:.2}", diagnosis.confidence);
    if let Some(tool) = &diagnosis.tool {
        let _ = write!(text, ", from {tool}");
    }
    if let Some(rule) = &diagnosis.rule {
        let _ = write!(text, ", by {rule}");
    }
    let _ = writeln!(text, "\n{}", diagnosis.explanation);
    for (title, names) in [
        ("Undefined names", &diagnosis.undefined_names),
        ("Missing modules", &diagnosis.missing_modules),
        ("Missing exports", &diagnosis.missing_exports),
    ] {
        section(&mut text, title, names.iter().cloned());
    }
    section(&mut text, "Failing tests", diagnosis.tests.iter().map(test));
    let others = diagnosis.failures.iter().skip(1);
    section(&mut text, "Other failures", others.map(failure));
    let evidence = diagnosis.evidence.iter();
    let title = match diagnosis.kind {
        FailureKind::Unknown => "The log's last lines",
        _ => "Evidence",
    };
    section(
        &mut text,
        title,
        evidence.map(|line| format!("{:>6} | {}", line.line, line.text)),
    );
    // A file alone says nothing beside its line.
    let lined = |path: &str| {
        let mut files = diagnosis.files.iter();
        files.any(|it| it.path == path && it.line.is_some())
    };
    let files = diagnosis.files.iter();
    let files = files.filter(|it| it.line.is_some() || !lined(&it.path));
    section(&mut text, "Files", files.map(place));
    if let Some(left_out) = &diagnosis.left_out {
        let _ = writeln!(text, "\nLeft out: {}", left_out_text(left_out));
    }
    let person = if diagnosis.requires_user_action {
        " (action required)"
    } else {
        ""
    };
    let _ = writeln!(text, "\nWhat to do{person}: {}", diagnosis.suggested_fix);
    if !diagnosis.alternatives.is_empty() {
        let others: Vec<String> = diagnosis
            .alternatives
            .iter()
            .map(|other| format!("{} {:.2}", other.kind, other.confidence))
            .collect();
        let _ = writeln!(text, "Also possible: {}", others.join(", "));
    }
    text
}

fn left_out_text(left_out: &LeftOut) -> String {
    let parts = [
        (left_out.bytes, "bytes before the end of a huge log"),
        (left_out.lines, "lines among them"),
        (left_out.tests, "failing tests beyond those listed"),
    ];
    let parts = parts.iter().filter(|part| part.0 > 0);
    let parts: Vec<String> = parts
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    parts.join(", ")
}

/// The runner's spelling and where the test stands.
fn test(test: &FailedTest) -> String {
    match (&test.path, test.line) {
        (Some(path), Some(line)) => format!("{} ({path}:{line})", test.id),
        (Some(path), None) if !test.id.contains(path.as_str()) => format!("{} ({path})", test.id),
        _ => test.id.clone(),
    }
}

fn failure(failure: &Failure) -> String {
    let mut text = format!("{} at line {}", failure.kind, failure.line);
    if let Some(tool) = &failure.tool {
        let _ = write!(text, ", from {tool}");
    }
    if failure.follows {
        text.push_str(", follows from the first");
    }
    text
}

/// `path:line:column`, and a mark when the path is not one of the repository.
fn place(file: &MentionedFile) -> String {
    let mut text = file.path.clone();
    for number in [file.line, file.column].into_iter().flatten() {
        let _ = write!(text, ":{number}");
    }
    if !file.in_repository {
        text.push_str("  (not found in the repository)");
    }
    text
}

fn section(text: &mut String, title: &str, items: impl Iterator<Item = String>) {
    for (index, item) in items.enumerate() {
        if index == 0 {
            let _ = write!(text, "\n{title}:\n");
        }
        if index == MOST {
            text.push_str("  ...\n");
            return;
        }
        let _ = writeln!(text, "  {item}");
    }
}
