use std::path::{Path, PathBuf};

use crate::languages::installed::InstalledFiles;
use crate::model::RepoPath;
use crate::source::Installed;

pub(super) const FILES: InstalledFiles = InstalledFiles {
    read_as: "module.py",
    entry,
    beside,
};

fn entry(installed: &Installed, _: &RepoPath, module: &str) -> Option<(PathBuf, PathBuf)> {
    let place = module.replace('.', "/");
    let top = module.split('.').next()?;
    installed.sites().iter().find_map(|site| {
        let file = module_file(installed, &site.join(&place))?;
        Some((installed.module_folder(site, top), file))
    })
}

fn beside(installed: &Installed, file: &Path, relative: &str) -> Option<PathBuf> {
    let near = relative.strip_prefix('.')?;
    let place = file.parent()?.join(near.replace('.', "/"));
    module_file(installed, &place).filter(|_| !near.starts_with('.'))
}

fn module_file(installed: &Installed, place: &Path) -> Option<PathBuf> {
    let with = |ending: &str| PathBuf::from(format!("{}{ending}", place.display()));
    installed.first([
        place.join("__init__.pyi"),
        place.join("__init__.py"),
        with(".pyi"),
        with(".py"),
    ])
}
