use std::borrow::Cow;

use serde::Deserialize;

use crate::model::{Operation, PatchFormat};
use crate::patch::set::{Body, Edit, FilePatch, Headers, PatchSet, Side};

#[derive(Deserialize)]
struct Reply {
    status: Option<String>,
    patch: Option<String>,
    #[serde(default)]
    edits: Vec<ReplyEdit>,
    #[serde(default)]
    files: Vec<ReplyFile>,
}

#[derive(Deserialize)]
struct ReplyEdit {
    path: String,
    old: String,
    new: String,
}

#[derive(Deserialize)]
struct ReplyFile {
    path: String,
    content: String,
}

/// What a repair packet carries.
pub(super) enum Packet {
    /// Its `edits` or `files`.
    Changes(PatchSet<'static>),
    /// Its `patch`: text in any format but this one.
    Text(String),
    /// It says that it has none.
    Nothing,
}

/// Reads a repair packet that is all of the input. `None` when it is no such.
pub(super) fn whole(bytes: &[u8]) -> Option<Packet> {
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return None;
    }
    packet(serde_json::from_slice(bytes).ok()?)
}

/// Reads the first repair packet that opens a line, with prose or a fence around it.
pub(super) fn amid(bytes: &[u8]) -> Option<Packet> {
    // The bound keeps hostile text linear.
    memchr::memmem::find_iter(bytes, b"{")
        .filter(|at| {
            let line = bytes.get(..*at).unwrap_or_default();
            let start = memchr::memrchr(b'\n', line).map_or(0, |feed| feed + 1);
            line.get(start..)
                .is_some_and(|it| it.trim_ascii().is_empty())
        })
        .take(16)
        .find_map(|at| {
            let mut values = serde_json::Deserializer::from_slice(bytes.get(at..)?).into_iter();
            packet(values.next()?.ok()?)
        })
}

fn packet(reply: Reply) -> Option<Packet> {
    if reply.status.as_deref().is_some_and(|it| it != "patch") {
        return Some(Packet::Nothing);
    }
    match reply.patch.as_ref() {
        Some(patch) if !patch.trim().is_empty() => reply.patch.map(Packet::Text),
        _ => changes(reply).map(Packet::Changes),
    }
}

fn changes(reply: Reply) -> Option<PatchSet<'static>> {
    let mut set = PatchSet {
        format: if reply.edits.is_empty() {
            PatchFormat::WholeFile
        } else {
            PatchFormat::Edits
        },
        files: Vec::new(),
        mends: Vec::new(),
        problems: Vec::new(),
    };
    for edit in reply.edits {
        let creates = edit.old.is_empty();
        let path = edit.path.into_bytes();
        let body = Edit {
            old: edit.old.into_bytes(),
            new: edit.new.into_bytes(),
            line: 1,
            all: false,
            after: None,
        };
        if creates {
            set.files
                .push(file(path, Operation::Create, Body::Whole(body.new)));
            continue;
        }
        if let Some(FilePatch {
            headers,
            body: Body::Edits(edits),
            ..
        }) = set.files.last_mut()
            && headers.plus.as_ref().and_then(Side::name) == Some(path.as_slice())
        {
            edits.push(body);
            continue;
        }
        set.files
            .push(file(path, Operation::Modify, Body::Edits(vec![body])));
    }
    for whole in reply.files {
        let content = Body::Whole(whole.content.into_bytes());
        set.files
            .push(file(whole.path.into_bytes(), Operation::Modify, content));
    }
    (!set.files.is_empty()).then_some(set)
}

fn file(path: Vec<u8>, operation: Operation, body: Body<'static>) -> FilePatch<'static> {
    let name = Side::Name(Cow::Owned(path));
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

#[cfg(test)]
mod tests {
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
}
