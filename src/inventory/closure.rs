//! Follows requirements: from the manifest to what installed packages require in turn.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::compare::{Tree, has_module};
use super::declared::{
    PLATFORM, Place, Requirement, install_command, node_table, parse_requirement,
};
use crate::model::Remedy;

/// Bounds the packages that are followed.
const MAX_PACKAGES: usize = 5_000;

/// An installed package.
#[derive(Default)]
pub(super) struct Package {
    at: PathBuf,
    pub(super) version: String,
    asked: Vec<Requirement>,
}

impl Tree<'_> {
    /// Returns the first unmet requirement of the manifest or of an installed package.
    pub(super) fn unmet_requirement(&self, own: &[Requirement]) -> Option<Remedy> {
        let (mut open, mut seen) = (VecDeque::from(own.to_vec()), BTreeSet::new());
        open.extend(self.present.keys().filter_map(|name| parse_requirement(name, Place::Main)));
        let (locked, is_in_step) = (&self.lock.versions, self.has_installed());
        while let Some(one) = open.pop_front().filter(|_| seen.len() < MAX_PACKAGES) {
            let from = self.folder().join(&one.from);
            let found = self.find_package(&one.name, &one.extras, &from);
            // A link may lead to a part of the repository.
            let link = || (!self.manager.python && has_module(&from, &one.name)).then(String::new);
            let version = found.as_ref().map(|package| package.version.clone()).or_else(link);
            // A setting may leave out what the lock does not have.
            let is_own = one.by.is_empty() || one.place == Place::Member;
            let is_known = is_own || locked.is_empty() || locked.contains_key(&one.name);
            let message = one.unmet(version.as_deref(), &self.lock, is_in_step);
            if let Some(message) = message.filter(|_| is_known) {
                let of_member = self.manager.members.clone().filter(|_| one.place == Place::Member);
                let line = || install_command(self.project, self.manager, &one.name);
                return Some(Remedy::new(message, of_member.unwrap_or_else(line)));
            }
            let is_new = |found: &Package| seen.insert((found.at.clone(), one.extras.clone()));
            open.extend(found.filter(is_new).map(|found| found.asked).unwrap_or_default());
        }
        None
    }

    /// Finds an installed package, and what it requires with extras that are asked for.
    pub(super) fn find_package(&self, name: &str, extras: &[String], at: &Path) -> Option<Package> {
        let mut package = Package::default();
        if self.manager.python {
            let found = self.present.get(name)?;
            (package.at, package.version) = (found.about.clone(), found.version.clone());
            let text = std::fs::read_to_string(found.about.join("METADATA")).unwrap_or_default();
            let lines = text.lines().filter_map(|line| line.strip_prefix("Requires-Dist: "));
            let asked = lines.filter_map(|line| parse_requirement(line, Place::Main));
            package.asked.extend(asked);
            package.asked.retain(|next| next.applies(&self.python, extras));
        } else {
            package.at = self.project.installed.npm(at.to_str()?, name)?;
            let text = self.project.installed.read(&package.at, &package.at.join("package.json"));
            let manifest: Value =
                serde_json::from_slice(&text.unwrap_or_default()).unwrap_or_default();
            let version = manifest["version"].as_str().unwrap_or_default().to_owned();
            (package.version, package.asked) = (version, self.list_needs(&manifest, &package.at));
        }
        for next in &mut package.asked {
            (next.by, next.from) = (name.to_owned(), package.at.clone());
        }
        Some(package)
    }

    // Dependencies, peers where the manager installs them, and a package for this system where there are several of
    // which one is needed.
    fn list_needs(&self, manifest: &Value, at: &Path) -> Vec<Requirement> {
        let mut needs: Vec<_> = node_table(manifest, "dependencies").collect();
        needs.extend(node_table(manifest, "peerDependencies").filter(|_| self.installs_peers));
        needs.retain(|one| {
            manifest["optionalDependencies"][&one.name].is_null()
                && manifest["peerDependenciesMeta"][&one.name]["optional"] != true
        });
        let fits = |one: &Requirement| PLATFORM.iter().all(|word| one.name.contains(word));
        let mut variants = node_table(manifest, "optionalDependencies").filter(fits).peekable();
        let first = variants.peek().cloned();
        needs.extend(first.filter(|_| !variants.any(|one| has_module(at, &one.name))));
        needs
    }
}
