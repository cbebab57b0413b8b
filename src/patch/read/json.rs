use std::borrow::Cow;
use std::fmt::Write as _;
use std::iter::Peekable;
use std::str::Chars;

use serde_json::{Map, Value};

use super::problem;
use crate::model::{Code, Operation, PatchFormat};
use crate::patch::set::{Body, Edit, FilePatch, Headers, PatchSet, Side};

/// What JSON carries.
pub(super) enum Packet {
    /// Edits or whole files.
    Changes(PatchSet<'static>),
    /// Text in any form but this one.
    Text(String),
    /// It says that it has none.
    Nothing,
}

/// Reads JSON that is all of the input. `None` when it is none, or carries no change.
pub(super) fn whole(bytes: &[u8]) -> Option<Packet> {
    if !matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'[')) {
        return None;
    }
    packet(&serde_json::from_slice(bytes).ok()?)
}

/// As [`whole`], for JSON that is nearly such: trailing commas, line feeds in strings, or a literal of
/// Python or JavaScript.
pub(super) fn nearly(bytes: &[u8]) -> Option<Packet> {
    let text = std::str::from_utf8(bytes).ok()?;
    let start = text.find(['{', '['])?;
    let end = text.rfind(['}', ']'])?;
    let text = text.get(start..=end).filter(|it| it.len() < MOST_MENDED)?;
    packet(&serde_json::from_str(&strict(text)?).ok()?)
}

// Longer ones are not read a second time.
const MOST_MENDED: usize = 1 << 20;

/// Reads all JSON that opens a line and carries a change, with prose, tags or fences around it.
pub(super) fn amid(bytes: &[u8]) -> Option<Packet> {
    let mut values = Vec::new();
    let (mut at, mut read, mut tried) = (0, 0, 0);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let blank = line.len() - line.trim_ascii_start().len();
        let from = at + blank;
        at += line.len();
        // What stands inside a value that was read is no other one.
        if from < read || !matches!(line.get(blank), Some(b'{' | b'[')) {
            continue;
        }
        let mut stream = serde_json::Deserializer::from_slice(bytes.get(from..)?).into_iter();
        match stream.next() {
            Some(Ok(value)) if carries(&value) => {
                read = from + stream.byte_offset();
                values.push(value);
            }
            // The bound keeps hostile text linear.
            _ => {
                tried += 1;
                if tried == MOST_TRIED {
                    break;
                }
            }
        }
    }
    match values.as_slice() {
        [] => None,
        [one] => packet(one),
        _ => packet(&Value::Array(values)),
    }
}

fn carries(value: &Value) -> bool {
    packet(value).is_some()
}

const MOST_TRIED: usize = 16;

/// Reads a value: a repair packet, an edit or a list of them, or the call of a tool that edits.
pub(super) fn packet(value: &Value) -> Option<Packet> {
    let status = value.get("status").and_then(Value::as_str);
    if status.is_some_and(|it| it != "patch") {
        return Some(Packet::Nothing);
    }
    let mut found = Found::default();
    found.collect(value, None, 0);
    if let Some(text) = found.text {
        return Some(Packet::Text(text));
    }
    let mut edits = found.files.iter();
    let edits = edits.any(|file| matches!(file.body, Body::Edits(_)));
    (!found.files.is_empty()).then(|| {
        Packet::Changes(PatchSet {
            format: if edits {
                PatchFormat::Edits
            } else {
                PatchFormat::WholeFile
            },
            files: found.files,
            mends: Vec::new(),
            problems: found.problems,
        })
    })
}

// Names in use for one thing, in lower case and without `_` and `-`, with a blank between them.
pub(super) const PATH: &str = "path filepath file filename targetfile relativepath";
const OLD: &str = "old oldtext oldstring oldstr oldcode search find original before";
const NEW: &str = "new newtext newstring newstr newcode replace replacement updated after";
const ALL: &str = "replaceall allowmultiple all";
const CONTENT: &str = "content contents filetext filecontent newcontent";
const INSERTED: &str = "newstr inserttext text newtext content";
// Lists of edits: what is in them and is none is a mistake, not something else.
const LISTS: &str = "edits changes replacements operations updates files";
const WRAPPERS: &str = "input arguments parameters params args function functioncall toolcalls toolcall tooluse \
        content message choices repair result";
const TEXTS: &str = "patch diff input arguments";
const DEEPEST: usize = 12;

pub(super) fn plain(key: &str) -> String {
    let letters = key.chars().filter(|it| !matches!(it, '_' | '-'));
    letters.flat_map(char::to_lowercase).collect()
}

/// Whether a key is one of these names.
pub(super) fn is_one(key: &str, names: &str) -> bool {
    let key = plain(key);
    names.split(' ').any(|it| it == key)
}

fn get<'v>(fields: &'v Map<String, Value>, names: &str) -> Option<&'v Value> {
    let mut fields = fields.iter();
    fields.find(|(key, _)| is_one(key, names)).map(|(_, it)| it)
}

fn text<'v>(fields: &'v Map<String, Value>, names: &str) -> Option<&'v str> {
    get(fields, names).and_then(Value::as_str)
}

// The lines of a text that was sent as a list of them.
fn lines(value: &Value) -> Option<String> {
    let list = value.as_array().filter(|list| list.len() > 2)?;
    let lines: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
    let text: String = lines?
        .into_iter()
        .flat_map(|line| [line.trim_end_matches('\n'), "\n"])
        .collect();
    Some(text)
}

#[derive(Default)]
struct Found {
    text: Option<String>,
    files: Vec<FilePatch<'static>>,
    problems: Vec<crate::model::PatchProblem>,
}

impl Found {
    // Whether anything was found.
    fn collect(&mut self, value: &Value, path: Option<&str>, depth: usize) -> bool {
        if depth > DEEPEST {
            return false;
        }
        match value {
            Value::Array(list) => {
                let mut any = false;
                for one in list {
                    any |= self.collect(one, path, depth + 1);
                }
                any
            }
            Value::Object(fields) => self.object(fields, path, depth),
            Value::String(said) => self.said(said, path, depth),
            _ => false,
        }
    }

    // A string inside a wrapper: JSON once more, or a patch in a text form.
    fn said(&mut self, said: &str, path: Option<&str>, depth: usize) -> bool {
        let start = said.trim_start();
        if start.starts_with(['{', '['])
            && let Ok(value) = serde_json::from_str::<Value>(said)
        {
            return self.collect(&value, path, depth + 1);
        }
        let marks = [
            "*** Begin Patch",
            "*** Update File:",
            "\n@@",
            "\n+++ ",
            " SEARCH\n",
        ];
        let is_patch = marks.iter().any(|mark| said.contains(mark));
        if is_patch && self.text.is_none() {
            self.text = Some(said.to_owned());
        }
        is_patch
    }

    fn object(&mut self, fields: &Map<String, Value>, path: Option<&str>, depth: usize) -> bool {
        let path = text(fields, PATH).or(path);
        if let Some(said) = text(fields, "patch").filter(|it| !it.trim().is_empty()) {
            self.text.get_or_insert_with(|| said.to_owned());
            return true;
        }
        if let Some(said) = get(fields, "patch diff").and_then(lines) {
            self.text.get_or_insert(said);
            return true;
        }
        if let Some(path) = path
            && self.change(fields, path)
        {
            return true;
        }
        let mut any = false;
        for (key, value) in fields {
            if is_one(key, LISTS) {
                any |= self.list(value, path, depth);
            } else if is_one(key, WRAPPERS) || is_one(key, TEXTS) {
                any |= self.collect(value, path, depth + 1);
            }
        }
        any
    }

    fn list(&mut self, value: &Value, path: Option<&str>, depth: usize) -> bool {
        match value {
            Value::Array(list) => {
                for one in list {
                    if !self.collect(one, path, depth + 1) {
                        let message =
                            "an edit has no path, or neither old and new text nor content";
                        self.problems.push(problem(Code::P107, 1, message));
                    }
                }
                !list.is_empty()
            }
            // `{"src/a.py": "content"}`
            Value::Object(fields) if fields.values().all(Value::is_string) && path.is_none() => {
                for (path, content) in fields {
                    self.whole(path, content.as_str().unwrap_or_default());
                }
                !fields.is_empty()
            }
            other => self.collect(other, path, depth + 1),
        }
    }

    // One edit, insertion or whole file.
    fn change(&mut self, fields: &Map<String, Value>, path: &str) -> bool {
        let line = get(fields, "insertline insert afterline");
        if let Some(line) = line.and_then(Value::as_u64)
            && let (Ok(line), Some(new)) = (u32::try_from(line), text(fields, INSERTED))
        {
            let mut new = new.as_bytes().to_vec();
            if !new.ends_with(b"\n") {
                new.push(b'\n');
            }
            self.edit(path, Vec::new(), new, false, Some(line));
            return true;
        }
        match (text(fields, OLD), text(fields, NEW)) {
            (Some(""), Some(new)) => {
                let body = Body::Whole(new.as_bytes().to_vec());
                self.files.push(file(path, Operation::Create, body));
            }
            (Some(old), Some(new)) => {
                let all = get(fields, ALL).and_then(Value::as_bool).unwrap_or(false);
                self.edit(
                    path,
                    old.as_bytes().to_vec(),
                    new.as_bytes().to_vec(),
                    all,
                    None,
                );
            }
            _ => match text(fields, CONTENT) {
                Some(content) => self.whole(path, content),
                None => return false,
            },
        }
        true
    }

    fn whole(&mut self, path: &str, content: &str) {
        let content = Body::Whole(content.as_bytes().to_vec());
        self.files.push(file(path, Operation::Modify, content));
    }

    fn edit(&mut self, path: &str, old: Vec<u8>, new: Vec<u8>, all: bool, after: Option<u32>) {
        let edit = Edit {
            old,
            new,
            line: 1,
            all,
            after,
        };
        if let Some(FilePatch {
            headers,
            body: Body::Edits(edits),
            ..
        }) = self.files.last_mut()
            && headers.plus.as_ref().and_then(Side::name) == Some(path.as_bytes())
        {
            edits.push(edit);
            return;
        }
        let body = Body::Edits(vec![edit]);
        self.files.push(file(path, Operation::Modify, body));
    }
}

fn file(path: &str, operation: Operation, body: Body<'static>) -> FilePatch<'static> {
    let name = Side::Name(Cow::Owned(path.as_bytes().to_vec()));
    FilePatch {
        line: 1,
        headers: Headers {
            explicit: Some(operation),
            minus: Some(if operation == Operation::Create {
                Side::Null
            } else {
                name.clone()
            }),
            plus: Some(name),
            ..Headers::default()
        },
        body,
    }
}

/// Writes a literal of JavaScript or Python as strict JSON: without trailing commas and comments, with
/// double quotes, line feeds escaped. `None` when a string does not end.
fn strict(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len() + 64);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' | '\'' => string(letter, &mut letters, &mut out)?,
            '/' if letters.peek() == Some(&'/') => {
                while letters.next_if(|it| *it != '\n').is_some() {}
            }
            '}' | ']' => {
                let kept = out.trim_end().trim_end_matches(',').len();
                out.truncate(kept);
                out.push(letter);
            }
            'T' | 'F' | 'N' => {
                let mut word = String::from(letter);
                while let Some(next) = letters.next_if(char::is_ascii_alphabetic) {
                    word.push(next);
                }
                out.push_str(match word.as_str() {
                    "True" => "true",
                    "False" => "false",
                    "None" => "null",
                    other => other,
                });
            }
            other => out.push(other),
        }
    }
    Some(out)
}

fn string(quote: char, letters: &mut Peekable<Chars<'_>>, out: &mut String) -> Option<()> {
    out.push('"');
    loop {
        match letters.next()? {
            letter if letter == quote => break,
            '"' => out.push_str("\\\""),
            '\\' => match letters.next()? {
                '\'' => out.push('\''),
                'x' => {
                    let code: String = [letters.next()?, letters.next()?].iter().collect();
                    let _ = write!(out, "\\u00{code}");
                }
                next => {
                    out.push('\\');
                    out.push(next);
                }
            },
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            letter => out.push(letter),
        }
    }
    out.push('"');
    Some(())
}

#[cfg(test)]
mod tests {
    use super::strict;
    use crate::model::{Code, PatchFormat};
    use crate::patch::{ReadOptions, read};

    fn format(text: &str) -> Result<(PatchFormat, usize), Code> {
        read(text.as_bytes(), &ReadOptions::default(), |set| {
            (set.format, set.files.len())
        })
        .map_err(|refusal| refusal.code)
    }

    #[test]
    fn a_packet_gives_its_patch_whatever_its_format_and_surroundings() {
        let diff = "Here:\n```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-{\n+[\n```\n";
        let blocks = "x\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";
        let edits = serde_json::json!([{"path": "x", "old": "a", "new": "b"}]);
        for (packet, expected) in [
            (
                serde_json::json!({"status": "patch", "patch": diff}),
                PatchFormat::Unified,
            ),
            (
                serde_json::json!({"patch": diff, "edits": [], "notes": "n"}),
                PatchFormat::Unified,
            ),
            (
                serde_json::json!({"patch": blocks}),
                PatchFormat::SearchReplace,
            ),
            (
                serde_json::json!({"patch": null, "edits": edits}),
                PatchFormat::Edits,
            ),
            (
                serde_json::json!({"status": "patch", "patch": " ", "edits": edits}),
                PatchFormat::Edits,
            ),
        ] {
            for text in [
                packet.to_string(),
                format!("{packet:#}\n"),
                format!("I looked {{twice}}.\n\n```json\n{packet:#}\n```\nThat is all.\n"),
                format!("So:\n  {packet} done\n"),
            ] {
                assert_eq!(format(&text), Ok((expected, 1)), "{text}");
            }
        }
    }

    #[test]
    fn edits_are_read_under_the_names_in_use() {
        for text in [
            r#"{"path": "x", "old_str": "a", "new_str": "b"}"#,
            r#"{"file_path": "x", "old_string": "a", "new_string": "b", "replace_all": true}"#,
            r#"[{"filePath": "x", "oldText": "a", "newText": "b"}]"#,
            r#"{"file_path": "x", "edits": [{"old_string": "a", "new_string": "b"}]}"#,
            r#"{"changes": [{"file": "x", "search": "a", "replace": "b"}]}"#,
            r#"{"type": "tool_use", "name": "Edit", "input": {"file_path": "x", "old_string": "a", "new_string": "b"}}"#,
            r#"{"tool_calls": [{"function": {"name": "edit", "arguments": "{\"path\": \"x\", \"old\": \"a\", \"new\": \"b\"}"}}]}"#,
            r#"{"command": "insert", "path": "x", "insert_line": 1, "new_str": "b"}"#,
        ] {
            assert_eq!(format(text), Ok((PatchFormat::Edits, 1)), "{text}");
        }
        for text in [
            r#"{"command": "create", "path": "x", "file_text": "a"}"#,
            r#"{"files": {"x": "a"}}"#,
            r#"{"files": [{"path": "x", "content": "a"}]}"#,
        ] {
            assert_eq!(format(text), Ok((PatchFormat::WholeFile, 1)), "{text}");
        }
        let call = serde_json::json!({"name": "apply_patch", "arguments": {"input":
            "*** Begin Patch\n*** Update File: x\n@@\n-a\n+b\n*** End Patch\n"}});
        assert_eq!(format(&call.to_string()), Ok((PatchFormat::ApplyPatch, 1)));
    }

    #[test]
    fn what_is_no_edit_in_a_list_of_edits_is_a_problem() {
        let text =
            r#"{"edits": [{"path": "x", "old": "a", "new": "b"}, {"path": "x", "old": "c"}]}"#;
        let problems = read(text.as_bytes(), &ReadOptions::default(), |set| set.problems);
        assert_eq!(
            problems.unwrap().first().map(|it| it.code),
            Some(Code::P107)
        );
    }

    #[test]
    fn a_packet_without_a_patch_is_none() {
        for text in [
            r#"{"status": "give_up", "patch": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"}"#,
            r#"{"status": "patch"}"#,
            r#"{"patch": "{\"patch\": \"--- a/x\"}"}"#,
            r#"{"patch": "words"}"#,
            "{",
            "words {\n{\n{",
        ] {
            assert_eq!(format(text), Err(Code::P102), "{text}");
        }
    }

    #[test]
    fn a_diff_that_shows_a_packet_is_a_diff() {
        let text = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n {\n-a\n+b\n{\"patch\": \"c\"}\n";
        assert_eq!(format(text), Ok((PatchFormat::Unified, 1)));
    }

    #[test]
    fn literals_become_strict() {
        for (text, expected) in [
            (r#"{"a": [1, 2,], }"#, r#"{"a": [1, 2]}"#),
            (
                r#"{'a': 'say "b"', 'c': True}"#,
                r#"{"a": "say \"b\"", "c": true}"#,
            ),
            (r"['it\'s', '\x41']", r#"["it's", "\u0041"]"#),
            ("{\"a\": \"b\n\tc\"}", r#"{"a": "b\n\tc"}"#),
            ("[1, // one\n 2]", "[1, \n 2]"),
            (r#"{"url": "http://x, }"}"#, r#"{"url": "http://x, }"}"#),
        ] {
            assert_eq!(strict(text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(strict("{\"a"), None);
    }
}
