use std::sync::Arc;

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServiceExt as _};
use serde::Serialize;
use serde_json::{Value, json};
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
        let (input, out) = rmcp::transport::stdio();
        let out = Arc::new(Mutex::new(out));
        let (sender, messages) = channel(WAITING);
        let (listener, ended) = (listen(input, sender, out.clone()), server.ended.clone());
        tokio::spawn(async move {
            listener.await;
            ended.send_replace(true);
        });
        let service = server
            .serve(Lines { messages, out })
            .await
            .map_err(std::io::Error::other)?;
        service.waiting().await.map_err(std::io::Error::other)
    });
    // Reading standard input cannot be broken off; nobody waits for it.
    runtime.shutdown_background();
    served.map(|_| ())
}

// Messages that wait to be taken up.
const WAITING: usize = 16;
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
        async move { say(&out, &message).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

async fn say(out: &Mutex<Stdout>, message: &impl Serialize) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut out = out.lock().await;
    out.write_all(&line).await?;
    out.flush().await
}

// Hands on what is well formed and answers the rest, until nobody speaks or listens any more.
async fn listen(input: Stdin, messages: Sender<ClientJsonRpcMessage>, out: Arc<Mutex<Stdout>>) {
    let mut input = BufReader::new(input);
    let mut greeted = false;
    let mut line = Vec::new();
    loop {
        if !matches!(next_line(&mut input, &mut line).await, Ok(1..)) {
            return;
        }
        let mut taken = understood(&line, &mut greeted);
        while line.len() as u64 == LONGEST && !line.ends_with(b"\n") {
            let message = format!("a message has at most {LONGEST} bytes");
            taken = Err(refusal(&Value::Null, ErrorCode::INVALID_REQUEST, &message));
            if next_line(&mut input, &mut line).await.is_err() {
                return;
            }
        }
        let sent = match taken {
            Ok(Some(message)) => messages.send(message).await.is_ok(),
            Ok(None) => true,
            Err(answer) => say(&out, &answer).await.is_ok(),
        };
        if !sent {
            return;
        }
    }
}

// A line, or as much of it as a message may have.
async fn next_line(input: &mut BufReader<Stdin>, line: &mut Vec<u8>) -> std::io::Result<usize> {
    line.clear();
    input.take(LONGEST).read_until(b'\n', line).await
}

// A line as a message, `None` for what wants no answer; an error is the answer. `greeted` once a client
// said who it is.
fn understood(line: &[u8], greeted: &mut bool) -> Result<Option<ClientJsonRpcMessage>, Value> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        let message = format!("the line is no JSON: {error}");
        refusal(&Value::Null, ErrorCode::PARSE_ERROR, &message)
    })?;
    let id = value.get("id").cloned().unwrap_or_default();
    let invalid = |message: &str| Err(refusal(&id, ErrorCode::INVALID_REQUEST, message));
    if !value.is_object() || value["jsonrpc"] != "2.0" {
        return invalid("a message is an object of JSON-RPC 2.0, and no list of them");
    }
    let Some(method) = value["method"].as_str().map(str::to_owned) else {
        if value.get("result").is_none() && value.get("error").is_none() {
            return invalid("a request has a method");
        }
        let answer = serde_json::from_value(value).ok();
        return Ok(answer.filter(|_| *greeted));
    };
    if value.get("id").is_none() {
        let note = serde_json::from_value(value).ok();
        return Ok(note.filter(|_| *greeted));
    }
    if !(id.is_string() || id.is_i64()) {
        return invalid("an id is a string or a whole number");
    }
    let meta = &value["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
    let stands_alone = !meta.is_null();
    let unfit = || {
        let message = match method.as_str() {
            "initialize" => "`initialize` takes protocolVersion, capabilities and clientInfo",
            _ => "the params do not fit the method",
        };
        refusal(&id, ErrorCode::INVALID_PARAMS, message)
    };
    let message: ClientJsonRpcMessage = serde_json::from_value(value).map_err(|_| unfit())?;
    let JsonRpcMessage::Request(request) = &message else {
        return invalid("a request has no result");
    };
    let greets = matches!(request.request, ClientRequest::InitializeRequest(_)) || stands_alone;
    let ours = ["initialize", "tools/", "resources/", "prompts/"];
    if matches!(request.request, ClientRequest::CustomRequest(_))
        && ours.iter().any(|it| method.starts_with(it))
    {
        return Err(unfit());
    }
    if !(*greeted || greets || matches!(method.as_str(), "ping" | "server/discover")) {
        return invalid("`initialize` comes first");
    }
    *greeted |= greets;
    Ok(Some(message))
}

fn refusal(id: &Value, code: ErrorCode, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code.0, "message": message}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_malformed_is_answered_with_its_id() {
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
            let answer = understood(line.as_bytes(), &mut greeted)
                .err()
                .unwrap_or_default();
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
    fn nothing_but_a_greeting_opens() {
        let note = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert!(matches!(understood(note, &mut false), Ok(None)));
        assert!(matches!(understood(note, &mut true), Ok(Some(_))));
        let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        assert!(matches!(understood(ping, &mut false), Ok(Some(_))));
    }
}
