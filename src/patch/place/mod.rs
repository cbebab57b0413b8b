//! Where the lines of a hunk are in a file: pure functions over bytes.

mod align;
mod counts;
mod explain;
mod file;
mod hunk;
mod indent;
mod placed;
mod site;
mod work;

pub(super) use explain::explain_refusal;
pub(super) use file::place;
pub(super) use hunk::Placement;
pub(super) use placed::Placed;
pub(super) use site::Site;
pub(super) use work::Work;

#[cfg(test)]
mod trial {
    use crate::model::RepoPath;
    use crate::patch::{JudgeOptions, judge};
    use crate::source::Memory;

    /// The words of the verdict, and the file after it.
    pub(super) fn tried(file: &str, body: &str) -> (String, Option<String>) {
        let patch = format!(
            "--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n{body}--- a/g\n+++ b/g\n@@ -1 +1 @@\n-g\n+h\n"
        );
        tried_patch(file, &patch)
    }

    pub(super) fn tried_patch(file: &str, patch: &str) -> (String, Option<String>) {
        let source = Memory::new(
            [("f", file), ("g", "g\n")]
                .map(|(path, text)| (RepoPath::new(path).unwrap(), text.as_bytes().to_vec())),
        );
        let judged = judge(patch.as_bytes(), &source, &JudgeOptions::default());
        let mut codes: Vec<String> = judged
            .verdict
            .mends
            .iter()
            .map(|mend| mend.code.to_string())
            .filter(|code| code.as_str() > "M413")
            .collect();
        codes.extend(judged.verdict.error_code.map(|code| code.to_string()));
        let after = judged.changes.iter().find(|change| change.path.as_str() == "f");
        let after = after.and_then(|change| change.after.as_ref());
        (
            codes.join(" "),
            after.map(|state| String::from_utf8(state.bytes.to_vec()).unwrap()),
        )
    }

    /// Expects these mends or this refusal of a hunk that another file follows, and this change of the file.
    #[track_caller]
    pub(super) fn expect(file: &str, hunk: &str, codes: &str, change: Option<(&str, &str)>) {
        let more = "--- a/g\n+++ b/g\n@@ -1 +1 @@\n-g\n+h\n";
        expect_last(file, &format!("{hunk}{more}"), codes, change);
    }

    /// The same for a hunk that ends the input.
    #[track_caller]
    pub(super) fn expect_last(file: &str, hunk: &str, codes: &str, change: Option<(&str, &str)>) {
        let source = Memory::named([("f", file), ("g", "g\n")]);
        let patch = format!("--- a/f\n+++ b/f\n{hunk}");
        let judged = judge(patch.as_bytes(), &source, &JudgeOptions::default());
        let found = judged.verdict.mends.iter().map(|mend| mend.code.to_string());
        let found = found.chain(judged.verdict.error_code.map(|code| code.to_string()));
        let mut changes = judged.changes.iter().filter(|change| change.path.as_str() == "f");
        let result = changes.next().and_then(|change| change.after.as_ref());
        let result = result.map(|state| String::from_utf8(state.bytes.to_vec()).unwrap());
        let after = change.map(|(old, new)| file.replacen(old, new, 1));
        let found = found.collect::<Vec<_>>().join(" ");
        assert_eq!((found, result), (codes.to_owned(), after), "{hunk}");
    }
}
