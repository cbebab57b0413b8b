use std::collections::BTreeMap;

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};

use super::resources::Answers;
use super::tool::Given;

/// The answer of a tool. What is longer than a client takes is cut to whole rows, says what is
/// left off, and names the command and the resource that have the rest.
pub(super) fn answer(given: Given, answers: &Answers, links: bool) -> CallToolResult {
    let limit = match given.limit {
        Some(0) => u64::MAX / 7,
        Some(most) => most.max(LEAST_TOKENS),
        None => MOST_TOKENS,
    };
    let (text, document) = (&given.text, &given.document);
    let written = document.as_ref().map(ToString::to_string);
    let size = written.as_deref().map_or(0, tokens);
    if tokens(text) + size <= limit {
        return result(vec![ContentBlock::text(given.text)], given.document);
    }
    let room = limit.saturating_sub(FOOT_TOKENS);
    // Half is the text's; what it does not need is the document's.
    let share = room - tokens(text).min(room / 2);
    let (document, left) = match given.document {
        Some(document) if size > share => cut(&document, share),
        document => (document, BTreeMap::new()),
    };
    let taken = document.as_ref().map_or(0, |it| tokens(&it.to_string()));
    let (head, lines) = lines_below(text, room.saturating_sub(taken));
    let mut shown = head.to_owned();
    let mut cuts: Vec<String> = Vec::new();
    if lines > 0 {
        cuts.push(format!("{lines} more lines"));
    }
    if !left.is_empty() {
        let left = left.iter().map(|(list, rows)| format!("{rows} of {list}"));
        let left: Vec<String> = left.take(MOST_NAMED).collect();
        cuts.push(format!("the document omits {}", left.join(", ")));
    }
    shown.push_str(&format!(
        "\n[cut here: {}. All of it: `{}`; more of it here: `maxTokens`]\n",
        cuts.join("; "),
        given.command
    ));
    let mut content = vec![ContentBlock::text(shown)];
    if links {
        let whole = (lines > 0).then_some(given.text);
        let written = written.filter(|_| !left.is_empty());
        let kept = answers.keep(&given.command, whole, written);
        content.extend(kept.into_iter().map(ContentBlock::resource_link));
    }
    result(content, document)
}

/// What every tool that does not count its tokens itself takes besides.
pub(super) fn limit_argument(input: &mut Map<String, Value>) {
    let properties = input.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(properties) = properties {
        properties.entry(LIMIT).or_insert_with(|| {
            json!({
                "description": "Maximum tokens of the answer: 20000 by default, 0 for no limit.",
                "type": "integer",
                "minimum": 0
            })
        });
    }
}

/// What every document of a tool may hold besides.
pub(super) fn left_off_field(output: &mut Map<String, Value>) {
    if let Some(Value::Object(properties)) = output.get_mut("properties") {
        properties.insert(
            LEFT_OFF.to_owned(),
            json!({
                "description": "Rows that were omitted to limit the size of the answer, by list.",
                "type": "object",
                "additionalProperties": {"type": "integer", "minimum": 1}
            }),
        );
    }
}

pub(super) const LIMIT: &str = "maxTokens";
/// Tokens of an answer, text and document together, unless more were asked for.
pub(super) const MOST_TOKENS: u64 = 20_000;

fn result(content: Vec<ContentBlock>, document: Option<Value>) -> CallToolResult {
    let mut result = CallToolResult::success(content);
    result.structured_content = document;
    result
}

// The document with as many rows of each list as fit, and how many each list lost.
fn cut(document: &Value, limit: u64) -> (Option<Value>, BTreeMap<String, u64>) {
    let kept = |rows: usize| {
        let mut left = BTreeMap::new();
        let mut kept = shortened(document, rows, "", &mut left);
        if let Value::Object(fields) = &mut kept {
            fields.insert(LEFT_OFF.to_owned(), json!(left));
        }
        (kept, left)
    };
    // A row takes two bytes at least.
    let (mut fits, mut too_many) = (0, usize::try_from(limit * 2).unwrap_or(usize::MAX));
    while too_many - fits > 1 {
        let rows = fits + (too_many - fits) / 2;
        if tokens(&kept(rows).0.to_string()) <= limit {
            fits = rows;
        } else {
            too_many = rows;
        }
    }
    let (kept, left) = kept(fits);
    (Some(kept), left)
}

// Lists of fields are cut, never a list that is itself a row, such as a range or a cycle.
fn shortened(value: &Value, rows: usize, at: &str, left: &mut BTreeMap<String, u64>) -> Value {
    let mut lost = |count: usize| {
        *left.entry(at.to_owned()).or_default() += u64::try_from(count).unwrap_or(u64::MAX);
    };
    match value {
        Value::Array(items) if !items.iter().all(Value::is_number) => {
            if items.len() > rows {
                lost(items.len() - rows);
            }
            let within = format!("{at}[]");
            let kept = items.iter().take(rows).map(|item| match item {
                Value::Array(_) => item.clone(),
                _ => shortened(item, rows, &within, left),
            });
            Value::Array(kept.collect())
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, field)| {
                let within = if at.is_empty() {
                    name.clone()
                } else {
                    format!("{at}.{name}")
                };
                let field = match field {
                    // Half a patch is worse than none.
                    Value::String(text) if WHOLE.contains(&name.as_str()) => {
                        if text.len() > room_for(rows) {
                            *left.entry(within).or_default() += 1;
                            Value::Null
                        } else {
                            field.clone()
                        }
                    }
                    _ => shortened(field, rows, &within, left),
                };
                (name.clone(), field)
            });
            Value::Object(fields.collect())
        }
        Value::String(text) if text.len() > room_for(rows) => {
            let (head, lines) = head_below(text, room_for(rows));
            lost(lines);
            Value::String(head.to_owned())
        }
        other => other.clone(),
    }
}

// A text has room for as many lines as a list has for rows.
fn room_for(rows: usize) -> usize {
    rows.saturating_add(2).saturating_mul(100)
}

fn lines_below(text: &str, limit: u64) -> (&str, usize) {
    if tokens(text) <= limit {
        return (text, 0);
    }
    let room = usize::try_from(limit.saturating_mul(7) / 2).unwrap_or(usize::MAX);
    head_below(text, room)
}

// The lines that fit into so many bytes, and how many are left; of one that is longer than all the
// room its beginning.
fn head_below(text: &str, room: usize) -> (&str, usize) {
    let mut end = room.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let (head, _) = text.split_at(end);
    let head = match head.rfind('\n') {
        Some(at) => text.get(..=at).unwrap_or(head),
        None => head,
    };
    let rest = text.get(head.len()..).unwrap_or_default();
    (head, rest.lines().count())
}

// As packets count: two for every seven bytes.
fn tokens(text: &str) -> u64 {
    text.len() as u64 * 2 / 7
}

const LEFT_OFF: &str = "leftOff";
const WHOLE: &[&str] = &["patch", "canonicalPatch"];
const LEAST_TOKENS: u64 = 300;
// What says that it was cut, and where the rest is.
const FOOT_TOKENS: u64 = 200;
const MOST_NAMED: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    fn given(text: String, document: Option<Value>, limit: Option<u64>) -> Given {
        Given {
            document,
            limit,
            ..Given::text(text, "mendit imports a.py")
        }
    }

    #[test]
    fn a_table_keeps_whole_rows_and_says_what_it_left() {
        let rows: Vec<Value> = (0..9000)
            .map(|at| json!({"path": format!("src/m{at}.py"), "range": [at, at + 1]}))
            .collect();
        let text: String = (0..9000).map(|at| format!("src/m{at}.py\n")).collect();
        let cycles = json!([["a.py", "b.py"], ["c.py", "d.py"]]);
        let document = json!({"files": rows, "cycles": cycles, "patch": "+x\n".repeat(40_000)});
        for wanted in [None, Some(400), Some(2_000)] {
            let answers = Answers::default();
            let given = given(text.clone(), Some(document.clone()), wanted);
            let result = answer(given, &answers, true);
            let limit = wanted.unwrap_or(MOST_TOKENS);
            let kept = result.structured_content.unwrap();
            let shown = result.content[0].as_text().unwrap().text.clone();
            let size = tokens(&shown) + tokens(&kept.to_string());
            assert!(size <= limit && size * 2 > limit, "{wanted:?}: {size}");
            let files = kept["files"].as_array().unwrap();
            assert_eq!(files[..], rows[..files.len()]);
            assert_eq!(kept[LEFT_OFF]["files"], rows.len() - files.len());
            assert_eq!(kept["cycles"], cycles);
            assert_eq!(kept["patch"], Value::Null);
            let lines = shown
                .lines()
                .filter(|line| line.split('.').next_back() == Some("py"))
                .count();
            assert!(shown.contains(&format!("{} more lines", rows.len() - lines)));
            let link = |at: usize| result.content[at].as_resource_link().unwrap().uri.clone();
            assert_eq!(answers.read(&link(1)).unwrap(), text);
            assert_eq!(answers.read(&link(2)).unwrap(), document.to_string());
        }
        let all = answer(
            given(text, Some(document.clone()), Some(0)),
            &Answers::default(),
            true,
        );
        assert_eq!(all.structured_content, Some(document));
        assert_eq!(all.content.len(), 1);
    }

    #[test]
    fn one_long_line_is_cut_too() {
        let text = "é".repeat(100_000);
        let document = json!({"text": text});
        let result = answer(
            given(text, Some(document), None),
            &Answers::default(),
            false,
        );
        let kept = result.structured_content.unwrap();
        let shown = &result.content[0].as_text().unwrap().text;
        assert!(tokens(shown) + tokens(&kept.to_string()) <= MOST_TOKENS);
        assert_eq!(kept[LEFT_OFF]["text"], 1);
        assert_eq!(result.content.len(), 1, "an old client is sent no link");
    }
}
