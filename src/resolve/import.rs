use super::resolver::{Resolution, Resolver};
use super::{python, script};
use crate::model::{Import, Language, RepoPath};

impl Resolver<'_> {
    /// The files an import in `from` means.
    #[must_use]
    pub fn resolve(&self, from: &RepoPath, import: &Import) -> Resolution {
        let mut found = match Language::of_path(from.as_str()) {
            Some(Language::Python) => python::resolve(self, from, import),
            Some(_) => script::resolve(self, from, import),
            None => Resolution::default(),
        };
        for file in &mut found.files {
            let real = self.files.real(file);
            if real != file {
                let real = real.clone();
                found
                    .links
                    .push((real.clone(), std::mem::replace(file, real)));
            }
        }
        found
    }

    /// Files that take effect without being imported: for a Python test the `conftest.py` of its
    /// directory and of those above, nearest first.
    #[must_use]
    pub fn implicit(&self, from: &RepoPath) -> Vec<RepoPath> {
        python::conftests(self, from)
    }
}
