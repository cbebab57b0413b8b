use std::path::{Path, PathBuf};

use crate::languages::installed::{Look, MAX_FILES};
use crate::languages::{facts, words};
use crate::model::RepoPath;

impl Look<'_> {
    #[expect(
        clippy::option_option,
        reason = "not there, and there without the name"
    )]
    fn python(&mut self, module: &str) -> Option<Option<bool>> {
        let place = module.replace('.', "/");
        let top = module.split('.').next()?;
        let found = self.installed.sites().iter().find_map(|site| {
            let file = self.python_file(&site.join(&place))?;
            Some((site.clone(), file))
        });
        let (site, file) = found?;
        let folder = self.installed.module_folder(&site, top);
        let mut open = vec![file];
        while let Some(file) = open.pop() {
            if !self.seen.insert(file.clone()) || self.seen.len() > MAX_FILES {
                continue;
            }
            let Some(bytes) = self.installed.read(&folder, &file) else {
                self.unknown = true;
                continue;
            };
            let named = words(&bytes, self.name).next().is_some();
            let dynamic = memchr::memmem::find(&bytes, b"__getattr__").is_some();
            self.unknown |= named || dynamic;
            let facts = facts(&RepoPath::new("module.py").ok()?, &bytes);
            let own = facts.definitions.iter().any(|it| it.name == self.name);
            let passed = facts.exports.iter().any(|it| it.name == self.name);
            let inner = file.file_stem().is_some_and(|it| it == "__init__")
                && self.python_file(&file.with_file_name(self.name)).is_some();
            if own || passed || inner {
                return Some(Some(false));
            }
            for star in facts.exports.iter().filter(|it| it.name == "*") {
                let near = star.from.as_deref().and_then(|it| it.strip_prefix('.'));
                let next = near.filter(|it| !it.starts_with('.')).and_then(|near| {
                    self.python_file(&file.parent()?.join(near.replace('.', "/")))
                });
                self.unknown |= next.is_none();
                open.extend(next);
            }
        }
        Some(None)
    }

    fn python_file(&self, place: &Path) -> Option<PathBuf> {
        let with = |ending: &str| {
            let mut name = place.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        self.installed.first([
            place.join("__init__.pyi"),
            place.join("__init__.py"),
            with(".pyi"),
            with(".py"),
        ])
    }
}

/// Whether a module shows a name. The outer `None` says that it is not there, the inner one that
/// nothing was found.
#[expect(
    clippy::option_option,
    reason = "not there, and there without the name"
)]
pub(super) fn shows(look: &mut Look<'_>, _: &RepoPath, module: &str) -> Option<Option<bool>> {
    look.python(module)
}
