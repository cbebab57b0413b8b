//! Which files are not read, which a patch must not write, and which of these a person lets pass: the rows of
//! `protected.toml`, and the person's own globs for and against.

use std::sync::{Arc, LazyLock};

use globset::GlobSet;

use super::change::LET_PASS;
use super::globs::{PathRow, PathTable, compile_globs};
use super::read::{DenyClass, ReadPolicy};
#[cfg(feature = "program")]
use crate::config::Patch;
use crate::model::{Code, PatchProblem, RepoPath, parse_rows};

/// Why a file is guarded, and how strictly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// The kind of the file, as the end of "the file ...".
    pub class: &'static str,
    /// When the guard holds.
    pub when: When,
}

/// When a guard holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// Always, even when the path is allowed by name.
    Denied,
    /// Unless the path is allowed by name.
    Changed,
    /// For new files, unless the path is allowed by name.
    Created,
}

/// Returns the guard of a path. A file that is never read is never written either.
pub fn guard(path: &str) -> Option<Guard> {
    let row = PROTECTED.find(path)?;
    Some(Guard {
        class: row.class,
        when: row.when,
    })
}

/// Returns the row by which a file is not read.
pub(super) fn read_denial(path: &str) -> Option<&'static ProtectedRow> {
    PROTECTED.find_where(path, |row| row.read.is_some())
}

static PROTECTED: LazyLock<PathTable<ProtectedRow>> =
    LazyLock::new(|| PathTable::new(parse_rows(embedded!("policy/protected.toml"))));

/// One row of `protected.toml`.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProtectedRow {
    when: When,
    class: &'static str,
    files: Vec<&'static str>,
    #[serde(default)]
    except: Vec<&'static str>,
    /// How firmly the file is not read.
    pub(super) read: Option<DenyClass>,
    /// Why such files are not read, as the end of a sentence.
    #[serde(default)]
    pub(super) reason: &'static str,
}

impl PathRow for ProtectedRow {
    fn globs(&self) -> &[&'static str] {
        &self.files
    }

    fn exceptions(&self) -> &[&'static str] {
        &self.except
    }
}

/// Paths that a person allowed by name, and those that a person protects besides the table.
#[derive(Debug, Clone, Default)]
pub struct Allowed {
    by_name: GlobSet,
    protected: GlobSet,
    reads: Option<Arc<ReadPolicy>>,
}

impl Allowed {
    /// Reads globs as given on the command line; a plain path means itself and all below it.
    ///
    /// # Errors
    /// The glob that cannot be read, and why.
    pub fn new(globs: &[String]) -> Result<Self, String> {
        Ok(Self {
            by_name: compile_paths(globs)?,
            ..Self::default()
        })
    }

    /// Returns what the settings allow and protect.
    ///
    /// # Errors
    /// As for [`Self::new`].
    #[cfg(feature = "program")]
    pub fn from_settings(settings: &Patch) -> Result<Self, String> {
        let protected = compile_paths(&settings.protected)?;
        Ok(Self {
            protected,
            ..Self::new(&settings.allow_protected)?
        })
    }

    /// Replaces the built-in list of files that may be read.
    pub fn reading(self, policy: ReadPolicy) -> Self {
        Self {
            reads: Some(Arc::new(policy)),
            ..self
        }
    }

    /// Why nothing about a file may be shown, not even how a patch fails to fit it: it may not be read. Naming
    /// a path overrides the user's own globs and the policy rows, not the credential rows.
    pub fn closed(&self, path: &RepoPath) -> Option<PatchProblem> {
        let refusal = match &self.reads {
            Some(reads) => reads.refuse(path),
            None => ReadPolicy::default().refuse(path),
        }?;
        let class = guard(path.as_str()).map_or("may not be read", |guard| guard.class);
        let (code, hint) = match refusal.code {
            Code::C201 => (Code::P702, "denied by policy"),
            Code::C203 | Code::C204 if !self.has(path.as_str()) => (Code::P701, LET_PASS),
            _ => return None,
        };
        Some(PatchProblem::new(code, format!("the file {class}: {hint}")))
    }

    /// Whether the path is allowed.
    pub fn has(&self, path: &str) -> bool {
        self.by_name.is_match(path.to_lowercase())
    }

    /// Returns the guard of a path: the table's, or that of a person.
    pub fn guard(&self, path: &str) -> Option<Guard> {
        let (class, when) = ("is protected by your settings", When::Changed);
        let is_own = self.protected.is_match(path.to_lowercase());
        match guard(path) {
            Some(guard) if guard.when != When::Created => Some(guard),
            _ if is_own => Some(Guard { class, when }),
            found => found,
        }
    }
}

fn compile_paths(globs: &[String]) -> Result<GlobSet, String> {
    let globs: Vec<String> = globs
        .iter()
        .flat_map(|glob| {
            [
                format!("/{}", glob.trim_start_matches('/')),
                format!("/{}/", glob.trim_matches('/')),
            ]
        })
        .collect();
    compile_globs(&globs).map_err(|(glob, why)| format!("`{}`: {why}", glob.trim_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::{Allowed, PROTECTED, When, guard};

    #[test]
    fn every_pattern_can_be_read() {
        let (rows, globs, broken) = PROTECTED.count();
        assert!(rows > 15 && globs > 400 && broken == 0);
    }

    #[test]
    fn guards_by_name_and_place() {
        let when = |path| guard(path).map(|guard| guard.when);
        assert_eq!(when("a/.ENV"), Some(When::Denied));
        assert_eq!(when(".github/workflows/ci.yml"), Some(When::Changed));
        assert_eq!(when("sub/.vscode/tasks.json"), Some(When::Changed));
        assert_eq!(when("Setup.py"), Some(When::Changed));
        assert_eq!(when("app/tasks.py"), None);
        assert_eq!(when("tasks.py"), Some(When::Changed));
        assert_eq!(when("packages/a/package-lock.json"), Some(When::Changed));
        assert_eq!(when(".github/x.md"), None);
        assert_eq!(when(".env.example"), None);
        assert_eq!(when("src/makefile.ts"), None);
        assert_eq!(when("pytest.py"), Some(When::Created));
        assert_eq!(when("src/unittest/__init__.py"), Some(When::Created));
        assert_eq!(when("shop/pytest.py"), None);
    }

    #[test]
    fn allows_by_glob_and_by_directory() {
        let allowed = Allowed::new(&["tests".to_owned(), "**/*.lock".to_owned()]).unwrap();
        assert!(allowed.has("tests/a/b.py") && allowed.has("x/yarn.lock"));
        assert!(!allowed.has("src/tests.py") && Allowed::new(&["[".to_owned()]).is_err());
    }

    #[test]
    fn user_globs_extend_protected() {
        let allowed = Allowed::from_settings(&crate::config::Patch {
            protected: vec!["api".to_owned(), "a.gradle".to_owned()],
            allow_protected: vec!["api/open.ts".to_owned()],
            ..crate::config::Patch::default()
        })
        .unwrap();
        let when = |path| allowed.guard(path).map(|guard| guard.when);
        assert_eq!(when("api/v1/schema.ts"), Some(When::Changed));
        assert_eq!(when("a.gradle"), Some(When::Changed));
        assert_eq!(when("sub/a.gradle"), Some(When::Created));
        assert_eq!(when(".env"), Some(When::Denied));
        assert_eq!(when("src/a.ts"), None);
        assert!(allowed.has("api/open.ts"));
    }
}
