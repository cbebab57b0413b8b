use std::collections::BTreeMap;

use super::answer::Answer;
use super::expand::expand;
#[cfg(feature = "http")]
use super::http;
use super::stdio;
use super::{Endpoint, HealError, Probe, Transport};
use crate::exec::{Job, Stop};
use crate::model::FailureKind;

/// Connects to an MCP server: `initialize`, then `tools/list`.
pub(super) fn try_server(
    endpoint: &Endpoint,
    probe: &Probe,
    place: &Job,
    stop: &Stop,
) -> Result<Answer, HealError> {
    let endpoint = match expanded(endpoint) {
        Ok(endpoint) => endpoint,
        Err(name) => {
            let said = format!("{}: {name}: parameter not set", probe.name);
            return Ok(Answer::failed(Some(FailureKind::MissingEnvVar), said));
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    match endpoint.transport {
        Transport::Stdio => stdio::connect(&runtime, &endpoint, probe, place, stop),
        #[cfg(feature = "http")]
        Transport::Http => Ok(http::connect(&runtime, &endpoint, probe, stop)),
        #[cfg(not(feature = "http"))]
        Transport::Http => Err(HealError::NotBuilt("http")),
    }
}

fn expanded(endpoint: &Endpoint) -> Result<Endpoint, String> {
    let variable = |name: &str| std::env::var(name).ok();
    let text = |text: &String| expand(text, &variable);
    let pairs = |pairs: &BTreeMap<String, String>| {
        let pairs = pairs
            .iter()
            .map(|(name, value)| Ok((name.clone(), text(value)?)));
        pairs.collect::<Result<_, String>>()
    };
    Ok(Endpoint {
        transport: endpoint.transport,
        command: endpoint
            .command
            .iter()
            .map(text)
            .collect::<Result<_, _>>()?,
        env: pairs(&endpoint.env)?,
        cwd: endpoint.cwd.as_ref().map(text).transpose()?,
        url: endpoint.url.as_ref().map(text).transpose()?,
        headers: pairs(&endpoint.headers)?,
    })
}
