//! Resolves imports of TypeScript and JavaScript.

use super::language::is_node;
use super::packages::{Packaged, file_or_directory, nearest, package_name, packaged, target_file};
use super::probe;
use super::tsconfig::Config;
use crate::languages::files::join_path;
use crate::languages::resolver::{Resolution, Resolver};
use crate::model::{Import, ImportKind, RepoPath};

/// Conditions used when a config has none of its own.
const NO_CONDITIONS: &[String] = &[];

/// What a TypeScript or JavaScript import means.
pub(super) fn resolve(resolver: &Resolver<'_>, from: &RepoPath, import: &Import) -> Resolution {
    // A bundler's query (`./x?raw`, `./x.svg#icon`) is no part of the path, unless it is.
    let specifier = import.specifier.as_str();
    let found = resolve_plain(resolver, from, specifier);
    if !found.files.is_empty() || specifier.starts_with('#') {
        return found;
    }
    match specifier.find(['?', '#']) {
        Some(at) if at > 0 => resolve_plain(resolver, from, &specifier[..at]),
        // Node.js adds `.json` to what is required; compilers do not to what is imported.
        None if import.kind == ImportKind::Require && found.external.is_none() => {
            let json = resolve_plain(resolver, from, &format!("{specifier}.json"));
            if json.files.is_empty() { found } else { json }
        }
        _ => found,
    }
}

fn resolve_plain(resolver: &Resolver<'_>, from: &RepoPath, specifier: &str) -> Resolution {
    let mut tried = Vec::new();
    if is_relative(specifier) {
        let found = resolve_relative(resolver, from, specifier, &mut tried);
        return found.map_or_else(|| report_missing(tried), Resolution::file);
    }
    if specifier.is_empty() {
        return Resolution::default();
    }
    let config = resolver.owner(from);
    if let Some(config) = &config
        && let Some(found) = resolve_aliased(resolver, config, specifier, &mut tried)
    {
        return Resolution::file(found);
    }
    let conditions = config
        .as_ref()
        .map_or(NO_CONDITIONS, |config| &config.options.custom_conditions);
    if specifier.starts_with('#') {
        let found = resolve_imported(resolver, from, specifier, conditions, &mut tried);
        return found.unwrap_or_else(|| report_missing(tried));
    }
    if is_node(specifier) {
        return Resolution::external(specifier);
    }
    if specifier.starts_with('/') {
        tried.push(specifier.to_owned());
        return report_missing(tried);
    }
    let package = package_name(specifier);
    if let Some((name, rest)) = package {
        match packaged(resolver, from, name, rest, conditions, &mut tried) {
            Packaged::File(found) => return Resolution::file(found),
            Packaged::Missing => return report_missing(tried),
            Packaged::Unknown => {}
        }
    }
    if let Some(base) = config.as_ref().and_then(|config| config.options.base_url.as_ref())
        && let Some(path) = join_path(base, specifier)
        && let Some(found) = file_or_directory(resolver, &path, &path, &mut Vec::new())
    {
        return Resolution::file(found);
    }
    if let Some((scheme, _)) = specifier.split_once(':') {
        return Resolution::external(format!("{scheme}:"));
    }
    let claimed = config.is_some_and(|config| claims_path(&config, specifier));
    if claimed {
        tried.push(specifier.to_owned());
        return report_missing(tried);
    }
    // `@/x`, `~/x` and `$lib/x` are external, because they are aliases of a bundler, whose settings are code and are
    // not read.
    let first = specifier.split('/').next().unwrap_or_default();
    Resolution::external(package.map_or(first, |(name, _)| name))
}

fn report_missing(mut tried: Vec<String>) -> Resolution {
    tried.dedup();
    Resolution {
        tried,
        ..Resolution::default()
    }
}

fn is_relative(specifier: &str) -> bool {
    matches!(specifier, "." | "..") || specifier.starts_with("./") || specifier.starts_with("../")
}

// An alias with a prefix of its own (`@/*`) speaks for its names; a bare `*` does not.
fn claims_path(config: &Config, specifier: &str) -> bool {
    config
        .paths
        .iter()
        .any(|alias| !alias.pattern.starts_with('*') && alias.star(specifier).is_some())
}

fn resolve_relative(
    resolver: &Resolver<'_>,
    from: &RepoPath,
    specifier: &str,
    tried: &mut Vec<String>,
) -> Option<RepoPath> {
    let Some(path) = join_path(from.directory(), specifier) else {
        tried.push(format!("{specifier} leaves the repository"));
        return None;
    };
    if let Some(found) = file_or_directory(resolver, &path, specifier, tried) {
        return Some(found);
    }
    let base = match resolver.owner(from) {
        Some(config) => config.directory.clone(),
        None => nearest(resolver, from)?.directory.clone(),
    };
    probe::source_of(resolver.files, &base, &path)
}

fn resolve_aliased(
    resolver: &Resolver<'_>,
    config: &Config,
    specifier: &str,
    tried: &mut Vec<String>,
) -> Option<RepoPath> {
    let (alias, star) =
        config.paths.iter().find_map(|alias| Some((alias, alias.star(specifier)?)))?;
    let targets = alias.targets.iter();
    let mut targets = targets.filter_map(|target| join_path("", &target.replacen('*', star, 1)));
    let found = targets
        .clone()
        .find_map(|path| file_or_directory(resolver, &path, &path, tried));
    found.or_else(|| targets.find_map(|path| probe::source_of(resolver.files, "", &path)))
}

// `#name`: the nearest package with an `imports` field decides.
fn resolve_imported(
    resolver: &Resolver<'_>,
    from: &RepoPath,
    specifier: &str,
    conditions: &[String],
    tried: &mut Vec<String>,
) -> Option<Resolution> {
    let manifest = nearest(resolver, from)?;
    for target in manifest.imported(specifier, conditions) {
        if target.starts_with('.') {
            let path = join_path(&manifest.directory, &target);
            let compiled = path.and_then(|path| probe::by_name(resolver.files, &path));
            let found = compiled.or_else(|| target_file(resolver, &manifest, &target, tried));
            if let Some(found) = found {
                return Some(Resolution::file(found));
            }
        } else if let Some((name, rest)) = package_name(&target) {
            return match packaged(resolver, from, name, rest, conditions, tried) {
                Packaged::File(found) => Some(Resolution::file(found)),
                Packaged::Missing => None,
                Packaged::Unknown => Some(Resolution::external(name)),
            };
        }
    }
    None
}
