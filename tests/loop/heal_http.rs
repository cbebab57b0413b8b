//! MCP servers at an address that must answer before a repair can start: real connections.

#![cfg(feature = "http")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use super::heal::{heal_server, kinds, with_server};
use crate::support::Repo;
use serde_json::{Value, json};

/// An HTTP server that answers each request with what `answer` makes of its head and body.
fn serve(answer: impl Fn(&str, &str) -> String + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = one_request(&stream, &answer);
        }
    });
    port
}

fn one_request(
    mut stream: &TcpStream,
    answer: &impl Fn(&str, &str) -> String,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Ok(());
        }
    }
    let length = head
        .lines()
        .find_map(|line| {
            line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok()
        })
        .unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    stream.write_all(answer(&head, &String::from_utf8_lossy(&body)).as_bytes())
}

fn response(status: &str, kind: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn mcp_over_http(head: &str, body: &str) -> String {
    if !head.starts_with("POST /mcp") {
        return response("405 Method Not Allowed", "text/plain", "");
    }
    let message: Value = serde_json::from_str(body).unwrap();
    let result = match message["method"].as_str().unwrap() {
        "initialize" => json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "t", "version": "1"}}),
        "tools/list" => json!({"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}),
        _ => return response("202 Accepted", "text/plain", ""),
    };
    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    response("200 OK", "application/json", &answer.to_string())
}

#[test]
fn closed_port_requires_user() {
    let port = serve(mcp_over_http);
    let url = format!("http://127.0.0.1:{port}/mcp");
    let repo = Repo::with(&[]);
    let (exit, document) = heal_server(&repo, &json!({"url": url}), &[]);
    assert_eq!(exit, 0, "{document:#}");
    assert_eq!(
        document["probes"][0]["message"],
        "Connected. 1 tool available."
    );
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{closed}/mcp");
    let (exit, document) = heal_server(&repo, &json!({"url": url}), &[]);
    assert_eq!(
        (exit, kinds(&document)),
        (4, vec!["connection_refused"]),
        "{document:#}"
    );
}

#[test]
fn never_repairs_refused_credentials() {
    let port = serve(|_, _| response("401 Unauthorized", "application/json", "{}"));
    let entry =
        json!({"url": format!("http://127.0.0.1:{port}/mcp"), "headers": {"X-Api-Key": "hidden"}});
    let (exit, document) = heal_server(&Repo::with(&[]), &entry, &["--auto"]);
    assert_eq!(
        (exit, kinds(&document)),
        (4, vec!["auth_failed"]),
        "{document:#}"
    );
    assert!(document["userActionNeeded"].as_str().unwrap().contains("`X-Api-Key`"));
    assert!(!document.to_string().contains("hidden"));
}

#[test]
fn falls_back_from_address_to_command() {
    let repo = with_server();
    let web = serve(|_, _| response("200 OK", "text/html", "<html></html>"));
    let entry = json!({"type": "http", "url": format!("http://127.0.0.1:{web}/mcp"), "command": "./server.sh"});
    let (exit, document) = heal_server(&repo, &entry, &["--timeout", "5"]);
    assert_eq!(
        (exit, kinds(&document)),
        (0, vec!["transport_mismatch"]),
        "{document:#}"
    );
    assert_eq!(
        document["finalConfig"]["mcpServers"]["web"]["type"],
        "stdio"
    );
}
