use serde_json::{Map, Value};

use super::keys::{COMMANDS, CONTENT, NEW, OLD, PATH, WRAPPERS, get, is_one, plain, text};

/// The call of a tool that changes where a file is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Call {
    Deletes(String),
    Moves(String, String),
}

impl Call {
    /// Reads the call of a tool by its name (`delete_file`, `move_path`, `rename_file`).
    pub(super) fn of(fields: &Map<String, Value>, name: Option<&str>) -> Option<Self> {
        let name = plain(name?);
        let tells = |verbs: [&str; 2]| {
            let rest = verbs.iter().find_map(|verb| name.strip_prefix(verb));
            rest.is_some_and(|it| matches!(it, "" | "file" | "path" | "files"))
        };
        let (deletes, moves) = (tells(["delete", "remove"]), tells(["move", "rename"]));
        if !deletes && !moves {
            return None;
        }
        arguments(fields).into_iter().find_map(|fields| {
            let word = |names| text(&fields, names).map(str::to_owned);
            if deletes {
                return Some(Self::Deletes(word(PATH)?));
            }
            let from = word(FROM).or_else(|| word(PATH))?;
            Some(Self::Moves(from, word(TO)?))
        })
    }
}

const FROM: &str = "source sourcepath oldpath from frompath src oldfilepath";
const TO: &str = "destination destinationpath newpath to topath dest target newfilepath";

// The fields of a call and those of its arguments, which may be JSON once more.
fn arguments(fields: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let mut all = vec![fields.clone()];
    let mut at = 0;
    while let Some(fields) = all.get(at).filter(|_| at < MOST_WRAPPED) {
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

const MOST_WRAPPED: usize = 4;

/// Why an object that was not understood looks like a change: the name of its tool says so and it has a
/// path, or it has a path and text for a file.
pub(super) fn unknown_change(fields: &Map<String, Value>, name: Option<&str>) -> Option<String> {
    let all = match name {
        Some(_) => arguments(fields),
        None => vec![fields.clone()],
    };
    let path = all.iter().find_map(path_of)?;
    let command = text(fields, COMMANDS).filter(|it| !it.contains(char::is_whitespace));
    let inner = all.iter().find_map(|it| text(it, COMMANDS));
    let named = [name, command, inner];
    let tool = named.into_iter().flatten().find(|it| is_change(&plain(it)));
    let carries = |table: &Map<String, Value>| {
        let text = format!("{OLD} {NEW} {CONTENT} {MORE}");
        get(table, &text).is_some_and(|it| it.is_string() || it.is_array())
    };
    match tool {
        Some(tool) => Some(format!("a call of `{tool}` for {path}")),
        None if name.is_none_or(|it| !is_question(&plain(it))) && all.iter().any(carries) => {
            Some(format!("an edit of {path} in a form that is not known"))
        }
        None => None,
    }
}

const MORE: &str = "newsource code newbody body codeedit";

fn path_of(fields: &Map<String, Value>) -> Option<String> {
    let more = format!("{PATH} {FROM} notebookpath uri relativefilepath relativeworkspacepath");
    let path = text(fields, &more)?;
    (!path.is_empty() && !path.contains(['\n', ' '])).then(|| path.to_owned())
}

/// Whether the plain name of a tool says that it changes files.
pub(super) fn is_change(name: &str) -> bool {
    let verbs = [
        "delete", "remove", "rename", "move", "edit", "write", "replace", "insert",
    ];
    let more = [
        "create", "undo", "append", "patch", "rewrite", "modify", "update",
    ];
    let folder = name.contains("director") || name.contains("folder");
    let mut verbs = verbs.iter().chain(&more);
    verbs.any(|verb| name.contains(verb)) && !folder && !is_question(name)
}

fn is_question(name: &str) -> bool {
    let verbs = [
        "read", "view", "search", "find", "list", "get", "grep", "open",
    ];
    verbs.iter().any(|verb| name.starts_with(verb))
}

/// The texts that a call gives to a shell.
pub(super) fn shell_texts(fields: &Map<String, Value>) -> Vec<String> {
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
