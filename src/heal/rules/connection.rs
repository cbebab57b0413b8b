use crate::heal::{Fix, History, Probe, Target, Transport};
use crate::model::Diagnosis;

/// Nothing listens there: perhaps the compose file publishes another port.
pub(super) fn refused(diagnosis: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    let compose = &history.surroundings.compose;
    let mut fixes = Vec::new();
    let mut wanted = None;
    let probe = history.current;
    if let Some(url) = probe.url()
        && let Some((before, port, after)) = local_port(url)
    {
        wanted = Some(port);
        let inside = compose.iter().filter(|it| it.target == port);
        let named = compose.iter().filter(|it| it.service == probe.name);
        let only = compose.iter().filter(|_| compose.len() == 1);
        for row in inside
            .chain(named)
            .chain(only)
            .filter(|it| it.published != port)
        {
            let message = format!(
                "Call port {}, which the compose file publishes for `{}`",
                row.published, row.service
            );
            let url = format!("{before}:{}{after}", row.published);
            fixes.extend(call(probe, &url, message));
        }
    }
    let service = wanted.and_then(|port| compose.iter().find(|it| it.published == port));
    let service = service.or_else(|| {
        compose
            .iter()
            .find(|it| names_port(diagnosis, it.published))
    });
    fixes.push(match service {
        Some(row) => Fix::person_runs(
            format!(
                "Nothing listens on port {}: start the service `{}` of the compose file",
                row.published, row.service
            ),
            format!("docker compose up -d {}", row.service),
        ),
        None => Fix::person("Nothing listens there: start the server, or correct its address"),
    });
    fixes
}

/// An address on this machine, cut at its port; the scheme's own when it names none.
pub(in crate::heal) fn local_port(url: &str) -> Option<(&str, u16, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, _) = rest.split_at_checked(end)?;
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|it| it.is_ascii_digit()) => {
            (host, port.parse().ok()?)
        }
        _ => (authority, if scheme == "https" { 443 } else { 80 }),
    };
    if !["localhost", "127.0.0.1", "[::1]", "0.0.0.0"].contains(&host) {
        return None;
    }
    let before = url.get(..scheme.len() + 3 + host.len())?;
    Some((before, port, url.get(scheme.len() + 3 + authority.len()..)?))
}

fn names_port(diagnosis: &Diagnosis, port: u16) -> bool {
    let port = format!(":{port}");
    diagnosis.evidence.iter().any(|line| {
        line.text.match_indices(&port).any(|(at, found)| {
            let after = line.text.as_bytes().get(at + found.len());
            !after.is_some_and(u8::is_ascii_digit)
        })
    })
}

/// What answers does not speak the transport that the configuration says: the other one.
pub(super) fn transport(_: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    let probe = history.current;
    let Target::Server(endpoint) = &probe.target else {
        let message = "Two programs speak different transports: see the evidence";
        return vec![Fix::person(message)];
    };
    let mut fixes = Vec::new();
    let url = endpoint.url.as_deref();
    match endpoint.transport {
        Transport::Stdio => {
            if let Some(command) = endpoint.command.first().filter(|it| it.contains("://")) {
                let message = "The command is an address: call it over HTTP";
                fixes.extend(call(probe, command, message));
            }
            if let Some(url) = url {
                let message = format!("Call {url}, which the configuration names, over HTTP");
                fixes.extend(call(probe, url, message));
            }
            for url in history.announced_urls {
                let url = with_path(url, "/mcp");
                let message = format!(
                    "Call {url}, where the program says it listens; its host will not start it then"
                );
                fixes.extend(call(probe, &url, message));
            }
            fixes.push(Fix::person(
                "The program does not speak MCP on its standard output: tell it to use stdio, or \
                 name its address as `url`",
            ));
        }
        Transport::Http => {
            fixes.extend(on_stdio(probe));
            let url = url.unwrap_or("");
            let other = match url.strip_suffix("/sse") {
                Some(before) => format!("{before}/mcp"),
                None => with_path(url, "/mcp"),
            };
            if other != url {
                let message = format!("Call {other}, the usual place of streamable HTTP");
                fixes.extend(call(probe, &other, message));
            }
            fixes.push(Fix::person(
                "What answers there does not speak streamable HTTP: correct the address, or start \
                 the server on stdio with a `command`",
            ));
        }
    }
    fixes
}

fn call(probe: &Probe, url: &str, message: impl Into<String>) -> Option<Fix> {
    Some(Fix::change(message, probe.with_url(url)?))
}

fn on_stdio(probe: &Probe) -> Option<Fix> {
    let mut changed = probe.clone();
    let Target::Server(endpoint) = &mut changed.target else {
        return None;
    };
    endpoint.transport = Transport::Stdio;
    let command = endpoint.command.first()?;
    let message = format!("Start `{command}`, which the configuration names, on stdio");
    Some(Fix::change(message, changed))
}

// The address with a path, when it has none.
fn with_path(url: &str, path: &str) -> String {
    let start = url.find("://").map_or(0, |at| at + 3);
    let rest = url.get(start..).unwrap_or("");
    match rest.find('/') {
        None => format!("{url}{path}"),
        Some(at) if at + 1 == rest.len() => format!("{}{path}", url.trim_end_matches('/')),
        Some(_) => url.to_owned(),
    }
}
