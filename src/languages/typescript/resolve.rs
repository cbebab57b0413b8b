use super::language::is_node;
use super::packages::{Packaged, file_or_directory, nearest, package_name, packaged, target_file};
use super::tsconfig::Config;
use super::{emitted, glob, probe};
use crate::languages::files::{child, join};
use crate::languages::resolver::{Resolution, Resolver};
use crate::model::{Import, ImportKind, RepoPath};

/// Conditions used when a config has none of its own.
const NO_CONDITIONS: &[String] = &[];

/// What a TypeScript or JavaScript import means.
pub(super) fn resolve(resolver: &Resolver<'_>, from: &RepoPath, import: &Import) -> Resolution {
    if import.kind == ImportKind::Glob {
        return globbed(resolver, from, &import.specifier);
    }
    // A bundler's query (`./x?raw`, `./x.svg#icon`) is no part of the path, unless it is.
    let specifier = import.specifier.as_str();
    let found = plain(resolver, from, specifier);
    if !found.files.is_empty() || specifier.starts_with('#') {
        return found;
    }
    match specifier.find(['?', '#']) {
        Some(at) if at > 0 => plain(resolver, from, &specifier[..at]),
        // Node.js adds `.json` to what is required; compilers do not to what is imported.
        None if import.kind == ImportKind::Require && found.external.is_none() => {
            let json = plain(resolver, from, &format!("{specifier}.json"));
            if json.files.is_empty() { found } else { json }
        }
        _ => found,
    }
}

fn plain(resolver: &Resolver<'_>, from: &RepoPath, specifier: &str) -> Resolution {
    let mut tried = Vec::new();
    let files = &resolver.files;
    if is_relative(specifier) {
        let found = relative(resolver, from, specifier, &mut tried);
        return found.map_or_else(|| missing(tried), Resolution::file);
    }
    if specifier.is_empty() {
        return Resolution::default();
    }
    let config = resolver.owner(from);
    if let Some(config) = &config
        && let Some(found) = aliased(resolver, config, specifier, &mut tried)
    {
        return Resolution::file(found);
    }
    let conditions = config
        .as_ref()
        .map_or(NO_CONDITIONS, |config| &config.conditions);
    if specifier.starts_with('#') {
        let found = imported(resolver, from, specifier, conditions, &mut tried);
        return found.unwrap_or_else(|| missing(tried));
    }
    if is_node(specifier) {
        return Resolution::external(specifier);
    }
    if specifier.starts_with('/') {
        tried.push(specifier.to_owned());
        return missing(tried);
    }
    let package = package_name(specifier);
    if let Some((name, rest)) = package {
        match packaged(resolver, from, name, rest, conditions, &mut tried) {
            Packaged::File(found) => return Resolution::file(found),
            Packaged::Missing => return missing(tried),
            Packaged::Unknown => {}
        }
    }
    if let Some(found) = configured(resolver, from, specifier) {
        return Resolution::file(found);
    }
    if let Some(base) = config.as_ref().and_then(|config| config.base_url.as_ref())
        && let Some(path) = join(base, specifier)
        && let Some(found) = probe::file(files, &path, &mut Vec::new())
    {
        return Resolution::file(found);
    }
    if let Some((scheme, _)) = specifier.split_once(':') {
        return Resolution::external(format!("{scheme}:"));
    }
    let claimed = config.is_some_and(|config| claims(&config, specifier));
    match package {
        Some((name, _)) if !claimed => Resolution::external(name),
        _ => {
            tried.push(specifier.to_owned());
            missing(tried)
        }
    }
}

fn missing(mut tried: Vec<String>) -> Resolution {
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
fn claims(config: &Config, specifier: &str) -> bool {
    config
        .paths
        .iter()
        .any(|alias| !alias.pattern.starts_with('*') && alias.star(specifier).is_some())
}

fn relative(
    resolver: &Resolver<'_>,
    from: &RepoPath,
    specifier: &str,
    tried: &mut Vec<String>,
) -> Option<RepoPath> {
    let Some(path) = join(from.directory(), specifier) else {
        tried.push(format!("{specifier} leaves the repository"));
        return None;
    };
    if let Some(found) = file_or_directory(resolver, &path, specifier, tried) {
        return Some(found);
    }
    let Some(config) = resolver.owner(from) else {
        let package = nearest(resolver, from)?;
        return emitted::source_of(resolver, None, &package.directory, &path);
    };
    virtual_roots(resolver, &config, from, specifier, tried)
        .or_else(|| emitted::source_of(resolver, Some(&config), &config.directory, &path))
}

// `rootDirs`: directories that are one at run time.
fn virtual_roots(
    resolver: &Resolver<'_>,
    config: &Config,
    from: &RepoPath,
    specifier: &str,
    tried: &mut Vec<String>,
) -> Option<RepoPath> {
    let path = join(from.directory(), specifier)?;
    let below = |root: &String| {
        if root.is_empty() {
            return Some(path.clone());
        }
        let rest = path.strip_prefix(root.as_str())?.strip_prefix('/')?;
        Some(rest.to_owned())
    };
    let own = config
        .root_dirs
        .iter()
        .filter(|root| below(root).is_some())
        .max_by_key(|root| root.len())?;
    let rest = below(own)?;
    config
        .root_dirs
        .iter()
        .filter(|root| *root != own)
        .find_map(|root| probe::file(&resolver.files, &child(root, &rest), tried))
}

fn aliased(
    resolver: &Resolver<'_>,
    config: &Config,
    specifier: &str,
    tried: &mut Vec<String>,
) -> Option<RepoPath> {
    let (alias, star) = config
        .paths
        .iter()
        .find_map(|alias| Some((alias, alias.star(specifier)?)))?;
    let targets = || {
        alias
            .targets
            .iter()
            .filter_map(|target| join("", &target.replacen('*', star, 1)))
    };
    targets()
        .find_map(|path| file_or_directory(resolver, &path, &path, tried))
        .or_else(|| {
            targets().find_map(|path| emitted::source_of(resolver, Some(config), "", &path))
        })
}

// What bundlers and test runners are told of, where it is there.
fn configured(resolver: &Resolver<'_>, from: &RepoPath, specifier: &str) -> Option<RepoPath> {
    let aliases = resolver.configured(from)?;
    aliases.iter().find_map(|alias| {
        let star = alias.star(specifier)?;
        let path = join("", &alias.targets.first()?.replacen('*', star, 1))?;
        file_or_directory(resolver, &path, &path, &mut Vec::new())
    })
}

// `#name`: the nearest package with an `imports` field decides.
fn imported(
    resolver: &Resolver<'_>,
    from: &RepoPath,
    specifier: &str,
    conditions: &[String],
    tried: &mut Vec<String>,
) -> Option<Resolution> {
    let manifest = nearest(resolver, from)?;
    for target in manifest.imported(specifier, conditions) {
        if target.starts_with('.') {
            let path = join(&manifest.directory, &target);
            let compiled = path.and_then(|path| probe::by_name(&resolver.files, &path));
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

fn globbed(resolver: &Resolver<'_>, from: &RepoPath, pattern: &str) -> Resolution {
    let places = if let Some(rest) = pattern.strip_prefix('/') {
        let base = nearest(resolver, from).map_or(String::new(), |it| it.directory.clone());
        vec![join(&base, rest)]
    } else if is_relative(pattern) {
        vec![join(from.directory(), pattern)]
    } else {
        let places = behind_alias(resolver, from, pattern);
        if places.is_empty() {
            return Resolution::external(pattern);
        }
        places.into_iter().map(Some).collect()
    };
    let Some(places) = places.into_iter().collect::<Option<Vec<String>>>() else {
        return missing(vec![pattern.to_owned()]);
    };
    let listing = resolver.files.listing();
    let mut files: Vec<RepoPath> = Vec::new();
    for place in &places {
        let fixed = place.split(['*', '?', '{']).next().unwrap_or_default();
        let top = fixed.rsplit_once('/').map_or("", |(top, _)| top);
        let patterns = glob::expand(place);
        let takes = |path: &str| patterns.iter().any(|it| glob::matches(it, path));
        let found = listing
            .below(top)
            .iter()
            .filter(|entry| entry.path != *from && listing.has_file(entry.path.as_str()))
            .filter(|entry| takes(entry.path.as_str()))
            .map(|entry| entry.path.clone());
        files.extend(found);
    }
    files.sort();
    files.dedup();
    if files.is_empty() {
        return missing(places);
    }
    Resolution {
        files,
        ..Resolution::default()
    }
}

// The patterns of repository paths that a pattern behind an alias stands for.
fn behind_alias(resolver: &Resolver<'_>, from: &RepoPath, pattern: &str) -> Vec<String> {
    let config = resolver.owner(from);
    let configured = resolver.configured(from);
    let paths = config.iter().flat_map(|config| &config.paths);
    let all = paths.chain(configured.iter().flat_map(|configured| configured.iter()));
    let mut found: Vec<String> = all
        .filter(|alias| alias.pattern.len() > 1)
        .filter_map(|alias| Some((alias, alias.star(pattern)?)))
        .flat_map(|(alias, star)| {
            let targets = alias.targets.iter();
            targets.map(move |target| target.replacen('*', star, 1))
        })
        .collect();
    found.sort();
    found.dedup();
    found
}
