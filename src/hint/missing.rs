use super::evidence::nearness;
use super::similar::distance;
use super::{Query, suggest};
use super::{python, script, style::ScriptStyle};
use crate::graph::Graph;
use crate::model::{HintSource, Import, ImportKind, Language, RepoPath, Suggestion};
use crate::source::Source;

const MAX_SUGGESTIONS: usize = 3;

/// Proposes where a module has gone that `file` imports and that is not there: a file of its name,
/// or one that exports all that is taken from it. Certain when exactly one exports it all.
#[must_use]
pub fn moved_modules(
    source: &dyn Source,
    graph: &Graph<'_>,
    query: &Query<'_>,
    modules: &[String],
) -> Vec<Suggestion> {
    let Some(language) = Language::of_path(query.file.as_str()) else {
        return Vec::new();
    };
    let facts = graph.resolver().facts(query.file);
    let mut found = Vec::new();
    for module in modules {
        let import = facts.imports.iter().find(|import| {
            let reads = matches!(
                import.kind,
                ImportKind::Import
                    | ImportKind::From
                    | ImportKind::Require
                    | ImportKind::ExportFrom
            );
            reads
                && leads_to(import, module)
                && graph
                    .resolver()
                    .resolve(query.file, import)
                    .files
                    .is_empty()
        });
        if let Some(import) = import {
            found.append(&mut moved(source, graph, query, import, language));
        }
    }
    found
}

// A log names a Python module absolutely, whatever dots the file wrote.
fn leads_to(import: &Import, module: &str) -> bool {
    let bare = import.specifier.trim_start_matches('.');
    import.specifier == module
        || (bare != import.specifier
            && !bare.is_empty()
            && !bare.starts_with('/')
            && module.ends_with(&format!(".{bare}")))
}

fn moved(
    source: &dyn Source,
    graph: &Graph<'_>,
    query: &Query<'_>,
    import: &Import,
    language: Language,
) -> Vec<Suggestion> {
    let script = language.is_script();
    let last = import
        .specifier
        .rsplit(['.', '/'])
        .find(|it| !matches!(*it, "js" | "ts" | "tsx" | "mjs" | "index"));
    let last = last.unwrap_or_default();
    let taken: Vec<&str> = import
        .names
        .iter()
        .map(|it| it.name.as_str())
        .filter(|it| *it != "*")
        .collect();
    let pool = source
        .listing()
        .files()
        .map(|entry| &entry.path)
        .filter(|path| {
            Language::of_path(path.as_str()).is_some_and(|it| it.is_script() == script)
                && *path != query.file
                && (query.may_read)(path)
        });
    let mut places: Vec<(usize, &RepoPath)> = pool
        .filter_map(|path| {
            let stem = match path.stem() {
                "__init__" | "index" => path.directory().rsplit('/').next().unwrap_or_default(),
                stem => stem,
            };
            if stem == last {
                Some((0, path))
            } else {
                Some((1 + distance(last, stem)?, path))
            }
        })
        .collect();
    let definers: Vec<RepoPath> = match taken.first() {
        Some(first) => {
            let names = [(*first).to_owned()];
            let query = Query {
                names: &names,
                ..*query
            };
            suggest(source, graph, &query)
                .into_iter()
                .filter(|it| it.source != HintSource::Similar)
                .filter_map(|it| it.path)
                .collect()
        }
        None => Vec::new(),
    };
    for path in &definers {
        if places.iter().all(|(_, other)| *other != path) {
            places.push((3, path));
        }
    }
    let has_all = |path: &RepoPath| {
        taken
            .iter()
            .all(|name| graph.defining(path, name).is_some())
    };
    places.sort_by_key(|(far, path)| {
        (
            !has_all(path),
            *far,
            std::cmp::Reverse(nearness(path, query.file)),
            (*path).clone(),
        )
    });
    let whole = places
        .iter()
        .filter(|(_, path)| !taken.is_empty() && has_all(path))
        .count();
    let text = source.read(query.file).unwrap_or_default();
    let facts = graph.resolver().facts(query.file);
    let style = ScriptStyle::of(&text, &facts, std::iter::empty());
    let row = |(at, (far, path)): (usize, &(usize, &RepoPath))| {
        let relative = import.specifier.starts_with('.');
        let module = if script {
            style.relative(query.file, path, &import.specifier)
        } else {
            let place = python::place(path);
            let names = graph.resolver().module_names(query.file, &place);
            let way = super::evidence::Way {
                module: names
                    .into_iter()
                    .next()
                    .unwrap_or_else(|| place.replace('/', ".")),
                imported: String::new(),
                path: Some((*path).clone()),
            };
            python::spelled(graph.resolver(), &way, query.file, relative)
        };
        let certain = at == 0 && whole == 1 && has_all(path);
        Suggestion {
            name: import.specifier.clone(),
            import_statement: rewritten(import, &module, script, &style),
            module,
            path: Some((*path).clone()),
            confidence: if certain {
                90
            } else if *far == 0 {
                50
            } else {
                30
            },
            source: if *far == 0 || has_all(path) {
                HintSource::Definition
            } else {
                HintSource::Similar
            },
            certain,
            imported: "*".to_owned(),
            type_only: import.type_only,
            replaces: Some(import.specifier.clone()),
        }
    };
    places
        .iter()
        .enumerate()
        .take(MAX_SUGGESTIONS)
        .map(row)
        .collect()
}

fn rewritten(import: &Import, module: &str, script: bool, style: &ScriptStyle) -> String {
    let name = |one: &crate::model::ImportedName| match (&one.alias, one.name.as_str()) {
        (Some(alias), name) => format!("{name} as {alias}"),
        (None, name) => name.to_owned(),
    };
    let names: Vec<String> = import.names.iter().map(name).collect();
    match (script, import.names.as_slice()) {
        (true, [one]) => {
            let bound = one.alias.as_ref().unwrap_or(&one.name);
            script::statement(style, bound, module, &one.name, import.type_only)
        }
        (true, []) => format!("import {q}{module}{q}", q = style.quote),
        (true, _) => format!(
            "import {{ {} }} from {q}{module}{q}",
            names.join(", "),
            q = style.quote
        ),
        (false, _) if import.kind == ImportKind::From => {
            format!("from {module} import {}", names.join(", "))
        }
        (false, [one]) => python::statement(one.alias.as_deref().unwrap_or_default(), module, "*"),
        (false, _) => format!("import {module}"),
    }
}

/// Proposes what was meant by names that `file` imports from a module which does not export them:
/// where they have gone, else exports of that module with a name like it.
#[must_use]
pub fn renamed_exports(
    source: &dyn Source,
    graph: &Graph<'_>,
    query: &Query<'_>,
    exports: &[String],
) -> Vec<Suggestion> {
    let resolver = graph.resolver();
    let facts = resolver.facts(query.file);
    let mut found = Vec::new();
    for name in exports {
        let takes = |import: &&Import| import.names.iter().any(|one| one.name == *name);
        let Some(import) = facts.imports.iter().find(takes) else {
            continue;
        };
        let target = resolver
            .resolve(query.file, import)
            .files
            .into_iter()
            .next();
        if target
            .as_ref()
            .is_some_and(|path| graph.defining(path, name).is_some())
        {
            continue;
        }
        let names = [name.clone()];
        let gone = suggest(
            source,
            graph,
            &Query {
                names: &names,
                ..*query
            },
        );
        let before = found.len();
        found.extend(
            gone.into_iter()
                .filter(|it| it.source != HintSource::Similar && it.path != target)
                .map(|mut one| {
                    // With other names in the statement, a person decides what becomes of them.
                    let alone = import.names.len() == 1;
                    one.replaces = alone.then(|| import.specifier.clone());
                    one.certain &= alone;
                    one
                }),
        );
        let Some(target) = target.filter(|_| found.len() == before) else {
            continue;
        };
        let mut near: Vec<(usize, String)> = resolver
            .facts(&target)
            .exports
            .iter()
            .filter_map(|export| Some((distance(name, &export.name)?, export.name.clone())))
            .collect();
        near.sort();
        near.dedup();
        let text = source.read(query.file).unwrap_or_default();
        let style = ScriptStyle::of(&text, &facts, std::iter::empty());
        found.extend(
            near.into_iter()
                .take(MAX_SUGGESTIONS)
                .map(|(_, other)| Suggestion {
                    name: name.clone(),
                    import_statement: if Language::of_path(query.file.as_str())
                        == Some(Language::Python)
                    {
                        python::statement(&other, &import.specifier, &other)
                    } else {
                        script::statement(
                            &style,
                            &other,
                            &import.specifier,
                            &other,
                            import.type_only,
                        )
                    },
                    module: import.specifier.clone(),
                    path: Some(target.clone()),
                    confidence: 35,
                    source: HintSource::Similar,
                    certain: false,
                    imported: other,
                    type_only: import.type_only,
                    replaces: None,
                }),
        );
    }
    found
}
