use std::collections::BTreeSet;

use crate::heal::programs::{PROGRAMS, Program};
use crate::heal::{Fix, History, Target, Transport};
use crate::model::Diagnosis;

/// It took too long: twice the time, once. Then what it waits for is a person's to find.
pub(super) fn timeout(_: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    let (first, probe) = (history.first(), history.current);
    let mut fixes = Vec::new();
    if probe.timeout <= first.timeout {
        let mut longer = probe.clone();
        longer.timeout = first.timeout.saturating_mul(2);
        let message = format!("Give it {} seconds", longer.timeout.as_secs_f64());
        fixes.push(Fix::change(message, longer));
    }
    let compose = history.surroundings.compose.iter();
    let services: BTreeSet<&str> = compose.map(|row| row.service.as_str()).collect();
    let services = Vec::from_iter(services);
    let runner = probe.words().first().copied().unwrap_or_default();
    fixes.push(if !services.is_empty() {
        Fix::person_runs(
            "It waits for something: check that the services it depends on are up",
            format!("docker compose up -d {}", services.join(" ")),
        )
    } else if ["npx", "bunx", "uvx", "pipx", "docker"].contains(&runner) {
        Fix::person(format!(
            "It waits for something: `{runner}` may be downloading, so run the command once by hand"
        ))
    } else {
        Fix::person(
            "It waits for something: check what it depends on, and that it does not ask questions",
        )
    });
    fixes
}

/// The server refused the credentials: names of what is sent, never values.
pub(super) fn auth(_: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    let names: Vec<&str> = match &history.current.target {
        Target::Server(endpoint) => {
            let sent = match endpoint.transport {
                Transport::Http => &endpoint.headers,
                Transport::Stdio => &endpoint.env,
            };
            sent.keys().map(String::as_str).collect()
        }
        Target::Command(_) => Vec::new(),
    };
    let message = if names.is_empty() {
        "The credentials are refused, and the configuration sends none: add them".to_owned()
    } else {
        format!("The credentials are refused: check {}", quoted(&names))
    };
    vec![Fix::person(message)]
}

/// A variable is missing: where its name stands, and which names are near.
pub(super) fn environment(diagnosis: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    let around = history.surroundings;
    let lines = diagnosis.evidence.iter();
    let candidates: Vec<&str> = lines.flat_map(|line| variables(&line.text)).collect();
    let examples = |name: &str| {
        around
            .examples
            .iter()
            .find(|(_, names)| names.contains(name))
    };
    let in_example = candidates.iter().find(|name| examples(name).is_some());
    let Some(name) = in_example.or(candidates.first()).copied() else {
        return vec![Fix::person(diagnosis.suggested_fix.clone())];
    };
    let mut message = format!("Set `{name}`");
    if let Some((file, _)) = examples(name) {
        message.push_str(&format!(", which stands in {file}"));
    }
    if around.env_file.contains(name) {
        message.push_str("; .env sets it, and what was started does not read .env");
    } else {
        let near =
            |other: &&str| strsim::jaro_winkler(name, other) >= 0.85 || shares_end(name, other);
        let near = around.env_file.iter().map(String::as_str).filter(near);
        let near: Vec<&str> = near.take(3).collect();
        if !near.is_empty() {
            message.push_str(&format!("; .env has {}", quoted(&near)));
        }
    }
    vec![Fix::person(message)]
}

// Words with the shape of a variable: upper case, at least one `_` or four letters.
fn variables(text: &str) -> impl Iterator<Item = &str> {
    let letter = |it: char| it.is_ascii_uppercase() || it.is_ascii_digit() || it == '_';
    let word = |it: char| it.is_ascii_alphanumeric() || it == '_';
    text.split(move |it| !word(it)).filter(move |name| {
        name.chars().all(letter)
            && name.starts_with(|it: char| it.is_ascii_uppercase())
            && (name.contains('_') || name.len() >= 6)
    })
}

// `GITHUB_TOKEN` and `GH_TOKEN`, not any two names.
fn shares_end(a: &str, b: &str) -> bool {
    let (Some((a, a_end)), Some((b, b_end))) = (a.rsplit_once('_'), b.rsplit_once('_')) else {
        return false;
    };
    a_end == b_end && a.chars().next() == b.chars().next()
}

/// The system refused: a script of the project can be started by its interpreter.
pub(super) fn permission(diagnosis: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    let mut fixes = Vec::new();
    let probe = history.current;
    if let Some(&program) = probe.words().first()
        && program.contains('/')
        && diagnosis
            .evidence
            .iter()
            .any(|line| line.text.contains(program))
    {
        let starts = |row: &&Program| {
            let extension = program.rsplit_once('.').map(|(_, it)| it);
            row.starts.iter().any(|it| Some(it.as_str()) == extension)
        };
        if let Some(row) = PROGRAMS.program.iter().find(starts)
            && let Some(interpreter) = history.surroundings.program(&row.names)
            && let Some(changed) = probe.with_front(1, &[interpreter, program])
        {
            let message =
                format!("Start `{program}` with `{interpreter}`, as it is not executable");
            fixes.push(Fix::change(message, changed));
        }
        fixes.push(Fix::person_runs(
            format!("`{program}` may not be run"),
            format!("chmod +x {program}"),
        ));
        return fixes;
    }
    let npm = diagnosis
        .evidence
        .iter()
        .any(|line| line.text.contains("npm"));
    fixes.push(if npm {
        Fix::person_runs(
            "npm may not write to its directory: let it use one of yours",
            "npm config set prefix ~/.local",
        )
    } else {
        Fix::person(diagnosis.suggested_fix.clone())
    });
    fixes
}

/// No rule: what it said, for a person.
pub(in crate::heal) fn unknown(diagnosis: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    let evidence: Vec<&str> = diagnosis
        .evidence
        .iter()
        .map(|line| line.text.trim())
        .collect();
    let message = if evidence.is_empty() {
        history.tail.trim().to_owned()
    } else {
        evidence.join("\n")
    };
    vec![Fix::person(if message.is_empty() {
        diagnosis.suggested_fix.clone()
    } else {
        format!("{}\n{message}", diagnosis.suggested_fix)
    })]
}

fn quoted(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
