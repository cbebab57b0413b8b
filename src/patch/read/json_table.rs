#[cfg(test)]
mod tests {
    use crate::model::{Code, PatchFormat};
    use crate::patch::set::Body;
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
    fn edits_are_read_under_the_names_in_use() {
        for text in [
            r#"{"path": "x", "old_str": "a", "new_str": "b"}"#,
            r#"{"file_path": "x", "old_string": "a", "new_string": "b", "replace_all": true}"#,
            r#"[{"filePath": "x", "oldText": "a", "newText": "b"}]"#,
            r#"{"file_path": "x", "edits": [{"old_string": "a", "new_string": "b"}]}"#,
            r#"{"changes": [{"file": "x", "search": "a", "replace": "b"}]}"#,
            r#"{"type": "tool_use", "name": "Edit", "input": {"file_path": "x", "old_string": "a", "new_string": "b"}}"#,
            r#"{"tool_calls": [{"function": {"name": "edit", "arguments": "{\"path\": \"x\", \"old\": \"a\", \"new\": \"b\"}"}}]}"#,
            r#"{"command": "insert", "path": "x", "insert_line": 1, "new_str": "b"}"#,
        ] {
            assert_eq!(format(text), Ok((PatchFormat::Edits, 1)), "{text}");
        }
        for text in [
            r#"{"command": "create", "path": "x", "file_text": "a"}"#,
            r#"{"files": {"x": "a"}}"#,
            r#"{"files": [{"path": "x", "content": "a"}]}"#,
        ] {
            assert_eq!(format(text), Ok((PatchFormat::WholeFile, 1)), "{text}");
        }
        let envelope = "*** Begin Patch\n*** Update File: x\n@@\n-a\n+b\n*** End Patch\n";
        let heredoc = format!("apply_patch <<'PATCH'\n{envelope}PATCH\n");
        for call in [
            serde_json::json!({"name": "apply_patch", "arguments": {"input": envelope}}),
            serde_json::json!({"output": [{"type": "custom_tool_call", "name": "apply_patch", "input": envelope}]}),
            serde_json::json!({"output": [{"type": "message", "content": [{"type": "output_text", "text": envelope}]}]}),
            serde_json::json!({"content": [{"type": "thinking", "thinking": envelope.replace('b', "c")}, {"type": "text", "text": envelope}]}),
            serde_json::json!({"type": "item.completed", "item": {"type": "agent_message", "text": envelope}}),
            serde_json::json!({"name": "shell", "arguments": {"command": ["apply_patch", envelope]}}),
            serde_json::json!({"cmd": ["bash", "-lc", heredoc]}),
            serde_json::json!({"type": "apply_patch_call", "operation": {"type": "update_file", "path": "x", "diff": "@@\n-a\n+b\n"}}),
        ] {
            assert_eq!(
                format(&call.to_string()),
                Ok((PatchFormat::ApplyPatch, 1)),
                "{call}"
            );
        }
        let call = r#"[TOOL_CALLS]edit[ARGS]{"path": "x", "old": "a", "new": "b"}"#;
        assert_eq!(format(call), Ok((PatchFormat::Edits, 1)));
        let gemini = r#"{"candidates": [{"content": {"parts": [{"functionCall": {"name": "replace",
        "args": {"file_path": "x", "old_string": "a", "new_string": "b"}}}]}}]}"#;
        assert_eq!(format(gemini), Ok((PatchFormat::Edits, 1)));
    }

    #[test]
    fn a_part_of_a_file_is_no_whole_file() {
        let set = |text: &str| {
            read(text.as_bytes(), &ReadOptions::default(), |set| {
                let edits: usize = set
                    .files
                    .iter()
                    .map(|file| match &file.body {
                        Body::Edits(edits) => edits.len(),
                        _ => 100,
                    })
                    .sum();
                (edits, set.mends.len(), set.problems.len())
            })
        };
        for part in [
            r#"{"path": "x", "start_line": 2, "end_line": 3, "content": "b"}"#,
            r#"{"path": "x", "lines": "2-2", "content": "b"}"#,
            r#"{"path": "x", "mode": "append", "content": "b"}"#,
            r#"{"name": "insert_content", "arguments": {"path": "x", "line": 2, "content": "b"}}"#,
            r#"{"name": "append_to_file", "arguments": {"path": "x", "content": "b"}}"#,
        ] {
            assert_eq!(set(part), Ok((0, 0, 1)), "{part}");
        }
        let whole = r#"{"path": "x", "mode": "overwrite", "line": null, "content": "b"}"#;
        assert_eq!(set(whole), Ok((100, 0, 0)));
        let twice =
            r#"[{"path": "x", "old": "a", "new": "ab"}, {"path": "x", "old": "a", "new": "ab"}]"#;
        assert_eq!(set(twice), Ok((1, 1, 0)));
    }

    #[test]
    fn what_is_no_edit_in_a_list_of_edits_is_a_problem() {
        let text =
            r#"{"edits": [{"path": "x", "old": "a", "new": "b"}, {"path": "x", "old": "c"}]}"#;
        let problems = read(text.as_bytes(), &ReadOptions::default(), |set| set.problems);
        assert_eq!(
            problems.unwrap().first().map(|it| it.code),
            Some(Code::P107)
        );
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
