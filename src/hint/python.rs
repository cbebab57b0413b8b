use std::collections::BTreeMap;

use super::evidence::{Way, Weight, nearness};
use crate::languages::Resolver;
use crate::model::{FileFacts, Import, ImportKind, ImportedName, RepoPath};

/// What one file says about a name that `file` lacks: how it imports it, and whether it defines
/// or passes it on.
pub(super) fn evidence(
    resolver: &Resolver<'_>,
    tops: &Tops,
    facts: &FileFacts,
    path: &RepoPath,
    file: &RepoPath,
    name: &str,
) -> Vec<(Way, Weight)> {
    let mut found = Vec::new();
    let near = nearness(path, file);
    for import in &facts.imports {
        // What `file` itself imports at its top is not missing there.
        if path == file && !import.nested {
            continue;
        }
        let Some(taken) = taken(import, name) else {
            continue;
        };
        let one = Import {
            names: taken.clone().into_iter().collect(),
            ..import.clone()
        };
        let resolution = resolver.resolve(path, &one);
        let target = resolution.files.first().cloned();
        if resolution.is_unresolved() || target.as_ref() == Some(file) {
            continue;
        }
        let relative = import.specifier.starts_with('.');
        let module = if relative {
            match place_of(path, &import.specifier) {
                Some(place) => tops.dotted(resolver, file, &place),
                None => continue,
            }
        } else {
            import.specifier.clone()
        };
        let imported = taken.map_or_else(|| "*".to_owned(), |taken| taken.name);
        let weight = Weight {
            votes: near,
            count: 1,
            types: u32::from(import.type_only),
            relative: u32::from(relative),
            ..Weight::default()
        };
        found.push((
            Way {
                module,
                imported,
                path: target,
            },
            weight,
        ));
    }
    if path == file || path.file_name() == "conftest.py" {
        return found;
    }
    let defined = facts.definitions.iter().find(|one| one.name == name);
    let passed = defined.is_none()
        && path.stem() == "__init__"
        && !file.is_below(path.directory())
        && facts.exports.iter().any(|export| {
            export.name == name
                && export.local.as_deref() != Some("*")
                && export
                    .from
                    .as_ref()
                    .is_some_and(|from| is_near(resolver, path, from))
        });
    if defined.is_some() || passed {
        let way = Way {
            module: tops.dotted(resolver, file, &place(path)),
            imported: name.to_owned(),
            path: Some(path.clone()),
        };
        let weight = Weight {
            defines: defined.map(|one| one.kind),
            passes_on: passed,
            near,
            ..Weight::default()
        };
        found.push((way, weight));
    }
    found
}

// What a package takes from outside the repository is for its own use.
fn is_near(resolver: &Resolver<'_>, path: &RepoPath, from: &str) -> bool {
    let import = Import {
        specifier: from.to_owned(),
        kind: ImportKind::Import,
        line: 0,
        names: Vec::new(),
        type_only: false,
        nested: false,
    };
    from.starts_with('.') || !resolver.resolve(path, &import).files.is_empty()
}

/// A module of the repository that bears the name itself.
pub(super) fn module(
    resolver: &Resolver<'_>,
    tops: &Tops,
    path: &RepoPath,
    file: &RepoPath,
    name: &str,
) -> Option<(Way, Weight)> {
    let place = place(path);
    let (above, last) = place.rsplit_once('/').unwrap_or(("", &place));
    if last != name || path == file {
        return None;
    }
    let dotted = tops.dotted(resolver, file, &place);
    let (module, imported) = match dotted.rsplit_once('.') {
        Some((package, last)) => (package.to_owned(), last.to_owned()),
        None if above.is_empty() || !resolver.is_package(above) => (dotted, "*".to_owned()),
        None => return None,
    };
    let way = Way {
        module,
        imported,
        path: Some(path.clone()),
    };
    let weight = Weight {
        near: nearness(path, file),
        defines: Some(crate::model::DefinitionKind::Namespace),
        ..Weight::default()
    };
    Some((way, weight))
}

// The taken name when a `from` import binds `name`; `Some(None)` when it is the whole module.
#[expect(clippy::option_option, reason = "no import, a module, a name in one")]
fn taken(import: &Import, name: &str) -> Option<Option<ImportedName>> {
    let bound = |one: &&ImportedName| one.alias.as_ref().unwrap_or(&one.name) == name;
    match import.kind {
        ImportKind::From => {
            let found = import.names.iter().find(bound)?;
            (found.name != "*").then(|| Some(found.clone()))
        }
        ImportKind::Import if import.names.is_empty() => {
            let first = import.specifier.split('.').next();
            (first == Some(name)).then_some(None)
        }
        ImportKind::Import => import.names.iter().any(|one| bound(&one)).then_some(None),
        _ => None,
    }
}

/// Where a module stands: its path without extension; for a package its directory.
pub(super) fn place(path: &RepoPath) -> String {
    let text = path.as_str();
    let stem = text.strip_suffix(".pyi").or(text.strip_suffix(".py"));
    let stem = stem.unwrap_or(text);
    stem.strip_suffix("/__init__").unwrap_or(stem).to_owned()
}

/// What a relative specifier of `path` points at.
pub(super) fn place_of(path: &RepoPath, relative: &str) -> Option<String> {
    let rest = relative.trim_start_matches('.');
    let dots = relative.len() - rest.len();
    let base = path.ancestors().nth(dots.checked_sub(1)?)?;
    let rest = rest.replace('.', "/");
    let parts: Vec<&str> = [base, &rest]
        .into_iter()
        .filter(|it| !it.is_empty())
        .collect();
    Some(parts.join("/"))
}

/// The first parts of dotted names by which the repository imports its own modules, with how
/// often. They tell a package's true name from a part of it.
#[derive(Debug, Default)]
pub(super) struct Tops(BTreeMap<String, u32>);

impl Tops {
    pub(super) fn learn(&mut self, resolver: &Resolver<'_>, path: &RepoPath, facts: &FileFacts) {
        let absolute = facts.imports.iter().filter(|import| {
            matches!(import.kind, ImportKind::Import | ImportKind::From)
                && !import.specifier.starts_with('.')
        });
        for import in absolute {
            let first = import.specifier.split('.').next().unwrap_or_default();
            if let Some(count) = self.0.get_mut(first) {
                *count += 1;
            } else if !resolver.resolve(path, import).files.is_empty() {
                self.0.insert(first.to_owned(), 1);
            }
        }
    }

    /// The dotted name of what stands at `place`, for `file`.
    pub(super) fn dotted(&self, resolver: &Resolver<'_>, file: &RepoPath, place: &str) -> String {
        let names = resolver.module_names(file, place);
        let seen = |name: &String| {
            let first = name.split('.').next().unwrap_or_default();
            self.0.get(first).copied().unwrap_or(0)
        };
        let best = names
            .iter()
            .enumerate()
            .max_by_key(|(at, name)| (seen(name) > 0, std::cmp::Reverse(*at)));
        best.map_or_else(|| place.replace('/', "."), |(_, name)| name.clone())
    }
}

/// The module as `file` would write it: relative when `relative` says so and both are in one
/// package.
pub(super) fn spelled(
    resolver: &Resolver<'_>,
    way: &Way,
    file: &RepoPath,
    relative: bool,
) -> String {
    let Some(path) = way.path.as_ref().filter(|_| relative) else {
        return way.module.clone();
    };
    // The place of the module, which for `from package import submodule` is not the file's.
    let mut target = place(path);
    if !way
        .module
        .ends_with(target.rsplit('/').next().unwrap_or_default())
        || way.module.rsplit('.').next() != target.rsplit('/').next()
    {
        target = target
            .rsplit_once('/')
            .map_or(String::new(), |it| it.0.to_owned());
    }
    let own: Vec<&str> = file
        .directory()
        .split('/')
        .filter(|it| !it.is_empty())
        .collect();
    let parts: Vec<&str> = target.split('/').filter(|it| !it.is_empty()).collect();
    let shared = own.iter().zip(&parts).take_while(|(a, b)| a == b).count();
    let common = own.get(..shared).unwrap_or_default().join("/");
    // A folder without `__init__.py` inside a package belongs to it.
    let inside = RepoPath::new(&format!("{common}/x"))
        .is_ok_and(|path| path.ancestors().any(|it| resolver.is_package(it)));
    if shared == 0 || !inside {
        return way.module.clone();
    }
    let dots = ".".repeat(own.len() - shared + 1);
    format!(
        "{dots}{}",
        parts.get(shared..).unwrap_or_default().join(".")
    )
}

/// The statement that binds `name`, on one line.
pub(super) fn statement(name: &str, module: &str, imported: &str) -> String {
    match imported {
        "*" if module == name || module.split('.').next() == Some(name) => {
            format!("import {module}")
        }
        "*" => format!("import {module} as {name}"),
        same if same == name => format!("from {module} import {name}"),
        other => format!("from {module} import {other} as {name}"),
    }
}
