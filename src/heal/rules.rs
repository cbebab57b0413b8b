use std::sync::LazyLock;

use serde::Deserialize;

use super::gather::program_of;
use super::{Fix, History, Probe, Target, Transport};
use crate::model::{Diagnosis, FailureKind as Kind, read_table};

/// Proposes the fixes of a rule, best first, the last one for a person.
type Rule = fn(&Diagnosis, &History<'_>) -> Vec<Fix>;

/// What each kind of failure leads to. Credentials and variables are never changed by mendit.
const RULES: &[(Kind, Rule)] = &[
    (Kind::CommandNotFound, start_otherwise),
    (Kind::PermissionDenied, start_by_interpreter),
    (Kind::ConnectionRefused, call_published_port),
    (Kind::TransportMismatch, flip_transport),
    (Kind::Timeout, double_timeout),
    (Kind::AuthFailed, check_credentials),
    (Kind::MissingEnvVar, name_variable),
];

/// Returns the fixes for a failure, best first, the last one for a person; `None` for an unknown failure.
pub(super) fn known_fixes(diagnosis: &Diagnosis, history: &History<'_>) -> Option<Vec<Fix>> {
    let (_, rule) = RULES.iter().find(|(kind, _)| *kind == diagnosis.kind)?;
    Some(rule(diagnosis, history))
}

/// The table of `programs.toml`.
static PROGRAMS: LazyLock<Programs> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "embedded and tested")]
    read_table(embedded!("heal/programs.toml")).expect("programs.toml parses")
});

#[derive(Deserialize)]
struct Programs {
    way: Vec<Way>,
    program: Vec<Program>,
}

/// A way to start a program that is not there.
#[derive(Deserialize)]
struct Way {
    #[serde(default)]
    instead_of: Vec<String>,
    start: Vec<String>,
    does: String,
}

/// What a program comes with, and the endings of the scripts that it starts.
#[derive(Deserialize)]
struct Program {
    names: Vec<String>,
    from: Option<String>,
    #[serde(default)]
    starts: Vec<String>,
}

/// Names the programs that a rule may start.
pub(super) fn program_names() -> impl Iterator<Item = &'static String> {
    let names = PROGRAMS.program.iter().flat_map(|row| &row.names);
    names.chain(PROGRAMS.way.iter().filter_map(|way| way.start.first()))
}

// The program is not there: other ways to the same program, or to the package that the configuration itself names.
fn start_otherwise(diagnosis: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    let words = history.current.words();
    let Some(&program) = words.first() else {
        return vec![Fix::person(diagnosis.suggested_fix.clone())];
    };
    if let Some(line) = diagnosis.evidence.first()
        && !names(diagnosis, program)
    {
        // A name that only the log knows is never run.
        let message = format!(
            "A program that `{program}` starts is not installed: {}",
            line.text
        );
        return vec![Fix::person(message)];
    }
    let mut fixes = ways_to_start(program, &words, history);
    fixes.push(install(program, history));
    fixes
}

fn names(diagnosis: &Diagnosis, word: &str) -> bool {
    diagnosis
        .evidence
        .iter()
        .any(|line| line.text.contains(word))
}

// The rows of the table that can be filled in. A package with the name of a program is taken only when a manifest
// names it too: whoever owns the name in a registry is otherwise unknown.
fn ways_to_start(program: &str, words: &[&str], history: &History<'_>) -> Vec<Fix> {
    let around = history.surroundings;
    let is_runner = ["npx", "bunx", "uvx", "pipx"].contains(&program);
    let is_wanted = |word: &str| !is_runner || !(word.starts_with('-') || word == "run");
    let mut rest = words.iter().enumerate().skip(usize::from(is_runner));
    let Some((at, &wanted)) = rest.find(|(_, word)| is_wanted(word)) else {
        return Vec::new();
    };
    let name = program_of(wanted);
    let is_bare = is_runner || !program.contains('/');
    let manifest = Some(name).filter(|name| is_bare && around.has_python(name));
    let value = |placeholder: &str| match placeholder {
        "package" => Some(wanted.to_owned()),
        "npm" => around.npm.get(wanted).filter(|_| is_bare).cloned(),
        "manifest" => manifest.map(str::to_owned),
        "module" => manifest.map(|name| name.replace('-', "_")),
        "local" => around.local.get(name).cloned(),
        "python" => around.program(&["python3", "python"]).map(str::to_owned),
        _ => None,
    };
    let change = |way: &Way| {
        let first = way.start.first()?;
        let words = way.start.iter().map(|word| fill_in(word, &value));
        let words = words.collect::<Option<Vec<_>>>()?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let is_there = first.starts_with('{') || around.programs.contains(first);
        let changed = history.current.with_front(at + 1, &words);
        Some(Fix::change(
            fill_in(&way.does, &value)?,
            changed.filter(|_| is_there)?,
        ))
    };
    let fits = |way: &&Way| match way.instead_of.as_slice() {
        [] => !is_runner,
        names => names.iter().any(|name| name == program),
    };
    PROGRAMS
        .way
        .iter()
        .filter(fits)
        .filter_map(change)
        .collect()
}

// Puts values in place of what stands in braces.
fn fill_in(text: &str, value: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let Some((before, after)) = text.split_once('{') else {
        return Some(text.to_owned());
    };
    let (name, after) = after.split_once('}')?;
    Some(format!(
        "{before}{}{}",
        value(name)?,
        fill_in(after, value)?
    ))
}

fn install(program: &str, history: &History<'_>) -> Fix {
    let around = history.surroundings;
    let name = program_of(program);
    let declared = format!("`{name}` is in the manifest and not installed: run your installer");
    if around.npm.contains(name) {
        return Fix::person_runs(declared, "npm install");
    }
    if around.has_python(name) {
        return Fix::person_runs(declared, "pip install -r requirements.txt");
    }
    let mut rows = PROGRAMS.program.iter();
    let row = rows.find(|row| row.names.iter().any(|known| known == name));
    Fix::person(match row.and_then(|row| row.from.as_ref()) {
        Some(from) => format!("`{name}` is not installed: it comes with {from}"),
        None => format!(
            "`{program}` is not installed, and no manifest of the project names it: install it if you trust it, or \
             correct the command"
        ),
    })
}

// The system refused: a script of the project can be started by its interpreter.
fn start_by_interpreter(diagnosis: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    let probe = history.current;
    let words = probe.words();
    let program = words
        .first()
        .copied()
        .filter(|program| program.contains('/'));
    let Some(program) = program.filter(|program| names(diagnosis, program)) else {
        return vec![Fix::person(diagnosis.suggested_fix.clone())];
    };
    let ending = program.rsplit_once('.').map_or("", |(_, ending)| ending);
    let mut rows = PROGRAMS.program.iter();
    let row = rows.find(|row| row.starts.iter().any(|known| known == ending));
    let mut fixes = Vec::new();
    if let Some(interpreter) = row.and_then(|row| history.surroundings.program(&row.names)) {
        let message = format!("Start `{program}` with `{interpreter}`, as it is not executable");
        let changed = probe.with_front(1, &[interpreter, program]);
        fixes.extend(changed.map(|changed| Fix::change(message, changed)));
    }
    let message = format!("`{program}` may not be run");
    fixes.push(Fix::person_runs(message, format!("chmod +x {program}")));
    fixes
}

// Nothing listens there: perhaps the compose file publishes another port.
fn call_published_port(_: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    let (ports, probe) = (&history.surroundings.compose, history.current);
    let url = probe.url().unwrap_or_default();
    let host = url.split("://").nth(1).unwrap_or_default();
    let local = ["localhost:", "127.0.0.1:", "[::1]:", "0.0.0.0:"];
    let is_local = local.iter().any(|start| host.starts_with(start));
    let mut fixes = Vec::new();
    for row in ports
        .iter()
        .filter(|row| is_local && row.published != row.target)
    {
        let (published, service) = (row.published, &row.service);
        let other = url.replacen(&format!(":{}", row.target), &format!(":{published}"), 1);
        if other != url {
            let message =
                format!("Call port {published}, which the compose file publishes for `{service}`");
            fixes.extend(call(probe, &other, message));
        }
    }
    let advice = match ports.is_empty() {
        true => "Nothing listens there: start the server, or correct its address",
        false => {
            "Nothing listens there: start the server (`docker compose up -d`), or correct its address"
        }
    };
    fixes.push(Fix::person(advice));
    fixes
}

// What answers does not speak the transport that the configuration says: the other one, or the usual path.
fn flip_transport(_: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    let probe = history.current;
    let Target::Server(endpoint) = &probe.target else {
        return vec![Fix::person(
            "Two programs speak different transports: see the evidence",
        )];
    };
    let command = endpoint.command.first().map(String::as_str);
    let mut fixes = Vec::new();
    if endpoint.transport == Transport::Stdio {
        let named = command.filter(|command| command.contains("://"));
        if let Some(url) = named.or(endpoint.url.as_deref()) {
            let message = format!("Call {url}, which the configuration names, over HTTP");
            fixes.extend(call(probe, url, message));
        }
        fixes.push(Fix::person(
            "The program does not speak MCP on its standard output: tell it to use stdio, or name its address as `url`",
        ));
        return fixes;
    }
    if let Some(command) = command {
        let mut changed = endpoint.clone();
        changed.transport = Transport::Stdio;
        let target = Target::Server(changed);
        let message = format!("Start `{command}`, which the configuration names, on stdio");
        fixes.push(Fix::change(
            message,
            Probe {
                target,
                ..probe.clone()
            },
        ));
    }
    let url = endpoint
        .url
        .as_deref()
        .unwrap_or_default()
        .trim_end_matches('/');
    let has_path = url.matches('/').count() > 2;
    let other = match url.strip_suffix("/sse") {
        Some(start) => format!("{start}/mcp"),
        None if has_path => url.to_owned(),
        None => format!("{url}/mcp"),
    };
    if other != url {
        let message = format!("Call {other}, the usual place of streamable HTTP");
        fixes.extend(call(probe, &other, message));
    }
    fixes.push(Fix::person(
        "What answers there does not speak streamable HTTP: correct the address, or start the server on stdio with a \
         `command`",
    ));
    fixes
}

fn call(probe: &Probe, url: &str, message: String) -> Option<Fix> {
    Some(Fix::change(message, probe.with_url(url)?))
}

// It took too long: twice the time, once. Then a person must find what it waits for.
fn double_timeout(_: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    let (first, probe) = (history.first(), history.current);
    let mut fixes = Vec::new();
    if probe.timeout <= first.timeout {
        let mut longer = probe.clone();
        longer.timeout = first.timeout.saturating_mul(2);
        let message = format!("Give it {} seconds", longer.timeout.as_secs_f64());
        fixes.push(Fix::change(message, longer));
    }
    fixes.push(Fix::person(
        "It waits for something: check that it does not ask questions, that a runner such as npx is not still \
         downloading, and that the services it depends on are up",
    ));
    fixes
}

// The server refused the credentials: names of what is sent, never values.
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
        "The credentials are refused, and the configuration sends none: add them".to_owned()
    } else {
        format!("The credentials are refused: check `{}`", sent.join("`, `"))
    })]
}

// A variable is missing: where its name stands, not what its value would be.
fn name_variable(diagnosis: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    let examples = &history.surroundings.examples;
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let lines = diagnosis.evidence.iter();
    let words = lines.flat_map(|line| line.text.split(move |letter| !is_letter(letter)));
    let is_name =
        |word: &&str| word.len() >= 4 && word.contains('_') && *word == word.to_ascii_uppercase();
    let names: Vec<&str> = words.filter(is_name).collect();
    let stands_in = |name: &str| examples.iter().find(|(_, known)| known.contains(name));
    let mut known = names
        .iter()
        .filter_map(|name| Some((*name, stands_in(name)?.0)));
    vec![Fix::person(match (known.next(), names.first()) {
        (Some((name, file)), _) => format!("Set `{name}`, which stands in {file}"),
        (None, Some(name)) => format!("Set `{name}`"),
        (None, None) => diagnosis.suggested_fix.clone(),
    })]
}
