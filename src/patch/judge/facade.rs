//! The public validator over files in memory.

use super::options::{After, JudgeOptions, Judged};
use super::pipeline::judge;
use crate::policy::Allowed;
use crate::source::{Memory, Skipped, Source};

/// Checks replies against files in memory, as `mendit check` does against those of a repository.
///
/// It reads every form that agents send, computes the files after the patch, and writes nothing: the changes
/// are in [`Judged::changes`].
///
/// ```
/// use mendit::Judge;
///
/// let judge = Judge::new([("src/a.py", "def f():\n    return 1\n")]);
/// let reply = "Here you are:\n\n```diff\n--- a/src/a.py\n+++ b/src/a.py\n@@ ... @@\n def f():\n-    return 1\n+    return 2\n```\n";
/// let judged = judge.judge(reply);
/// assert!(judged.applies());
/// assert_eq!(judged.after("src/a.py"), Some(&b"def f():\n    return 2\n"[..]));
/// ```
///
/// A refusal says in [`PatchVerdict::feedback`](crate::model::PatchVerdict::feedback) what a model
/// needs to do better:
///
/// ```
/// # use mendit::Judge;
/// let judge = Judge::new([("a.py", "def total(rows):\n    return sum(rows)\n")]);
/// let reply = "a.py\n<<<<<<< SEARCH\ndef total(rows):\n    return len(rows)\n=======\ndef total(rows):\n    return max(rows)\n>>>>>>> REPLACE\n";
/// let judged = judge.judge(reply);
/// assert!(!judged.applies());
/// assert!(judged.verdict.feedback.contains("return sum(rows)"), "{}", judged.verdict.feedback);
/// ```
pub struct Judge {
    files: Memory,
    options: JudgeOptions<'static>,
}

impl Judge {
    /// Takes the files that a reply may be about, with paths relative to the root of the
    /// repository. What is no such path is left out, see [`Judge::skipped`].
    pub fn new<P: AsRef<str>, B: Into<Vec<u8>>>(files: impl IntoIterator<Item = (P, B)>) -> Self {
        let options = JudgeOptions {
            after: After::Reported,
            ..JudgeOptions::default()
        };
        Self {
            files: Memory::named(files),
            options,
        }
    }

    /// Mends nothing.
    pub fn strict(mut self, strict: bool) -> Self {
        self.options.strict = strict;
        self
    }

    /// Takes a reply at its word: placeholders, whole files without their rest, and text that no
    /// longer parses are written as they are.
    pub fn as_written(mut self, as_written: bool) -> Self {
        self.options.as_written = as_written;
        self
    }

    /// Lets protected files change that match one of these globs; a plain path means itself and
    /// all below it.
    ///
    /// # Errors
    /// The glob that cannot be read, and why.
    pub fn allow_protected(mut self, globs: &[String]) -> Result<Self, String> {
        self.options.allowed = Allowed::new(globs)?;
        Ok(self)
    }

    /// What was given and is no path inside a repository.
    pub fn skipped(&self) -> &[Skipped] {
        self.files.listing().skipped()
    }

    /// Judges a reply: a patch in any form that is read, with whatever surrounds it.
    pub fn judge(&self, reply: impl AsRef<[u8]>) -> Judged {
        judge(reply.as_ref(), &self.files, &self.options)
    }
}

#[cfg(test)]
mod tests {
    use super::Judge;
    use crate::model::Code;

    const EDIT: &str = r#"{"path": "a.py", "old": "x = 1", "new": "x = 2"}"#;

    #[test]
    fn judge_follows_options() {
        let judge = || Judge::new([("a.py", "x = 1\n"), ("Makefile", "all:\n")]);
        assert_eq!(judge().judge(EDIT).after("a.py"), Some(&b"x = 2\n"[..]));
        let protected = "--- a/Makefile\n+++ b/Makefile\n@@ -1 +1,2 @@\n all:\n+\ttrue\n";
        let refused = judge().judge(protected);
        assert_eq!(refused.verdict.error_code, Some(Code::P701));
        assert_eq!(refused.after("Makefile"), None);
        let allowed = judge().allow_protected(&["Makefile".to_owned()]).unwrap();
        assert!(allowed.judge(protected).applies());
        assert!(judge().allow_protected(&["[".to_owned()]).is_err());
        let broken = EDIT.replace("x = 2", "x = (");
        assert_eq!(judge().judge(&broken).verdict.error_code, Some(Code::P801));
        assert!(judge().as_written(true).judge(&broken).applies());
    }

    #[test]
    fn reports_names_that_are_no_paths() {
        let judge = Judge::new([("../a", "1\n"), ("/b", "2\n"), ("c", "3\n")]);
        let skipped: Vec<_> = judge.skipped().iter().map(|entry| &*entry.lossy_path).collect();
        assert_eq!(skipped, ["../a", "/b"]);
    }
}
