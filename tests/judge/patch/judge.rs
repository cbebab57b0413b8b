use super::support::{after, judged, words};

const FILE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
const AFTER: &str = "one\ntwo\nthree\nFOUR\nfive\nsix\nseven\neight\n";

// Every row: what is special about the patch, the patch, the words of the verdict.
#[test]
fn mends_unambiguous_patches() {
    for (what, patch, expected) in [
        (
            "nothing",
            "--- a/f\n+++ b/f\n@@ -2,5 +2,5 @@\n two\n three\n-four\n+FOUR\n five\n six\n",
            "applies",
        ),
        (
            "no change",
            "--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n two\n three\n",
            "already_applied M301 M401",
        ),
        (
            "no change and no end",
            "--- a/f\n+++ b/f\n@@ -2,5 +2,5 @@\n two\n three\n",
            "malformed P305",
        ),
        (
            "counts",
            "--- a/f\n+++ b/f\n@@ -2,9 +2,1 @@\n two\n three\n-four\n+FOUR\n five\n six\n",
            "applies_mended M301",
        ),
        (
            "number",
            "--- a/f\n+++ b/f\n@@ -7,5 +7,5 @@\n two\n three\n-four\n+FOUR\n five\n six\n",
            "applies",
        ),
        (
            "no number",
            "--- a/f\n+++ b/f\n@@\n two\n-four\n",
            "context_not_found P401",
        ),
        (
            "bare header",
            "--- a/f\n+++ b/f\n@@ ... @@\n three\n-four\n+FOUR\n five\n",
            "applies_mended M401",
        ),
        (
            "no header",
            "--- a/f\n+++ b/f\n three\n-four\n+FOUR\n five\n",
            "applies_mended M401",
        ),
        (
            "no space",
            "--- a/f\n+++ b/f\n@@ -3,3 +3,3 @@\nthree\n-four\n+FOUR\nfive\n",
            "applies_mended M303",
        ),
        (
            "blank at end",
            "--- a/f\n+++ b/f\n@@ -3,3 +3,3 @@\n three \n-four\n+FOUR\n five\n",
            "applies_mended M403",
        ),
        (
            "no prefix",
            "--- f\n+++ f\n@@ -3,3 +3,3 @@\n three\n-four\n+FOUR\n five\n",
            "applies",
        ),
        (
            "other root",
            "--- a/x/y/f\n+++ b/x/y/f\n@@ -3,3 +3,3 @@\n three\n-four\n+FOUR\n five\n",
            "context_not_found P501",
        ),
        (
            "CR LF",
            "--- a/f\r\n+++ b/f\r\n@@ -3,3 +3,3 @@\r\n three\r\n-four\r\n+FOUR\r\n five\r\n",
            "applies_mended M101",
        ),
        (
            "fence",
            "So:\n```diff\n--- a/f\n+++ b/f\n@@ -3,3 +3,3 @@\n three\n-four\n+FOUR\n five\n```\n- done\n",
            "applies",
        ),
        (
            "repeated",
            "--- a/f\n+++ b/f\n@@ -3,3 +3,3 @@\n three\n-four\n+FOUR\n five\n@@ -3,3 +3,3 @@\n three\n-four\n+FOUR\n five\n",
            "applies_mended M304",
        ),
        (
            "blocks",
            "f\n<<<<<<< SEARCH\nthree\nfour\n=======\nthree\nFOUR\n>>>>>>> REPLACE\n",
            "applies",
        ),
        (
            "in a list",
            "1. So:\n   ```\n   --- a/f\n   +++ b/f\n   @@ -3,3 +3,3 @@\n    three\n   -four\n   +FOUR\n    five\n   ```\n",
            "applies_mended M101",
        ),
        (
            "double spaced",
            "--- a/f\n\n+++ b/f\n\n@@ -3,3 +3,3 @@\n\n three\n\n-four\n\n+FOUR\n\n five\n\n",
            "applies_mended M101",
        ),
        (
            "line numbers",
            "--- a/f\n+++ b/f\n@@ -3,3 +3,3 @@\n 3 3  three\n 4   -four\n   4 +FOUR\n 5 5  five\n",
            "applies_mended M101",
        ),
        (
            "blank behind marks",
            "--- a/f\n+++ b/f\n@@ -3,3 +3,3 @@\n three\n- four\n+ FOUR\n five\n",
            "applies_mended M303",
        ),
        (
            "envelope",
            "*** Begin Patch\n*** Update File: f\n@@\n three\n-four\n+FOUR\n*** End Patch\n",
            "applies",
        ),
        (
            "a scope that is not there",
            "*** Begin Patch\n*** Update File: f\n@@ class Basket:\n three\n-four\n+FOUR\n five\n*** End Patch\n",
            "applies",
        ),
        (
            "edits",
            r#"{"edits":[{"path":"f","old":"four","new":"FOUR"}]}"#,
            "applies",
        ),
        (
            "edits of Python",
            "{'edits': [{'path': 'f', 'old': 'four', 'new': 'FOUR', 'all': False},]}",
            "applies",
        ),
        (
            "lines of a diff",
            r#"{"patch": ["--- a/f", "+++ b/f", "@@ -3,3 +3,3 @@", " three", "-four", "+FOUR", " five"]}"#,
            "applies",
        ),
    ] {
        let judged = judged(&[("f", FILE)], patch);
        assert_eq!(
            words(&judged.verdict),
            expected,
            "{what}: {}",
            judged.verdict.feedback
        );
        if judged.verdict.verdict.applies() {
            assert_eq!(after(&judged, "f").as_deref(), Some(AFTER), "{what}");
        }
    }
}

#[test]
fn refuses_ambiguous_patches() {
    let twice = "a\nx\nb\na\nx\nb\n";
    for (what, file, patch, expected) in [
        (
            "two places",
            twice,
            "--- a/f\n+++ b/f\n@@ -3,3 +3,3 @@\n a\n-x\n+y\n b\n",
            "ambiguous P403",
        ),
        (
            "invented line",
            FILE,
            "--- a/f\n+++ b/f\n@@ -3,3 +3,3 @@\n three\n-vier\n+FOUR\n five\n",
            "context_not_found P402",
        ),
        (
            "invented context",
            FILE,
            "--- a/f\n+++ b/f\n@@ -3,3 +3,3 @@\n drei\n-four\n+FOUR\n five\n",
            "context_not_found P401",
        ),
        (
            "cut off",
            FILE,
            "--- a/f\n+++ b/f\n@@ -2,6 +2,6 @@\n two\n three\n-four\n+FO",
            "malformed P104",
        ),
        (
            "new and old",
            FILE,
            "diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n",
            "malformed P205",
        ),
        (
            "spoofed",
            FILE,
            "diff --git a/g b/g\n--- a/f\n+++ b/f\n@@ -3,3 +3,3 @@\n three\n-four\n+FOUR\n five\n",
            "malformed P202",
        ),
        (
            "a blank behind the mark",
            FILE,
            "--- a/f\n+++ b/f\n@@ -3,2 +3,3 @@\n three\n+ drei\n four\n",
            "context_not_found P311",
        ),
        ("nothing", FILE, "hello\n", "malformed P102"),
        ("ed", FILE, "4d\n4a\nx\n.\n", "malformed P102"),
        (
            "only added",
            FILE,
            "--- a/f\n+++ b/f\n@@ @@\n+FOUR\n",
            "context_not_found P410",
        ),
        (
            "outside",
            FILE,
            "--- /dev/null\n+++ b/../f\n@@ -0,0 +1 @@\n+x\n",
            "unsafe P503",
        ),
        (
            "git",
            FILE,
            "--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+x\n",
            "unsafe P504",
        ),
        (
            "denied",
            FILE,
            "--- /dev/null\n+++ b/.env\n@@ -0,0 +1 @@\n+x\n",
            "refused P702",
        ),
    ] {
        let judged = judged(&[("f", file)], patch);
        assert_eq!(
            words(&judged.verdict),
            expected,
            "{what}: {:?}",
            judged.verdict.problems
        );
        assert!(
            judged.changes.is_empty() && !judged.verdict.feedback.is_empty(),
            "{what}"
        );
    }
}

#[test]
fn reports_first_mismatch() {
    let patch = "--- a/f\n+++ b/f\n@@ -2,4 +2,4 @@\n two\n drei\n-four\n+FOUR\n five\n";
    let judged = judged(&[("f", FILE)], patch);
    let hunk = &judged.verdict.files[0].hunks[0];
    let difference = hunk.mismatch.difference.as_ref().unwrap();
    assert_eq!((difference.patch_line, difference.file_line), (5, 3));
    assert_eq!(
        (difference.expected.as_str(), difference.actual.as_deref()),
        ("drei", Some("three"))
    );
    // Below a blank line that the file has not there.
    let blank = "--- a/f\n+++ b/f\n@@ -2,4 +2,4 @@\n \n drei\n-four\n+FOUR\n five\n";
    let judged = super::support::judged(&[("f", FILE)], blank);
    let hunk = &judged.verdict.files[0].hunks[0];
    let difference = hunk.mismatch.difference.as_ref().unwrap();
    assert_eq!((difference.patch_line, difference.file_line), (5, 3));
}

#[test]
fn detects_applied_patch() {
    let patch = "--- a/f\n+++ b/f\n@@ -3,3 +3,3 @@\n three\n-four\n+FOUR\n five\n";
    assert_eq!(
        words(&judged(&[("f", AFTER)], patch).verdict),
        "already_applied"
    );
    let insertion = "--- a/f\n+++ b/f\n@@ -7,2 +7,4 @@\n seven\n eight\n+nine\n+ten\n";
    let grown = format!("{FILE}nine\nten\n");
    assert_eq!(
        words(&judged(&[("f", &grown)], insertion).verdict),
        "already_applied"
    );
}

#[test]
fn keeps_the_line_ends_of_the_file() {
    let file = FILE.replace('\n', "\r\n");
    let patch = "--- a/f\n+++ b/f\n@@ -3,3 +3,3 @@\n three\n-four\n+FOUR\n five\n";
    let judged = judged(&[("f", &file)], patch);
    assert_eq!(words(&judged.verdict), "applies_mended M411");
    assert_eq!(after(&judged, "f"), Some(AFTER.replace('\n', "\r\n")));
}

#[test]
fn ignores_misplaced_mark_at_context() {
    let mark = "\\ No newline at end of file\n";
    let head = "--- a/f\n+++ b/f\n@@ -3,3 +3,3 @@\n three\n-four\n";
    let context = judged(&[("f", FILE)], &format!("{head}+FOUR\n five\n{mark}"));
    assert_eq!(words(&context.verdict), "applies_mended M411");
    assert_eq!(after(&context, "f").as_deref(), Some(AFTER));
    let removed = judged(&[("f", FILE)], &format!("{head}{mark}+FOUR\n five\n"));
    assert_eq!(words(&removed.verdict), "context_not_found P306");
}

#[test]
fn survives_hostile_input() {
    let file = "}\n".repeat(20_000);
    let mut patch = "--- a/f\n+++ b/f\n".to_owned();
    for line in 1..5_000 {
        patch.push_str(&format!("@@ -{line},3 +{line},3 @@\n }}\n-x\n+y\n }}\n"));
    }
    assert!(!judged(&[("f", &file)], &patch).verdict.verdict.applies());
}

// What would be looked at again for each of its lines.
#[test]
fn survives_hostile_replies() {
    let file = "a\n".repeat(20_000);
    let edits = |count: usize| {
        let edit = |at| serde_json::json!({"path": "f", "old": format!("q{at}"), "new": "r"});
        (0..count).map(edit).collect::<serde_json::Value>().to_string()
    };
    let packets = (0..60_000).map(|at| serde_json::json!({"patch": format!("q{at}")}));
    let diff = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+y\n\n";
    let options = "Option A\n".repeat(100_000);
    let missing = (0..3_000).map(|at| format!("--- a/m{at}.txt\n+++ b/m{at}.txt\n{diff}"));
    let block = format!("f\n<<<<<<< SEARCH\n{}", "a\n".repeat(10_000));
    for reply in [
        "```a\n".repeat(100_000),
        "<".repeat(1_000_000) + ">",
        edits(20_000),
        packets.collect::<serde_json::Value>().to_string(),
        format!("{options}{diff}{options}{diff}"),
        format!("{block}=======\nb\n=======\nc\n>>>>>>> REPLACE\n"),
        missing.collect(),
    ] {
        let file = if reply.starts_with("f\n") { file.as_str() } else { "a\n" };
        assert!(!judged(&[("f", file)], &reply).verdict.verdict.applies());
    }
    let rows = (0..60_000).map(|at| format!("{:0>150}\n", at * 7919));
    let many = [("f", &*rows.collect::<String>())];
    let hunk = |at: usize| format!("@@ -{at} +{at} @@\n-{}\n+x\n", "word ".repeat(40 - at));
    let hunks: String = (1..9).map(hunk).collect();
    let unlike = judged(&many, &format!("--- a/f\n+++ b/f\n{hunks}"));
    assert_eq!(words(&unlike.verdict), "context_not_found P402");
}

#[test]
fn leaves_unchanged_file() {
    let patch = "--- a/f\n+++ b/f\n@@ -3,2 +3,2 @@\n-three\n+THREE\n four\n\
                 --- a/g\n+++ b/g\n@@ -1,2 +1,2 @@\n x\n y\n";
    let judged = judged(&[("f", FILE), ("g", "x\ny\n")], patch);
    assert_eq!(words(&judged.verdict), "applies_mended M304");
    assert_eq!(judged.changes.len(), 1);
}

#[test]
fn refuses_cut_last_line_with_wrong_counts() {
    let patch = "--- a/f\n+++ b/f\n@@ -7,1 +7,1 @@\n seven\n eight\n+nine(";
    assert_eq!(
        words(&judged(&[("f", FILE)], patch).verdict),
        "malformed P104"
    );
}

#[test]
fn reports_new_mode_only() {
    let patch = "diff --git a/n b/n\nnew file mode 100755\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+1\ndiff --git a/g b/g\n\
                 deleted file mode 100644\n--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n";
    let verdict = judged(&[("g", "gone\n")], patch).verdict;
    let modes = verdict.files.iter().map(|file| file.mode.as_deref());
    assert_eq!(modes.collect::<Vec<_>>(), [Some("100755"), None]);
}
