//! The names that tools use for the fields of an edit.

use serde_json::{Map, Value};

// Names in use for one thing, in lower case and without `_` and `-`, with a blank between them.

/// A file's path.
pub(super) const PATH: &str = "path filepath file filename targetfile relativepath";
pub(super) const FROM: &str = "source sourcepath oldpath from frompath src oldfilepath";
pub(super) const OLD: &str =
    "old oldtext oldstring oldstr oldcode search find original before targetcontent";
pub(super) const NEW: &str =
    "new newtext newstring newstr newcode replace replacement updated after replacementcontent";
pub(super) const ALL: &str = "replaceall allowmultiple all";
/// In how many places the old text occurs.
pub(super) const EXPECTED: &str = "expectedreplacements expectedoccurrences";
/// The line at which the old text is said to begin.
pub(super) const HINT: &str = "startline line linenumber replacebeginlinenumber beginline";
pub(super) const CONTENT: &str = "content contents filetext filecontent newcontent codecontent";
/// Texts for a file that no reader understands.
pub(super) const MORE_TEXT: &str = "newsource code newbody body codeedit";
/// Keys that say that a content is a part of the file, and where it goes.
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
pub(super) const TEXTS: &str = "patch modelpatch diff input arguments text response";
/// Under which a reply says something, rather than calls a tool.
pub(super) const PROSE: &str = "content message text response";
pub(super) const COMMANDS: &str = "command cmd";
/// Roles of messages that the agent did not write.
pub(super) const OTHER_ROLES: &str = "user system developer tool";
/// Types of a tool's result.
pub(super) const RESULTS: &str = "toolresult functioncalloutput customtoolcalloutput";
/// Reasons to stop that say that a reply was cut off.
pub(super) const CUT_OFF: &str = "maxtokens length modelcontextwindowexceeded";

pub(super) fn plain(key: &str) -> String {
    let letters = key.chars().filter(|letter| !matches!(letter, '_' | '-'));
    letters.flat_map(char::to_lowercase).collect()
}

/// Whether a key is one of these names.
pub(super) fn is_one(key: &str, names: &str) -> bool {
    let key = plain(key);
    names.split(' ').any(|name| name == key)
}

pub(super) fn get<'v>(fields: &'v Map<String, Value>, names: &str) -> Option<&'v Value> {
    let mut fields = fields.iter();
    fields.find(|(key, _)| is_one(key, names)).map(|(_, value)| value)
}

pub(super) fn text<'v>(fields: &'v Map<String, Value>, names: &str) -> Option<&'v str> {
    get(fields, names).and_then(Value::as_str)
}

/// Whether the plain name of a tool says that it changes files.
pub(super) fn is_change(name: &str) -> bool {
    let verbs = "delete remove rename move edit write replace insert create undo append patch modify update";
    let folder = name.contains("director") || name.contains("folder");
    verbs.split(' ').any(|verb| name.contains(verb)) && !folder && !is_question(name)
}

/// Whether the plain name of a tool says that it only looks.
pub(super) fn is_question(name: &str) -> bool {
    let mut verbs = "read view search find list get grep open".split(' ');
    verbs.any(|verb| name.starts_with(verb))
}
