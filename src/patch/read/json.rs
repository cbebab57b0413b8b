//! Reads edits as JSON: repair packets, lists of edits and tool calls.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::claims::find_commands;
use super::keys::{
    ADDING, ALL, COMMANDS, CONTENT, CUT_OFF, EXPECTED, FROM, HINT, INSERTED, LINES, LISTS,
    MORE_TEXT, NEW, OLD, OTHER_ROLES, PATH, PROSE, RESULTS, TEXTS, WRAPPERS, get, is_change,
    is_one, is_question, plain, text,
};
use crate::model::{Code, Operation, PatchFormat, PatchProblem};
use crate::patch::set::{Body, Edit, FilePatch, PatchSet, Suspect, Unread, last_body};

/// The content of a JSON reply.
pub(super) enum Packet {
    /// Edits or whole files, and what the reply says beside them.
    Changes(PatchSet<'static>, Vec<String>),
    /// Patches as text in the calls of a reply, the calls that could not be read, and the prose around
    /// them.
    Text(String, Vec<Unread>, Vec<String>),
    /// It says that it has none.
    Nothing,
    /// Calls that look like changes and are not understood.
    Unread(Vec<Unread>),
}

impl Packet {
    /// Whether a change was understood, or refused for what it says.
    pub(super) fn is_read(&self) -> bool {
        !matches!(self, Self::Unread(_))
    }
}

/// Reads values, each with its line: a repair packet, an edit or a list of them, or the call of a
/// tool that edits.
pub(super) fn read_packet(values: &[(u32, Value)]) -> Option<Packet> {
    if let [(_, one)] = values
        && one["status"]
            .as_str()
            .is_some_and(|word| !matches!(word, "patch" | "completed"))
    {
        return Some(Packet::Nothing);
    }
    let mut found = Found::default();
    for (line, value) in values {
        found.line = *line;
        found.take_value(value, None, 0);
    }
    found.into_packet()
}

const NO_EDIT: &str = "an edit needs a path, and either old and new text or content";
const BEGIN_PATCH: &str = "*** Begin Patch";

#[derive(Default)]
struct Found {
    files: Vec<FilePatch<'static>>,
    problems: Vec<PatchProblem>,
    unread: Vec<Unread>,
    texts: Vec<String>,
    // Text that is not a tool call.
    prose: Vec<String>,
    // The line of the value that is being read.
    line: u32,
    telling: bool,
    known_texts: HashSet<String>,
    // The call around an object adds to its file.
    adding: bool,
}

impl Found {
    fn into_packet(mut self) -> Option<Packet> {
        if !self.files.is_empty() && !self.texts.is_empty() {
            let message = "there are edits and a patch as text; send all changes in one form";
            self.refuse(Code::P107, message);
        } else if !self.texts.is_empty() && self.problems.is_empty() {
            return Some(Packet::Text(self.texts.join("\n"), self.unread, self.prose));
        }
        if self.files.is_empty() && self.problems.is_empty() {
            let unread = self.unread;
            return (!unread.is_empty()).then_some(Packet::Unread(unread));
        }
        let format = match self.files.iter().any(|file| matches!(file.body, Body::Edits(_))) {
            true => PatchFormat::Edits,
            false => PatchFormat::WholeFile,
        };
        let mut set = PatchSet::empty(format, Vec::new());
        (set.files, set.problems, set.unread) = (self.files, self.problems, self.unread);
        Some(Packet::Changes(set, self.prose))
    }

    fn refuse(&mut self, code: Code, message: &str) {
        let problem = PatchProblem::new(code, message);
        self.problems.push(problem.at(None, u64::from(self.line.max(1))));
    }

    // Whether anything was found.
    fn take_value(&mut self, value: &Value, path: Option<&str>, depth: usize) -> bool {
        match value {
            // An edit lies in few lists and objects; deeper nesting is other data.
            _ if depth > 12 => false,
            Value::Array(list) => {
                let lines: Option<Vec<&str>> = list.iter().map(one_line).collect();
                let text = lines.map(|lines| lines.join("\n") + "\n");
                if let Some(text) = text.filter(|text| is_patch(text)) {
                    self.take_patch(&text);
                    return true;
                }
                let found = list.iter().map(|one| self.take_value(one, path, depth + 1));
                found.fold(false, |any, one| any | one)
            }
            Value::Object(fields) => self.object(fields, path, depth),
            Value::String(string) => self.take_string(string, path, depth),
            _ => false,
        }
    }

    // A string inside a wrapper: JSON once more, or a patch in a text form.
    fn take_string(&mut self, string: &str, path: Option<&str>, depth: usize) -> bool {
        if string.trim_start().starts_with(['{', '['])
            && let Ok(value) = serde_json::from_str::<Value>(string)
        {
            return self.take_value(&value, path, depth + 1);
        }
        let is_patch = is_patch(string);
        if is_patch {
            self.take_patch(string);
        } else if self.telling {
            self.prose.push(string.to_owned());
        }
        is_patch
    }

    // Several texts are one reply; a protocol may carry one twice.
    fn take_patch(&mut self, patch: &str) {
        if self.known_texts.insert(patch.to_owned()) {
            self.texts.push(patch.to_owned());
        }
    }

    fn object(&mut self, fields: &Map<String, Value>, path: Option<&str>, depth: usize) -> bool {
        let roles = [
            ("role", OTHER_ROLES),
            ("type", RESULTS),
            ("stopreason finishreason", CUT_OFF),
        ];
        let [is_other, is_result, is_cut] =
            roles.map(|(keys, words)| text(fields, keys).is_some_and(|word| is_one(word, words)));
        let is_preview = get(fields, "dryrun").and_then(Value::as_bool) == Some(true);
        if is_preview || is_other || is_result {
            let message = match is_preview {
                true => "the edit is a preview (`dryRun`), so nothing is written",
                false => "this is a transcript of several turns; send only the last reply",
            };
            self.refuse(Code::P107, message);
            return true;
        }
        if is_cut {
            self.refuse(
                Code::P104,
                "the reply was cut off, according to its stop reason",
            );
        }
        let path = text(fields, PATH).or(path);
        let patch = path.and_then(|path| envelope_of_call(fields, path));
        let patch = patch.or_else(|| text(fields, "patch").map(str::to_owned));
        if let Some(patch) = patch.filter(|patch| !patch.trim().is_empty()) {
            self.take_patch(&patch);
            return true;
        }
        let outside = self.adding;
        let name = text(fields, "name tool toolname");
        self.adding = name.map_or(outside, |name| {
            is_addition(name) && !name.contains(['.', ' '])
        });
        let any = self.take_fields(fields, path, depth);
        self.adding = outside;
        any || self.note_unread(fields, name)
    }

    // Looks like a change that mendit does not understand.
    fn note_unread(&mut self, fields: &Map<String, Value>, name: Option<&str>) -> bool {
        let before = self.unread.len();
        let line = self.line.max(1);
        let what = unknown_change(fields, name).map(Suspect::Other);
        self.unread.extend(what.map(|what| Unread { line, what }));
        for text in shell_texts(fields) {
            self.unread.extend(find_commands(&text, line));
        }
        self.unread.len() > before
    }

    // An object whose own patch and tool are known.
    fn take_fields(
        &mut self,
        fields: &Map<String, Value>,
        path: Option<&str>,
        depth: usize,
    ) -> bool {
        if path.is_some_and(|path| self.take_change(fields, path)) {
            return true;
        }
        let mut any = false;
        for (key, value) in fields {
            if is_one(key, LISTS) {
                any |= self.take_list(value, path, depth);
            // A prediction file of SWE-bench maps instances to predictions.
            } else if value.get("model_patch").is_some()
                || is_one(key, WRAPPERS)
                || is_one(key, TEXTS)
                || (is_one(key, COMMANDS) && value.to_string().contains(BEGIN_PATCH))
            {
                let outside = self.telling;
                self.telling |= value.is_string() && is_one(key, PROSE);
                any |= self.take_value(value, path, depth + 1);
                self.telling = outside;
            }
        }
        any
    }

    fn take_list(&mut self, value: &Value, path: Option<&str>, depth: usize) -> bool {
        match value {
            Value::Array(list) => {
                for one in list {
                    let before = self.unread.len();
                    let found = self.take_value(one, path, depth + 1);
                    if !found || self.unread.len() > before {
                        self.unread.truncate(before);
                        self.refuse(Code::P107, NO_EDIT);
                    }
                }
                !list.is_empty()
            }
            // `{"src/a.py": "content"}`
            Value::Object(fields) if fields.values().all(Value::is_string) && path.is_none() => {
                for (path, content) in fields {
                    self.add_whole(path, content.as_str().unwrap_or_default());
                }
                !fields.is_empty()
            }
            other => self.take_value(other, path, depth + 1),
        }
    }

    // One edit, insertion or whole file.
    fn take_change(&mut self, fields: &Map<String, Value>, path: &str) -> bool {
        let keys = ["insertline insert afterline", EXPECTED, HINT];
        let [line, expected, hint] =
            keys.map(|keys| u32::try_from(get(fields, keys)?.as_u64()?).ok());
        if let (Some(line), Some(new)) = (line, text(fields, INSERTED)) {
            let end = if new.ends_with('\n') { "" } else { "\n" };
            let new = [new, end].concat();
            let edit = Edit::once(b"", new.as_bytes(), 1);
            let after = Some(line);
            self.add_edit(path, Edit { after, ..edit });
            return true;
        }
        match (text(fields, OLD), text(fields, NEW), text(fields, CONTENT)) {
            (Some(""), Some(new), _) => {
                let body = Body::Whole(new.as_bytes().to_vec());
                self.files.push(build_file(path, Operation::Create, body));
            }
            (Some(old), Some(new), _) => {
                let edit = Edit {
                    all: get(fields, ALL).and_then(Value::as_bool).unwrap_or(false),
                    expected: expected.filter(|count| *count > 1),
                    hint,
                    ..Edit::once(old.as_bytes(), new.as_bytes(), 1)
                };
                self.add_edit(path, edit);
            }
            (_, _, Some(content)) => {
                let adds = self.adding || text(fields, "mode").is_some_and(is_addition);
                if adds || get(fields, LINES).is_some_and(|lines| !lines.is_null()) {
                    let message = "a text covers only some lines of its file, so the lines to replace are unknown";
                    self.refuse(Code::P107, message);
                } else {
                    self.add_whole(path, content);
                }
            }
            _ => return false,
        }
        true
    }

    fn add_whole(&mut self, path: &str, content: &str) {
        let content = Body::Whole(content.as_bytes().to_vec());
        self.files.push(build_file(path, Operation::Modify, content));
    }

    fn add_edit(&mut self, path: &str, edit: Edit) {
        if let Some(Body::Edits(edits)) = last_body(&mut self.files, path.as_bytes()) {
            edits.push(edit);
            return;
        }
        let body = Body::Edits(vec![edit]);
        self.files.push(build_file(path, Operation::Modify, body));
    }
}

/// Returns a string that is one line of a text, with or without its end.
fn one_line(value: &Value) -> Option<&str> {
    let line = value.as_str()?;
    let line = line.strip_suffix('\n').unwrap_or(line);
    (!line.contains('\n')).then_some(line)
}

fn is_patch(text: &str) -> bool {
    let mut marks = "*** Begin Patch|*** Update File:|\n@@|\n+++ | SEARCH\n".split('|');
    marks.any(|mark| text.contains(mark))
}

fn is_addition(word: &str) -> bool {
    let word = plain(word);
    ADDING.iter().any(|verb| word.starts_with(verb))
}

// An `apply_patch_call` of OpenAI's: its body goes without the line that names the file.
fn envelope_of_call(fields: &Map<String, Value>, path: &str) -> Option<String> {
    let head = match text(fields, "type")? {
        "update_file" => "Update",
        "create_file" => "Add",
        "delete_file" => "Delete",
        _ => return None,
    };
    let body = text(fields, "diff").filter(|_| head != "Delete");
    let body = body.unwrap_or_default().trim_end_matches('\n');
    Some(format!(
        "{BEGIN_PATCH}\n*** {head} File: {path}\n{body}\n*** End Patch\n"
    ))
}

fn build_file(path: &str, operation: Operation, body: Body<'static>) -> FilePatch<'static> {
    FilePatch::explicit(1, operation, path.as_bytes().to_vec(), body)
}

// The fields of a call and those of its arguments, which may be JSON once more.
fn parse_arguments(fields: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let mut all = vec![fields.clone()];
    let mut at = 0;
    while let Some(fields) = all.get(at).filter(|_| at < 4) {
        let inner = fields.iter().filter(|(key, _)| is_one(key, WRAPPERS));
        let inner = inner.filter_map(|(_, value)| match value {
            Value::Object(inner) => Some(inner.clone()),
            Value::String(text) => serde_json::from_str(text).ok(),
            _ => None,
        });
        let inner: Vec<_> = inner.collect();
        all.extend(inner);
        at += 1;
    }
    all
}

// Why an object that was not understood looks like a change: the name of its tool says so and it has a
// path, or it has a path and text for a file.
fn unknown_change(fields: &Map<String, Value>, name: Option<&str>) -> Option<String> {
    let all = match name {
        Some(_) => parse_arguments(fields),
        None => vec![fields.clone()],
    };
    let paths = format!("{PATH} {FROM} notebookpath uri relativefilepath relativeworkspacepath");
    let path = all.iter().find_map(|fields| {
        text(fields, &paths).filter(|path| !path.is_empty() && !path.contains(['\n', ' ']))
    })?;
    let command = all.iter().find_map(|fields| text(fields, COMMANDS));
    let mut named = [name, command].into_iter().flatten();
    let texts = format!("{OLD} {NEW} {CONTENT} {MORE_TEXT}");
    match named.find(|tool| is_change(&plain(tool))) {
        Some(tool) => Some(format!("a call of `{tool}` for {path}")),
        None if name.is_none_or(|name| !is_question(&plain(name)))
            && all.iter().any(|table| {
                get(table, &texts).is_some_and(|value| value.is_string() || value.is_array())
            }) =>
        {
            Some(format!("an edit of {path} in an unknown form"))
        }
        None => None,
    }
}

// The texts that a call gives to a shell.
fn shell_texts(fields: &Map<String, Value>) -> Vec<String> {
    match get(fields, COMMANDS) {
        Some(Value::String(text)) if text.contains(' ') => vec![text.clone()],
        Some(Value::Array(words)) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                [_, flag, script] if flag.starts_with('-') && flag.ends_with('c') => {
                    vec![(*script).to_owned()]
                }
                words => vec![words.join(" ")],
            }
        }
        _ => Vec::new(),
    }
}
