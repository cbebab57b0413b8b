//! Connects to an MCP server over HTTP.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::TcpStream;

use super::connect::{ConversationEnd, ask, no_response};
use super::probe::Answer;
use super::{Endpoint, Probe};
use crate::exec::Stop;
use crate::model::FailureKind;
use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tokio::runtime::Runtime;

/// Speaks to a server at an address.
pub(super) fn connect(
    runtime: &Runtime,
    endpoint: &Endpoint,
    probe: &Probe,
    stop: &Stop,
) -> Answer {
    let url = endpoint.url.as_deref().unwrap_or("");
    let mut headers = HashMap::new();
    for (name, value) in &endpoint.headers {
        let (Ok(name), Ok(mut value)) = (HeaderName::try_from(name), HeaderValue::try_from(value))
        else {
            let message = format!("`{}` has a header `{name}` that cannot be sent", probe.name);
            return Answer::failed(Some(FailureKind::ConfigError), message);
        };
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    // Fails only when a provider is there already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let asked = runtime.block_on(async {
        let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(headers);
        let transport = StreamableHttpClientTransport::from_config(config);
        ask(transport, probe, stop).await
    });
    match asked {
        ConversationEnd::Tools(tools) => Answer::connected(tools),
        ConversationEnd::TimedOut => {
            let mut answer = Answer::failed(Some(FailureKind::Timeout), no_response(probe));
            answer.facts.timed_out = true;
            answer
        }
        ConversationEnd::Failed(error) => Answer::failed(failure_kind(url, &error), error),
        ConversationEnd::Interrupted => Answer::failed(None, "interrupted"),
    }
}

// Tells by what the client says of a conversation that failed; of a request that could not be sent it does not say
// why, and a connection of our own does.
fn failure_kind(url: &str, error: &str) -> Option<FailureKind> {
    if error.contains("error sending request") {
        let addresses = Url::parse(url).ok()?.socket_addrs(|| None).ok();
        let failed = TcpStream::connect(&*addresses.unwrap_or_default()).err();
        let is_refused = failed.is_some_and(|error| error.kind() == ErrorKind::ConnectionRefused);
        let kinds = [FailureKind::NetworkError, FailureKind::ConnectionRefused];
        return Some(kinds[usize::from(is_refused)]);
    }
    let known = KINDS.iter().find(|(words, _)| error.contains(words));
    known.map_or(Some(FailureKind::TransportMismatch), |(_, kind)| *kind)
}

// Whoever answers otherwise does not speak streamable HTTP.
const KINDS: &[(&str, Option<FailureKind>)] = &[
    ("builder error", Some(FailureKind::ConfigError)),
    ("Auth required", Some(FailureKind::AuthFailed)),
    ("Insufficient scope", Some(FailureKind::AuthFailed)),
    ("HTTP 401", Some(FailureKind::AuthFailed)),
    ("HTTP 403", Some(FailureKind::AuthFailed)),
    ("HTTP 5", None),
];
