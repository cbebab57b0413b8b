//! Maps a diagnosis of a probe to its corrections.

use super::{Fix, History, Probe, Target, Transport};
use crate::model::{Diagnosis, FailureKind as Kind, file_name};

/// Proposes the fixes of a rule, best first, the last one for a person.
type Rule = fn(&Diagnosis, &History<'_>) -> Vec<Fix>;

/// What each kind of failure leads to. Credentials and variables are never changed by mendit.
const RULES: &[(Kind, Rule)] = &[
    (Kind::CommandNotFound, start_otherwise),
    (Kind::PermissionDenied, ask_for_permission),
    (Kind::TransportMismatch, flip_transport),
    (Kind::Timeout, double_timeout),
    (Kind::AuthFailed, check_credentials),
];

/// Returns the fixes for a failure, best first, the last one for a person; `None` for an unknown failure.
pub(super) fn known_fixes(diagnosis: &Diagnosis, history: &History<'_>) -> Option<Vec<Fix>> {
    let (_, rule) = RULES.iter().find(|(kind, _)| *kind == diagnosis.kind)?;
    Some(rule(diagnosis, history))
}

/// Programs that start the same thing under another name.
pub(super) const ALIASES: &[(&str, &str)] = &[
    ("python", "python3"),
    ("python3", "python"),
    ("pip", "pip3"),
];

// The program is not there: the same program elsewhere, where it is installed already.
fn start_otherwise(diagnosis: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    let (around, probe) = (history.surroundings, history.current);
    let Some(program) = probe.program() else {
        return vec![Fix::person(diagnosis.suggested_fix.clone())];
    };
    // A name that only the log knows is never run.
    if !diagnosis.evidence.is_empty() && !names_word(diagnosis, program) {
        return vec![Fix::person(diagnosis.suggested_fix.clone())];
    }
    let name = file_name(program);
    let known = ALIASES.iter().filter(|(known, _)| *known == program);
    let aliases = known.filter(|(_, other)| around.programs.contains(*other));
    let mut ways: Vec<Vec<&str>> = aliases.map(|(_, other)| vec![*other]).collect();
    ways.extend(around.local.get(name).map(|file| vec![file.as_str()]));
    let mut fixes: Vec<Fix> = ways
        .iter()
        .filter_map(|words| {
            let message = format!("Start `{}` in place of `{program}`", words.join(" "));
            Some(Fix::change(message, probe.with_front(words)?))
        })
        .collect();
    fixes.push(Fix::person(diagnosis.suggested_fix.clone()));
    fixes
}

fn names_word(diagnosis: &Diagnosis, word: &str) -> bool {
    diagnosis.evidence.iter().any(|line| {
        let mut words = line.text.split(|c: char| !(c.is_alphanumeric() || "-_./@".contains(c)));
        words.any(|other| other == word)
    })
}

// The program is there and may not be run.
fn ask_for_permission(diagnosis: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    let program = history.current.program();
    let program = program.filter(|program| program.contains('/'));
    vec![Fix::person(
        match program.filter(|program| names_word(diagnosis, program)) {
            Some(program) => format!("`{program}` is not executable (`chmod +x {program}`)"),
            None => diagnosis.suggested_fix.clone(),
        },
    )]
}

// The server does not speak the transport that the configuration says: try the other one that it names.
fn flip_transport(_: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    let probe = history.current;
    let Target::Server(endpoint) = &probe.target else {
        return vec![Fix::person(
            "The two sides use different transports: see the evidence",
        )];
    };
    let is_stdio = endpoint.transport == Transport::Stdio;
    let other = match is_stdio {
        true => endpoint.url.as_ref(),
        false => endpoint.command.first(),
    };
    let advice = Fix::person(if is_stdio {
        "The program does not speak MCP on its standard output: configure it for stdio, or set its address as `url`"
    } else {
        "The server at this address does not speak streamable HTTP: correct the address, or start the server on stdio with a `command`"
    });
    let Some(other) = other else {
        return vec![advice];
    };
    let mut changed = endpoint.clone();
    changed.transport = [Transport::Stdio, Transport::Http][usize::from(is_stdio)];
    let target = Target::Server(changed);
    let probe = Probe {
        target,
        ..probe.clone()
    };
    let message =
        format!("Use `{other}`, which the configuration names, in place of the other transport");
    vec![Fix::change(message, probe), advice]
}

// It took too long: twice the time, once. Then a person must find what it waits for.
fn double_timeout(_: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    let probe = history.current;
    let first = history.earlier.first().map_or(probe, |(first, _)| first);
    let mut fixes = Vec::new();
    if probe.timeout <= first.timeout {
        let mut longer = probe.clone();
        longer.timeout = first.timeout.saturating_mul(2);
        let message = format!("Allow it {} seconds", longer.timeout.as_secs_f64());
        fixes.push(Fix::change(message, longer));
    }
    fixes.push(Fix::person(
        "It is waiting for something: check that it asks no questions, that a runner such as npx is not still \
         downloading, and that the services it depends on are up",
    ));
    fixes
}

// The server refused the credentials. Only names are printed, because values are secrets.
fn check_credentials(_: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    let mut sent = Vec::new();
    if let Target::Server(endpoint) = &history.current.target {
        let pairs = match endpoint.transport {
            Transport::Http => &endpoint.headers,
            Transport::Stdio => &endpoint.env,
        };
        sent.extend(pairs.keys().map(String::as_str));
    }
    vec![Fix::person(if sent.is_empty() {
        "The server requires credentials, but the configuration sends none: add them".to_owned()
    } else {
        format!(
            "The server refused the credentials: check `{}`",
            sent.join("`, `")
        )
    })]
}
