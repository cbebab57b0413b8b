//! Resolves package names: the importer's own, linked ones and those of the workspace.

use std::sync::{Arc, LazyLock};

use regex::Regex;

use super::manifest::Manifest;
use super::probe;
use crate::languages::files::{child, join_path};
use crate::languages::resolver::Resolver;
use crate::model::RepoPath;

/// What a package name and subpath mean.
pub(super) enum Packaged {
    /// A file of a package of ours.
    File(RepoPath),
    /// The package is ours and has no such file.
    Missing,
    /// Not a package of the repository.
    Unknown,
}

/// Looks a package up as an installer would link it: the importer's own, or the workspace's.
pub(super) fn packaged(
    resolver: &Resolver<'_>,
    from: &RepoPath,
    name: &str,
    rest: &str,
    conditions: &[String],
    tried: &mut Vec<String>,
) -> Packaged {
    let own = nearest(resolver, from).filter(|manifest| manifest.name.as_deref() == Some(name));
    let manifest = own.or_else(|| {
        let directory = resolver.workspace().directory(name, from)?;
        resolver.manifest(directory)
    });
    let Some(manifest) = manifest else {
        return Packaged::Unknown;
    };
    if let Some(found) = find_inside(resolver, &manifest, rest, conditions, tried) {
        return Packaged::File(found);
    }
    tried.push(child(&manifest.directory, "package.json"));
    Packaged::Missing
}

// A package's file by subpath (`""` is the package itself).
fn find_inside(
    resolver: &Resolver<'_>,
    manifest: &Manifest,
    rest: &str,
    conditions: &[String],
    tried: &mut Vec<String>,
) -> Option<RepoPath> {
    let files = &resolver.files;
    let subpath = if rest.is_empty() { ".".to_owned() } else { format!("./{rest}") };
    for target in manifest.exported(&subpath, conditions) {
        if let Some(found) = target_file(resolver, manifest, &target, tried) {
            return Some(found);
        }
    }
    if rest.is_empty() {
        return find_entry(resolver, manifest).or_else(|| {
            ["src/index", "index", "src/main", "src"]
                .iter()
                .map(|name| child(&manifest.directory, name))
                .find_map(|path| probe::by_name(files, &path))
        });
    }
    let path = join_path(&manifest.directory, rest)?;
    if let Some(found) = files.file(&path) {
        return Some(found.clone());
    }
    let source = join_path(&manifest.directory, &format!("src/{rest}"))?;
    [path, source]
        .iter()
        .find_map(|path| file_or_directory(resolver, path, rest, tried))
        .or_else(|| {
            let target = format!("./{rest}");
            target_file(resolver, manifest, &target, tried)
        })
}

/// The file that represents the package as a whole, by its fields.
pub(super) fn find_entry(resolver: &Resolver<'_>, manifest: &Manifest) -> Option<RepoPath> {
    manifest
        .entries()
        .iter()
        .find_map(|target| target_file(resolver, manifest, target, &mut Vec::new()))
}

/// The file a manifest points at, or the source it is built from.
pub(super) fn target_file(
    resolver: &Resolver<'_>,
    manifest: &Manifest,
    target: &str,
    tried: &mut Vec<String>,
) -> Option<RepoPath> {
    let files = &resolver.files;
    let path = join_path(&manifest.directory, target)?;
    if let Some(found) = files.file(&path) {
        return Some(found.clone());
    }
    if let Some(found) = probe::by_name(files, &path) {
        return Some(found);
    }
    let found = probe::source_of(files, &manifest.directory, &path);
    if found.is_none() {
        tried.push(path);
    }
    found
}

/// The file at a path, or what the directory there represents.
pub(super) fn file_or_directory(
    resolver: &Resolver<'_>,
    path: &str,
    specifier: &str,
    tried: &mut Vec<String>,
) -> Option<RepoPath> {
    let files = &resolver.files;
    // A trailing slash or dot names a directory even where a file has that name.
    let directory = specifier.ends_with('/') || specifier.ends_with("..") || specifier == ".";
    if !path.is_empty()
        && !directory
        && let Some(found) = probe::by_name(files, path)
    {
        return Some(found);
    }
    if files.has_directory(path) {
        if let Some(manifest) = resolver.manifest(path)
            && let Some(found) = find_entry(resolver, &manifest)
        {
            return Some(found);
        }
        if let Some(found) = probe::by_name(files, &child(path, "index")) {
            return Some(found);
        }
    }
    tried.push(path.to_owned());
    None
}

/// The manifest of the package the file is in.
pub(super) fn nearest(resolver: &Resolver<'_>, from: &RepoPath) -> Option<Arc<Manifest>> {
    from.ancestors().find_map(|directory| resolver.manifest(directory))
}

/// A package with its scope, and what is behind it.
static PACKAGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let part = "[A-Za-z0-9_-][A-Za-z0-9_.-]*";
    Regex::new(&format!("(?s)^((?:@{part}/)?{part})(?:/(.*))?$")).ok()
});

/// The package and the rest of a bare specifier; `None` when it cannot name a package.
pub(super) fn package_name(specifier: &str) -> Option<(&str, &str)> {
    let found = PACKAGE.as_ref()?.captures(specifier)?;
    let rest = found.get(2).map_or("", |rest| rest.as_str());
    Some((found.get(1)?.as_str(), rest))
}

/// The package part of a bare specifier (`@a/b/c` gives `@a/b`); `None` when it names none.
pub fn package_part(specifier: &str) -> Option<&str> {
    package_name(specifier).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::package_name;

    #[test]
    fn package_names_are_cut_off() {
        for (specifier, expected) in [
            ("react", Some(("react", ""))),
            ("lodash/fp/map", Some(("lodash", "fp/map"))),
            ("@a/b", Some(("@a/b", ""))),
            ("@a/b/c.js", Some(("@a/b", "c.js"))),
            ("@/x", None),
            ("~/x", None),
            ("@a", None),
            ("$lib/x", None),
        ] {
            assert_eq!(package_name(specifier), expected, "{specifier}");
        }
    }
}
