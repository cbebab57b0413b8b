use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::format::Format;
use crate::policy::protected::GlobTable;

/// A manifest that a repair may change in part: a row of `manifests.toml`.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    names: Vec<String>,
    pub(super) format: Format,
    /// Keys that may change, `*` for any one key or any end of one and `**` for all below.
    pub(super) may_change: BTreeMap<Permit, Vec<String>>,
}

#[derive(serde::Deserialize)]
struct File {
    manifest: Vec<Manifest>,
}

// The file is part of the program, and a test reads it.
static MANIFESTS: LazyLock<GlobTable<Manifest>> = LazyLock::new(|| {
    let read = crate::model::read_table::<File>(embedded!("policy/manifest/manifests.toml"));
    GlobTable::new(read.map(|it| it.manifest).unwrap_or_default(), |row| {
        &row.names
    })
});

/// How a key may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Permit {
    /// In any way.
    Free,
    /// As a dependency of npm: `name: range`.
    Npm,
    /// As requirements of Python, in a list or one a line.
    Python,
    /// As dependencies whose value is a version or a table.
    Table,
    /// As aliases of modules, but for those of test runners.
    Alias,
    /// To what finds more.
    Stricter,
}

impl Permit {
    /// Whether it says what is installed.
    pub(super) fn is_dependency(self) -> bool {
        matches!(self, Self::Npm | Self::Python | Self::Table)
    }
}

/// The rules of a manifest, by its name; `None` when the file is none.
pub(super) fn manifest(path: &str) -> Option<&'static Manifest> {
    MANIFESTS.first(path)
}

impl Manifest {
    /// How the key at a path may change; `None` when it may not.
    pub(super) fn permit(&self, path: &[&str]) -> Option<Permit> {
        let mut rows = self.may_change.iter();
        let row = rows.find(|(_, keys)| keys.iter().any(|key| fits(key, path)));
        row.map(|(permit, _)| *permit)
    }
}

fn fits(row: &str, path: &[&str]) -> bool {
    let mut keys = path.iter();
    for part in row.split('.') {
        if part == "**" {
            return true;
        }
        match keys.next() {
            Some(key) if *key == part => {}
            Some(key) if part.strip_suffix('*').is_some_and(|it| key.starts_with(it)) => {}
            _ => return false,
        }
    }
    keys.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::{MANIFESTS, Permit, manifest};

    #[test]
    fn names_are_globs_and_lead_to_rules() {
        assert!(MANIFESTS.whole().is_some_and(|rows| rows.len() > 7));
        for path in [
            "package.json",
            "a/package.json",
            "Requirements-dev.txt",
            "requirements/ci.txt",
            "tsconfig.build.json",
            "setup.cfg",
        ] {
            assert!(manifest(path).is_some(), "{path}");
        }
        for path in ["src/package.json.ts", "requirements.md", "my.toml"] {
            assert!(manifest(path).is_none(), "{path}");
        }
    }

    #[test]
    fn what_no_row_names_may_not_change() {
        let permit = |path: &[&str]| manifest("package.json").unwrap().permit(path);
        assert_eq!(permit(&["version"]), Some(Permit::Free));
        assert_eq!(permit(&["bugs", "url"]), Some(Permit::Free));
        assert_eq!(permit(&["dependencies", "a"]), Some(Permit::Npm));
        assert_eq!(permit(&["dependencies", "a", "b"]), None);
        assert_eq!(permit(&["dependencies"]), None);
        assert_eq!(permit(&["scripts", "test"]), None);
        assert_eq!(permit(&[]), None);
    }
}
