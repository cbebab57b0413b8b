use std::time::Duration;

use super::Probe;
use crate::exec::Stop;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, Tool};
use rmcp::service::RoleClient;
use rmcp::transport::IntoTransport;

/// How a conversation with a server ended.
pub(super) enum ConversationEnd {
    /// With the names of its tools.
    Tools(Vec<String>),
    /// By the time limit.
    TimedOut,
    /// By the person who asked for it.
    Interrupted,
    /// With an error.
    Failed(String),
}

pub(super) fn no_response(probe: &Probe) -> String {
    let seconds = probe.timeout.as_secs_f64();
    format!("{}: did not respond within {seconds}s", probe.name)
}

/// Speaks to a server over a transport, within a limit.
pub(super) async fn ask<T, E, A>(transport: T, limit: Duration, stop: &Stop) -> ConversationEnd
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let asked = async {
        let about = Implementation::new("mendit", env!("CARGO_PKG_VERSION"));
        let client = ClientConfig::new(ClientCapabilities::default(), about);
        let mut service = match rmcp::serve_client(client, transport).await {
            Ok(service) => service,
            Err(error) => return ConversationEnd::Failed(chain(&error)),
        };
        let has_tools = service
            .peer_info()
            .is_none_or(|server| server.capabilities.tools.is_some());
        let tools = if has_tools {
            service.list_all_tools().await
        } else {
            Ok(Vec::new())
        };
        let names = |tools: Vec<Tool>| tools.into_iter().map(|it| it.name.into_owned()).collect();
        let asked = tools.map_or_else(
            |error| ConversationEnd::Failed(chain(&error)),
            |tools| ConversationEnd::Tools(names(tools)),
        );
        // The answer is there; a server that is slow to say goodbye does not change it.
        let _ = service.close_with_timeout(GOODBYE).await;
        asked
    };
    tokio::select! {
        asked = asked => asked,
        () = tokio::time::sleep(limit) => ConversationEnd::TimedOut,
        () = stopped(stop) => ConversationEnd::Interrupted,
    }
}

const GOODBYE: Duration = Duration::from_secs(2);

async fn stopped(stop: &Stop) {
    while !stop.requested() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

// An error with what caused it, each once.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |all, cause| {
        let text = cause.to_string();
        if all.contains(&text) {
            all
        } else {
            all + ": " + &text
        }
    })
}
