use std::borrow::Cow;

use serde::Deserialize;

use crate::model::{Operation, PatchFormat};
use crate::patch::set::{Body, Edit, FilePatch, Headers, PatchSet, Side};

#[derive(Deserialize)]
struct Reply {
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

/// Reads JSON with `edits` or `files`, as a repair packet has them. `None` when it is no such.
pub(super) fn json(bytes: &[u8]) -> Option<PatchSet<'static>> {
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return None;
    }
    let reply: Reply = serde_json::from_slice(bytes).ok()?;
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
