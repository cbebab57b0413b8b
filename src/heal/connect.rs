//! Speaks MCP to a server: `initialize`, then `tools/list`.

use std::time::Duration;

use regex::Captures;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation};
use rmcp::service::RoleClient;
use rmcp::transport::IntoTransport;

#[cfg(feature = "http")]
use super::http;
use super::probe::Answer;
use super::{Endpoint, HealError, Probe, Transport, stdio};
use crate::exec::{Job, Stop};
use crate::model::FailureKind;
use crate::runners::pattern;

/// Connects to an MCP server: `initialize`, then `tools/list`.
pub(super) fn try_server(
    endpoint: &Endpoint,
    probe: &Probe,
    place: &Job,
    stop: &Stop,
) -> Result<Answer, HealError> {
    let mut endpoint = endpoint.clone();
    for text in endpoint.texts() {
        match expand_vars(text, &|name| std::env::var(name).ok()) {
            Ok(expanded) => *text = expanded,
            Err(name) => {
                let message = format!("{}: {name}: parameter not set", probe.name);
                return Ok(Answer::failed(Some(FailureKind::MissingEnvVar), message));
            }
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match endpoint.transport {
        Transport::Stdio => stdio::connect(&runtime, &endpoint, probe, place, stop),
        #[cfg(feature = "http")]
        Transport::Http => Ok(http::connect(&runtime, &endpoint, probe, stop)),
        #[cfg(not(feature = "http"))]
        Transport::Http => Err(HealError::NotBuilt("http")),
    }
}

// Puts variables in for `${NAME}`, `${env:NAME}` and `${NAME:-default}`; other `$` stay. The error is the name of the
// first variable that is not set and has no default.
fn expand_vars(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut missing = None;
    let done = REFERENCE.replace_all(text, |found: &Captures<'_>| {
        let value =
            variable(&found[1]).or_else(|| found.get(2).map(|default| default.as_str().to_owned()));
        if value.is_none() {
            missing.get_or_insert_with(|| found[1].to_owned());
        }
        value.unwrap_or_default()
    });
    let done = done.into_owned();
    missing.map_or(Ok(done), Err)
}

pattern!(
    REFERENCE,
    r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}"
);

/// How a conversation with a server ended.
pub(super) enum ConversationEnd {
    /// With the names of its tools.
    Tools(Vec<String>),
    TimedOut,
    Interrupted,
    /// With an error.
    Failed(String),
}

/// Speaks to a server over a transport, within the time of the probe.
pub(super) async fn ask<T, E, A>(transport: T, probe: &Probe, stop: &Stop) -> ConversationEnd
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let asked = async {
        let about = Implementation::new("mendit", env!("CARGO_PKG_VERSION"));
        let client = ClientConfig::new(ClientCapabilities::default(), about);
        let mut service = match rmcp::serve_client(client, transport).await {
            Ok(service) => service,
            Err(error) => return ConversationEnd::Failed(with_causes(&error)),
        };
        let server = service.peer_info();
        let has_tools = server.is_none_or(|server| server.capabilities.tools.is_some());
        let tools = match has_tools {
            true => service.list_all_tools().await,
            false => Ok(Vec::new()),
        };
        // The answer is there; a server that is slow to say goodbye does not change it.
        let _ = service.close_with_timeout(Duration::from_secs(2)).await;
        match tools {
            Ok(tools) => {
                let names = tools.into_iter().map(|tool| tool.name.into_owned());
                ConversationEnd::Tools(names.collect())
            }
            Err(error) => ConversationEnd::Failed(with_causes(&error)),
        }
    };
    let stopped = async {
        while !stop.requested() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::select! {
        asked = asked => asked,
        () = tokio::time::sleep(probe.timeout) => ConversationEnd::TimedOut,
        () = stopped => ConversationEnd::Interrupted,
    }
}

/// Says that a server was silent until its time was over.
pub(super) fn no_response(probe: &Probe) -> String {
    let seconds = probe.timeout.as_secs_f64();
    format!("{}: did not respond within {seconds}s", probe.name)
}

// An error with what caused it, each once.
fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |all, cause| match cause.to_string() {
        text if all.contains(&text) => all,
        text => all + ": " + &text,
    })
}

#[cfg(test)]
mod tests {
    use super::expand_vars;

    #[test]
    fn expands_variables_and_names_missing_ones() {
        let one_set = |name: &str| (name == "A").then(|| "1".to_owned());
        for (text, expected) in [
            ("x", Ok("x")),
            ("${A}-${env:A}", Ok("1-1")),
            ("${B:-2}$C ${", Ok("2$C ${")),
            ("${workspaceFolder}", Err("workspaceFolder")),
            ("${a b}", Ok("${a b}")),
            ("${A} ${TOKEN}", Err("TOKEN")),
        ] {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(expand_vars(text, &one_set), expected, "{text}");
        }
    }
}
