use std::collections::BTreeMap;

use serde_json::{Map, Value};

// Names in use for one thing, in lower case and without `_` and `-`, with a blank between them.

/// A file's path.
pub(super) const PATH: &str = "path filepath file filename targetfile relativepath";
pub(super) const OLD: &str =
    "old oldtext oldstring oldstr oldcode search find original before targetcontent";
pub(super) const NEW: &str =
    "new newtext newstring newstr newcode replace replacement updated after replacementcontent";
pub(super) const ALL: &str = "replaceall allowmultiple all";
/// In how many places the old text stands.
pub(super) const EXPECTED: &str = "expectedreplacements expectedoccurrences";
pub(super) const CONTENT: &str = "content contents filetext filecontent newcontent codecontent";
/// Code of a file that leaves out what stays.
pub(super) const CODE_EDIT: &str = "codeedit";
/// The name of a definition, and what stands in its place.
pub(super) const SYMBOL: &str = "namepath symbol symbolname";
pub(super) const BODY: &str = "body newbody";
/// What says that a content is a part of the file, and where it goes.
pub(super) const LINES: &str = "line linenumber lines startline endline range linerange position insertafter \
        insertbefore";
/// Names of tools and modes that add to a file.
pub(super) const ADDING: &[&str] = &["append", "prepend", "insert"];
pub(super) const INSERTED: &str = "newstr inserttext text newtext content";
/// Lists of edits: what is in them and is none is a mistake, not something else.
pub(super) const LISTS: &str = "edits changes replacements operations updates files diffs replacementchunks \
    strreplaceentries insertlineentries replaceblocks";
pub(super) const WRAPPERS: &str = "input arguments parameters params args function functioncall toolcalls toolcall tooluse \
        content message choices repair result output response candidates parts item \
        operation messages state";
pub(super) const TEXTS: &str = "patch diff input arguments text response";
/// Under which a reply says something, rather than calls a tool.
pub(super) const TOLD: &str = "content message text response";
pub(super) const COMMANDS: &str = "command cmd";

pub(super) fn plain(key: &str) -> String {
    let letters = key.chars().filter(|it| !matches!(it, '_' | '-'));
    letters.flat_map(char::to_lowercase).collect()
}

/// Whether a key is one of these names.
pub(super) fn is_one(key: &str, names: &str) -> bool {
    let key = plain(key);
    names.split(' ').any(|it| it == key)
}

pub(super) fn get<'v>(fields: &'v Map<String, Value>, names: &str) -> Option<&'v Value> {
    let mut fields = fields.iter();
    fields.find(|(key, _)| is_one(key, names)).map(|(_, it)| it)
}

pub(super) fn text<'v>(fields: &'v Map<String, Value>, names: &str) -> Option<&'v str> {
    get(fields, names).and_then(Value::as_str)
}

/// The key of a group of tags in which a tool inserts.
pub(super) const INSERT_CONTENT: &str = "insertcontent";

/// The edits whose fields have the same number at their ends (`old_str_1`, `new_str_1`), each with what all
/// of them share, such as the path. `None` when there are none.
pub(super) fn numbered(fields: &Map<String, Value>) -> Option<Vec<Map<String, Value>>> {
    let number = |key: &str| {
        let name = unnumbered(key);
        let number: u32 = key.get(name.len() + 1..)?.parse().ok()?;
        let field = is_one(name, OLD) || is_one(name, NEW) || plain(name) == "insertline";
        field.then(|| (number, name.to_owned()))
    };
    let mut edits: BTreeMap<u32, Map<String, Value>> = BTreeMap::new();
    let mut shared = Map::new();
    for (key, value) in fields {
        match number(key) {
            Some((number, name)) => {
                edits.entry(number).or_default().insert(name, value.clone());
            }
            None => {
                shared.insert(key.clone(), value.clone());
            }
        }
    }
    let edits = edits.into_values().map(|mut edit| {
        edit.extend(shared.clone());
        edit
    });
    let edits: Vec<_> = edits.collect();
    (!edits.is_empty()).then_some(edits)
}

/// A key without the number at its end.
pub(super) fn unnumbered(key: &str) -> &str {
    let parts = key.rsplit_once('_');
    let name = parts.filter(|(_, number)| number.parse::<u32>().is_ok());
    name.map_or(key, |(name, _)| name)
}
