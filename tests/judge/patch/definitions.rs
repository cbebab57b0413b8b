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
fn reports_definition_dropped_by_whole_file() {
    let without = |text: &str, part: &str| {
        assert!(text.contains(part));
        text.replace(part, "")
    };
    let two = "# Adds two.\ndef two():\n    return 4\n\n\n";
    let method = "    def m(self):\n        return 2\n\n";
    for (path, text, part, name) in [
        ("a.py", PY, two, "`two`"),
        ("a.py", PY, method, "`m`"),
        ("a.ts", TS, "  m() {\n    return 2;\n  }\n\n", "`m`"),
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
    let renamed = PY.replace("two", "zwei").replace("return 4", "return zwei_of(4)");
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
