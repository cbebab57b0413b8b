use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::Server;
use crate::app::Stop;

/// Where and for whom a server listens.
pub struct HttpOptions<'a> {
    /// The port on the loopback address; 0 takes a free one.
    pub port: u16,
    /// Origins of web pages that may call it, such as `http://localhost:6274`. Requests that name
    /// another origin are refused; requests that name none come from programs and pass.
    pub allow_origins: Vec<String>,
    /// Ends it.
    pub stop: &'a Stop,
}

/// Serves streamable HTTP at `/mcp` on the loopback address until it is told to stop. `listening`
/// is told the address.
///
/// # Errors
/// When the port cannot be had.
pub fn serve_http(
    server: &Server,
    options: &HttpOptions<'_>,
    listening: impl FnOnce(SocketAddr),
) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    // Names other than this machine's are refused by the default list: no page can reach it by
    // having its own name resolve here.
    let config = StreamableHttpServerConfig::default()
        .with_allowed_origins(options.allow_origins.clone())
        .enforce_origin_validation();
    let closing = config.cancellation_token.clone();
    let server = server.clone();
    let service: StreamableHttpService<Server, LocalSessionManager> = StreamableHttpService::new(
        move || Ok(server.session()),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let router = axum::Router::new().nest_service("/mcp", service);
    let served = runtime.block_on(async {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        let listener = tokio::net::TcpListener::bind(address).await?;
        listening(listener.local_addr()?);
        let stop = options.stop.clone();
        let served = axum::serve(listener, router).with_graceful_shutdown(async move {
            while !stop.requested() {
                tokio::time::sleep(POLL).await;
            }
            // Streams that wait for events would keep the server open.
            closing.cancel();
        });
        served.await
    });
    runtime.shutdown_background();
    served
}

const POLL: std::time::Duration = std::time::Duration::from_millis(100);
