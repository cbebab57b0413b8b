//! A log that a store keeps as JSON is read as the texts of its entries.

use serde_json::Value;

use super::log::{Run, View};
use super::speakers::joined;

// Lines that show what a log is kept as.
const SAMPLE: usize = 400;
// Under these names alone stands a text: the files of Docker and of the journal.
const KEPT: [&str; 2] = ["log", "MESSAGE"];
// Under these where the entry has a time: what tools report has none.
const TIMED: [&str; 5] = ["textPayload", "message", "msg", "line", "text"];
const TIMES: [&str; 5] = ["time", "timestamp", "ts", "@timestamp", "ingestionTime"];

/// The texts of a log of JSON, each line under the number of its entry: an object a line, or a list of
/// objects; none where it is no such log.
pub(super) fn messages(view: View<'_>) -> Option<(String, Vec<Run>)> {
    let lines = view.text.split('\n').filter(|it| !it.trim().is_empty());
    let (mut all, mut those) = (0, 0);
    for line in lines.take(SAMPLE) {
        all += 1;
        those += usize::from(of_line(line).is_some());
    }
    if those > 0 && those * 10 >= all * 9 {
        let mut rows = Vec::new();
        for (number, line) in view.lines('\n') {
            let text = of_line(line).unwrap_or_else(|| line.to_owned());
            rows.extend(text.split('\n').map(|it| (number, it.to_owned())));
        }
        return Some(joined(&rows));
    }
    of_list(view)
}

fn of_line(line: &str) -> Option<String> {
    let line = line.trim();
    let is_object = line.starts_with('{') && line.ends_with('}');
    message(&is_object.then(|| serde_json::from_str(line).ok())??)
}

// What the stores' own programs print: a list, or an object with one.
fn of_list(view: View<'_>) -> Option<(String, Vec<Run>)> {
    let text = view.text.trim();
    let is_whole = text.starts_with(['[', '{']) && text.ends_with([']', '}']);
    let entries = match is_whole.then(|| serde_json::from_str(text).ok())?? {
        Value::Array(entries) => entries,
        Value::Object(parts) => parts.into_iter().find_map(|it| match it.1 {
            Value::Array(entries) => Some(entries),
            _ => None,
        })?,
        _ => return None,
    };
    let all: Option<Vec<String>> = entries.iter().map(message).collect();
    let all = all.filter(|it| !it.is_empty())?;
    // Where each entry has a line for its text, that line's number.
    let is_text = |line: &str| {
        let name = line.trim_start().strip_prefix('"');
        let name = name.and_then(|it| it.split_once("\": \""));
        name.is_some_and(|it| KEPT.contains(&it.0) || TIMED.contains(&it.0))
    };
    let lines = view.lines('\n').filter(|it| is_text(it.1));
    let numbers: Vec<u64> = lines.map(|it| it.0).collect();
    let own = numbers.len() == all.len();
    let mut rows = Vec::new();
    for (at, message) in all.iter().enumerate() {
        let number = numbers.get(at).filter(|_| own).copied().unwrap_or(1);
        rows.extend(message.split('\n').map(|line| (number, line)));
    }
    Some(joined(&rows))
}

// Texts of an entry beside its own that are looked at.
const MOST_BESIDE: usize = 20;

// The text of an entry, then what else in it has several lines: the stack of an error.
fn message(entry: &Value) -> Option<String> {
    let has_time = TIMES.iter().any(|name| entry.get(name).is_some());
    let payload = entry.get("jsonPayload").unwrap_or(entry);
    let names = KEPT.iter().chain(TIMED.iter().filter(|_| has_time));
    let mut found = names
        .filter_map(|name| payload.get(name))
        .find_map(text_of)?;
    found.truncate(found.trim_end_matches(['\n', '\r']).len());
    let mut left = MOST_BESIDE;
    let mut open = vec![payload];
    while let Some(value) = open.pop().filter(|_| left > 0) {
        match value {
            Value::String(text) if text.trim_end().contains('\n') => {
                left -= 1;
                if !found.contains(text.trim()) {
                    found.push('\n');
                    found.push_str(text.trim_end());
                }
            }
            Value::Object(parts) => open.extend(parts.values()),
            Value::Array(parts) => open.extend(parts),
            _ => {}
        }
    }
    Some(found)
}

// The journal shows a text with escapes as its bytes.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(bytes) => {
            let byte = |it: &Value| u8::try_from(it.as_u64()?).ok();
            let bytes: Option<Vec<u8>> = bytes.iter().map(byte).collect();
            Some(String::from_utf8_lossy(&bytes?).into_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::log::Log;

    #[test]
    fn entries_are_read_as_their_texts_under_their_numbers() {
        let stack = r#"{"time":1,"msg":"boom","err":{"stack":"TypeError: x\n    at a.js:1:2"}}"#;
        for (log, expected) in [
            (
                "{\"log\":\"a\\n\",\"stream\":\"stdout\"}\n{\"log\":\"b\\n\",\"stream\":\"stderr\"}",
                vec![(1, "a"), (2, "b")],
            ),
            (r#"{"ts":1,"jsonPayload":{"message":"a"}}"#, vec![(1, "a")]),
            (r#"{"MESSAGE":[27,91,109,97]}"#, vec![(1, "\u{1b}[ma")]),
            (
                format!("{stack}\n{stack}").as_str(),
                [1, 2]
                    .into_iter()
                    .flat_map(|at| [(at, "boom"), (at, "TypeError: x"), (at, "    at a.js:1:2")])
                    .collect(),
            ),
            (
                r#"[{"textPayload":"a","timestamp":1},{"textPayload":"b","timestamp":2}]"#,
                vec![(1, "a"), (1, "b")],
            ),
            (
                "{\n  \"events\": [\n    {\n      \"timestamp\": 1,\n      \"message\": \"a\"\n    }\n  ]\n}",
                vec![(5, "a")],
            ),
        ] {
            let read = Log::from(log.to_owned());
            let rows: Vec<(u64, &str)> = read.view().lines('\n').collect();
            assert_eq!(rows, expected, "{log}");
        }
    }

    #[test]
    fn what_a_tool_reports_as_json_is_no_such_log() {
        for log in [
            r#"{"file":"a.py","line":3,"message":"Name \"x\" is not defined"}"#,
            r#"[{"filePath":"a.js","messages":[{"message":"no","line":1}]}]"#,
            "{\"level\":30,\"msg\":\"up\"}\nTypeError: x\n    at a.js:1:2\n",
        ] {
            assert_eq!(Log::from(log.to_owned()).text(), log);
        }
    }
}
