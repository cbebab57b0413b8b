use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, CONTENT_LENGTH, HOST};
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::IntoResponse as _;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::Server;
use crate::app::Stop;

/// Where and for whom a server listens.
pub struct HttpOptions<'a> {
    /// The port on the loopback address; 0 takes a free one.
    pub port: u16,
    /// Origins of web pages that may call it, such as `http://localhost:6274`. Requests that name
    /// another origin are refused; requests that name none come from programs and pass.
    pub allow_origins: Vec<String>,
    /// What a caller must know: `Authorization: Bearer TOKEN`. Any program of this machine can
    /// reach the port.
    pub token: String,
    /// Ends it.
    pub stop: &'a Stop,
}

/// A token that nobody can guess.
///
/// # Errors
/// When the system gives no randomness.
pub fn new_token() -> std::io::Result<String> {
    let mut bytes = [0_u8; 24];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(crate::model::hex(&bytes))
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
    let expected: Arc<str> = format!("Bearer {}", options.token).into();
    let router = Router::new().nest_service("/mcp", service).layer(from_fn(
        move |request: Request, next: Next| {
            let expected = expected.clone();
            async move {
                match refuse(&request, &expected) {
                    Some(status) => status.into_response(),
                    None => next.run(request).await,
                }
            }
        },
    ));
    let served = runtime.block_on(async {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        let listener = TcpListener::bind(address).await?;
        listening(listener.local_addr()?);
        let accepting = accept(listener, router);
        let stopped = async {
            while !options.stop.requested() {
                tokio::time::sleep(POLL).await;
            }
        };
        tokio::select! {
            () = accepting => {}
            () = stopped => {}
        }
        // Streams that wait for events would keep the server open.
        closing.cancel();
        Ok(())
    });
    runtime.shutdown_background();
    served
}

// Takes so many callers at once, and waits only so long for what one asks.
async fn accept(listener: TcpListener, router: Router) {
    let places = Arc::new(Semaphore::new(MOST_CALLERS));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else {
            return;
        };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of handles, for example: somebody may go.
            tokio::time::sleep(POLL).await;
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let served = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_WITHIN)
                .serve_connection(TokioIo::new(stream), service);
            // What ends a connection is the caller's to know.
            let _ = served.await;
            drop(place);
        });
    }
}

// A caller that does not know the token, or sends more than a log and a patch can be.
fn refuse(request: &Request, expected: &str) -> Option<StatusCode> {
    let given = request.headers().get(AUTHORIZATION);
    let given = given.map_or(&[][..], |it| it.as_bytes());
    // Told apart in the same time however much of it is right.
    let differs = |(one, other): (&u8, &u8)| one ^ other;
    let differences = given.iter().zip(expected.as_bytes()).map(differs);
    if given.len() != expected.len() || differences.fold(0, |all, one| all | one) != 0 {
        return Some(StatusCode::UNAUTHORIZED);
    }
    // A name before the host is none of this machine's.
    let host = request
        .headers()
        .get(HOST)
        .map_or(&[][..], |it| it.as_bytes());
    if host.contains(&b'@') {
        return Some(StatusCode::FORBIDDEN);
    }
    if request.method() != Method::POST {
        return None;
    }
    let length = request.headers().get(CONTENT_LENGTH);
    let length = length.and_then(|it| it.to_str().ok()?.parse::<u64>().ok());
    match length {
        None => Some(StatusCode::LENGTH_REQUIRED),
        Some(length) if length > MOST_BYTES => Some(StatusCode::PAYLOAD_TOO_LARGE),
        Some(_) => None,
    }
}

const MOST_CALLERS: usize = 256;
const HEAD_WITHIN: std::time::Duration = std::time::Duration::from_secs(10);
const MOST_BYTES: u64 = 128 << 20;
const POLL: std::time::Duration = std::time::Duration::from_millis(100);
