//! Replies that make two changes in two forms: half of them is never applied.

use mendit::documents::{Operation, PatchVerdict};
use serde_json::json;

use super::support::{after, judged, words};

const F: &str = "def one():\n    return 1\n\n\ndef two():\n    return 2\n";
const G: &str = "def three():\n    return 3\n\n\ndef four():\n    return 4\n";
const OLD: &str = "def gone():\n    return 0\n";

fn files() -> [(&'static str, &'static str); 3] {
    [("f.py", F), ("src/g.py", G), ("old.py", OLD)]
}

// A line of a file that becomes another, in each form.
fn forms(path: &str, content: &str, old: &str, new: &str) -> Vec<String> {
    let whole = content.replacen(old, new, 1);
    let call =
        json!({"name": "Edit", "input": {"file_path": path, "old_string": old, "new_string": new}});
    vec![
        format!("--- a/{path}\n+++ b/{path}\n@@ -2,1 +2,1 @@\n-    {old}\n+    {new}\n"),
        format!("{path}\n<<<<<<< SEARCH\n    {old}\n=======\n    {new}\n>>>>>>> REPLACE\n"),
        format!(
            "*** Begin Patch\n*** Update File: {path}\n@@\n-    {old}\n+    {new}\n*** End Patch\n"
        ),
        format!("{call}\n"),
        format!(
            "<edit>\n<path>{path}</path>\n<old_str>{old}</old_str>\n<new_str>{new}</new_str>\n</edit>\n"
        ),
        format!("{path}\n```python\n{whole}```\n"),
        format!("```bash\ncat > {path} <<'EOF'\n{whole}EOF\n```\n"),
    ]
}

// What else a reply may do, none of which leaves the tree as it is.
fn others() -> Vec<String> {
    let mut others = forms("src/g.py", G, "return 3", "return 33");
    let quoted: String = others[0].lines().map(|line| format!("> {line}\n")).collect();
    others.push(quoted);
    for call in [
        json!({"name": "delete_file", "arguments": {"path": "old.py"}}),
        json!({"name": "move_file", "arguments": {"source": "old.py", "destination": "new.py"}}),
        json!({"name": "bash", "arguments": {"command": "rm old.py"}}),
        json!({"name": "NotebookEdit", "input": {"notebook_path": "n.ipynb", "new_source": "x"}}),
        json!({"command": "undo_edit", "path": "src/g.py"}),
        json!({"name": "replace_symbol_body", "arguments": {"relative_path": "src/g.py", "body": "x"}}),
        json!({"path": "src/g.py", "old": "return 3"}),
    ] {
        others.push(format!("{call}\n"));
    }
    for text in [
        "--- a/old.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-def gone():\n-    return 0\n",
        "*** Begin Patch\n*** Delete File: old.py\n*** End Patch\n",
        "<delete_file>\n<path>old.py</path>\n</delete_file>\n",
        "```bash\ngit rm old.py\n```\n",
        "rm old.py\n",
        "$ git mv old.py new.py\n",
        "Then run `git mv old.py new.py`.\n",
        "```sh\nsed -i 's/return 3/return 33/' src/g.py\n```\n",
        "```sh\necho 'X = 1' >> src/g.py\n```\n",
        "```python\ndef three():\n    return 33\n```\n",
        "src/g.py\n```python\ndef three():\n    return 33\n```\n",
        "```diff\n-    return 3\n+    return 33\n```\n",
    ] {
        others.push(text.to_owned());
    }
    others
}

// Whether a verdict changes f.py and something else, too.
fn changes_both(verdict: &PatchVerdict) -> bool {
    let mut files = verdict.files.iter().map(|file| &*file.path);
    files.clone().any(|path| path == "f.py") && files.any(|path| path != "f.py")
}

#[test]
fn reports_unread_half_of_reply() {
    let mut seen = 0;
    for first in forms("f.py", F, "return 1", "return 11") {
        for other in others() {
            for (one, two) in [(&first, &other), (&other, &first)] {
                for text in [
                    format!("{one}\n{two}"),
                    format!("First:\n\n{one}\nAnd:\n\n{two}\nDone.\n"),
                ] {
                    let judged = judged(&files(), &text);
                    seen += 1;
                    if judged.applies() {
                        assert!(changes_both(&judged.verdict), "{text}");
                    }
                }
            }
        }
    }
    assert!(seen > 500, "{seen}");
}

#[test]
fn refuses_prose_that_contradicts_calls() {
    let told_beside = |told: &str| {
        let input =
            json!({"file_path": "f.py", "old_string": "return 1", "new_string": "return 11"});
        let content = json!([{"type": "text", "text": told}, {"type": "tool_use", "id": "a", "name": "Edit", "input": input}]);
        judged(&files(), &json!({ "content": content }).to_string())
    };
    let call = |told: &str| words(&told_beside(told).verdict);
    let shown = &forms("f.py", F, "return 1", "return 11")[0];
    assert_eq!(call("I change the first."), "applies");
    assert_eq!(call(shown), "malformed P107");
    assert_eq!(
        call("It was:\n```python\ndef two():\n    return 2\n```\n"),
        "applies"
    );
    for other in others() {
        let judged = told_beside(&other);
        let refused = words(&judged.verdict).contains("P107");
        // A call that is sent as text is a call.
        assert!(refused || changes_both(&judged.verdict), "{other}");
    }
}

#[test]
fn shown_files_are_no_change() {
    let diff = &forms("f.py", F, "return 1", "return 11")[0];
    for text in [
        "The fault is in f.py:\n\n```python\ndef one():\n    return 1\n```\n\n",
        "src/g.py\n```python\ndef three():\n    return 3\n# ...\ndef four():\n```\n\n",
        "So that it is:\n\nf.py\n```python\ndef one():\n    return 11\n```\n\n",
        "Run it with:\n```bash\npytest tests/a.py\nrm /tmp/x\nrm missing.py\n```\n\n",
        "It printed:\n```\nreturn 1\n```\n\n",
        "As JSON: \n{\"name\": \"read_file\", \"arguments\": {\"path\": \"src/g.py\"}}\n\n",
        "I looked with `grep return f.py`.\n\n",
        "From 0123456789abcdef Mon Sep 17\nSubject: x\n\nrm old.py\n```python\ndef a():\n    b\n```\n\n",
    ] {
        let judged = judged(&files(), &format!("{text}{diff}"));
        assert_eq!(words(&judged.verdict), "applies", "{text}");
    }
}

#[test]
fn deletes_files_in_every_form() {
    for text in [
        json!({"output": [{"type": "apply_patch_call", "operation": {"type": "delete_file", "path": "old.py"}}]}).to_string(),
        "*** Begin Patch\n*** Delete File: old.py\n\n*** End Patch\n".to_owned(),
    ] {
        let judged = judged(&files(), &text);
        assert!(judged.applies(), "{text}: {}", words(&judged.verdict));
        assert_eq!(judged.verdict.files[0].operation, Operation::Delete, "{text}");
    }
}

#[test]
fn reads_count_and_lost_indent() {
    let content = "if a:\n    one()\n    two()\none()\n";
    let edit = |old: &str, new: &str, expected: u32| {
        let call = json!({"name": "replace", "args": {"file_path": "x.ts", "old_string": old, "new_string": new, "expected_replacements": expected}});
        let judged = judged(&[("x.ts", content)], &call.to_string());
        (words(&judged.verdict), after(&judged, "x.ts"))
    };
    let all = content.replace("one()", "1()");
    assert_eq!(edit("one()", "1()", 2), ("applies".to_owned(), Some(all)));
    assert_eq!(edit("one()", "1()", 3).0, "ambiguous P403");
    let (said, made) = edit("one()\n    two()", "    three()\n    two()", 1);
    assert_eq!(said, "applies_mended M416");
    assert_eq!(made, Some(content.replacen("one()", "three()", 1)));
}
