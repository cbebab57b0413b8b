use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::source_lines::SourceLines;
use super::tree::Process;

/// Where a node that hangs is, as lines of a stack: its inspector is started by a signal, asked to stop at the
/// next step of the program, and left with what it says of that. `None` where it runs no program now, or has no
/// inspector.
pub(super) fn stack_of(process: &Process, until: Instant) -> Option<String> {
    let before = listening(process.pid);
    let mut last = None;
    let port = loop {
        // Its port may be that of another for a while.
        if last.is_none_or(|it: Instant| it.elapsed() > AGAIN) {
            process.signal(Signal::USR1);
            last = Some(Instant::now());
        }
        let now = listening(process.pid);
        if let Some(port) = now.into_iter().find(|it| !before.contains(it)) {
            break port;
        }
        left(until)?;
        sleep(STEP);
    };
    let (head, mut stream) = http(port, "/json/list", "", until)?;
    let size = head.split_once("Content-Length: ")?.1.lines().next()?;
    let mut list = vec![0; size.trim().parse::<u16>().ok()?.into()];
    stream.read_exact(&mut list).ok()?;
    let text = String::from_utf8_lossy(&list);
    let (_, path) = text.split_once("\"webSocketDebuggerUrl\": \"ws://")?;
    let path = path.split('"').next()?;
    let path = path.get(path.find('/')?..)?;
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                   Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n";
    let (head, stream) = http(port, path, upgrade, until)?;
    if !head.starts_with("HTTP/1.1 101") {
        return None;
    }
    let mut talk = Talk {
        stream,
        until,
        sources: SourceLines::default(),
    };
    talk.ask(
        None,
        "NodeWorker.enable",
        &json!({"waitForDebuggerOnStart": false}),
    )?;
    talk.stop(None)?;
    talk.stack()
}

const STEP: Duration = Duration::from_millis(20);
const AGAIN: Duration = Duration::from_millis(400);
/// Bytes of one message: a map of sources may stand in it.
const MOST_BYTES: u64 = 32 << 20;
const MOST_FRAMES: usize = 30;

// What there is left to wait for.
fn left(until: Instant) -> Option<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    (!left.is_zero()).then_some(left)
}

// Ports of this machine alone on which a process listens.
fn listening(pid: i32) -> Vec<u16> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd"));
    let sockets: Vec<String> = entries
        .into_iter()
        .flatten()
        .filter_map(|it| std::fs::read_link(it.ok()?.path()).ok())
        .filter_map(|link| {
            Some(
                link.to_str()?
                    .strip_prefix("socket:[")?
                    .trim_end_matches(']')
                    .to_owned(),
            )
        })
        .collect();
    let table = std::fs::read_to_string(format!("/proc/{pid}/net/tcp")).unwrap_or_default();
    let port = |line: &str| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        // The address in hexadecimal, the state (0A listens), the inode.
        let (address, state, inode) = (columns.get(1)?, columns.get(3)?, columns.get(9)?);
        let (host, port) = address.split_once(':')?;
        let is_it = host == "0100007F" && *state == "0A" && sockets.iter().any(|it| it == inode);
        is_it.then(|| u16::from_str_radix(port, 16).ok()).flatten()
    };
    table.lines().filter_map(port).collect()
}

// The head of an answer, and the stream behind it.
fn http(port: u16, path: &str, more: &str, until: Instant) -> Option<(String, TcpStream)> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, left(until)?).ok()?;
    stream.set_read_timeout(left(until)).ok()?;
    stream.set_write_timeout(left(until)).ok()?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{more}\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < 8 << 10 {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.extend(byte);
    }
    Some((String::from_utf8_lossy(&head).into_owned(), stream))
}

// A talk over a WebSocket (RFC 6455) with the inspector of a process, and through it with those of its threads.
struct Talk {
    stream: TcpStream,
    until: Instant,
    sources: SourceLines,
}

impl Talk {
    fn stop(&mut self, thread: Option<&str>) -> Option<()> {
        self.ask(thread, "Debugger.enable", &json!({}))?;
        self.ask(thread, "Debugger.pause", &json!({}))
    }

    fn ask(&mut self, thread: Option<&str>, method: &str, given: &Value) -> Option<()> {
        let message = json!({"id": 1, "method": method, "params": given});
        let Some(thread) = thread else {
            return self.send(&message.to_string());
        };
        let given = json!({"sessionId": thread, "message": message.to_string()});
        self.ask(None, "NodeWorker.sendMessageToWorker", &given)
    }

    // What stops first is what runs; a thread that looks after others in code of packages goes on.
    fn stack(&mut self) -> Option<String> {
        let mut beside = None;
        while let Some(message) = self.receive() {
            let mut message: Value = serde_json::from_slice(&message).ok()?;
            let mut thread = String::new();
            if message["method"] == "NodeWorker.receivedMessageFromWorker" {
                message["params"]["sessionId"]
                    .as_str()
                    .unwrap_or_default()
                    .clone_into(&mut thread);
                let inner = message["params"]["message"].as_str()?;
                message = serde_json::from_str(inner).ok()?;
            }
            let given = &message["params"];
            match message["method"].as_str() {
                Some("NodeWorker.attachedToWorker") => {
                    let session = given["sessionId"].as_str()?.to_owned();
                    self.stop(Some(&session))?;
                }
                Some("Debugger.scriptParsed") => {
                    let text = |key: &str| given[key].as_str().unwrap_or_default();
                    let script = format!("{thread} {}", text("scriptId"));
                    self.sources.add(script, text("url"), text("sourceMapURL"));
                }
                Some("Debugger.paused") => {
                    let frames = self.frames(&thread, &given["callFrames"]);
                    let own = frames.iter().filter(|it| !it.contains("/node_modules/"));
                    let text: String = own.cloned().collect();
                    if !text.is_empty() {
                        return Some(text);
                    }
                    beside.get_or_insert(frames.concat());
                    let thread = Some(thread.as_str()).filter(|it| !it.is_empty());
                    self.ask(thread, "Debugger.resume", &json!({}))?;
                }
                _ => {}
            }
        }
        beside.filter(|it| !it.is_empty())
    }

    fn frames(&self, thread: &str, frames: &Value) -> Vec<String> {
        let frame = |frame: &Value| {
            let place = &frame["location"];
            let script = format!("{thread} {}", place["scriptId"].as_str()?);
            let number = |key: &str| usize::try_from(place[key].as_u64()?).ok();
            let (line, column) = (number("lineNumber")?, number("columnNumber").unwrap_or(0));
            let (file, line, column) = self.sources.place(&script, line, column)?;
            let name = frame["functionName"].as_str().filter(|it| !it.is_empty());
            let name = name.unwrap_or("<anonymous>");
            Some(format!("    at {name} ({file}:{line}:{column})\n"))
        };
        let frames = frames.as_array().into_iter().flatten();
        frames.filter_map(frame).take(MOST_FRAMES).collect()
    }

    // One frame of text, masked as a client's must be; a mask of zeros changes nothing.
    fn send(&mut self, text: &str) -> Option<()> {
        let size = u32::try_from(text.len()).ok()?;
        let mut frame = vec![0x81, 0x80 | 127, 0, 0, 0, 0];
        frame.extend(size.to_be_bytes());
        frame.extend([0; 4]);
        frame.extend(text.as_bytes());
        self.stream.write_all(&frame).ok()
    }

    // The next message of text.
    fn receive(&mut self) -> Option<Vec<u8>> {
        let mut message = Vec::new();
        loop {
            self.stream.set_read_timeout(Some(left(self.until)?)).ok()?;
            let mut head = [0; 2];
            self.stream.read_exact(&mut head).ok()?;
            let [first, size] = head;
            let more = match size & 0x7f {
                126 => 2,
                127 => 8,
                _ => 0,
            };
            let mut wide = [0; 8];
            self.stream.read_exact(wide.get_mut(8 - more..)?).ok()?;
            let size = match more {
                0 => u64::from(size & 0x7f),
                _ => u64::from_be_bytes(wide),
            };
            if size > MOST_BYTES {
                return None;
            }
            let mut part = vec![0; usize::try_from(size).ok()?];
            self.stream.read_exact(&mut part).ok()?;
            // Zero goes on with a message, one is text; what else there is are signs of life.
            if first & 0xf <= 1 {
                message.extend(part);
                if first & 0x80 != 0 {
                    return Some(message);
                }
            }
        }
    }
}
