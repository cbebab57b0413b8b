//! Reads what installed Python packages export.

use std::path::{Path, PathBuf};

use crate::languages::installed::InstalledFiles;
use crate::model::RepoPath;
use crate::source::Installed;

pub(super) const FILES: InstalledFiles = InstalledFiles {
    read_as: "module.py",
    entry: find_entry,
    beside: find_beside,
};

fn find_entry(installed: &Installed, _: &RepoPath, module: &str) -> Option<(PathBuf, PathBuf)> {
    let place = module.replace('.', "/");
    let top = module.split('.').next()?;
    installed.sites().iter().find_map(|site| {
        let file = module_file(&site.join(&place))?;
        // A module may be a single file beside others.
        let folder = Some(site.join(top)).filter(|folder| file.starts_with(folder));
        Some((folder.unwrap_or_else(|| site.clone()), file))
    })
}

fn find_beside(file: &Path, relative: &str) -> Option<PathBuf> {
    let near = relative.strip_prefix('.')?;
    let place = file.parent()?.join(near.replace('.', "/"));
    module_file(&place).filter(|_| !near.starts_with('.'))
}

fn module_file(place: &Path) -> Option<PathBuf> {
    let packages = ["__init__.pyi", "__init__.py"].map(|name| place.join(name));
    let modules =
        [".pyi", ".py"].map(|ending| PathBuf::from(format!("{}{ending}", place.display())));
    Installed::first_file(packages.into_iter().chain(modules))
}
