use rmcp::ServiceExt;

use super::Server;

/// Serves on standard input and output until the input ends.
///
/// # Errors
/// When the system gives no runtime, or the first message is not MCP.
pub fn serve_stdio(server: Server) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        let service = server
            .serve(rmcp::transport::stdio())
            .await
            .map_err(std::io::Error::other)?;
        service.waiting().await.map_err(std::io::Error::other)
    });
    // Reading standard input cannot be broken off; nobody waits for it.
    runtime.shutdown_background();
    served.map(|_| ())
}
