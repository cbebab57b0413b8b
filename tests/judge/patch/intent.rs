use mendit::internals::patch::{After, JudgeOptions, judge};

use super::support::{after, judged, memory, words};

fn python() -> String {
    let body: String = (0..30).map(|line| format!("    step_{line}()\n")).collect();
    format!("def f():\n{body}    return 1\n")
}

fn json(content: &str) -> String {
    serde_json::json!({"path": "f.py", "content": content}).to_string()
}

// Every row: what the writer has left out or damaged, the patch, the code.
#[test]
fn refuses_unintended_changes() {
    let file = python();
    let head: String = file.lines().take(8).map(|line| format!("{line}\n")).collect();
    let broken = "--- a/f.py\n+++ b/f.py\n@@ -1,3 +1,3 @@\n def f():\n-    step_0()\n+    step_0(\n     step_1()\n";
    for (what, patch, code) in [
        ("placeholder in a block", "f.py\n<<<<<<< SEARCH\n    step_0()\n    step_1()\n=======\n    # ... existing code ...\n>>>>>>> REPLACE\n".to_owned(), "P312"),
        ("dots over lost lines", "f.py\n<<<<<<< SEARCH\n    step_0()\n    step_1()\n=======\n    # ...\n    step_1()\n>>>>>>> REPLACE\n".to_owned(), "P312"),
        ("whole file without its end", json(&head), "P313"),
        ("emptied file", json(""), "P313"),
        ("no longer parses", broken.to_owned(), "P801"),
    ] {
        let files = [("f.py", file.as_str())];
        let strict = JudgeOptions { after: After::Reported, ..JudgeOptions::default() };
        let refused = judge(patch.as_bytes(), &memory(&files), &strict);
        let found = refused.verdict.error_code.map(|code| code.to_string());
        assert_eq!(found.as_deref(), Some(code), "{what}");
        assert!(refused.changes.is_empty(), "{what}");
        let asked = JudgeOptions { as_written: true, ..strict };
        let taken = judge(patch.as_bytes(), &memory(&files), &asked);
        assert!(taken.verdict.verdict.applies(), "{what}: {}", taken.verdict.feedback);
    }
}

#[test]
fn whole_files_may_change_anything() {
    let file = python();
    for content in [
        file.replace("step_3", "other"),
        file.replace("    step_3()\n    step_4()\n", ""),
        format!("import x\n\n{file}"),
    ] {
        let judged = judged(&[("f.py", &file)], &json(&content));
        assert_eq!(
            after(&judged, "f.py"),
            Some(content),
            "{}",
            judged.verdict.feedback
        );
    }
}

const LINES: &str = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n";

#[test]
fn contradictory_evidence_is_refused() {
    let repeated = format!("x\ny\n{LINES}x\ny\n");
    let at_end = |line: &str| format!("--- a/f\n+++ b/f\n@@ -9,2 +9,3 @@\n i\n j\n+{line}\n");
    let files: &[(&str, &str)] = &[
        ("f", LINES),
        ("r", &repeated),
        ("g", "1\n2\n3\n"),
        ("packages/other/h", "z\n"),
    ];
    for (what, patch, expected) in [
        // The second hunk says line 13, and only line 1 is before the first.
        (
            "line against order",
            "--- a/r\n+++ b/r\n@@ -13,2 +13,2 @@\n x\n-y\n+Y\n@@ -7,1 +7,1 @@\n-e\n+E\n".to_owned(),
            "applies",
        ),
        (
            "line near another place than the order leaves",
            "--- a/r\n+++ b/r\n@@ -12,2 +12,2 @@\n x\n-y\n+Y\n@@ -7,1 +7,1 @@\n-e\n+E\n".to_owned(),
            "ambiguous P403",
        ),
        (
            "alternatives at the end",
            format!("{}{}", at_end("one"), at_end("two")),
            "applies",
        ),
        (
            "a directory that is there",
            "--- a/packages/other/g\n+++ b/packages/other/g\n@@ -1,3 +1,3 @@\n 1\n-2\n+TWO\n 3\n"
                .to_owned(),
            "context_not_found P501",
        ),
        (
            "lines to add after one that is not there",
            "--- a/ff\n+++ b/ff\n@@ -120,0 +121,2 @@\n+x\n+y\n".to_owned(),
            "context_not_found P501",
        ),
    ] {
        assert_eq!(words(&judged(files, &patch).verdict), expected, "{what}");
    }
}

#[test]
fn keeps_line_ends_of_file() {
    let patch = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\r\n+B\r\n c\n";
    let judged_lf = judged(&[("f", LINES)], patch);
    assert_eq!(words(&judged_lf.verdict), "applies_mended M411");
    assert_eq!(after(&judged_lf, "f"), Some(LINES.replace('b', "B")));
    let crlf = LINES.replace('\n', "\r\n");
    let judged_crlf = judged(&[("f", &crlf)], patch);
    assert_eq!(after(&judged_crlf, "f"), Some(crlf.replace('b', "B")));
}

#[test]
fn detects_cut_line_by_result_id() {
    let patch = |index: &str| {
        format!(
            "diff --git a/f b/f\n{index}--- a/f\n+++ b/f\n@@ -9,2 +9,3 @@\n i\n j\n+some text that is c"
        )
    };
    let with_id = patch("index 92dfa21b..1234567a 100644\n");
    assert_eq!(words(&judged_after(&with_id)), "malformed P104");
    assert_eq!(words(&judged_after(&patch(""))), "applies");
}

fn judged_after(patch: &str) -> mendit::documents::PatchVerdict {
    let options = JudgeOptions {
        after: After::Reported,
        ..JudgeOptions::default()
    };
    judge(patch.as_bytes(), &memory(&[("f", LINES)]), &options).verdict
}

// A second try that can copy only what the feedback shows.
#[test]
fn feedback_shows_current_lines() {
    let file = "def f():\n    name = args[0]\n    return name\n\ndef g():\n    return 2\n";
    let stale = "--- a/f.py\n+++ b/f.py\n@@ -1,3 +1,3 @@\n def f():\n-    name = argv[0]\n+    name = args[1]\n     return name\n";
    let first = judged(&[("f.py", file)], stale);
    assert_eq!(words(&first.verdict), "context_not_found P402");
    let shown: Vec<&str> = first
        .verdict
        .feedback
        .lines()
        .filter_map(|line| line.split_once(" | ").map(|(_, text)| text))
        .collect();
    let copied = shown.iter().find(|line| line.contains("name =")).unwrap();
    let second =
        format!("f.py\n<<<<<<< SEARCH\n{copied}\n=======\n    name = args[1]\n>>>>>>> REPLACE\n");
    let second = judged(&[("f.py", file)], &second);
    assert_eq!(
        after(&second, "f.py"),
        Some(file.replace("args[0]", "args[1]"))
    );
}

#[test]
fn shows_invisible_differences() {
    let file = "def f():\n    name = args[0]\u{a0}\n    return name\n";
    let patch = "--- a/f.py\n+++ b/f.py\n@@ -1,3 +1,2 @@\n def f():\n-    name = args[0]\n     return name\n";
    let judged = judged(&[("f.py", file)], patch);
    assert!(
        judged.verdict.feedback.contains("args[0]\\u{a0}"),
        "{}",
        judged.verdict.feedback
    );
}

// By the document's feedback and by the text for a person alike.
#[test]
fn escapes_lookalike_lines() {
    for (there, sent, shown_there, shown_sent, alike) in [
        (
            "pass_it(1)", "p\u{430}ss_it(1)", "`pass_it(1)`", "p\\u{430}ss_it(1)", true,
        ),
        (
            "x =\t1", "x = 1\u{200b}", "`x =\\t1`", "x = 1\\u{200b}", true,
        ),
        (
            "f(\"caf\u{e9}\")", "f(\"caf\u{e9}s\")", "`f(\"caf\u{e9}\")`", "caf\u{e9}s", false,
        ),
    ] {
        let place = super::support::repository(&[("f.py", format!("{there}\n").as_bytes())]);
        let patch = format!("--- a/f.py\n+++ b/f.py\n@@ -1 +1 @@\n-{sent}\n+here\n");
        for format in ["text", "json"] {
            let arguments = ["check", "-", "--format", format];
            let output = super::support::mendit(place.path(), &arguments, patch.as_bytes());
            let mut said = String::from_utf8(output.stdout).unwrap();
            if format == "json" {
                let verdict: serde_json::Value = serde_json::from_str(&said).unwrap();
                verdict["feedback"].as_str().unwrap().clone_into(&mut said);
            }
            assert!(said.contains(shown_there), "{format}: {said}");
            assert!(said.contains(shown_sent), "{format}: {said}");
            assert_eq!(said.contains("with their codes"), alike, "{format}: {said}");
        }
    }
}

#[test]
fn check_names_nearest_file_and_syntax_errors() {
    let place = super::support::repository(&[("src/utils.py", b"def f(a):\n    return a\n")]);
    let check = |patch: &str| {
        let output = super::support::mendit(place.path(), &["check", "-"], patch.as_bytes());
        String::from_utf8(output.stdout).unwrap()
    };
    let said =
        check("--- a/src/util.py\n+++ b/src/util.py\n@@ -2 +2 @@\n-    return a\n+    pass\n");
    assert!(said.contains("did you mean `src/utils.py`?"), "{said}");
    let said =
        check("--- a/src/utils.py\n+++ b/src/utils.py\n@@ -1 +1 @@\n-def f(a):\n+def f((a):\n");
    assert_eq!(said.matches("[P801]").count(), 1, "{said}");
    let said = check(
        "--- a/src/utils.py\n+++ b/src/utils.py\n@@ -2 +2,2 @@\n-    return a\n+    a.clear(\n+    return a\n",
    );
    assert!(said.contains("`a.clear(` does not parse"), "{said}");
}

#[test]
fn refusals_name_lines_added_twice_and_end_cut_off() {
    let file = b"def f(a):\n    first = a.one()\n    second = a.two()\n    third = a.three()\n    return third\n";
    let place = super::support::repository(&[("a.py", file)]);
    let check = |block: &str| {
        let output = super::support::mendit(place.path(), &["check", "-"], block.as_bytes());
        String::from_utf8(output.stdout).unwrap()
    };
    let said = check(
        "a.py\n<<<<<<< SEARCH\ndef f(a):\n    return third\n=======\ndef f(a):\n    first = a.one()\n    second = a.two()\n    return third\n>>>>>>> REPLACE\n",
    );
    assert!(
        said.contains("the hunk adds lines 2 to 3, which the file already has"),
        "{said}"
    );
    let said = check(
        "a.py\n<<<<<<< SEARCH\n    first = a.one()\n    second = a.t\n=======\n    first = a.uno()\n    second = a.t\n>>>>>>> REPLACE\n",
    );
    let help = "the hunk's last line may be cut off: line 3 of the file begins with it";
    assert!(said.contains(help), "{said}");
}

#[test]
fn batch_refuses_unparsable_result() {
    let place = super::support::repository(&[("a.py", b"x = 1\n")]);
    let job = |new: &str| {
        let edit = serde_json::json!({"path": "a.py", "old": "x = 1", "new": new}).to_string();
        serde_json::json!({"id": new, "patch": edit}).to_string()
    };
    let jobs = format!("{}\n{}\n", job("x = 2"), job("x = ("));
    let output = super::support::mendit(place.path(), &["check", "--batch", "-"], jobs.as_bytes());
    let said = String::from_utf8(output.stdout).unwrap();
    let codes: Vec<serde_json::Value> = said
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["errorCode"].clone())
        .collect();
    assert_eq!(codes, [serde_json::Value::Null, "P801".into()], "{said}");
}

#[test]
fn readable_data_stays_readable() {
    let options = JudgeOptions {
        after: After::Reported,
        ..JudgeOptions::default()
    };
    for (path, file, old, new, said) in [
        (
            "a.ipynb",
            "{\"source\": [\"rate = 0.2\\n\"]}\n",
            "0.2",
            "\"0.25\"",
            "refused P801",
        ),
        (
            "a.yml", "rate: 0.2\nlimits:\n  a: 1\n", "0.2\nlimits:", "0.2 limits: 1",
            "refused P801",
        ),
        (
            "a.yml", "rate: 0.2\nlimits:\n  a: 1\n", "0.2", "0.25", "applies",
        ),
        (
            "a.json", "{\"a\": {{ a }}}\n", "{{ a }}", "{{ b }}", "applies",
        ),
    ] {
        let edit = serde_json::json!({"path": path, "old": old, "new": new}).to_string();
        let judged = judge(edit.as_bytes(), &memory(&[(path, file)]), &options);
        assert_eq!(words(&judged.verdict), said, "{edit}");
    }
}
