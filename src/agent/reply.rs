//! Parses the reply of an agent. It never fails, because a text without a patch is an answer too.

use std::borrow::Cow;

use serde_json::Value;

use crate::model::{RepairPacket, ReplyStatus, StopReason};
use crate::patch::{read, without_thoughts};

/// What an agent said, whatever form it chose.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reply {
    /// The reply as a repair packet; made up from the text when the agent sent none.
    pub packet: RepairPacket,
    /// The bytes to validate as a patch; `None` without any.
    pub patch: Option<Vec<u8>>,
    /// Whether the packet changes files in two forms, `patch` beside `edits` or `files`: to take one
    /// of them would leave the other out unsaid.
    pub two_forms: bool,
}

/// Reads a reply: a repair packet alone, in a fence or amid prose, or any text with a patch in it.
///
/// Never fails: a text without a patch or a wish is a reply that gives up.
pub fn read_reply(text: &str) -> Reply {
    let answer = without_thoughts(text.as_bytes());
    let answer = String::from_utf8_lossy(&answer);
    if let Some(packet) = json_objects(&answer).find_map(|text| repair_packet(&text)) {
        let patch = patch_of(&packet);
        let has_diff = packet.patch.as_ref().is_some_and(|p| !p.trim().is_empty());
        let two_forms = has_diff && !(packet.edits.is_empty() && packet.files.is_empty());
        return Reply {
            packet,
            patch,
            two_forms,
        };
    }
    let read = read(text.as_bytes(), |_| ());
    let nothing = read.is_err_and(|error| error.code.stop_reason() == Some(StopReason::NoPatch));
    Reply {
        packet: RepairPacket {
            status: if nothing { ReplyStatus::GiveUp } else { ReplyStatus::Patch },
            ..RepairPacket::default()
        },
        patch: (!nothing).then(|| text.as_bytes().to_vec()),
        two_forms: false,
    }
}

// The whole text, then what is in fences, then the first object that opens a line.
fn json_objects(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let trimmed = text.trim().trim_start_matches('\u{feff}');
    let whole = trimmed.starts_with('{').then_some(Cow::Borrowed(trimmed));
    // A reply has one packet. The bound is needed to keep hostile text linear.
    let max_blocks = 16;
    let fenced = trimmed
        .split("```")
        .skip(1)
        .step_by(2)
        .filter_map(|block| {
            let (_, body) = block.split_once('\n')?;
            body.trim_start().starts_with('{').then_some(Cow::Borrowed(body))
        })
        .take(max_blocks);
    let inline = trimmed
        .match_indices("\n{")
        .filter_map(|(at, _)| trimmed.get(at + 1..).map(Cow::Borrowed))
        .take(max_blocks);
    whole.into_iter().chain(fenced).chain(inline)
}

fn repair_packet(text: &str) -> Option<RepairPacket> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let mut value = values.next()?.ok()?;
    let fields = value.as_object()?;
    if !KEYS.iter().any(|key| fields.contains_key(*key)) {
        return None;
    }
    let status = fields.get("status").cloned();
    let status = status.and_then(|status| serde_json::from_value::<ReplyStatus>(status).ok());
    // An unknown word says nothing.
    value.as_object_mut()?.remove("status");
    let mut packet: RepairPacket = serde_json::from_value(value).ok()?;
    let has_change = packet.patch.is_some() || !packet.edits.is_empty() || !packet.files.is_empty();
    packet.status = status.unwrap_or(match (has_change, packet.requested_files.is_empty()) {
        (true, _) => ReplyStatus::Patch,
        (false, false) => ReplyStatus::RequestFiles,
        (false, true) => ReplyStatus::GiveUp,
    });
    Some(packet)
}

const KEYS: [&str; 5] = ["status", "patch", "edits", "files", "requestedFiles"];

fn patch_of(packet: &RepairPacket) -> Option<Vec<u8>> {
    if let Some(patch) = packet.patch.as_ref().filter(|p| !p.trim().is_empty()) {
        return Some(patch.clone().into_bytes());
    }
    if packet.edits.is_empty() && packet.files.is_empty() {
        return None;
    }
    let changes = serde_json::json!({ "edits": packet.edits, "files": packet.files });
    Some(changes.to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::{Reply, read_reply};
    use crate::model::ReplyStatus as S;

    fn patch(reply: &Reply) -> Option<&str> {
        reply.patch.as_deref().map(|patch| std::str::from_utf8(patch).unwrap())
    }

    const DIFF: &str = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";

    #[test]
    fn reads_reply_bare_fenced_or_in_prose() {
        let packet =
            serde_json::json!({"status": "patch", "patch": DIFF, "completedSteps": ["read x"]});
        for text in [
            packet.to_string(),
            format!("Here it is:\n```json\n{packet:#}\n```\nDone."),
            format!("I looked.\n{packet}\nBye"),
        ] {
            let reply = read_reply(&text);
            assert_eq!(patch(&reply), Some(DIFF), "{text}");
            assert_eq!(reply.packet.completed_steps, ["read x"]);
        }
    }

    #[test]
    fn detects_two_forms() {
        let files = serde_json::json!([{ "path": "tests/a.py", "content": "" }]);
        let both = serde_json::json!({ "status": "patch", "patch": DIFF, "files": files });
        assert!(read_reply(&both.to_string()).two_forms);
        for one in [
            serde_json::json!({ "status": "patch", "patch": DIFF, "files": [] }),
            serde_json::json!({ "status": "patch", "patch": "", "files": files }),
        ] {
            assert!(!read_reply(&one.to_string()).two_forms, "{one}");
        }
    }

    #[test]
    fn request_needs_no_status() {
        let reply = read_reply(r#"{"requestedFiles": ["src/a.ts"]}"#);
        assert_eq!(reply.packet.status, S::RequestFiles);
        assert_eq!(reply.packet.requested_files, ["src/a.ts"]);
        assert_eq!(reply.patch, None);
    }

    #[test]
    fn edits_and_files_become_a_patch() {
        let reply = read_reply(r#"{"status":"patch","edits":[{"path":"x","old":"a","new":"b"}]}"#);
        assert!(patch(&reply).unwrap().contains("\"old\":\"a\""));
        let reply = read_reply(r#"{"status":"patch"}"#);
        assert_eq!(reply.patch, None);
    }

    #[test]
    fn reads_diff_in_prose() {
        let text = format!("Sure!\n```diff\n{DIFF}```\n");
        assert_eq!(patch(&read_reply(&text)), Some(text.as_str()));
        for text in ["", "I could not find the cause.", "{\"a\": 1}", "{"] {
            let reply = read_reply(text);
            assert_eq!((reply.packet.status, reply.patch), (S::GiveUp, None));
        }
    }
}
