use crate::heal::{Fix, History};
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
            let said = format!(
                "Call port {}, which the compose file publishes for `{}`",
                row.published, row.service
            );
            let url = format!("{before}:{}{after}", row.published);
            fixes.extend(probe.with_url(url).map(|it| Fix::change(said, it)));
        }
    }
    let service = wanted.and_then(|port| compose.iter().find(|it| it.published == port));
    let service = service.or_else(|| {
        compose
            .iter()
            .find(|it| names_port(diagnosis, it.published))
    });
    fixes.push(match service {
        Some(row) => Fix::person(format!(
            "Nothing listens on port {}: start the service `{}` of the compose file",
            row.published, row.service
        ))
        .run(format!("docker compose up -d {}", row.service)),
        None => Fix::person("Nothing listens there: start the server, or correct its address"),
    });
    fixes
}

// An address on this machine, cut at its port; the scheme's own when it names none.
fn local_port(url: &str) -> Option<(&str, u16, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, _) = rest.split_at_checked(end)?;
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|it| it.is_ascii_digit()) => {
            (host, port.parse().ok()?)
        }
        _ => (authority, if scheme == "https" { 443 } else { 80 }),
    };
    if !is_local(host) {
        return None;
    }
    let before = url.get(..scheme.len() + 3 + host.len())?;
    Some((before, port, url.get(scheme.len() + 3 + authority.len()..)?))
}

/// Whether a host is this machine.
pub(in crate::heal) fn is_local(host: &str) -> bool {
    ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"].contains(&host)
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
