use super::gather::program_of;
use super::programs::{PROGRAMS, Program};
use super::{Fix, History, Probe, Target, Transport};
use crate::model::{Diagnosis, FailureKind};

/// Returns the fixes for a failure, best first, the last one a person's; `None` for an unknown error.
pub(super) fn known_fixes(diagnosis: &Diagnosis, history: &History<'_>) -> Option<Vec<Fix>> {
    Some(match diagnosis.kind {
        FailureKind::CommandNotFound => start_otherwise(diagnosis, history),
        FailureKind::ConnectionRefused => call_published_port(diagnosis, history),
        FailureKind::Timeout => double_timeout(history),
        FailureKind::AuthFailed => vec![check_credentials(history)],
        FailureKind::MissingEnvVar => vec![name_variable(diagnosis, history)],
        FailureKind::TransportMismatch => flip_transport(history),
        FailureKind::PermissionDenied => start_by_interpreter(diagnosis, history),
        _ => return None,
    })
}

/// Returns the message of an unknown failure, for a person.
pub(super) fn hand_over(diagnosis: &Diagnosis, history: &History<'_>) -> Fix {
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
    Fix::person(format!("{}\n{message}", diagnosis.suggested_fix).trim_end())
}

// The program is not there: other ways to the same program, or to the package that the configuration itself names.
fn start_otherwise(diagnosis: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    let words = history.current.words();
    let Some(&program) = words.first() else {
        return vec![Fix::person(diagnosis.suggested_fix.clone())];
    };
    let evidence = &diagnosis.evidence;
    if !evidence.is_empty() && !evidence.iter().any(|line| line.text.contains(program)) {
        // A name that only the log knows is never run.
        let first = evidence
            .first()
            .map_or(&diagnosis.explanation, |line| &line.text);
        let message = format!("A program that `{program}` starts is not installed: {first}");
        return vec![Fix::person(message)];
    }
    let mut fixes = ways_to_start(program, &words, history);
    fixes.push(install(program, history));
    fixes
}

// The rows of the table that can be filled in. A package with the name of a program is taken only when a manifest
// names it too: whoever owns the name in a registry is otherwise unknown.
fn ways_to_start(program: &str, words: &[&str], history: &History<'_>) -> Vec<Fix> {
    let around = history.surroundings;
    let is_for = |names: &[String]| names.iter().any(|name| name == program);
    let runners = ["npx", "bunx", "uvx", "pipx"];
    let is_runner = runners.contains(&program);
    let mut named = words.iter().enumerate().skip(usize::from(is_runner));
    let is_option = |word: &str| word.starts_with('-') || word == "run";
    let Some((at, &wanted)) = named.find(|(_, word)| !is_runner || !is_option(word)) else {
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
    let rows = PROGRAMS
        .way
        .iter()
        .filter(|way| match way.instead_of.as_slice() {
            [] => !is_runner,
            names => is_for(names),
        });
    rows.filter_map(|way| {
        let first = way.start.first()?;
        let words = way
            .start
            .iter()
            .map(|word| filled(word, &value))
            .collect::<Option<Vec<_>>>()?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let there = first.starts_with('{') || around.programs.contains(first);
        let changed = history
            .current
            .with_front(at + 1, &words)
            .filter(|_| there)?;
        Some(Fix::change(filled(&way.does, &value)?, changed))
    })
    .collect()
}

// The text with values in place of what stands in braces.
fn filled(text: &str, value: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let Some((before, after)) = text.split_once('{') else {
        return Some(text.to_owned());
    };
    let (name, after) = after.split_once('}')?;
    Some(format!("{before}{}{}", value(name)?, filled(after, value)?))
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

// Nothing listens there: perhaps the compose file publishes another port.
fn call_published_port(diagnosis: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    let (compose, probe) = (&history.surroundings.compose, history.current);
    let address = probe.url().and_then(local_port);
    let mut fixes = Vec::new();
    if let Some((before, port, after)) = address {
        let rows = compose.iter().filter(|row| row.published != port);
        for row in rows.filter(|row| row.target == port || compose.len() == 1) {
            let (published, service) = (row.published, &row.service);
            let message =
                format!("Call port {published}, which the compose file publishes for `{service}`");
            fixes.extend(call(
                probe,
                &format!("{before}:{published}{after}"),
                message,
            ));
        }
    }
    let is_named = |port: u16| {
        diagnosis
            .evidence
            .iter()
            .any(|line| line.text.ends_with(&format!(":{port}")))
    };
    let mut rows = compose.iter();
    let service = rows.find(|row| {
        address.map_or_else(
            || is_named(row.published),
            |(_, port, _)| row.published == port,
        )
    });
    fixes.push(match service {
        Some(row) => Fix::person_runs(
            format!(
                "Nothing listens on port {}: start the service `{}`",
                row.published, row.service
            ),
            format!("docker compose up -d {}", row.service),
        ),
        None => Fix::person("Nothing listens there: start the server, or correct its address"),
    });
    fixes
}

// Cuts an address on this machine at its port; the scheme's own when it names none.
fn local_port(url: &str) -> Option<(&str, u16, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, _) = rest.split_at_checked(end)?;
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
            (host, port.parse().ok()?)
        }
        _ => (authority, if scheme == "https" { 443 } else { 80 }),
    };
    let is_local = ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"].contains(&host);
    let before = url
        .get(..scheme.len() + 3 + host.len())
        .filter(|_| is_local)?;
    Some((before, port, url.get(scheme.len() + 3 + authority.len()..)?))
}

// It took too long: twice the time, once. Then a person must find what it waits for.
fn double_timeout(history: &History<'_>) -> Vec<Fix> {
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
fn check_credentials(history: &History<'_>) -> Fix {
    let names: Vec<String> = match &history.current.target {
        Target::Server(endpoint) => {
            let sent = match endpoint.transport {
                Transport::Http => &endpoint.headers,
                Transport::Stdio => &endpoint.env,
            };
            sent.keys().map(|name| format!("`{name}`")).collect()
        }
        Target::Command(_) => Vec::new(),
    };
    Fix::person(match names.as_slice() {
        [] => "The credentials are refused, and the configuration sends none: add them".to_owned(),
        names => format!("The credentials are refused: check {}", names.join(", ")),
    })
}

// A variable is missing: where its name stands, not what its value would be.
fn name_variable(diagnosis: &Diagnosis, history: &History<'_>) -> Fix {
    let around = history.surroundings;
    let word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let lines = diagnosis.evidence.iter();
    let words = lines.flat_map(|line| line.text.split(move |letter| !word(letter)));
    let is_name = |name: &&str| {
        let mut letters = name.chars();
        name.len() >= 4 && name.contains('_') && letters.all(|letter| !letter.is_ascii_lowercase())
    };
    let names: Vec<&str> = words.filter(is_name).collect();
    let example = |name: &&&str| around.examples.values().any(|names| names.contains(**name));
    let Some(name) = names.iter().find(example).or(names.first()) else {
        return Fix::person(diagnosis.suggested_fix.clone());
    };
    let mut message = format!("Set `{name}`");
    let file = around
        .examples
        .iter()
        .find(|(_, names)| names.contains(*name));
    if let Some((file, _)) = file {
        message.push_str(&format!(", which stands in {file}"));
    }
    if around.env_file.contains(*name) {
        message.push_str("; .env sets it, and what was started does not read .env");
    }
    Fix::person(message)
}

// What answers does not speak the transport that the configuration says: the other one.
fn flip_transport(history: &History<'_>) -> Vec<Fix> {
    let probe = history.current;
    let Target::Server(endpoint) = &probe.target else {
        return vec![Fix::person(
            "Two programs speak different transports: see the evidence",
        )];
    };
    let url = endpoint.url.as_deref();
    let command = endpoint.command.first();
    let mut fixes = Vec::new();
    if endpoint.transport == Transport::Stdio {
        let named = command
            .map(String::as_str)
            .filter(|command| command.contains("://"))
            .or(url);
        if let Some(url) = named {
            fixes.extend(call(
                probe,
                url,
                format!("Call {url}, which the configuration names, over HTTP"),
            ));
        }
        fixes.push(Fix::person(
            "The program does not speak MCP on its standard output: tell it to use stdio, or name its address as `url`",
        ));
        return fixes;
    }
    if let Some(command) = command {
        let mut changed = endpoint.clone();
        changed.transport = Transport::Stdio;
        let changed = Probe {
            target: Target::Server(changed),
            ..probe.clone()
        };
        let message = format!("Start `{command}`, which the configuration names, on stdio");
        fixes.push(Fix::change(message, changed));
    }
    let url = url.unwrap_or_default();
    let before = url.strip_suffix("/sse");
    let other = before.map_or_else(|| with_path(url, "/mcp"), |before| format!("{before}/mcp"));
    if other != url {
        fixes.extend(call(
            probe,
            &other,
            format!("Call {other}, the usual place of streamable HTTP"),
        ));
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

// The address with a path, when it has none.
fn with_path(url: &str, path: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    match rest.trim_end_matches('/').contains('/') {
        true => url.to_owned(),
        false => format!("{}{path}", url.trim_end_matches('/')),
    }
}

// The system refused: a script of the project can be started by its interpreter.
fn start_by_interpreter(diagnosis: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    let probe = history.current;
    let words = probe.words();
    let program = words.first().copied().filter(|program| {
        program.contains('/')
            && diagnosis
                .evidence
                .iter()
                .any(|line| line.text.contains(program))
    });
    let Some(program) = program else {
        return vec![Fix::person(diagnosis.suggested_fix.clone())];
    };
    let extension = program.rsplit_once('.').map(|(_, extension)| extension);
    let starts = |row: &&Program| {
        row.starts
            .iter()
            .any(|ending| Some(ending.as_str()) == extension)
    };
    let row = PROGRAMS.program.iter().find(starts);
    let interpreter = row.and_then(|row| history.surroundings.program(&row.names));
    let change = interpreter.and_then(|interpreter| {
        let message = format!("Start `{program}` with `{interpreter}`, as it is not executable");
        Some(Fix::change(
            message,
            probe.with_front(1, &[interpreter, program])?,
        ))
    });
    let chmod = Fix::person_runs(
        format!("`{program}` may not be run"),
        format!("chmod +x {program}"),
    );
    change.into_iter().chain([chmod]).collect()
}
