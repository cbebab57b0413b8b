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
pub(super) const PROSE: &str = "content message text response";
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
