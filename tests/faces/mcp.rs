//! The MCP server, spoken to by a real client over standard input and output and, where it is built, over HTTP.
#![cfg(all(feature = "mcp", unix))]

use crate::support;
use std::io::{BufRead, BufReader, Read as _, Write};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

use crate::support::Repo;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig,
    Implementation, ProgressNotificationParam, Tool,
};
use rmcp::service::{NotificationContext, PeerRequestOptions, RoleClient, RunningService};
use rmcp::{ClientHandler, ServiceError, ServiceExt};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, ReadHalf, WriteHalf};

#[derive(Clone, Default)]
struct Listener {
    steps: Arc<Mutex<Vec<String>>>,
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("test", "1"),
        )
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let step = params.message.unwrap_or_default();
        self.steps.lock().unwrap().push(step);
    }
}

type Client = RunningService<RoleClient, Listener>;

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn started(repo: &Repo, arguments: &[&str]) -> Server {
    let all = [&["mcp"], arguments].concat();
    let mut command = support::command(&repo.root(), &all);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Server(command.spawn().unwrap())
}

// What one reads and writes of the server, whose own pipes block.
fn pipes(server: &mut Server) -> (ReadHalf<DuplexStream>, WriteHalf<DuplexStream>) {
    let mut stdin = server.0.stdin.take().unwrap();
    let mut stdout = server.0.stdout.take().unwrap();
    let (near, far) = tokio::io::duplex(1 << 16);
    let (mut from, mut to) = tokio::io::split(far);
    let runtime = tokio::runtime::Handle::current();
    let mut bytes = [0; 4096];
    std::thread::spawn(move || {
        while let Ok(read @ 1..) = stdout.read(&mut bytes) {
            let _ = runtime.block_on(to.write_all(&bytes[..read]));
        }
        runtime.block_on(to.shutdown())
    });
    tokio::spawn(async move {
        while let Ok(read @ 1..) = from.read(&mut bytes).await {
            let _ = stdin.write_all(&bytes[..read]);
        }
    });
    tokio::io::split(near)
}

async fn over_stdio(server: &mut Server) -> Client {
    Listener::default().serve(pipes(server)).await.unwrap()
}

fn repo() -> Repo {
    Repo::with(&[
        ("a.ts", "import { b } from './b';\nconsole.log(b);\n"),
        ("b.ts", "export const b = 1;\nexport const c = 2;\n"),
        ("d.ts", "import { c } from './b';\nconsole.log(c);\n"),
    ])
}

const LOG: &str = "a.ts(2,13): error TS2304: Cannot find name 'c'.\n";
const PATCH: &str = "--- a/b.ts\n+++ b/b.ts\n@@ -1,2 +1,2 @@\n-export const b = 1;\n+export const b = 7;\n export const c = 2;\n";

fn names(tools: &[Tool]) -> Vec<&str> {
    tools.iter().map(|tool| tool.name.as_ref()).collect()
}

async fn call(
    client: &Client,
    name: &'static str,
    arguments: Value,
) -> Result<CallToolResult, ServiceError> {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object")
    };
    let request = CallToolRequestParams::new(name).with_arguments(arguments);
    client.call_tool(request).await
}

// The document of a call, valid by its schema.
async fn document(client: &Client, name: &'static str, arguments: Value) -> Value {
    let tools = client.list_all_tools().await.unwrap();
    let tool = tools.iter().find(|tool| tool.name == name).unwrap();
    let input = Value::Object((*tool.input_schema).clone());
    assert!(jsonschema::validator_for(&input).unwrap().is_valid(&arguments));
    let result = call(client, name, arguments).await.unwrap();
    assert_eq!(result.is_error, Some(false), "{name}: {:?}", result.content);
    assert!(
        !result.content.is_empty(),
        "{name} says something to a reader"
    );
    let document = result.structured_content.unwrap();
    let name_of_schema = document["document"].as_str();
    if let Some(schema) = name_of_schema.and_then(mendit::documents::schema) {
        let valid = jsonschema::validator_for(&schema.schema()).unwrap();
        assert!(valid.is_valid(&document), "{name}: {document:#}");
    }
    document
}

async fn use_every_reading_tool(client: &Client) {
    let tools = client.list_all_tools().await.unwrap();
    let all = [
        "diagnose", "build_context", "find_import", "imports", "check_patch",
    ];
    assert_eq!(names(&tools), all);
    for tool in &tools {
        let hints = tool.annotations.as_ref().unwrap();
        assert_eq!(hints.read_only_hint, Some(true), "{}", tool.name);
        assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
        let schemas = serde_json::to_string(tool).unwrap();
        assert!(!schemas.contains("\"format\":\""), "{}", tool.name);
    }
    let diagnosis = document(client, "diagnose", json!({"log": LOG})).await;
    assert_eq!(diagnosis["undefinedNames"], json!(["c"]));
    let context = call(client, "build_context", json!({"log": LOG, "level": "1"})).await;
    let context = context.unwrap();
    let context = &context.content[0].as_text().unwrap().text;
    assert!(context.contains("a.ts"), "{context}");
    let hint = document(
        client,
        "find_import",
        json!({"names": ["c"], "file": "a.ts"}),
    )
    .await;
    assert_eq!(hint["suggestions"][0]["path"], "b.ts");
    let imports = document(
        client,
        "imports",
        json!({"files": ["b.ts"], "reverse": true}),
    )
    .await;
    let in_words = call(
        client,
        "imports",
        json!({"files": "b.ts", "reverse": "true"}),
    )
    .await;
    assert_eq!(in_words.unwrap().structured_content, Some(imports.clone()));
    assert_eq!(imports["closure"].as_array().unwrap().len(), 3);
    let verdict = document(client, "check_patch", json!({"patch": PATCH})).await;
    assert_eq!(verdict["verdict"], "applies");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tool_gives_its_document() {
    let repo = repo();
    let mut server = started(&repo, &[]);
    let client = over_stdio(&mut server).await;
    use_every_reading_tool(&client).await;
    let before = std::fs::read_to_string(repo.root().join("b.ts")).unwrap();
    assert!(before.contains("b = 1"), "nothing was written");
    client.cancel().await.unwrap();
    assert!(
        server.0.wait().unwrap().success(),
        "the end of its input ends it"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn applies_patches_only_when_allowed() {
    let repo = repo();
    let mut server = started(&repo, &[]);
    let client = over_stdio(&mut server).await;
    let refused = call(&client, "apply_patch", json!({"patch": PATCH})).await.unwrap();
    assert_eq!(refused.is_error, Some(true));
    let said = serde_json::to_string(&refused.content).unwrap();
    assert!(said.contains("--allow-write"), "{said}");

    let mut server = started(&repo, &["--allow-write"]);
    let client = over_stdio(&mut server).await;
    let tools = client.list_all_tools().await.unwrap();
    let tool = tools.iter().find(|tool| tool.name == "apply_patch").unwrap();
    let hints = tool.annotations.as_ref().unwrap();
    assert_eq!(
        (hints.read_only_hint, hints.destructive_hint),
        (Some(false), Some(true))
    );
    let verdict = document(&client, "apply_patch", json!({"patch": PATCH})).await;
    assert_eq!(verdict["verdict"], "applies");
    let after = std::fs::read_to_string(repo.root().join("b.ts")).unwrap();
    assert_eq!(after, "export const b = 7;\nexport const c = 2;\n");
    let again = document(&client, "apply_patch", json!({"patch": PATCH})).await;
    assert_eq!(again["verdict"], "already_applied");
    let outside = PATCH.replace("b.ts", "../x.ts");
    let refused = document(&client, "apply_patch", json!({"patch": outside})).await;
    assert_eq!(refused["verdict"], "unsafe");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn never_returns_secret_beside_patch() {
    let secret = ["sk_live_", "51Hx7Qm2Vb9Lw4Yp8Rc3Ns5Hd"].concat();
    let conf = format!("NAME = \"x\"\nSTRIPE = \"{secret}\"\nDEBUG = False\nLAST = 1\n");
    let repo = Repo::with(&[("conf.py", &conf), ("plain.py", "DEBUG = False\n")]);
    let mut server = started(&repo, &[]);
    let client = over_stdio(&mut server).await;
    for (file, is_sent) in [("conf.py", false), ("plain.py", true)] {
        let patch = format!(
            "{file}\n<<<<<<< SEARCH\nDEBUG = False\n=======\nDEBUG = True\n>>>>>>> REPLACE\n"
        );
        let told = document(&client, "check_patch", json!({"patch": patch})).await;
        assert!(
            told["verdict"].as_str().unwrap().starts_with("applies"),
            "{told}"
        );
        assert_eq!(told["canonicalPatch"].is_string(), is_sent, "{told}");
        assert!(!told.to_string().contains(&secret), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_wrong_calls() {
    let repo = repo();
    let mut server = started(&repo, &[]);
    let client = over_stdio(&mut server).await;
    let error = call(&client, "no_such_tool", json!({})).await.unwrap_err();
    assert!(error.to_string().contains("no tool"), "{error}");
    // What is wrong with a call is an answer that the model sees.
    for (name, arguments, word) in [
        ("diagnose", json!({}), "U306"),
        ("diagnose", json!({"log": "x", "lgo": 1}), "lgo"),
        ("build_context", json!({"level": 4}), "0 to 3"),
        (
            "build_context",
            json!({"level": "one"}),
            "the arguments do not fit",
        ),
        ("find_import", json!({"names": ["c"]}), "--file FILE"),
        ("apply_patch", json!({"patch": "x"}), "--allow-write"),
        ("run_tests", json!({}), "--run CMD"),
    ] {
        let result = call(&client, name, arguments).await.unwrap();
        assert_eq!(result.is_error, Some(true), "{name}");
        let said = serde_json::to_string(&result.content).unwrap();
        assert!(said.contains(word), "{name}: {said}");
    }
    for (name, arguments, code) in [
        ("build_context", json!({"targets": ["bb.ts"]}), "C311"),
        ("build_context", json!({"targets": ["../x"]}), "C311"),
        ("build_context", json!({"rev": "gone"}), "U201"),
        ("imports", json!({"files": ["x.ts"]}), "C311"),
        ("imports", json!({"changed": "gone"}), "U201"),
    ] {
        let result = call(&client, name, arguments).await.unwrap();
        assert_eq!(result.is_error, Some(true));
        let said = serde_json::to_string(&result.content).unwrap();
        assert!(said.contains(code), "{said}");
    }
    use_every_reading_tool(&client).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn never_returns_masked_patch() {
    let python = std::process::Command::new("python3").arg("--version").output();
    if python.is_err() {
        crate::support::skip("no python3");
        return;
    }
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    for (first, secret) in [
        ("KEY = 'none'".to_owned(), false),
        (format!("KEY = '{token}'"), true),
    ] {
        let repo = Repo::with(&[
            ("shop/__init__.py", ""),
            ("shop/prices.py", "def total(a, b):\n    return a + b\n"),
            ("check.py", &format!("{first}\nprint(total(1, 2))\n")),
        ]);
        let mut server = started(&repo, &["--run", "python3 check.py"]);
        let client = over_stdio(&mut server).await;
        let result = call(&client, "fix_tests", json!({})).await.unwrap();
        let said = serde_json::to_string(&result).unwrap();
        let document = result.structured_content.unwrap();
        assert_eq!(document["status"], "passed", "{said}");
        assert_eq!(document["patch"].is_null(), secret, "{said}");
        assert_eq!(said.contains("does not apply"), secret, "{said}");
        assert!(
            said.contains("from shop.prices import total") && !said.contains(&token),
            "{said}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_only_named_commands() {
    let repo = repo();
    let line = "echo \"a.ts(1,13): error TS2304: Cannot find name 'c'.\"; exit 1";
    let mut server = started(&repo, &["--run", line]);
    let client = over_stdio(&mut server).await;
    let tools = client.list_all_tools().await.unwrap();
    assert!(names(&tools).contains(&"run_tests") && names(&tools).contains(&"fix_tests"));
    let other = call(&client, "run_tests", json!({"command": "touch other"})).await.unwrap();
    assert_eq!(other.is_error, Some(true));
    assert!(!repo.root().join("other").exists());
    let ran = document(&client, "run_tests", json!({})).await;
    assert_eq!(
        (&ran["passed"], &ran["summary"]["kind"]),
        (&json!(false), &json!("import_error"))
    );
    let why = document(&client, "find_cause", json!({})).await;
    assert_eq!(
        (&why["verdict"], &why["cause"]),
        (&json!("unknown"), &json!([])),
        "{why}"
    );
    // What the run left is what the others take when no log is named.
    let diagnosis = document(&client, "diagnose", json!({})).await;
    assert_eq!(diagnosis["undefinedNames"], json!(["c"]));
    let context = call(&client, "build_context", json!({})).await.unwrap();
    assert!(serde_json::to_string(&context.content).unwrap().contains("a.ts"));
    assert!(context.structured_content.is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tool_list_is_short_and_run_repeats() {
    let repo = repo();
    let mut server = started(&repo, &["--run-last", "--allow-write"]);
    let client = over_stdio(&mut server).await;
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools.len(), 9);
    let size = serde_json::to_string(&tools).unwrap().len();
    // 2,000 tokens, two for every seven bytes.
    assert!(size <= 7_000, "{size} bytes");
    let none = call(&client, "run_tests", json!({})).await.unwrap();
    let said = serde_json::to_string(&none.content).unwrap();
    assert!(
        none.is_error == Some(true) && said.contains("mendit run CMD"),
        "{said}"
    );
    let words = ["run", "--env", "WORD=seen", "--", "sh", "-c"];
    let failed = repo.mendit(&[&words[..], &["echo $WORD > word; exit 3"]].concat());
    assert_eq!(failed.status.code(), Some(1));
    std::fs::remove_file(repo.root().join("word")).unwrap();
    let ran = document(&client, "run_tests", json!({})).await;
    assert_eq!(ran["passed"], false, "{ran}");
    let word = std::fs::read_to_string(repo.root().join("word")).unwrap();
    assert_eq!(word, "seen\n");
    let other = call(&client, "run_tests", json!({"command": "true"})).await;
    assert_eq!(other.unwrap().is_error, Some(true));
}

// Clients end calls that say nothing; a command that nobody waits for goes on for nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn run_reports_progress_and_cancels() {
    let repo = repo();
    let line = "trap '' TERM INT; echo building; while :; do echo >> beats; sleep 0.1; done";
    let mut server = started(&repo, &["--run", line]);
    let client = over_stdio(&mut server).await;
    let request = CallToolRequest::new(CallToolRequestParams::new("run_tests")).into();
    let options = PeerRequestOptions::no_options();
    let handle = client.send_cancellable_request(request, options).await;
    let handle = handle.unwrap();
    let steps = client.service().steps.clone();
    let told = || steps.lock().unwrap().iter().any(|it| it.ends_with("s: building"));
    for _ in 0..400 {
        if told() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert!(told(), "{:?}", steps.lock().unwrap());
    let beats = repo.root().join("beats");
    let count = || std::fs::metadata(&beats).unwrap().len();
    handle.cancel(Some("no longer".to_owned())).await.unwrap();
    let mut last = u64::MAX;
    for _ in 0..40 {
        if count() == last {
            break;
        }
        last = count();
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    }
    assert_eq!(count(), last, "the command goes on");
    document(&client, "diagnose", json!({"log": LOG})).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_answer_size() {
    let repo = repo();
    let mut all = String::new();
    for number in 0..400 {
        let body = format!(
            "// {}\nexport const v{number} = {number};\n",
            "word ".repeat(60)
        );
        repo.write(&format!("src/m{number}.ts"), body);
        all.push_str(&format!("import {{ v{number} }} from './m{number}';\n"));
    }
    repo.write("src/all.ts", &all);
    repo.commit();
    let mut server = started(&repo, &[]);
    let client = over_stdio(&mut server).await;
    let log = "src/all.ts(1,1): error TS2304: Cannot find name 'gone'.\n".repeat(2000);
    let patch: String = (0..400)
        .map(|at| format!("--- a/src/m{at}.ts\n+++ b/src/m{at}.ts\n@@ -9 +9 @@\n-gone\n+here\n"))
        .collect();
    for (name, arguments) in [
        ("diagnose", json!({"log": log})),
        ("imports", json!({"files": ["src/all.ts"], "hops": 3})),
        ("check_patch", json!({"patch": patch})),
        ("build_context", json!({"log": log, "level": 3})),
    ] {
        let result = call(&client, name, arguments).await.unwrap();
        assert_eq!(result.is_error, Some(false), "{name}");
        let bytes = serde_json::to_string(&result).unwrap().len();
        assert!(bytes < 100_000, "{name}: {bytes} bytes");
        let shown = &result.content[0].as_text().unwrap().text;
        let is_cut = shown.contains("truncated") && shown.contains("`mendit ");
        let is_whole = result.structured_content.is_some() || name == "build_context";
        assert!(is_cut != is_whole, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reports_progress_and_cancels_call() {
    let repo = repo();
    let mut server = started(&repo, &[]);
    let client = over_stdio(&mut server).await;
    call(&client, "build_context", json!({"log": LOG})).await.unwrap();
    let steps = client.service().steps.clone();
    // A notification may come after the answer.
    for _ in 0..100 {
        if steps.lock().unwrap().len() >= 2 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    // This client hands each on in a task of its own, so that they may overtake each other.
    let mut told = steps.lock().unwrap().clone();
    told.sort_unstable();
    assert_eq!(told, ["choosing files", "listing the repository"]);

    let Value::Object(arguments) = json!({"log": LOG}) else {
        unreachable!()
    };
    let request = CallToolRequestParams::new("build_context").with_arguments(arguments);
    let request = CallToolRequest::new(request).into();
    let options = PeerRequestOptions::no_options();
    let handle = client.send_cancellable_request(request, options).await.unwrap();
    handle.cancel(Some("changed my mind".to_owned())).await.unwrap();
    use_every_reading_tool(&client).await;
}

// A client without a library: what goes over the wire is one message a line, and nothing else.
#[test]
fn stdout_has_only_messages() {
    let repo = repo();
    let mut server = started(&repo, &["--allow-write"]);
    let mut stdin = server.0.stdin.take().unwrap();
    let mut lines = BufReader::new(server.0.stdout.take().unwrap()).lines();
    let mut ask = |message: Value| {
        writeln!(stdin, "{message}").unwrap();
        let line = lines.next().unwrap().unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["jsonrpc"], "2.0", "{line}");
        answer
    };
    let hello = ask(
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}),
    );
    assert_eq!(hello["result"]["serverInfo"]["name"], "mendit");
    assert_eq!(hello["result"]["protocolVersion"], "2025-06-18");
    let mut number = 1;
    let mut call = |name: &str, arguments: Value| {
        number += 1;
        let answer = ask(
            json!({"jsonrpc": "2.0", "id": number, "method": "tools/call",
            "params": {"name": name, "arguments": arguments}}),
        );
        assert_eq!(answer["id"], number);
        answer
    };
    for log in [LOG, "", "\u{1b}[31m\0\u{feff}\n\n"] {
        let answer = call("diagnose", json!({"log": log}));
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    let huge = "x".repeat(3 << 20);
    let answer = call("check_patch", json!({"patch": huge}));
    let verdict = &answer["result"]["structuredContent"]["verdict"];
    assert_eq!(verdict, "malformed");
    let answer = call("build_context", json!({"log": "x\0\n".repeat(1 << 18)}));
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    let answer = call("apply_patch", json!({"patch": PATCH}));
    let verdict = &answer["result"]["structuredContent"]["verdict"];
    assert_eq!(verdict, "applies");
    drop(stdin);
    assert!(lines.next().is_none(), "nothing more is said");
}

#[test]
fn answers_malformed_and_stops_at_end_of_input() {
    let repo = repo();
    let mut server = started(&repo, &["--run", "sleep 60"]);
    let mut stdin = server.0.stdin.take().unwrap();
    let lines = BufReader::new(server.0.stdout.take().unwrap()).lines();
    let run = json!({"jsonrpc": "2.0", "id": "run", "method": "tools/call",
        "params": {"name": "run_tests", "arguments": {}}});
    let hello = json!({"jsonrpc": "2.0", "id": 3, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    for line in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#.to_owned(),
        "no json".to_owned(),
        hello.to_string(),
        r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":["x"]}"#.to_owned(),
        run.to_string(),
    ] {
        writeln!(stdin, "{line}").unwrap();
    }
    // The last request has no line feed.
    write!(stdin, r#"{{"jsonrpc":"2.0","id":9,"method":"ping"}}"#).unwrap();
    drop(stdin);
    let answers: Vec<Value> =
        lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    let code = |id: Value| {
        let answer = answers.iter().find(|it| it["id"] == id);
        answer.map(|it| it["error"]["code"].as_i64())
    };
    assert_eq!(code(json!(1)), Some(Some(-32600)), "{answers:?}");
    assert_eq!(code(Value::Null), Some(Some(-32700)), "{answers:?}");
    assert_eq!(code(json!(3)), Some(None), "{answers:?}");
    assert_eq!(code(json!(4)), Some(Some(-32602)), "{answers:?}");
    assert_eq!(code(json!(9)), Some(None), "{answers:?}");
    assert_eq!(code(json!("run")), Some(Some(-32603)), "{answers:?}");
}

#[test]
fn server_passes_own_probe() {
    let repo = repo();
    let entry = json!({"command": support::program(), "args": ["mcp"]});
    repo.write(
        "mcp.json",
        json!({"mcpServers": {"mendit": entry}}).to_string(),
    );
    let output = repo.mendit(&["heal", "--mcp", "mcp.json"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said, "✓ mendit: Connected. 5 tools available.\n");
}
