use std::collections::BTreeMap;

use serde_json::{Value, json};

/// What the events of a streamed reply say together.
#[derive(Debug, PartialEq)]
pub(super) enum Joined {
    /// The calls of tools, as one value, and what was said beside them.
    Said { calls: Value, text: String },
    /// The stream breaks off, or the reply does.
    Cut,
}

/// Joins the events of a reply that was streamed (`data: {...}`), as the APIs of models
/// send it, or in a line each as Ollama does. `None` when the input is no such stream.
pub(super) fn joined(bytes: &[u8]) -> Option<Joined> {
    let events = events(bytes)?;
    let mut reply = Reply::default();
    for event in &events {
        reply.take(event);
    }
    reply.finish()
}

fn events(bytes: &[u8]) -> Option<Vec<Value>> {
    let start = bytes.trim_ascii_start();
    if start.starts_with(b"[") {
        let list: Vec<Value> = serde_json::from_slice(start).ok()?;
        return list
            .iter()
            .all(|it| it.get("candidates").is_some())
            .then_some(list);
    }
    let lines = || bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines().filter(|line| !line.is_empty()).peekable();
    let sent = lines.peek()?.first()? != &b'{';
    let mut events = Vec::new();
    for line in lines {
        let marks: [&[u8]; 4] = [b"event:", b"id:", b"retry:", b":"];
        if sent && marks.iter().any(|it| line.starts_with(it)) {
            continue;
        }
        let data = if sent {
            line.strip_prefix(b"data:")?
        } else {
            line
        };
        if data.trim_ascii() == b"[DONE]" {
            events.push(json!({"done": true}));
            continue;
        }
        let event: Value = serde_json::from_slice(data).ok()?;
        if !sent && !event.get("done").is_some_and(Value::is_boolean) {
            return None;
        }
        events.push(event);
    }
    Some(events)
}

#[derive(Default)]
struct Call {
    name: String,
    arguments: String,
}

#[derive(Default)]
struct Reply {
    text: String,
    // By message or choice, and their own number in it.
    calls: BTreeMap<(u64, u64), Call>,
    // Those that come whole.
    whole: Vec<Value>,
    message: u64,
    found: bool,
    ended: bool,
    cut: bool,
}

impl Reply {
    fn take(&mut self, event: &Value) {
        match event.get("type").and_then(Value::as_str) {
            Some("message_start") => self.message += 1,
            Some("content_block_start") => self.call(
                (self.message, number(event)),
                word(event, "/content_block/name"),
                None,
            ),
            Some("content_block_delta") => {
                self.said(event, "/delta/text");
                let part = word(event, "/delta/partial_json");
                self.call((self.message, number(event)), None, part);
            }
            Some("message_delta") => self.reason(word(event, "/delta/stop_reason")),
            Some("response.completed") => {
                self.whole
                    .extend(event.pointer("/response/output").cloned());
                self.found = true;
                self.ended = true;
            }
            Some("response.incomplete" | "response.failed" | "error") => self.cut = true,
            _ => {}
        }
        for choice in list(event, "/choices") {
            // Another choice is another reply.
            if number(choice) > 0 {
                self.cut = true;
            }
            self.said(choice, "/delta/content");
            self.said(choice, "/text");
            for call in list(choice, "/delta/tool_calls") {
                let (name, part) = ("/function/name", "/function/arguments");
                self.call((0, number(call)), word(call, name), word(call, part));
            }
            self.reason(word(choice, "/finish_reason"));
        }
        for candidate in list(event, "/candidates").iter().take(1) {
            for part in list(candidate, "/content/parts") {
                if part.get("thought").and_then(Value::as_bool) != Some(true) {
                    self.said(part, "/text");
                }
                if let Some(call) = part.get("functionCall") {
                    self.whole.push(call.clone());
                }
            }
            self.found = true;
            self.ended = true;
            self.reason(word(candidate, "/finishReason"));
        }
        if let Some(done) = event.get("done").and_then(Value::as_bool) {
            self.said(event, "/message/content");
            self.said(event, "/response");
            self.whole
                .extend_from_slice(list(event, "/message/tool_calls"));
            self.ended |= done;
            self.reason(word(event, "/done_reason"));
        }
    }

    fn said(&mut self, value: &Value, pointer: &str) {
        if let Some(text) = word(value, pointer) {
            self.found = true;
            self.text.push_str(text);
        }
    }

    fn call(&mut self, key: (u64, u64), name: Option<&str>, part: Option<&str>) {
        if name.is_none() && part.is_none() {
            return;
        }
        self.found = true;
        let call = self.calls.entry(key).or_default();
        call.name.push_str(name.unwrap_or_default());
        call.arguments.push_str(part.unwrap_or_default());
    }

    fn reason(&mut self, reason: Option<&str>) {
        let Some(reason) = reason else { return };
        self.ended = true;
        self.cut |= is_cut(reason);
    }

    fn finish(self) -> Option<Joined> {
        if !self.found {
            return None;
        }
        let mut calls = self.whole;
        let mut cut = self.cut || !self.ended;
        for call in self.calls.into_values() {
            match serde_json::from_str::<Value>(&call.arguments) {
                Ok(arguments) => calls.push(json!({"name": call.name, "arguments": arguments})),
                Err(_) => cut |= !call.arguments.trim().is_empty(),
            }
        }
        Some(if cut {
            Joined::Cut
        } else {
            let calls = json!({ "output": calls });
            Joined::Said {
                calls,
                text: self.text,
            }
        })
    }
}

/// Whether this reason to stop says that the reply was cut off.
pub(super) fn is_cut(reason: &str) -> bool {
    matches!(
        reason,
        "max_tokens" | "length" | "MAX_TOKENS" | "model_context_window_exceeded"
    )
}

fn word<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer).and_then(Value::as_str)
}

fn list<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    let list = value.pointer(pointer).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

fn number(value: &Value) -> u64 {
    value
        .get("index")
        .and_then(Value::as_u64)
        .unwrap_or_default()
}
