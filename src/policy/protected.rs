use std::sync::{Arc, LazyLock};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::change::LET_PASS;
use super::globs::GlobList;
use super::read::{ReadPolicy, built_in, built_in_denial};
#[cfg(feature = "program")]
use crate::config::Patch;
use crate::model::{Code, PatchProblem, RepoPath};

/// Why a file is guarded, and how strictly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// What kind of file it is, in words.
    pub class: &'static str,
    /// When it is guarded.
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

/// The guard of a path; case does not count. What is never read is never written either.
#[must_use]
pub fn guard(path: &str) -> Option<Guard> {
    if let Some(row) = built_in_denial(path) {
        let when = match row.class {
            DenyClass::Credentials | DenyClass::Internals => When::Denied,
            DenyClass::Policy => When::Changed,
        };
        return by_table(path)
            .filter(|guard| guard.when == When::Denied)
            .or(Some(Guard {
                class: &row.guarded,
                when,
            }));
    }
    by_table(path)
}

fn by_table(path: &str) -> Option<Guard> {
    let row = GUARDS.first(path)?;
    Some(Guard {
        class: &row.class,
        when: row.when,
    })
}

// The file is part of the program, and a test reads it.
static GUARDS: LazyLock<GlobTable<GuardRow>> = LazyLock::new(|| {
    let read = crate::model::read_table::<GuardFile>(embedded!("policy/guards.toml"));
    GlobTable::new(read.map(|it| it.guard).unwrap_or_default(), |row| {
        &row.files
    })
});

#[derive(serde::Deserialize)]
struct GuardFile {
    guard: Vec<GuardRow>,
}

// A row of `guards.toml`.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct GuardRow {
    when: When,
    class: String,
    files: Vec<String>,
}

/// Rows that globs lead to.
pub(super) struct GlobTable<R> {
    globs: GlobList,
    // For each glob its row.
    rows: Vec<usize>,
    table: Vec<R>,
}

impl<R> GlobTable<R> {
    /// Globs without a slash mean "in any directory".
    pub(super) fn new(table: Vec<R>, globs: impl Fn(&R) -> &[String]) -> Self {
        let rows = table.iter().enumerate();
        let rows = rows.flat_map(|(at, row)| globs(row).iter().map(move |it| (at, anywhere(it))));
        let (rows, globs) = rows.unzip();
        let globs = GlobList::new(globs);
        Self { globs, rows, table }
    }

    /// The first row that a path falls under.
    pub(super) fn first(&self, path: &str) -> Option<&R> {
        let hits = self.globs.matches(&path.to_lowercase());
        self.table.get(*self.rows.get(*hits.first()?)?)
    }

    /// Every row, to hold in a test that each of its globs is asked.
    #[cfg(test)]
    pub(super) fn whole(&self) -> Option<&[R]> {
        let mut paths = self.globs.examples();
        paths.push("src/a.ts".to_owned());
        let agrees = paths.iter().all(|it| self.globs.agrees(it));
        agrees.then_some(&self.table)
    }
}

fn anywhere(pattern: &str) -> String {
    let anywhere = match pattern.strip_prefix('/') {
        Some(anchored) => anchored.to_owned(),
        None if pattern.contains('/') => pattern.to_owned(),
        None => format!("**/{pattern}"),
    };
    anywhere.to_lowercase()
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
            by_name: with_folders(globs)?,
            ..Self::default()
        })
    }

    /// What the settings allow and protect.
    ///
    /// # Errors
    /// As for [`Self::new`].
    #[cfg(feature = "program")]
    pub fn from_settings(settings: &Patch) -> Result<Self, String> {
        Ok(Self {
            by_name: with_folders(&settings.allow_protected)?,
            protected: with_folders(&settings.protected)?,
            ..Self::default()
        })
    }

    /// With what a person says of files to read, in place of the built-in list alone.
    #[must_use]
    pub fn reading(self, policy: ReadPolicy) -> Self {
        Self {
            reads: Some(Arc::new(policy)),
            ..self
        }
    }

    /// Why nothing of a file may be told, not even how a patch fails to fit it: it may not be read.
    /// What a person's own globs deny, and the less firm part of the list, may be let pass by name.
    #[must_use]
    pub fn closed(&self, path: &RepoPath) -> Option<PatchProblem> {
        let reads = self.reads.as_deref().unwrap_or_else(|| built_in());
        let refusal = reads.refuse(path)?;
        let class = guard(path.as_str()).map_or("may not be read", |guard| guard.class);
        match refusal.code {
            Code::C201 => Some(PatchProblem::new(
                Code::P702,
                format!("the file {class}: denied by policy"),
            )),
            Code::C203 | Code::C204 if !self.has(path.as_str()) => Some(PatchProblem::new(
                Code::P701,
                format!("the file {class}: {LET_PASS}"),
            )),
            _ => None,
        }
    }

    /// Whether the path is allowed.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        self.by_name.is_match(path)
    }

    /// The guard of a path: the table's, or that of a person.
    #[must_use]
    pub fn guard(&self, path: &str) -> Option<Guard> {
        let own = Guard {
            class: "is protected by your settings",
            when: When::Changed,
        };
        guard(path)
            .filter(|guard| guard.when != When::Created)
            .or_else(|| self.protected.is_match(path).then_some(own))
            .or_else(|| guard(path))
    }
}

fn with_folders(globs: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for text in globs {
        for pattern in [text.clone(), format!("{}/**", text.trim_end_matches('/'))] {
            let glob = GlobBuilder::new(&pattern)
                .literal_separator(true)
                .build()
                .map_err(|error| format!("`{text}`: {}", error.kind()))?;
            set.add(glob);
        }
    }
    set.build().map_err(|error| error.to_string())
}

/// One row of `deny.toml`.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DenyRow {
    /// Lower-case globs; any of them denies. Paths are compared in lower case.
    pub(super) globs: Vec<String>,
    /// Lower-case globs that are let through all the same.
    #[serde(default)]
    pub(super) except: Vec<String>,
    /// How firm the denial is, and its code.
    pub(super) class: DenyClass,
    /// What stands in such files, as the end of a sentence.
    pub(super) reason: String,
    /// Why a patch must not write them, after "the file".
    pub(super) guarded: String,
}

/// How firm a built-in denial is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum DenyClass {
    /// Holds credentials by its nature: never read, whatever the user allows.
    Credentials,
    /// Internals of git and other version control: never read.
    Internals,
    /// Not worth sending, or often private: a user's allow re-admits it.
    Policy,
}

impl DenyClass {
    /// The code of a refusal.
    pub(super) fn code(self) -> Code {
        match self {
            Self::Credentials | Self::Internals => Code::C201,
            Self::Policy => Code::C203,
        }
    }
}

/// The built-in deny list, in the order in which it is asked.
pub(super) fn deny_table() -> &'static [DenyRow] {
    &TABLE
}

#[derive(serde::Deserialize)]
struct File {
    deny: Vec<DenyRow>,
}

// The file is part of the program, and a test reads it.
static TABLE: LazyLock<Vec<DenyRow>> = LazyLock::new(|| {
    let read = crate::model::read_table::<File>(embedded!("policy/deny.toml"));
    read.map(|it| it.deny).unwrap_or_default()
});

#[cfg(test)]
mod tests {
    use super::{Allowed, GUARDS, When, guard};

    #[test]
    fn every_pattern_can_be_read() {
        let rows = GUARDS.whole().unwrap();
        let globs: usize = rows.iter().map(|row| row.files.len()).sum();
        assert!(globs > 300 && globs == GUARDS.rows.len());
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
    }

    #[test]
    fn allows_by_glob_and_by_directory() {
        let allowed = Allowed::new(&["tests".to_owned(), "**/*.lock".to_owned()]).unwrap();
        assert!(allowed.has("tests/a/b.py") && allowed.has("x/yarn.lock"));
        assert!(!allowed.has("src/tests.py") && Allowed::new(&["[".to_owned()]).is_err());
    }

    #[test]
    fn a_person_protects_more() {
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
