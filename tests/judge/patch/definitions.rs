//! Code that is all of its file or a part of it: no definition goes unsaid.

use serde_json::json;

use super::support::{after, judged, words};

const PY: &str = "import os\n\n\n@cached\ndef one():\n    return 1\n\n\nclass A:\n    x = 1\n\n    def m(self):\n        return 2\n\n    def n(self):\n        return 3\n\n\n# Adds two.\ndef two():\n    return 4\n\n\ndef three():\n    return 5\n\n\ndef four():\n    return 6\n";
const TS: &str = "import a from \"a\";\n\nexport function one(): number {\n  return 1;\n}\n\nexport class B {\n  m() {\n    return 2;\n  }\n\n  n() {\n    return 3;\n  }\n}\n\nexport const two = () => {\n  return 4;\n};\n\nfunction three() {\n  return 5;\n}\n";

fn whole(path: &str, content: &str) -> String {
    json!({"path": path, "content": content}).to_string()
}

fn fence(path: &str, code: &str) -> String {
    format!("{path}\n```\n{code}```\n")
}

#[test]
fn a_definition_that_a_whole_file_leaves_out_is_said() {
    let without = |text: &str, part: &str| {
        assert!(text.contains(part));
        text.replace(part, "")
    };
    let two = "# Adds two.\ndef two():\n    return 4\n\n\n";
    let method = "    def m(self):\n        return 2\n\n";
    for (path, text, part, name) in [
        ("a.py", PY, two, "`two`"),
        ("a.py", PY, method, "`A.m`"),
        ("a.ts", TS, "  m() {\n    return 2;\n  }\n\n", "`B.m`"),
        (
            "a.ts",
            TS,
            "export const two = () => {\n  return 4;\n};\n\n",
            "`two`",
        ),
    ] {
        let content = without(text, part).replace("return 5", "return 55");
        for reply in [whole(path, &content), fence(path, &content)] {
            let refused = judged(&[(path, text)], &reply);
            assert_eq!(words(&refused.verdict), "malformed P313", "{content}");
            assert!(
                refused.verdict.feedback.contains(name),
                "{}",
                refused.verdict.feedback
            );
        }
    }
    // Renamed, rewritten in its place, made a method, moved to another file of the reply.
    let renamed = PY
        .replace("two", "zwei")
        .replace("return 4", "return zwei_of(4)");
    let moved = without(PY, two).replace(
        "        return 3\n",
        "        return 3\n\n    def two(self):\n        return 4\n",
    );
    for content in [renamed, moved] {
        let judged = judged(&[("a.py", PY)], &whole("a.py", &content));
        assert_eq!(
            after(&judged, "a.py"),
            Some(content),
            "{}",
            judged.verdict.feedback
        );
    }
    let both = json!({"files": [{"path": "a.py", "content": without(PY, two)}, {"path": "b.py", "content": "def two():\n    return 4\n"}]});
    assert!(judged(&[("a.py", PY)], &both.to_string()).applies());
}

#[test]
fn definitions_under_the_name_of_their_file_take_their_place() {
    for (path, text, code, old, new) in [
        (
            "a.py",
            PY,
            "def two():\n    return 44\n",
            "return 4",
            "return 44",
        ),
        (
            "a.py",
            PY,
            "def m(self):\n    return 22\n",
            "return 2",
            "return 22",
        ),
        (
            "a.py",
            PY,
            "# ... existing code ...\n\nclass A:\n    # ... existing code ...\n\n    def n(self):\n        return 33\n\n# ... rest of the file ...\n",
            "return 3",
            "return 33",
        ),
        (
            "a.ts",
            TS,
            "// ... existing code ...\nexport class B {\n  // ... existing code ...\n  n() {\n    return 33;\n  }\n}\n// ... existing code ...\n",
            "return 3",
            "return 33",
        ),
        (
            "a.ts",
            TS,
            "export const two = () => {\n  return 44;\n};\n",
            "return 4",
            "return 44",
        ),
    ] {
        let call =
            json!({"name": "edit_file", "arguments": {"target_file": path, "code_edit": code}});
        for reply in [fence(path, code), call.to_string()] {
            let judged = judged(&[(path, text)], &reply);
            assert_eq!(
                after(&judged, path),
                Some(text.replace(old, new)),
                "{code}{}",
                judged.verdict.feedback
            );
            assert_eq!(words(&judged.verdict), "applies_mended M410", "{code}");
        }
    }
    let symbol = json!({"name": "replace_symbol_body", "arguments": {"relative_path": "a.py", "name_path": "A/n", "body": "    def n(self):\n        return 33\n"}});
    let made = judged(&[("a.py", PY)], &symbol.to_string());
    assert_eq!(
        after(&made, "a.py"),
        Some(PY.replace("return 3", "return 33"))
    );
}

#[test]
fn a_definition_without_one_place_is_refused() {
    let twice = format!("{PY}\n\nclass C:\n    def m(self):\n        return 7\n");
    for (text, code) in [
        // A decorator is left out.
        (PY, "def one():\n    return 11\n"),
        // A name that is not there, and one that is there twice.
        (PY, "# ... existing code ...\n\ndef five():\n    return 7\n"),
        (&*twice, "def m(self):\n    return 22\n"),
        // A line beside it that has no place.
        (
            PY,
            "import sys\n# ... existing code ...\n\ndef two():\n    return 44\n",
        ),
        // A body that leaves out its own lines.
        (
            PY,
            "def two():\n    # ... existing code ...\n    return 44\n",
        ),
    ] {
        let refused = judged(&[("a.py", text)], &fence("a.py", code));
        assert!(!refused.applies(), "{code}{:?}", after(&refused, "a.py"));
    }
}
