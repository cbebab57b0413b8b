use std::collections::HashMap;

use super::connect::{ConversationEnd, ask, no_response};
use super::probe::Answer;
use super::{Endpoint, Probe};
use crate::exec::Stop;
use crate::model::FailureKind;
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
        ConversationEnd::Failed(error) => Answer::failed(failure_kind(&error), error),
        ConversationEnd::Interrupted => Answer::failed(None, "interrupted"),
    }
}

// Tells by what the client says of a conversation that failed. `None` leaves it to the reader of logs, such as a host
// that is unknown or refuses the connection.
fn failure_kind(error: &str) -> Option<FailureKind> {
    let known = KINDS.iter().find(|(words, _)| error.contains(words));
    known.map_or(Some(FailureKind::TransportMismatch), |(_, kind)| *kind)
}

// Whoever answers otherwise does not speak streamable HTTP.
const KINDS: &[(&str, Option<FailureKind>)] = &[
    ("builder error", Some(FailureKind::ConfigError)),
    ("error sending request", None),
    ("Auth required", Some(FailureKind::AuthFailed)),
    ("Insufficient scope", Some(FailureKind::AuthFailed)),
    ("HTTP 401", Some(FailureKind::AuthFailed)),
    ("HTTP 403", Some(FailureKind::AuthFailed)),
    ("HTTP 5", None),
];
