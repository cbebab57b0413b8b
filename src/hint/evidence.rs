//! The evidence for an import candidate.

use std::collections::BTreeMap;

use crate::model::{DefinitionKind, HintSource, Import, RepoPath};

/// What may be imported under a name: the module as the file would write it, and the name inside it (`*` for
/// the module itself, `default` for its default export).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    pub(super) module: String,
    pub(super) imported: String,
    /// The file of the repository that the module is.
    pub(super) path: Option<RepoPath>,
}

impl Candidate {
    pub(super) fn new(
        module: impl Into<String>,
        imported: impl Into<String>,
        path: Option<RepoPath>,
    ) -> Self {
        let (module, imported) = (module.into(), imported.into());
        Self {
            module,
            imported,
            path,
        }
    }
}

/// The weight of the evidence for a candidate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Weight {
    /// Importers, each by its nearness.
    pub(super) votes: u64,
    /// Importers.
    pub(super) count: u32,
    /// Importers that take it for types alone.
    pub(super) types: u32,
    /// The module itself defines it.
    pub(super) defines: Option<DefinitionKind>,
    /// Nearness of the definition.
    pub(super) near: u64,
    /// The module passes it on.
    pub(super) passes_on: bool,
    /// The package is installed and exports it.
    pub(super) installed: bool,
    /// Names that the file takes from the module, which cannot be looked into.
    pub(super) beside: u32,
    /// A table or manifest knows it.
    pub(super) outside: Option<HintSource>,
}

impl Weight {
    /// Weight of a file that imports the name.
    pub(super) fn vote(votes: u64, import: &Import) -> Self {
        Self {
            votes,
            count: 1,
            types: u32::from(import.type_only),
            ..Self::default()
        }
    }

    /// Weight of a module that defines or re-exports the name, at nearness `near`.
    pub(super) fn offer(defines: Option<DefinitionKind>, near: u64) -> Self {
        Self {
            defines,
            passes_on: defines.is_none(),
            near,
            ..Self::default()
        }
    }

    /// Weight of an entry in a table of known names or in a manifest.
    pub(super) fn outside(from: HintSource, erased: bool) -> Self {
        Self {
            outside: Some(from),
            types: u32::from(erased),
            ..Self::default()
        }
    }
}

/// Everything found for one name.
#[derive(Debug, Default)]
pub(super) struct Evidence(pub(super) BTreeMap<Candidate, Weight>);

impl Evidence {
    pub(super) fn add(&mut self, candidate: Candidate, more: &Weight) {
        let sum = self.0.entry(candidate).or_default();
        sum.votes += more.votes;
        sum.count += more.count;
        sum.types += more.types;
        sum.near = sum.near.max(more.near);
        sum.passes_on |= more.passes_on;
        sum.installed |= more.installed;
        sum.beside += more.beside;
        sum.defines = sum.defines.or(more.defines);
        sum.outside = sum.outside.or(more.outside);
    }
}

/// Returns how much a file at `path` says about what `file` means: an eighth for each step between their
/// directories, half between tests and the rest. A file of the same role (`tsup.config.ts`) says more than a
/// neighbor, wherever it is.
pub(super) fn nearness(path: &RepoPath, file: &RepoPath) -> u64 {
    let near = 4096_u64 >> (3 * path.steps_to(file)).min(11);
    let is_index = matches!(path.stem(), "index" | "__init__");
    let same_name = path.file_name() == file.file_name() && !is_index;
    // `a.spec.ts` beside `a.ts` outweighs any number of importers.
    let tested = file.stem().strip_prefix(path.stem()).is_some_and(|rest| rest.starts_with('.'));
    // `tsup.config.ts`, `models.py` of another application.
    let weight = match path.stem().contains('.') {
        _ if tested && path.directory() == file.directory() => 1 << 20,
        true if same_name => 32_768,
        false if same_name => near.max(512),
        _ => near,
    };
    if crate::policy::is_test(path.as_str()) == crate::policy::is_test(file.as_str()) {
        weight
    } else {
        weight / 2
    }
}

#[cfg(test)]
mod tests {
    use super::nearness;
    use crate::model::RepoPath;

    #[test]
    fn neighbours_weigh_most() {
        let path = |text| RepoPath::new(text).unwrap();
        let file = path("src/pkg/a.py");
        let weights: Vec<u64> = [
            "src/pkg/b.py", "src/pkg/sub/c.py", "src/d.py", "docs/x/e.py", "tests/test_f.py",
        ]
        .map(|other| nearness(&path(other), &file))
        .into();
        assert_eq!(weights, [4096, 512, 512, 2, 4]);
        let near = |one, other| nearness(&path(one), &path(other));
        assert_eq!(near("a/tsup.config.ts", "b/c/tsup.config.ts"), 32_768);
        assert_eq!(near("a/index.ts", "b/index.ts"), 64);
        assert_eq!(near("a/b/c/models.py", "d/models.py"), 512);
    }
}
