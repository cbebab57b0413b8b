use mendit::documents::PatchFormat;

use super::support::{after, judged, words};

const FILE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
const AFTER: &str = "one\ntwo\nthree\nFOUR\nfive\nsix\nseven\neight\n";
const DIFF: &str = "--- a/f\n+++ b/f\n@@ -3,3 +3,3 @@\n three\n-four\n+FOUR\n five\n";

const CALL: &str = r#"{"path": "f", "old_str": "four", "new_str": "FOUR"}"#;

// A reply that breaks off, or says its changes in two ways, is no whole one.
#[test]
fn refuses_truncated_api_reply() {
    let cut = format!(
        r#"{{"stop_reason": "max_tokens", "content": [{{"type": "tool_use", "input": {CALL}}}]}}"#
    );
    let both = serde_json::json!([{"name": "apply_patch", "input": {"patch": DIFF}}, {"path": "g", "old": "a", "new": "b"}]);
    for (text, code) in [(cut, "P104"), (both.to_string(), "P107")] {
        let judged = judged(&[("f", FILE), ("g", "a\n")], &text);
        assert!(!judged.verdict.verdict.applies(), "{text}");
        assert!(
            words(&judged.verdict).contains(code),
            "{text}: {}",
            words(&judged.verdict)
        );
    }
}

// The same change in every form that agents send; all lead to the same file.
#[test]
fn every_form_gives_same_file() {
    use PatchFormat::{ApplyPatch, Edits, SearchReplace, Unified, WholeFile};
    let whole = serde_json::json!({"path": "f", "content": AFTER});
    for (form, text) in [
        (Unified, DIFF.to_owned()),
        (Unified, serde_json::json!(DIFF).to_string()),
        (Unified, serde_json::json!({"tool": "apply", "arguments": {"patch": DIFF}}).to_string()),
        (SearchReplace, "f\n<<<<<<< SEARCH\nfour\n=======\nFOUR\n>>>>>>> REPLACE\n".to_owned()),
        (SearchReplace, "File: f\n------- SEARCH\nfour\n=======\nFOUR\n+++++++ REPLACE\n".to_owned()),
        (SearchReplace, "<replace_in_file>\n<path>f</path>\n<diff>\n------- SEARCH\nfour\n=======\nFOUR\n+++++++ REPLACE\n</diff>\n</replace_in_file>\n".to_owned()),
        (ApplyPatch, "*** Begin Patch\n*** Update File: f\n@@\n three\n-four\n+FOUR\n five\n*** End Patch\n".to_owned()),
        (Unified, DIFF.replacen("--- a/f\n", "", 1)),
        (Unified, DIFF.replacen("+++ b/f\n", "", 1)),
        (Unified, DIFF.replacen("--- a/f\n", "--- f\n", 1)),
        (SearchReplace, "f\n<<<<<<< original\nfour\n=======\nFOUR\n>>>>>>> Updated\n".to_owned()),
        (ApplyPatch, "*** Begin Patch\n*** Update File: /work/f\n@@\n three\n-four\n+FOUR\n five\n*** End Patch\n".to_owned()),
        (Edits, r#"{"edits": [{"path": "f", "old": "four", "new": "FOUR"}]}"#.to_owned()),
        (Unified, serde_json::json!({"instance_id": "a-1", "model_patch": DIFF}).to_string()),
        (Unified, serde_json::json!({"a-1": {"model_patch": DIFF, "model_name_or_path": "m"}}).to_string()),
        (Edits, r#"{"file_path": "f", "old_string": "four\n", "new_string": "FOUR\n"}"#.to_owned()),
        (Edits, r#"[{"path": "f", "oldText": "four", "newText": "FOUR"}]"#.to_owned()),
        (Edits, format!(r#"{{"type": "tool", "tool": "edit", "state": {{"status": "completed", "input": {CALL}}}}}"#)),
        (Edits, format!(r#"{{"object": "response", "status": "completed", "output": [{{"type": "function_call", "name": "edit", "arguments": {CALL}}}]}}"#)),
        (WholeFile, serde_json::json!({"path": "f", "content": format!("\u{feff}{AFTER}")}).to_string()),
        (SearchReplace, "f\n<<<<<<< SEARCH\n:start_line:4\n:end_line:4\n-------\nfour\n=======\nFOUR\n>>>>>>> REPLACE\n".to_owned()),
        (WholeFile, whole.to_string()),
    ] {
        let judged = judged(&[("f", FILE)], &text);
        let said = &judged.verdict;
        assert_eq!(said.format, Some(form), "{text}\n{}", said.feedback);
        assert!(said.verdict.applies(), "{text}\n{}", said.feedback);
        assert_eq!(after(&judged, "f").as_deref(), Some(AFTER), "{text}");
    }
}

#[test]
fn first_marker_decides_form() {
    let file = format!("intro\n{DIFF}outro\n");
    let text = format!("f\n<<<<<<< SEARCH\nintro\n{DIFF}=======\nINTRO\n{DIFF}>>>>>>> REPLACE\n");
    let judged = judged(&[("f", &file)], &text);
    assert_eq!(words(&judged.verdict), "applies");
    assert_eq!(after(&judged, "f"), Some(file.replace("intro", "INTRO")));
}

#[test]
fn refuses_ambiguous_divider() {
    let file = "Title\n=======\n\ntext\n\nOther\n=======\n\nend\n";
    let text = "f\n<<<<<<< SEARCH\nTitle\n=======\n\ntext\n=======\nName\n>>>>>>> REPLACE\n";
    assert_eq!(
        words(&judged(&[("f", file)], text).verdict),
        "malformed P107"
    );
    let short = "Title\n=====\n\ntext\n";
    let text =
        format!("f\n<<<<<<< SEARCH\n{short}=======\nTitle\n=====\n\nTEXT\n>>>>>>> REPLACE\n");
    let judged = judged(&[("f", short)], &text);
    assert_eq!(
        after(&judged, "f").as_deref(),
        Some("Title\n=====\n\nTEXT\n")
    );
}

#[test]
fn nests_scopes() {
    let file =
        "class A:\n    def f(self):\n        x = 1\n\nclass B:\n    def f(self):\n        x = 1\n";
    for (outer, expected) in [
        ("A", file.replacen('1', "2", 1)),
        ("B", {
            let at = file.rfind('1').unwrap();
            format!("{}2{}", &file[..at], &file[at + 1..])
        }),
    ] {
        let text = format!(
            "*** Begin Patch\n*** Update File: f.py\n@@ class {outer}:\n@@ def f(self):\n-        x = 1\n+        x = 2\n*** End Patch\n"
        );
        let judged = judged(&[("f.py", file)], &text);
        assert_eq!(
            after(&judged, "f.py"),
            Some(expected),
            "{outer} {}",
            judged.verdict.feedback
        );
    }
}

#[test]
fn edits_replace_all_or_insert_after_line() {
    let file = "a\nb\na\n";
    for (text, expected) in [
        (
            r#"{"path": "f", "old": "a", "new": "c", "replace_all": true}"#,
            "c\nb\nc\n",
        ),
        (
            r#"{"command": "insert", "path": "f", "insert_line": 2, "new_str": "x"}"#,
            "a\nb\nx\na\n",
        ),
        (
            r#"{"command": "insert", "path": "f", "insert_line": 0, "insert_text": "x\n"}"#,
            "x\na\nb\na\n",
        ),
    ] {
        let judged = judged(&[("f", file)], text);
        assert_eq!(after(&judged, "f").as_deref(), Some(expected), "{text}");
    }
    let judged = judged(&[("f", file)], r#"{"path": "f", "old": "a", "new": "c"}"#);
    assert_eq!(words(&judged.verdict), "ambiguous P403");
}

#[test]
fn replace_all_is_atomic() {
    let file = "x = foo\n".repeat(1500);
    let edit = |new: &str| serde_json::json!({"path": "f", "old": "foo", "new": new, "all": true});
    let judged = |new: &str| judged(&[("f", &file)], &edit(new).to_string());
    let made = after(&judged("bar"), "f").unwrap();
    assert!(made == "x = bar\n".repeat(1500));
    assert_eq!(words(&judged(&"y".repeat(100_000)).verdict), "refused P705");
}

// Edits without an exact match are placed, mended and diagnosed like hunks.
#[test]
fn edits_get_mends_and_diagnosis() {
    let edit =
        |old: &str| serde_json::json!({"path": "f", "old": old, "new": "FOUR\n"}).to_string();
    let mended = judged(&[("f", FILE)], &edit("four  \n"));
    assert_eq!(words(&mended.verdict), "applies_mended M403");
    assert_eq!(after(&mended, "f").as_deref(), Some(AFTER));
    let refused = judged(&[("f", FILE)], &edit("three\nvier\nfive\n"));
    let hunk = &refused.verdict.files[0].hunks[0];
    let difference = hunk.mismatch.difference.as_ref().unwrap();
    assert_eq!(
        (difference.file_line, difference.actual.as_deref()),
        (4, Some("four"))
    );
}

#[test]
fn refuses_reply_without_patch() {
    for text in ["I would change the loop.\n", "{\"answer\": 1}"] {
        let judged = judged(&[("f", FILE)], text);
        let said = &judged.verdict.problems[0];
        assert_eq!(said.code.as_str(), "P102");
        assert!(judged.verdict.feedback.contains("SEARCH/REPLACE"), "{text}");
    }
}

// Several calls of a tool are one change: none is left out.
#[test]
fn reads_all_json_of_reply() {
    let edit =
        |old: &str, new: &str| serde_json::json!({"path": "f", "old": old, "new": new}).to_string();
    let calls = [edit("one", "ONE"), edit("four", "FOUR")];
    let expected = AFTER.replacen("one", "ONE", 1);
    for text in [
        calls.join("\n"),
        calls.map(|call| format!("<tool_call>\n{call}\n</tool_call>\n")).concat(),
        format!(
            "First:\n```json\n{}\n```\nthen:\n```json\n{}\n```\n",
            edit("one", "ONE"),
            edit("four", "FOUR")
        ),
    ] {
        let judged = judged(&[("f", FILE)], &text);
        assert_eq!(
            after(&judged, "f"),
            Some(expected.clone()),
            "{text}{}",
            judged.verdict.feedback
        );
    }
}

#[test]
fn reads_whole_file_below_name() {
    let files = [("src/f.txt", FILE)];
    for text in [
        format!("src/f.txt\n```\n{AFTER}```\n"),
        format!("Here it is.\n\n**src/f.txt**\n```text\n{AFTER}```\nDone.\n"),
    ] {
        let judged = judged(&files, &text);
        assert_eq!(
            after(&judged, "src/f.txt").as_deref(),
            Some(AFTER),
            "{text}"
        );
    }
    let part = judged(&files, "src/f.txt\n```\nfour\n```\n");
    assert!(
        !part.verdict.verdict.applies() || after(&part, "src/f.txt").is_none(),
        "a part is no file"
    );
}

// What a writer left around the text itself, and the file after it.
#[test]
fn new_text_follows_file_style() {
    let code = "import a\nimport b\n\n\ndef f():\n    return a\n";
    let json = |value: serde_json::Value| value.to_string();
    let more = code.replace("import b\n", "import b\nimport c\n");
    for (path, text, expected) in [
        (
            "m.py",
            json(
                serde_json::json!({"path": "m.py", "old": "import b\n", "new": "import b\r\nimport c\r\n"}),
            ),
            more.clone(),
        ),
        (
            "m.py",
            json(serde_json::json!({"path": "m.py", "insert_line": 2, "new_str": "import c\r\n"})),
            more.clone(),
        ),
        (
            "m.py",
            json(serde_json::json!({"path": "m.py", "content": more.replace('\n', "\r\n")})),
            more.clone(),
        ),
    ] {
        let judged = judged(&[("m.py", code)], &text);
        assert_eq!(after(&judged, path), Some(expected), "{text}");
        let said = words(&judged.verdict);
        assert!(said.starts_with("applies_mended M"), "{text}: {said}");
    }
    // Each is what such a file may hold.
    for (path, content) in [
        ("n.md", "```sh\nx\n```\n"),
        ("n.py", "x = 'a\\nb'\n"),
        ("n.txt", "a\\nb\n"),
    ] {
        let text = json(serde_json::json!({"path": path, "content": content}));
        let judged = judged(&[("m.py", code)], &text);
        assert_eq!(after(&judged, path).as_deref(), Some(content));
        assert_eq!(words(&judged.verdict), "applies");
    }
    let crlf = code.replace('\n', "\r\n");
    let text = r#"{"path": "m.py", "old": "import b\r\n", "new": "import b\nimport c\r\n"}"#;
    let judged = judged(&[("m.py", &crlf)], text);
    assert_eq!(after(&judged, "m.py"), Some(more.replace('\n', "\r\n")));
}

#[test]
fn places_final_hunk_at_end() {
    let file = "a\nb\n\na\nb\n";
    let text =
        "*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n+B\n*** End of File\n*** End Patch\n";
    let judged_end = judged(&[("f", file)], text);
    assert_eq!(after(&judged_end, "f").as_deref(), Some("a\nb\n\na\nB\n"));
    let anywhere = judged(&[("f", file)], &text.replace("*** End of File\n", ""));
    assert_eq!(words(&anywhere.verdict), "ambiguous P403");
}

#[test]
fn reads_decorated_file_names() {
    let block = "<<<<<<< SEARCH\nfour\n=======\nFOUR\n>>>>>>> REPLACE\n";
    for name in [
        "**`src/f.txt`** (line 4)\n\n", "### 1. `src/f.txt`: shout\n", "[src/f.txt](src/f.txt)\n",
        "@src/f.txt\n", "file:///work/src/f.txt\n",
    ] {
        let judged = judged(&[("src/f.txt", FILE)], &format!("{name}{block}"));
        assert_eq!(
            after(&judged, "src/f.txt").as_deref(),
            Some(AFTER),
            "{name}"
        );
    }
}

#[test]
fn restores_indent_of_unique_block() {
    let file = "def f(x):\n    for y in x:\n        if y:\n            g(y)\n    return x\n";
    for (search, replace, expected) in [
        ("g(y)", "h(y)", file.replace("g(y)", "h(y)")),
        (
            "if y:\n    g(y)",
            "if y:\n    g(y)\nelse:\n    h(y)",
            file.replace("g(y)\n", "g(y)\n        else:\n            h(y)\n"),
        ),
    ] {
        let text = format!("f.py\n<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n");
        let judged = judged(&[("f.py", file)], &text);
        assert_eq!(after(&judged, "f.py"), Some(expected), "{text}");
    }
    // The new line has an indent of its own.
    let text = "f.py\n<<<<<<< SEARCH\nif y:\n=======\n        if y is None:\n>>>>>>> REPLACE\n";
    assert!(!judged(&[("f.py", file)], text).verdict.verdict.applies());
}

#[test]
fn joins_two_lines() {
    let file = "# Limits.\nLIMIT = 20\nRATE = 3\n";
    for (old, new, expected) in [
        (
            "# Limits.\n",
            "# All limits.",
            "# All limits.\nLIMIT = 20\nRATE = 3\n",
        ),
        (
            "\nLIMIT = 20",
            "LIMIT = 30",
            "# Limits.\nLIMIT = 30\nRATE = 3\n",
        ),
        (
            "RATE = 3\n",
            "RATE = 4",
            "# Limits.\nLIMIT = 20\nRATE = 4\n",
        ),
        (
            "20\nRATE = 3",
            "20; RATE = 3",
            "# Limits.\nLIMIT = 20; RATE = 3\n",
        ),
        ("# Limits.\n", "", "LIMIT = 20\nRATE = 3\n"),
    ] {
        let text = serde_json::json!({"path": "m.py", "old": old, "new": new}).to_string();
        let judged = judged(&[("m.py", file)], &text);
        assert_eq!(after(&judged, "m.py").as_deref(), Some(expected), "{text}");
    }
    let text = r#"{"path": "m.py", "content": "LIMIT = 20\nRATE = 3"}"#;
    let whole = judged(&[("m.py", file)], text);
    assert_eq!(
        after(&whole, "m.py").as_deref(),
        Some("LIMIT = 20\nRATE = 3\n")
    );
}

#[test]
fn restores_indent_lost_on_one_side() {
    let file =
        "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n";
    let block = |old: &str, new: &str| {
        format!("a.py\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n")
    };
    let (old, new) = (
        "    def f(self):\n        return 1\n",
        "    def f(self):\n        return 7\n",
    );
    let dedented = |text: &str| -> String {
        let lines = text.lines().map(|line| format!("{}\n", &line[4..]));
        lines.collect()
    };
    let expected = file.replace('1', "7");
    for text in [
        block(&dedented(old), new),
        block(&dedented(old), &dedented(new)),
    ] {
        let judged = judged(&[("a.py", file)], &text);
        assert_eq!(
            after(&judged, "a.py").as_deref(),
            Some(&*expected),
            "{text}"
        );
        assert_eq!(words(&judged.verdict), "applies_mended M416", "{text}");
    }
    let lost = judged(&[("a.py", file)], &block(old, &dedented(new)));
    assert_eq!(words(&lost.verdict), "context_not_found P311");
    let moved = judged(&[("a.py", file)], &block(old, &dedented(old)));
    assert_eq!(words(&moved.verdict), "applies");
}

#[test]
fn reads_forms_of_other_editors() {
    let text = serde_json::json!({"TargetFile": "f", "ReplacementChunks": [
        {"TargetContent": "four", "ReplacementContent": "FOUR"}]});
    let changed = judged(&[("f", FILE)], &text.to_string());
    assert_eq!(after(&changed, "f").as_deref(), Some(AFTER), "{text}");
    let preview =
        r#"{"path": "f", "edits": [{"oldText": "four", "newText": "FOUR"}], "dryRun": true}"#;
    assert_eq!(
        words(&judged(&[("f", FILE)], preview).verdict),
        "malformed P107"
    );
}

#[test]
fn fills_elisions_from_file() {
    let py = "def a(x):\n    y = call(x, timeout=30)\n    return y\n\n\ndef b(x):\n    y = x\n    return y\n\n\ndef c(x):\n    y = x\n    return y\n";
    let block = |path: &str, old: &str, new: &str| {
        format!("{path}\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n\n")
    };
    let heading = |number: u32, heading: &str| {
        format!(
            "--- a/f.py\n+++ b/f.py\n@@ -{number},2 +{number},2 @@ {heading}\n-    y = x\n+    y = -x\n     return y\n"
        )
    };
    let tabs = "function a() {\n\tif (b) {\n\t\tc();\n\t}\n}\n";
    let second = |text: &str, old: &str, new: &str| {
        let at = text.rfind(old).unwrap();
        format!("{}{new}{}", &text[..at], &text[at + old.len()..])
    };
    for (what, path, file, patch, expected) in [
        (
            "a heading where the number is off",
            "f.py",
            py,
            heading(9, "def c(x):"),
            Some(second(py, "y = x", "y = -x")),
        ),
        (
            "another unit",
            "f.ts",
            tabs,
            block(
                "f.ts", "  if (b) {\n    c();\n  }", "  if (b) {\n    d();\n  }",
            ),
            Some(tabs.replace('c', "d").replace("fundtion", "function")),
        ),
    ] {
        let judged = judged(&[(path, file)], &patch);
        assert_eq!(
            after(&judged, path),
            expected,
            "{what}: {}",
            judged.verdict.feedback
        );
    }
    let packages = [
        ("packages/a/src/x.ts", "one();\n"),
        ("packages/b/y.ts", "two();\n"),
    ];
    for path in ["packages/b/src/x.ts", "src/x.ts"] {
        let judged = judged(&packages, &block(path, "one();", "three();"));
        assert_eq!(judged.applies(), path == "src/x.ts", "{path}");
    }
}
