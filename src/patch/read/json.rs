use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value};

use super::calls::{Call, shell_texts, unknown_change};
use super::claims::commands;
use super::keys::{
    ADDING, ALL, BODY, CODE_EDIT, COMMANDS, CONTENT, EXPECTED, INSERTED, LINES, LISTS, NEW, OLD,
    PATH, PROSE, SYMBOL, TEXTS, WRAPPERS, get, is_one, plain, text,
};
use super::problem;
use super::turns::Turns;
use crate::model::{Code, Mend, Operation, PatchFormat, Safety};
use crate::patch::set::{Body, Edit, FilePatch, PatchSet, Side, Suspect, Unread};

/// What JSON carries.
pub(super) enum Packet {
    /// Edits or whole files, and what is told beside them.
    Changes(PatchSet<'static>, Vec<String>),
    /// Patches as text in the calls of a reply, the calls beside them that are not understood, and what is
    /// told beside it.
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

/// Reads values, each with its line: a repair packet, an edit or a list of them, or the call of a tool that
/// edits.
pub(super) fn packet(values: &[(u32, Value)]) -> Option<Packet> {
    let status = |value: &Value| {
        value
            .get("status")
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    if let [(_, one)] = values
        && status(one).is_some_and(|it| !matches!(&*it, "patch" | "completed"))
    {
        return Some(Packet::Nothing);
    }
    let mut found = Found::default();
    for (_, value) in values {
        found.turns.look(value, DEEPEST);
    }
    for (line, value) in values {
        found.line = *line;
        found.collect(value, None, 0);
    }
    found.packet()
}

impl Found {
    fn packet(mut self) -> Option<Packet> {
        let sent = !self.files.is_empty() || !self.texts.is_empty() || !self.beside.is_empty();
        if self.turns.cut && sent {
            self.refused(Code::P104, "the reply was cut off, says its reason to stop");
        } else if !self.files.is_empty() && !self.texts.is_empty() {
            let message = "there are edits and a patch as text; send all changes in one form";
            self.refused(Code::P107, message);
        } else if self.files.is_empty() && sent {
            // What is told beside calls shows what they do.
            let (texts, beside) = if self.texts.is_empty() {
                (self.beside, self.prose)
            } else {
                (self.texts, [self.beside, self.prose].concat())
            };
            return Some(Packet::Text(texts.join("\n"), self.unread, beside));
        }
        if self.files.is_empty() && !self.part {
            return (!self.unread.is_empty()).then_some(Packet::Unread(self.unread));
        }
        let mut edits = self.files.iter();
        let edits = edits.any(|file| matches!(file.body, Body::Edits(_)));
        let set = PatchSet {
            format: if edits {
                PatchFormat::Edits
            } else {
                PatchFormat::WholeFile
            },
            files: self.files,
            mends: self.mends,
            problems: self.problems,
            unread: self.unread,
        };
        Some(Packet::Changes(set, [self.beside, self.prose].concat()))
    }
}

const NO_EDIT: &str = "an edit has no path, or neither old and new text nor content";
const BEGIN_PATCH: &str = "*** Begin Patch";
pub(super) const DEEPEST: usize = 12;

// The lines of a text that was sent as a list of them.
fn lines(value: &Value) -> Option<String> {
    let list = value.as_array().filter(|list| list.len() > 2)?;
    let lines: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
    let ended = lines?
        .into_iter()
        .flat_map(|line| [line.trim_end_matches('\n'), "\n"]);
    Some(ended.collect())
}

#[derive(Default)]
struct Found {
    texts: Vec<String>,
    // Patches in what is said, not in the call of a tool, and what else is said there.
    beside: Vec<String>,
    prose: Vec<String>,
    unread: Vec<Unread>,
    // Of the value that is looked through.
    line: u32,
    telling: bool,
    turns: Turns,
    // The texts, and the edits of the last file.
    known_texts: HashSet<String>,
    known_edits: HashSet<Edit>,
    files: Vec<FilePatch<'static>>,
    mends: Vec<Mend>,
    problems: Vec<crate::model::PatchProblem>,
    // The call in which an object stands adds to its file.
    adding: bool,
    // A part of a file was sent of which nothing says what it replaces.
    part: bool,
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
            Value::String(string) => self.string(string, path, depth),
            _ => false,
        }
    }

    // A string inside a wrapper: JSON once more, or a patch in a text form.
    fn string(&mut self, string: &str, path: Option<&str>, depth: usize) -> bool {
        let start = string.trim_start();
        if start.starts_with(['{', '['])
            && let Ok(value) = serde_json::from_str::<Value>(string)
        {
            return self.collect(&value, path, depth + 1);
        }
        let marks = [
            BEGIN_PATCH,
            "*** Update File:",
            "\n@@",
            "\n+++ ",
            " SEARCH\n",
        ];
        let is_patch = marks.iter().any(|mark| string.contains(mark));
        if is_patch {
            self.text(string);
        } else if self.telling {
            self.prose.push(string.to_owned());
        }
        is_patch
    }

    // Several texts are one reply; a protocol may carry one twice.
    fn text(&mut self, patch: &str) {
        if self.known_texts.insert(patch.to_owned()) {
            let texts = if self.telling {
                &mut self.beside
            } else {
                &mut self.texts
            };
            texts.push(patch.to_owned());
        }
    }

    fn refused(&mut self, code: Code, message: &str) {
        self.part = true;
        self.problems.push(problem(code, self.line.max(1), message));
    }

    fn object(&mut self, fields: &Map<String, Value>, path: Option<&str>, depth: usize) -> bool {
        if self.turns.are_others(fields) {
            return true;
        }
        let path = text(fields, PATH).or(path);
        if let Some(patch) = path.and_then(|path| operation(fields, path)) {
            self.text(&patch);
            return true;
        }
        if get(fields, "dryrun").and_then(Value::as_bool) == Some(true) {
            let message = "the edit is a preview (`dryRun`), and nothing is to be written";
            self.refused(Code::P107, message);
            return true;
        }
        if let Some(patch) = text(fields, "patch").filter(|it| !it.trim().is_empty()) {
            self.text(patch);
            return true;
        }
        if let Some(patch) = get(fields, "patch diff").and_then(lines) {
            self.text(&patch);
            return true;
        }
        let outside = self.adding;
        let name = text(fields, "name tool toolname");
        self.adding = name.map_or(outside, |it| adds(it) && !it.contains(['.', ' ']));
        let any = self.moved(fields, name) || self.within(fields, path, depth);
        self.adding = outside;
        any || self.unread(fields, name)
    }

    // A call that deletes or moves a file.
    fn moved(&mut self, fields: &Map<String, Value>, name: Option<&str>) -> bool {
        let command = text(fields, COMMANDS).filter(|it| !it.contains(' '));
        let Some(call) = Call::of(fields, name.or(command)) else {
            return false;
        };
        let file = match call {
            Call::Deletes(path) => file(&path, Operation::Delete, Body::Empty),
            Call::Moves(from, to) => {
                let mut file = file(&to, Operation::Rename, Body::Empty);
                file.headers.minus = Some(Side::Name(Cow::Owned(from.into_bytes())));
                file
            }
        };
        self.files.push(file);
        true
    }

    // What looks like a change, and is none that is understood.
    fn unread(&mut self, fields: &Map<String, Value>, name: Option<&str>) -> bool {
        let before = self.unread.len();
        let line = self.line.max(1);
        if let Some(what) = unknown_change(fields, name) {
            let what = Suspect::Other(what);
            self.unread.push(Unread { line, what });
        }
        for text in shell_texts(fields) {
            self.unread.extend(commands(&text, line));
        }
        self.unread.len() > before
    }

    // An object whose own patch and tool are known.
    fn within(&mut self, fields: &Map<String, Value>, path: Option<&str>, depth: usize) -> bool {
        if path.is_some_and(|path| self.change(fields, path)) {
            return true;
        }
        let mut any = false;
        for (key, value) in fields {
            if is_one(key, LISTS) {
                any |= self.list(value, path, depth);
            } else if is_one(key, WRAPPERS)
                || is_one(key, TEXTS)
                || (is_one(key, COMMANDS) && value.to_string().contains(BEGIN_PATCH))
            {
                let outside = self.telling;
                self.telling |= value.is_string() && is_one(key, PROSE);
                any |= self.collect(value, path, depth + 1);
                self.telling = outside;
            }
        }
        any
    }

    fn list(&mut self, value: &Value, path: Option<&str>, depth: usize) -> bool {
        match value {
            Value::Array(list) => {
                for one in list {
                    let before = self.unread.len();
                    let found = self.collect(one, path, depth + 1);
                    if !found || self.unread.len() > before {
                        self.unread.truncate(before);
                        self.problems
                            .push(problem(Code::P107, self.line.max(1), NO_EDIT));
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
            let edit = Edit {
                after: Some(line),
                ..Edit::once(b"", &ended(new), 1)
            };
            self.edit(path, edit);
            return true;
        }
        match (text(fields, OLD), text(fields, NEW)) {
            (Some(""), Some(new)) => {
                let body = Body::Whole(new.as_bytes().to_vec());
                self.files.push(file(path, Operation::Create, body));
            }
            (Some(old), Some(new)) => {
                let count = get(fields, EXPECTED).and_then(Value::as_u64);
                let edit = Edit {
                    all: get(fields, ALL).and_then(Value::as_bool).unwrap_or(false),
                    expected: count
                        .and_then(|it| u32::try_from(it).ok())
                        .filter(|it| *it > 1),
                    ..Edit::once(old.as_bytes(), new.as_bytes(), 1)
                };
                self.edit(path, edit);
            }
            _ => match text(fields, CONTENT) {
                Some(content) => {
                    let adds = self.adding || text(fields, "mode").is_some_and(adds);
                    match get(fields, LINES) {
                        None if !adds => self.whole(path, content),
                        Some(Value::Null) => self.whole(path, content),
                        _ => self.refused(
                            Code::P107,
                            "a text is for some lines of its file, and nothing says what it replaces",
                        ),
                    }
                }
                None => return self.code(fields, path),
            },
        }
        true
    }

    // Code that is a part of the file, by the names that it defines (`code_edit`, `replace_symbol_body`).
    fn code(&mut self, fields: &Map<String, Value>, path: &str) -> bool {
        let symbol = text(fields, SYMBOL).map(|it| it.rsplit(['/', '.']).next().unwrap_or(it));
        let code = match symbol {
            Some(name) => text(fields, BODY).filter(|it| it.contains(name)),
            None => text(fields, CODE_EDIT),
        };
        let Some(code) = code else { return false };
        let body = Body::Code(ended(code));
        self.files.push(file(path, Operation::Modify, body));
        true
    }

    fn whole(&mut self, path: &str, content: &str) {
        let content = Body::Whole(content.as_bytes().to_vec());
        self.files.push(file(path, Operation::Modify, content));
    }

    fn edit(&mut self, path: &str, edit: Edit) {
        if let Some(FilePatch {
            headers,
            body: Body::Edits(edits),
            ..
        }) = self.files.last_mut()
            && headers.plus.as_ref().and_then(Side::name) == Some(path.as_bytes())
        {
            if self.known_edits.insert(edit.clone()) {
                edits.push(edit);
            } else {
                let message = "left out an edit that repeats an earlier one";
                self.mends
                    .push(Mend::new(Code::M304, Safety::Safe, 1_u64, message));
            }
            return;
        }
        self.known_edits = HashSet::from([edit.clone()]);
        let body = Body::Edits(vec![edit]);
        self.files.push(file(path, Operation::Modify, body));
    }
}

fn ended(text: &str) -> Vec<u8> {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    [text, end].concat().into_bytes()
}

fn adds(word: &str) -> bool {
    let word = plain(word);
    ADDING.iter().any(|it| word.starts_with(it))
}

// An `apply_patch_call` of OpenAI's: its body goes without the line that names the file.
fn operation(fields: &Map<String, Value>, path: &str) -> Option<String> {
    let head = match text(fields, "type")? {
        "update_file" => "Update",
        "create_file" => "Add",
        "delete_file" => "Delete",
        _ => return None,
    };
    let body = text(fields, "diff")
        .unwrap_or_default()
        .trim_end_matches('\n');
    let body = if head == "Delete" { "" } else { body };
    Some(format!(
        "{BEGIN_PATCH}\n*** {head} File: {path}\n{body}\n*** End Patch\n"
    ))
}

fn file(path: &str, operation: Operation, body: Body<'static>) -> FilePatch<'static> {
    let path = Cow::Owned(path.as_bytes().to_vec());
    FilePatch::explicit(1, operation, &path, body)
}
