//! A model behind an address as the agent of a repair: `--agent openai:URL#MODEL`.
#![cfg(all(feature = "http", unix))]

use crate::support;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;

use crate::support::Repo;
use serde_json::{Value, json};

const PATCH: &str = "```diff\n--- a/a.sh\n+++ b/a.sh\n@@ -1 +1 @@\n-A=41\n+A=42\n```\n";

#[test]
fn a_model_at_an_endpoint_repairs() {
    let (url, asked) = endpoint("200 OK", &said(PATCH));
    let (output, result) = repair(&url);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        support::stderr(&output)
    );
    assert_eq!(result["status"], "fixed");
    let (head, body) = asked.recv().unwrap();
    assert!(head.starts_with("POST /v1/chat/completions "), "{head}");
    assert!(
        head.to_ascii_lowercase()
            .contains("authorization: bearer k3y")
    );
    assert_eq!(body["model"], "some/model:7b");
    let prompt = body["messages"][0]["content"].as_str().unwrap();
    assert!(prompt.contains("41 is not 42"), "{prompt}");
}

#[test]
fn what_it_refuses_is_the_agents_trouble() {
    let refusal = r#"{"error":{"code":"invalid_api_key"}}"#;
    let (url, _) = endpoint("401 Unauthorized", refusal);
    let (output, result) = repair(&url);
    assert_ne!(output.status.code(), Some(0));
    assert_eq!(result["agentTrouble"]["kind"], "login", "{result}");
    let (url, _) = endpoint("429 Too Many Requests\r\nretry-after: 999999", "{}");
    let (_, result) = repair(&url);
    assert_eq!(result["agentTrouble"]["retryAfterSeconds"], 999_999.0);
    assert_eq!(result["agentCalls"], 1, "{result}");
    let (output, result) = repair("http://127.0.0.1:1/v1");
    assert_ne!(output.status.code(), Some(0));
    assert_eq!(result["agentTrouble"]["kind"], "crash", "{result}");
}

fn said(text: &str) -> String {
    json!({ "choices": [{ "message": { "role": "assistant", "content": text } }] }).to_string()
}

fn repair(url: &str) -> (std::process::Output, Value) {
    let check = ". ./a.sh; [ $A = 42 ] || { echo \"AssertionError: $A is not 42\"; exit 1; }\n";
    let repo = Repo::with(&[("a.sh", "A=41\n"), ("check.sh", check)]);
    let run = repo.outside().join("run");
    let agent = format!("openai:{url}#some/model:7b");
    let out = run.to_str().unwrap();
    let arguments = [
        "repair",
        "--test",
        "sh check.sh",
        "--agent",
        &agent,
        "--out",
        out,
    ];
    let mut command = support::command(&repo.root(), &arguments);
    let output = command.env("OPENAI_API_KEY", "k3y").output().unwrap();
    let result = std::fs::read(run.join("result.json")).unwrap();
    (output, serde_json::from_slice(&result).unwrap())
}

// Answers every request with the same, and hands on what was asked.
fn endpoint(status: &str, body: &str) -> (String, mpsc::Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut head = String::new();
            while reader.read_line(&mut head).unwrap() > 2 {}
            let lower = head.to_ascii_lowercase();
            let length = lower
                .lines()
                .find_map(|it| it.strip_prefix("content-length: "));
            let mut body = vec![0; length.unwrap().trim().parse().unwrap()];
            reader.read_exact(&mut body).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            let _ = tell.send((head, serde_json::from_slice(&body).unwrap()));
        }
    });
    (url, told)
}
