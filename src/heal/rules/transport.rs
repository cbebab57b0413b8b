use crate::heal::{Fix, History, Probe, Target, Transport};
use crate::model::Diagnosis;

/// What answers does not speak the transport that the configuration says: the other one.
pub(super) fn transport(_: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    let probe = history.current;
    let Target::Server(endpoint) = &probe.target else {
        let said = "Two programs speak different transports: see the evidence";
        return vec![Fix::person(said)];
    };
    let mut fixes = Vec::new();
    let mut call = |url: &str, said: String| {
        fixes.extend(probe.with_url(url).map(|it| Fix::change(said, it)));
    };
    let url = endpoint.url.as_deref();
    match endpoint.transport {
        Transport::Stdio => {
            if let Some(command) = endpoint.command.first().filter(|it| it.contains("://")) {
                call(
                    command,
                    "The command is an address: call it over HTTP".to_owned(),
                );
            }
            if let Some(url) = url {
                call(
                    url,
                    format!("Call {url}, which the configuration names, over HTTP"),
                );
            }
            for url in history.said_urls {
                let url = with_path(url, "/mcp");
                let said = format!(
                    "Call {url}, where the program says it listens; its host will not start it then"
                );
                call(&url, said);
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
                let said = format!("Call {other}, the usual place of streamable HTTP");
                fixes.extend(probe.with_url(other).map(|it| Fix::change(said, it)));
            }
            fixes.push(Fix::person(
                "What answers there does not speak streamable HTTP: correct the address, or start \
                 the server on stdio with a `command`",
            ));
        }
    }
    fixes
}

fn on_stdio(probe: &Probe) -> Option<Fix> {
    let mut changed = probe.clone();
    let Target::Server(endpoint) = &mut changed.target else {
        return None;
    };
    endpoint.transport = Transport::Stdio;
    let command = endpoint.command.first()?;
    let said = format!("Start `{command}`, which the configuration names, on stdio");
    Some(Fix::change(said, changed))
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
