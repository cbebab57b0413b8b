use std::ops::Range;

use serde_json::{Map, Value};

use super::calls::is_change;
use super::claims::Rows;
use super::json::{Packet, packet};
use super::keys::{PATH, is_one, plain};
use super::reader::number;
use crate::patch::set::{Suspect, Unread};

/// Reads edits in tags: `<path>`, `<old_str>` and their like, or `<parameter name="path">`,
/// `<parameter=path>`, `<arg_key>path</arg_key><arg_value>`, and whole files in `<file path="...">`; and
/// the rows that they take.
pub(super) fn tagged(bytes: &[u8]) -> Option<(Packet, Vec<Range<usize>>)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut groups = Groups::default();
    if groups.read(text).is_none() {
        let cut = Unread {
            line: 1,
            what: Suspect::Other("a tag that is never closed".to_owned()),
        };
        let any = groups.list.iter().any(Group::is_edit);
        return any.then(|| (Packet::Unread(vec![cut]), Vec::new()));
    }
    let list = groups.list.into_iter().filter(Group::is_edit);
    let all = Rows::of(bytes);
    let (values, spans): (Vec<_>, Vec<_>) = list
        .map(|group| {
            let rows = all.touched(&group.span);
            ((number(rows.start), Value::Object(group.fields)), rows)
        })
        .unzip();
    Some((packet(&values)?, spans))
}

// The fields of one edit.
#[derive(Debug, Default)]
struct Group {
    fields: Map<String, Value>,
    // The tag around them.
    tag: String,
    span: Range<usize>,
    // Another reader has read what stands in it.
    taken: bool,
}

impl Group {
    fn is_edit(&self) -> bool {
        self.fields.len() > 1 && !self.taken
    }
}

#[derive(Debug, Default)]
struct Groups {
    list: Vec<Group>,
    group: Group,
    files: usize,
}

impl Groups {
    fn push(&mut self) {
        self.list.push(std::mem::take(&mut self.group));
    }

    // `None` where a tag is never closed: what follows may be anything.
    fn read(&mut self, text: &str) -> Option<()> {
        let mut rest = text;
        let mut argument = None;
        while let Some(at) = rest.find('<') {
            rest = rest.get(at + 1..)?;
            let from = text.len() - rest.len() - 1;
            let near = rest.as_bytes();
            let near = near.get(..=LONGEST_TAG).unwrap_or(near);
            let Some(end) = memchr::memchr(b'>', near) else {
                continue;
            };
            let (tag, inner) = (rest.get(..end)?, rest.get(end + 1..)?);
            if let Some(closed) = tag.strip_prefix('/') {
                if closed.trim() == self.group.tag {
                    self.push();
                }
                continue;
            }
            self.group.taken |= tag == TAKEN;
            let word = tag.split_whitespace().next().unwrap_or_default();
            let (name, called) = match word.split_once('=') {
                Some((name, called)) => (name, Some(called)),
                None => (word, attribute(tag, "name")),
            };
            if name == "arg_key" {
                argument = value(inner, name).map(str::trim);
                continue;
            }
            let key = match name {
                "parameter" => called,
                "arg_value" => argument.take(),
                other => Some(other),
            };
            if let Some(key) = key.filter(|key| is_one(key, FIELDS)) {
                let inside = value(inner, name)?;
                if self.group.fields.contains_key(key) {
                    self.push();
                }
                let past = end + 1 + inside.len();
                let first = self.group.span.is_empty();
                let start = if first { from } else { self.group.span.start };
                self.group.span = start..from + 1 + past;
                self.group.fields.insert(key.to_owned(), field(key, inside));
                rest = rest.get(past..)?;
            } else {
                self.start(tag, (name, called), inner, from)?;
            }
        }
        self.push();
        Some(())
    }

    // A tag that is no field: it may begin an edit.
    fn start(
        &mut self,
        tag: &str,
        (name, called): (&str, Option<&str>),
        inner: &str,
        from: usize,
    ) -> Option<()> {
        let tool = match name {
            "tool_call" => inner.split(['<', '\n']).next().map(str::trim),
            _ => called.or(Some(name)).filter(|it| is_change(&plain(it))),
        };
        let tool = tool.filter(|it| !it.is_empty() && !it.starts_with('{'));
        let starts = STARTS.contains(&name) || (called.is_none() && tool.is_some());
        if starts {
            self.push();
            name.clone_into(&mut self.group.tag);
            self.group.span = from..from + tag.len() + 2;
            if let Some(tool) = tool {
                self.group.fields.insert("name".to_owned(), tool.into());
            }
        }
        // The bound keeps tags inside tags linear.
        self.files += usize::from(name == "file");
        let path = attribute(tag, "path").filter(|_| starts);
        if let Some(path) = path {
            self.group.fields.insert("path".to_owned(), path.into());
        }
        if path.is_some() && name == "file" && self.files < MOST_FILES {
            let inside = value(inner, name)?;
            let mut fields = FIELDS.split(' ');
            let fields = fields.any(|field| inside.contains(&format!("<{field}>")));
            if !fields && !inside.contains("<old") && !inside.contains("SEARCH") {
                let content = unpadded(inside).into();
                self.group.fields.insert("content".to_owned(), content);
                self.group.span = from..from + tag.len() + 2 + inside.len();
                self.push();
            }
        }
        Some(())
    }
}

fn field(key: &str, inside: &str) -> Value {
    let number = inside.trim().parse::<u64>().ok();
    let numbers = matches!(plain(key).as_str(), "insertline" | "line");
    match number.filter(|_| numbers) {
        Some(number) => number.into(),
        None if plain(key) == "replaceall" => (inside.trim() == "true").into(),
        None if is_one(key, PATH) => inside.trim().into(),
        None => unpadded(inside).into(),
    }
}

/// As a tag, what stands for a row that another reader took.
pub(super) const TAKEN: &str = "\0";
const CDATA: &str = "<![CDATA[";
const LONGEST_TAG: usize = 300;
const MOST_FILES: usize = 200;
const FIELDS: &str = "path filepath filename oldstr oldstring oldtext old search newstr newstring newtext \
    new replace content filetext insertline line startline endline replaceall";
const STARTS: &[&str] = &[
    "invoke",
    "edit",
    "file",
    "change",
    "write_to_file",
    "replace_in_file",
    "function",
    "tool_call",
];

fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = tag.split_once(&format!("{name}=\""))?;
    rest.split_once('"').map(|(value, _)| value)
}

fn value<'t>(rest: &'t str, name: &str) -> Option<&'t str> {
    // What a CDATA section holds may look like its own end tag.
    let padding = rest.len() - rest.trim_start().len();
    if rest.trim_start().starts_with(CDATA) {
        let past = rest.find("]]>")?;
        let close = rest.get(past..)?.find(&format!("</{name}>"))?;
        return rest.get(..past + close).filter(|_| padding < 100);
    }
    rest.find(&format!("</{name}>"))
        .and_then(|end| rest.get(..end))
}

// A value in lines of its own has a newline more at its start.
fn unpadded(value: &str) -> &str {
    let data = value.trim().strip_prefix(CDATA);
    if let Some(data) = data.and_then(|data| data.strip_suffix("]]>")) {
        return data.strip_prefix('\n').unwrap_or(data);
    }
    value
        .strip_prefix("\r\n")
        .or(value.strip_prefix('\n'))
        .unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{Group, Groups};

    fn tagged(text: &str) -> Option<Value> {
        let mut groups = Groups::default();
        groups.read(text)?;
        let edits = groups.list.into_iter().filter(Group::is_edit);
        let without_name = |mut fields: Map<String, Value>| {
            fields.remove("name");
            Value::Object(fields)
        };
        let edits: Vec<Value> = edits.map(|it| without_name(it.fields)).collect();
        (!edits.is_empty()).then_some(Value::Array(edits))
    }

    #[test]
    fn tags_carry_edits_and_files() {
        let edit = json!([{"path": "x", "old_str": "a", "new_str": "b\n"}]);
        for text in [
            "<path>x</path>\n<old_str>a</old_str>\n<new_str>\nb\n</new_str>",
            "<tool_call>\n<function=edit>\n<parameter=path>\nx\n</parameter>\n<parameter=old_str>\na</parameter>\n<parameter=new_str>\nb\n</parameter>\n</function>\n</tool_call>",
            "<tool_call>edit\n<arg_key>path</arg_key>\n<arg_value>x</arg_value>\n<arg_key>old_str</arg_key>\n<arg_value>a</arg_value>\n<arg_key>new_str</arg_key>\n<arg_value>b\n</arg_value>\n</tool_call>",
            "<edit path=\"x\"><old_str>a</old_str><new_str>b\n</new_str></edit>",
            "So:\n<invoke name=\"edit\">\n<parameter name=\"path\">x</parameter>\n<parameter name=\"old_str\">a</parameter>\n<parameter name=\"new_str\">b\n</parameter>\n</invoke>",
        ] {
            assert_eq!(tagged(text), Some(edit.clone()), "{text}");
        }
        let data = "<edit><path>x</path><old_str><![CDATA[a]]></old_str><new_str><![CDATA[b\n]]></new_str></edit>";
        assert_eq!(tagged(data), Some(edit));
        let file = json!([{"path": "x", "content": "a < b\n"}]);
        for text in [
            "<file path=\"x\">\na < b\n</file>",
            "<write_to_file>\n<path>x</path>\n<content>\na < b\n</content>\n</write_to_file>",
        ] {
            assert_eq!(tagged(text), Some(file.clone()), "{text}");
        }
        for text in ["", "a < b and c > d", "<path>x", "<div>a</div>"] {
            assert_eq!(tagged(text), None, "{text}");
        }
    }
}
