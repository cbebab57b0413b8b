use std::collections::BTreeSet;

use super::nearest::only_quoted;
use super::witness::{Edit, MAX_CANDIDATES, Statement, each};
use crate::hint::leads_to;
use crate::languages::{facts, words};
use crate::model::RepoPath;
use crate::policy::is_test;
use crate::source::Source;

/// The names that a log says were asked of modules of the repository in vain, each with the module.
pub(super) fn lost(log: &str, source: &dyn Source) -> Vec<(RepoPath, String)> {
    let mut found: Vec<(RepoPath, String)> = Vec::new();
    each(log, &|edit| edit == Edit::Lost, &mut |statement, frame| {
        if found.len() >= MAX_CANDIDATES {
            return true;
        }
        let module = statement.module(source, frame);
        let one = module.map(|it| (it, statement.wrong.to_owned()));
        let is_placed = one.is_some();
        found.extend(one.filter(|one| !found.contains(one)));
        is_placed
    });
    found
}

/// The files of Python that import a module of this repository which a log says is not there, each with the module;
/// what runs the tests may have caught the error.
pub(super) fn gone(log: &str, source: &dyn Source) -> Vec<(RepoPath, String)> {
    let mut modules: BTreeSet<&str> = BTreeSet::new();
    each(log, &|edit| edit == Edit::Gone, &mut |statement, _| {
        modules.insert(statement.wrong)
    });
    let files = || source.listing().files().map(|entry| &entry.path);
    let is_ours = |module: &&str| {
        let folder = module.split('.').next().unwrap_or_default();
        files().any(|path| {
            path.ancestors()
                .any(|it| it.rsplit('/').next() == Some(folder))
        })
    };
    let mut found = Vec::new();
    for module in modules.into_iter().filter(is_ours).take(MAX_CANDIDATES) {
        let last = module.rsplit('.').next().unwrap_or_default();
        for path in files().filter(|it| it.extension() == Some("py")) {
            let text = source.read(path).unwrap_or_default();
            let imports = || facts(path, &text).imports;
            if words(&text, last).next().is_some()
                && imports().iter().any(|it| leads_to(path, it, module))
            {
                found.push((path.clone(), module.to_owned()));
            }
        }
    }
    found
}

impl Statement<'_> {
    // The module that was asked for a name: the file that the line names, or the frame where that answers for its
    // members itself or lists the name.
    fn module(&self, source: &dyn Source, frame: Option<(&str, usize)>) -> Option<RepoPath> {
        if !self.of.is_empty() {
            return module_of(source, self.of);
        }
        let named = self.path.or(frame.map(|it| it.0))?;
        let files = source.listing().files().map(|entry| &entry.path);
        let ends = |path: &&RepoPath| {
            let head = named.strip_suffix(path.as_str());
            head.is_some_and(|head| head.is_empty() || head.ends_with('/'))
        };
        let path = files.filter(ends).max_by_key(|it| it.as_str().len())?;
        let answers = || {
            let text = source.read(path).unwrap_or_default();
            let own = facts(path, &text).definitions;
            let text = String::from_utf8_lossy(&text);
            let is_listed = || text.contains("__all__") && only_quoted(&text, self.wrong).is_some();
            own.iter().any(|it| it.name == "__getattr__") || is_listed()
        };
        (self.path.is_some() || answers()).then(|| path.clone())
    }
}

/// The only file that may be a module of Python, the product before tests.
pub(super) fn module_of(source: &dyn Source, name: &str) -> Option<RepoPath> {
    let module = name.replace('.', "/");
    let ends = [format!("{module}.py"), format!("{module}/__init__.py")];
    let is_it = |path: &&RepoPath| {
        let below =
            |end: &String| path.as_str() == end || path.as_str().ends_with(&format!("/{end}"));
        ends.iter().any(below)
    };
    let files = source.listing().files().map(|entry| &entry.path);
    let files: Vec<&RepoPath> = files.filter(is_it).collect();
    // Tests have modules of any name.
    let product = files.iter().copied().filter(|it| !is_test(it.as_str()));
    let product: Vec<&RepoPath> = product.collect();
    match (product.as_slice(), files.as_slice()) {
        ([only], _) | ([], [only]) => Some((*only).clone()),
        _ => None,
    }
}
