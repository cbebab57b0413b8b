//! Serves MCP over standard input and output.

use std::sync::Arc;

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServiceExt as _};
use serde::Serialize;
use serde_json::{Deserializer, Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Stdin, Stdout,
};
use tokio::sync::Mutex;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::Server;

/// Serves on standard input and output until the input ends. A command that runs then is ended.
///
/// # Errors
/// When the system gives no runtime, or the input ends before anything was asked.
pub fn serve_stdio(server: Server) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        let (input, out) = (tokio::io::stdin(), tokio::io::stdout());
        let out = Arc::new(Mutex::new(out));
        // A full queue makes the client wait.
        let (sender, messages) = channel(16);
        let (listener, ended) = (read_input(input, sender, out.clone()), server.ended.clone());
        tokio::spawn(async move {
            listener.await;
            ended.send_replace(true);
        });
        let service = server.serve(Lines { messages, out }).await.map_err(std::io::Error::other)?;
        service.waiting().await.map_err(std::io::Error::other)
    });
    // Nobody waits for it because reading standard input cannot be broken off.
    runtime.shutdown_background();
    served.map(|_| ())
}

// Bytes of one message.
const LONGEST: u64 = 16 << 20;

// One message a line.
struct Lines {
    messages: Receiver<ClientJsonRpcMessage>,
    out: Arc<Mutex<Stdout>>,
}

impl Transport<RoleServer> for Lines {
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = std::io::Result<()>> + Send + 'static {
        let out = self.out.clone();
        async move { write_message(&out, &message).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

async fn write_message(out: &Mutex<Stdout>, message: &impl Serialize) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut out = out.lock().await;
    out.write_all(&line).await?;
    out.flush().await
}

// Hands on what is well formed and answers the rest, until nobody speaks or listens any more.
async fn read_input(input: Stdin, messages: Sender<ClientJsonRpcMessage>, out: Arc<Mutex<Stdout>>) {
    let mut input = BufReader::new(input);
    let mut greeted = false;
    let mut line = Vec::new();
    loop {
        if !matches!(next_line(&mut input, &mut line).await, Ok(1..)) {
            return;
        }
        let mut parsed = parse_message(&line, &mut greeted);
        if is_oversized(&line) {
            let message = format!("a message may have at most {LONGEST} bytes");
            parsed = Err(build_refusal(
                &id_of_head(&line),
                ErrorCode::INVALID_REQUEST,
                &message,
            ));
        }
        while is_oversized(&line) {
            if next_line(&mut input, &mut line).await.is_err() {
                return;
            }
        }
        let sent = match parsed {
            Ok(Some(message)) => messages.send(message).await.is_ok(),
            Ok(None) => true,
            Err(answer) => write_message(&out, &answer).await.is_ok(),
        };
        if !sent {
            return;
        }
    }
}

fn is_oversized(line: &[u8]) -> bool {
    line.len() as u64 == LONGEST && !line.ends_with(b"\n")
}

// Reads a line, or as much of it as a message may have.
async fn next_line(input: &mut BufReader<Stdin>, line: &mut Vec<u8>) -> std::io::Result<usize> {
    line.clear();
    input.take(LONGEST).read_until(b'\n', line).await
}

// Finds the id of a message that is too long to be parsed: clients write it before the parameters.
fn id_of_head(line: &[u8]) -> Value {
    // The id of a request stands in its head.
    let head = String::from_utf8_lossy(line.get(..(1 << 10)).unwrap_or(line));
    head.split("\"id\"").skip(1).find_map(id_after_key).unwrap_or_default()
}

fn id_after_key(rest: &str) -> Option<Value> {
    let rest = rest.trim_start().strip_prefix(':')?;
    let id = Deserializer::from_str(rest).into_iter().next()?.ok();
    id.filter(|id: &Value| id.is_string() || id.is_i64())
}

// Parses a line as a message; `None` wants no answer, an error is the answer. `greeted` is set once a client said who
// it is: the library ends a connection that begins otherwise.
fn parse_message(line: &[u8], greeted: &mut bool) -> Result<Option<ClientJsonRpcMessage>, Value> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        let message = format!("the line is not JSON: {error}");
        build_refusal(&Value::Null, ErrorCode::PARSE_ERROR, &message)
    })?;
    let id = value.get("id").cloned();
    let method = value["method"].as_str().unwrap_or_default().to_owned();
    let is_answer = value.get("result").is_some() || value.get("error").is_some();
    let has_own_version = !value["params"]["_meta"][VERSION].is_null();
    let answered = id.clone().unwrap_or_default();
    let invalid = |message: &str| build_refusal(&answered, ErrorCode::INVALID_REQUEST, message);
    if value["jsonrpc"] != "2.0" || method.is_empty() && !is_answer {
        return Err(invalid(
            "a message is one object of JSON-RPC 2.0 with a method",
        ));
    }
    let message = serde_json::from_value::<ClientJsonRpcMessage>(value);
    let Some(id) = id.filter(|_| !is_answer) else {
        return Ok(message.ok().filter(|_| *greeted));
    };
    if !(id.is_string() || id.is_i64()) {
        return Err(invalid("an id is a string or a whole number"));
    }
    let is_ours = method == "initialize" || method.starts_with("tools/");
    let message = match message {
        Ok(JsonRpcMessage::Request(request))
            if !(is_ours && matches!(request.request, ClientRequest::CustomRequest(_))) =>
        {
            JsonRpcMessage::Request(request)
        }
        _ => {
            let message = format!("the parameters do not fit `{method}`");
            return Err(build_refusal(&id, ErrorCode::INVALID_PARAMS, &message));
        }
    };
    *greeted |= method == "initialize" || has_own_version;
    if !*greeted && !["ping", "server/discover"].contains(&method.as_str()) {
        return Err(invalid("`initialize` comes first"));
    }
    Ok(Some(message))
}

/// Clients of protocols without `initialize` name the version in each request.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

fn build_refusal(id: &Value, code: ErrorCode, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code.0, "message": message}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_malformed_lines_under_their_id() {
        let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#;
        let mut greeted = false;
        for (line, id, code) in [
            (
                r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
                json!(2),
                -32600,
            ),
            (
                r#"{"jsonrpc":"2.0","id":3,"method":"initialize"}"#,
                json!(3),
                -32602,
            ),
            (hello, Value::Null, 0),
            ("not json", Value::Null, -32700),
            (r#"{"jsonrpc":"2.0","id":5,"#, Value::Null, -32700),
            ("[]", Value::Null, -32600),
            ("7", Value::Null, -32600),
            (r#"{"id":6,"method":"ping"}"#, json!(6), -32600),
            (r#"{"jsonrpc":"2.0","id":7}"#, json!(7), -32600),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
                json!(1.5),
                -32600,
            ),
            (
                r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":["x"]}"#,
                json!(8),
                -32602,
            ),
            (
                r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":5}}"#,
                json!(9),
                -32602,
            ),
            (
                r#"{"jsonrpc":"2.0","id":"a","method":"tools/list"}"#,
                Value::Null,
                0,
            ),
            (r#"{"jsonrpc":"2.0","method":"of/no/kind"}"#, Value::Null, 0),
        ] {
            let answer = parse_message(line.as_bytes(), &mut greeted).err().unwrap_or_default();
            assert_eq!(answer["id"], id, "{line}");
            assert_eq!(
                answer["error"]["code"].as_i64().unwrap_or(0),
                code,
                "{line}"
            );
        }
        assert!(greeted);
    }

    #[test]
    fn finds_the_id_of_an_oversized_line() {
        for (line, id) in [
            (
                r#"{"jsonrpc": "2.0", "id": 20, "params": {"log": "xx"#,
                json!(20),
            ),
            (r#"{"id":"a-1","jsonrpc":"2.0"#, json!("a-1")),
            (r#"{"params":{"log":"xx"#, Value::Null),
        ] {
            assert_eq!(id_of_head(line.as_bytes()), id, "{line}");
        }
    }

    #[test]
    fn rejects_requests_before_initialize() {
        let note = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert!(matches!(parse_message(note, &mut false), Ok(None)));
        assert!(matches!(parse_message(note, &mut true), Ok(Some(_))));
        let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        assert!(matches!(parse_message(ping, &mut false), Ok(Some(_))));
    }
}
