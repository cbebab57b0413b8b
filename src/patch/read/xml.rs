use serde_json::{Map, Value};

use super::keys::{INSERT_CONTENT, PATH, is_one, plain, unnumbered};

/// Edits in tags, as the objects that JSON would carry: `<path>`, `<old_str>` and their like, or
/// `<parameter name="path">`, `<parameter=path>`, `<arg_key>path</arg_key><arg_value>`, and whole files in
/// `<file path="...">`.
pub(super) fn tagged(bytes: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut groups: Vec<Map<String, Value>> = Vec::new();
    let mut group = Map::new();
    let mut rest = text;
    let mut files = 0;
    let mut argument = None;
    while let Some(at) = rest.find('<') {
        rest = rest.get(at + 1..)?;
        let near = rest.as_bytes();
        let near = near.get(..=LONGEST_TAG).unwrap_or(near);
        let Some(end) = memchr::memchr(b'>', near) else {
            continue;
        };
        let tag = rest.get(..end)?;
        if tag.starts_with('/') {
            continue;
        }
        let word = tag.split_whitespace().next().unwrap_or_default();
        let (name, called) = match word.split_once('=') {
            Some((name, called)) => (name, Some(called)),
            None => (word, attribute(tag, "name")),
        };
        if name == "arg_key" {
            argument = value(rest.get(end + 1..)?, name).map(str::trim);
            continue;
        }
        let key = match name {
            "parameter" => called,
            "arg_value" => argument.take(),
            other => Some(other),
        };
        let Some(key) = key.filter(|key| is_one(unnumbered(key), FIELDS)) else {
            if STARTS.contains(&name) {
                groups.push(std::mem::take(&mut group));
            }
            if [Some(name), called]
                .into_iter()
                .flatten()
                .any(|it| plain(it) == INSERT_CONTENT)
            {
                group.insert(INSERT_CONTENT.to_owned(), true.into());
            }
            // The bound keeps tags inside tags linear.
            files += usize::from(name == "file");
            let path = attribute(tag, "path").filter(|_| STARTS.contains(&name));
            if let Some(path) = path {
                group.insert("path".to_owned(), path.into());
            }
            if path.is_some() && name == "file" && files < MOST_FILES {
                let inside = value(rest.get(end + 1..)?, name)?;
                let mut fields = FIELDS.split(' ');
                let fields = fields.any(|field| inside.contains(&format!("<{field}>")));
                if !fields && !inside.contains("<old") && !inside.contains("SEARCH") {
                    group.insert("content".to_owned(), unpadded(inside).into());
                    groups.push(std::mem::take(&mut group));
                }
            }
            continue;
        };
        // A tag that is never closed ends the search: what follows may be anything.
        let inside = value(rest.get(end + 1..)?, name)?;
        if group.contains_key(key) {
            groups.push(std::mem::take(&mut group));
        }
        let number = inside
            .trim()
            .parse::<u64>()
            .ok()
            .filter(|_| matches!(plain(unnumbered(key)).as_str(), "insertline" | "line"));
        let field = match number {
            Some(number) => number.into(),
            None if plain(key) == "replaceall" => (inside.trim() == "true").into(),
            None if is_one(key, PATH) => inside.trim().into(),
            None => unpadded(inside).into(),
        };
        group.insert(key.to_owned(), field);
        let past = end + 1 + inside.len();
        rest = rest.get(past..)?;
    }
    groups.push(group);
    let groups: Vec<Value> = groups
        .into_iter()
        .filter(|group| group.len() > 1)
        .map(Value::Object)
        .collect();
    (!groups.is_empty()).then_some(Value::Array(groups))
}

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
    "insert_content",
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
    use super::tagged;

    #[test]
    fn tags_carry_edits_and_files() {
        let edit = serde_json::json!([{"path": "x", "old_str": "a", "new_str": "b\n"}]);
        for text in [
            "<path>x</path>\n<old_str>a</old_str>\n<new_str>\nb\n</new_str>",
            "<tool_call>\n<function=edit>\n<parameter=path>\nx\n</parameter>\n<parameter=old_str>\na</parameter>\n<parameter=new_str>\nb\n</parameter>\n</function>\n</tool_call>",
            "<tool_call>edit\n<arg_key>path</arg_key>\n<arg_value>x</arg_value>\n<arg_key>old_str</arg_key>\n<arg_value>a</arg_value>\n<arg_key>new_str</arg_key>\n<arg_value>b\n</arg_value>\n</tool_call>",
            "<edit path=\"x\"><old_str>a</old_str><new_str>b\n</new_str></edit>",
            "So:\n<invoke name=\"edit\">\n<parameter name=\"path\">x</parameter>\n<parameter name=\"old_str\">a</parameter>\n<parameter name=\"new_str\">b\n</parameter>\n</invoke>",
        ] {
            assert_eq!(tagged(text.as_bytes()), Some(edit.clone()), "{text}");
        }
        let data = "<edit><path>x</path><old_str><![CDATA[a]]></old_str><new_str><![CDATA[b\n]]></new_str></edit>";
        assert_eq!(tagged(data.as_bytes()), Some(edit));
        let file = serde_json::json!([{"path": "x", "content": "a < b\n"}]);
        for text in [
            "<file path=\"x\">\na < b\n</file>",
            "<write_to_file>\n<path>x</path>\n<content>\na < b\n</content>\n</write_to_file>",
        ] {
            assert_eq!(tagged(text.as_bytes()), Some(file.clone()), "{text}");
        }
        for text in ["", "a < b and c > d", "<path>x", "<div>a</div>"] {
            assert_eq!(tagged(text.as_bytes()), None, "{text}");
        }
    }
}
