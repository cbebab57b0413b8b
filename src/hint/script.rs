use super::asked::Asked;
use super::evidence::{Way, Weight, nearness};
use super::style::ScriptStyle;
use crate::graph::Graph;
use crate::languages::Resolver;
use crate::model::{FileFacts, Import, ImportKind, ImportedName, RepoPath};

/// What one file says about a name that `file` lacks: how it imports it, and whether it exports
/// it.
pub(super) fn evidence(
    graph: &Graph<'_>,
    style: &ScriptStyle,
    facts: &FileFacts,
    path: &RepoPath,
    file: &RepoPath,
    name: &str,
) -> Vec<(Way, Weight)> {
    let resolver = graph.resolver();
    let mut found = Vec::new();
    let near = nearness(path, file);
    for import in &facts.imports {
        let binds = matches!(
            import.kind,
            ImportKind::Import | ImportKind::Require | ImportKind::ImportEquals
        );
        if !binds || path == file {
            continue;
        }
        let bound = |one: &&ImportedName| one.alias.as_ref().unwrap_or(&one.name) == name;
        let Some(taken) = import.names.iter().find(bound) else {
            continue;
        };
        let resolution = resolver.resolve(path, import);
        let relative = import.specifier.starts_with('.');
        let same_role = relative && path.file_name() == file.file_name();
        let same_package = resolver.package_of(path) == resolver.package_of(file);
        // What the tools of a package make up (`$app/server`), its own files may name.
        if resolution.is_unresolved() && !(same_package && (same_role || !relative)) {
            continue;
        }
        let target = same_role
            .then(|| counterpart(graph, file, import, &taken.name))
            .flatten()
            .or(resolution.files.first().cloned());
        if target.as_ref() == Some(file) {
            continue;
        }
        let module = match &target {
            // Where neighbours name a source file in full, so does the file.
            Some(target) if relative && same_package && names_source(&import.specifier) => style
                .like(&import.specifier)
                .relative(file, target, &import.specifier),
            Some(target) if relative => style.relative(file, target, &import.specifier),
            Some(target) if !leads(resolver, file, &import.specifier, target) => {
                style.relative(file, target, "")
            }
            _ => import.specifier.clone(),
        };
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
                imported: taken.name.clone(),
                path: target,
            },
            weight,
        ));
    }
    if path != file {
        found.extend(exported(graph, style, facts, path, file, name));
    }
    found
}

// A file of the same role takes from what stands beside it: `vite.config.monorepo.ts` from its own
// `./vite.config`.
fn counterpart(
    graph: &Graph<'_>,
    file: &RepoPath,
    import: &Import,
    name: &str,
) -> Option<RepoPath> {
    let found = graph
        .resolver()
        .resolve(file, import)
        .files
        .into_iter()
        .next()?;
    let facts = graph.resolver().facts(&found);
    let has = name == "*" || facts.exports.iter().any(|export| export.name == name);
    has.then_some(found)
}

fn names_source(specifier: &str) -> bool {
    let ending = specifier.rsplit('.').next().unwrap_or_default();
    matches!(ending, "ts" | "tsx" | "mts" | "cts")
}

fn exported(
    graph: &Graph<'_>,
    style: &ScriptStyle,
    facts: &FileFacts,
    path: &RepoPath,
    file: &RepoPath,
    name: &str,
) -> Vec<(Way, Weight)> {
    let resolver = graph.resolver();
    let default = |export: &&crate::model::Export| {
        export.name == "default"
            && (export.local.as_deref() == Some(name)
                || (export.local.is_none() && path.stem() == name))
    };
    let named = facts.exports.iter().find(|export| export.name == name);
    let Some(export) = named.or_else(|| facts.exports.iter().find(default)) else {
        return Vec::new();
    };
    let local = export.local.as_deref().unwrap_or(&export.name);
    let definition = facts
        .definitions
        .iter()
        .find(|one| one.name == local || one.name == name);
    let weight = Weight {
        defines: export
            .from
            .is_none()
            .then(|| definition.map_or(crate::model::DefinitionKind::Variable, |one| one.kind)),
        passes_on: export.from.is_some(),
        near: nearness(path, file),
        ..Weight::default()
    };
    let way = |module: String, imported: &str, path: &RepoPath| Way {
        module,
        imported: imported.to_owned(),
        path: Some(path.clone()),
    };
    let theirs = resolver.package_of(path);
    // A package inside theirs, of tests as a rule, reaches what is around it by its place.
    let ours = resolver.package_of(file);
    let within = theirs
        .as_ref()
        .zip(ours.as_ref())
        .is_some_and(|(theirs, ours)| {
            file.is_below(&theirs.0) && reaches_out(resolver, file, &ours.0)
        });
    if !within
        && theirs.as_ref().map(|it| &it.0) != ours.as_ref().map(|it| &it.0)
        && let Some((_, Some(package))) = theirs
    {
        // Another package of the repository: by its name, when that passes the name on.
        let entry = resolver
            .resolve(file, &importing(&package))
            .files
            .into_iter()
            .next();
        let Some(entry) = entry else {
            return vec![(
                way(style.relative(file, path, ""), &export.name, path),
                weight,
            )];
        };
        if graph.defining(&entry, &export.name).as_ref() == Some(path) || entry == *path {
            let weight = Weight {
                defines: None,
                passes_on: true,
                ..weight
            };
            return vec![(way(package, &export.name, &entry), weight)];
        }
        return Vec::new();
    }
    let module = style
        .prefers_alias(path.is_below(file.directory()))
        .then(|| resolver.aliases(file, path).into_iter().next())
        .flatten()
        .map(|alias| {
            let ended = style.ended(&alias, path);
            if leads(resolver, file, &ended, path) {
                ended
            } else {
                alias
            }
        });
    let module = module.unwrap_or_else(|| style.relative(file, path, ""));
    let mut found = vec![(way(module, &export.name, path), weight.clone())];
    // Index files between the definition and what it shares with the file.
    for directory in path.ancestors().take_while(|it| !file.is_below(it)) {
        let index = ["index.ts", "index.tsx", "index.js", "index.mts"]
            .iter()
            .find_map(|name| {
                let index = RepoPath::new(&format!("{directory}/{name}")).ok()?;
                graph.resolver().is_file(&index).then_some(index)
            });
        let Some(index) = index.filter(|index| index != path) else {
            continue;
        };
        if graph.defining(&index, &export.name).as_ref() == Some(path) && export.name != "default" {
            let weight = Weight {
                defines: None,
                passes_on: true,
                ..weight.clone()
            };
            found.push((
                way(style.relative(file, &index, ""), &export.name, &index),
                weight,
            ));
        }
    }
    found
}

pub(super) fn importing(specifier: &str) -> Import {
    Import {
        specifier: specifier.to_owned(),
        kind: ImportKind::Import,
        line: 0,
        names: Vec::new(),
        type_only: false,
        nested: false,
    }
}

// Whether the file imports something outside the directory by its place.
fn reaches_out(resolver: &Resolver<'_>, file: &RepoPath, directory: &str) -> bool {
    let facts = resolver.facts(file);
    let above = facts
        .imports
        .iter()
        .filter(|import| import.specifier.starts_with(".."));
    above
        .filter_map(|import| resolver.resolve(file, import).files.into_iter().next())
        .any(|path| !path.is_below(directory))
}

/// The specifier as the asked file writes it: what it imports the same file by already; `dist` where
/// its own imports name what is emitted.
pub(super) fn spelled(
    graph: &Graph<'_>,
    style: &ScriptStyle,
    asked: &Asked<'_>,
    way: &Way,
) -> String {
    let resolver = graph.resolver();
    let Some(path) = &way.path else {
        return way.module.clone();
    };
    let own = || {
        let taken = asked.facts.imports.iter();
        taken.filter(|import| !import.names.is_empty() && !import.nested)
    };
    let to = |import: &&Import| resolver.resolve(asked.file, import).files.first() == Some(path);
    let mut same = own().filter(to);
    if let Some(import) = same.next() {
        let also = same.any(|other| other.specifier == way.module);
        return if also { &way.module } else { &import.specifier }.clone();
    }
    if !way.module.starts_with('.') {
        return way.module.clone();
    }
    relative_imports(asked)
        .filter_map(|import| emitted(resolver, asked.file, import))
        .find_map(|(from, to)| {
            let (from, to) = (format!("/{from}/"), format!("/{to}/"));
            let stem = way.module.replacen(&from, &to, 1);
            let spelled = style.like("x.js").ended_like(&stem);
            (stem != way.module && leads(resolver, asked.file, &spelled, path)).then_some(spelled)
        })
        .unwrap_or_else(|| way.module.clone())
}

/// What shows whether the file names sources or what is emitted: its own imports of what stands
/// elsewhere, else those of its neighbours.
pub(super) fn relative_imports<'a>(asked: &'a Asked<'_>) -> impl Iterator<Item = &'a Import> {
    let above = |import: &&Import| import.specifier.starts_with("../");
    let alone = !asked.facts.imports.iter().any(|import| above(&import));
    let siblings = asked.siblings.iter().filter(move |_| alone);
    let theirs = siblings.flat_map(|facts| &facts.imports);
    asked.facts.imports.iter().chain(theirs)
}

/// For an import that names an emitted file by its place: the folder of the source it leads to and
/// the folder it names.
pub(super) fn emitted(
    resolver: &Resolver<'_>,
    file: &RepoPath,
    import: &Import,
) -> Option<(String, String)> {
    if !import.specifier.starts_with('.') {
        return None;
    }
    let named = RepoPath::resolve(file.directory(), &import.specifier).ok()?;
    let found = resolver.resolve(file, import).files.into_iter().next()?;
    let mut theirs = named.as_str().split('/');
    let mut ours = found.as_str().split('/');
    loop {
        match (theirs.next()?, ours.next()?) {
            (to, from) if to == from => {}
            (to, from) => {
                let folder = theirs.next().is_some() && ours.next().is_some();
                return folder.then(|| (from.to_owned(), to.to_owned()));
            }
        }
    }
}

/// Whether a way leads by its place into another package than the file's, and neither the file nor
/// its neighbours go there like that.
pub(super) fn crosses(graph: &Graph<'_>, asked: &Asked<'_>, way: &Way) -> bool {
    let resolver = graph.resolver();
    let Some(path) = way.path.as_ref().filter(|_| way.module.starts_with('.')) else {
        return false;
    };
    let (Some(theirs), Some(ours)) = (resolver.package_of(path), resolver.package_of(asked.file))
    else {
        return false;
    };
    if theirs.0 == ours.0 {
        return false;
    }
    let goes = |import: &Import| {
        import.specifier.starts_with("..")
            && resolver
                .resolve(asked.file, import)
                .files
                .first()
                .is_some_and(|found| found.is_below(&theirs.0))
    };
    let siblings = asked.siblings.iter().flat_map(|facts| &facts.imports);
    !asked.facts.imports.iter().chain(siblings).any(goes)
}

// Whether the specifier means the same file from here.
fn leads(resolver: &Resolver<'_>, file: &RepoPath, specifier: &str, target: &RepoPath) -> bool {
    resolver.resolve(file, &importing(specifier)).files.first() == Some(target)
}

/// The statement that binds `name`, on one line and without a semicolon.
pub(super) fn statement(
    style: &ScriptStyle,
    name: &str,
    module: &str,
    imported: &str,
    type_only: bool,
) -> String {
    let q = style.quote;
    if style.require {
        return match imported {
            "*" | "default" => format!("const {name} = require({q}{module}{q})"),
            same if same == name => format!("const {{ {name} }} = require({q}{module}{q})"),
            other => format!("const {{ {other}: {name} }} = require({q}{module}{q})"),
        };
    }
    let word = if type_only { "import type" } else { "import" };
    match imported {
        "*" => format!("{word} * as {name} from {q}{module}{q}"),
        "default" => format!("{word} {name} from {q}{module}{q}"),
        same if same == name => format!("{word} {{ {name} }} from {q}{module}{q}"),
        other => format!("{word} {{ {other} as {name} }} from {q}{module}{q}"),
    }
}
