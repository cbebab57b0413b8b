use std::collections::HashMap;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

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
    let wrong = |what: String| {
        Answer::failed(
            Some(FailureKind::ConfigError),
            format!("`{}` has {what}", probe.name),
        )
    };
    let Some((host, port)) = host_and_port(url) else {
        return wrong(format!("an address that is none: `{url}`"));
    };
    let mut headers = HashMap::new();
    for (name, value) in &endpoint.headers {
        let (Ok(name), Ok(mut value)) = (HeaderName::try_from(name), HeaderValue::try_from(value))
        else {
            return wrong(format!("a header `{name}` that cannot be sent"));
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
        ConversationEnd::Failed(error) => unreachable_reason(&host, port)
            .or_else(|| refused_reason(&error))
            .unwrap_or_else(|| Answer::failed(None, error)),
        ConversationEnd::Interrupted => Answer::failed(None, "interrupted"),
    }
}

fn host_and_port(url: &str) -> Option<(String, u16)> {
    let url = Url::parse(url).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    let host = url.host_str()?.trim_matches(['[', ']']);
    Some((host.to_owned(), url.port_or_known_default()?))
}

// The client's error does not say why there was no connection; a connection of our own does.
fn unreachable_reason(host: &str, port: u16) -> Option<Answer> {
    let Ok(addresses) = (host, port).to_socket_addrs() else {
        let message = format!("Error: getaddrinfo ENOTFOUND {host}");
        return Some(Answer::failed(Some(FailureKind::NetworkError), message));
    };
    let mut refused = None;
    for address in addresses {
        let Err(error) = TcpStream::connect_timeout(&address, CONNECT) else {
            return None;
        };
        if error.kind() == std::io::ErrorKind::ConnectionRefused {
            refused = Some(format!("Error: connect ECONNREFUSED {address}"));
        }
    }
    Some(Answer::failed(
        Some(FailureKind::ConnectionRefused),
        refused?,
    ))
}

const CONNECT: Duration = Duration::from_secs(2);

fn refused_reason(error: &str) -> Option<Answer> {
    let mut statuses = error.split("HTTP ").skip(1);
    let status = statuses.find_map(|rest| rest.get(..3)?.parse::<u16>().ok());
    let is_auth = error.contains("Auth required") || error.contains("Insufficient scope");
    let speaks_otherwise = OTHER_TALK.iter().any(|words| error.contains(words));
    match status {
        Some(401 | 403) | None if is_auth || status.is_some() => {
            let message = format!(
                "HTTPError: HTTP {} from the server: {error}",
                status.unwrap_or(401)
            );
            Some(Answer::failed(Some(FailureKind::AuthFailed), message))
        }
        Some(404 | 405 | 406 | 410 | 415) | None if speaks_otherwise || status.is_some() => {
            let message =
                format!("StreamableHTTPError: Method Not Allowed, or no MCP there: {error}");
            Some(Answer::failed(
                Some(FailureKind::TransportMismatch),
                message,
            ))
        }
        _ => None,
    }
}

// What the client says of a peer that speaks, but not streamable HTTP.
const OTHER_TALK: &[&str] = &[
    "Unexpected content type",
    "could not parse JSON response",
    "does not support SSE",
    "Deserialize error",
    "SSE error",
    "unexpected end of stream",
];
