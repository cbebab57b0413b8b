use super::answers::{Answer, Ask};
use super::renamed::exports_it;
use crate::graph::Graph;
use crate::languages::Language;
use crate::model::{HintSource, ImportKind, RepoPath, Suggestion};

/// Answers for a package what its importers lack: a name that its `__all__` promises and nothing in
/// it binds, where exactly one of the modules that it takes names from defines it. The importers are
/// then right as they are.
pub(super) fn keep_promises(graph: &Graph<'_>, ask: &Ask<'_>, answers: &mut Vec<Answer>) {
    let mut kept: Vec<(RepoPath, Suggestion)> = Vec::new();
    for answer in &mut *answers {
        let exports = std::mem::take(&mut answer.wanted.exports);
        for name in exports {
            match promised(graph, ask, &answer.file, &name) {
                Some(row) => {
                    answer.suggestions.retain(|it| it.name != name);
                    if !kept.contains(&row) {
                        kept.push(row);
                    }
                }
                None => answer.wanted.exports.push(name),
            }
        }
    }
    for (file, one) in kept {
        let known = answers.iter().position(|it| it.file == file);
        let at = known.unwrap_or(answers.len());
        if known.is_none() {
            answers.push(Answer {
                file,
                wanted: super::Wanted::default(),
                suggestions: Vec::new(),
            });
        }
        if let Some(answer) = answers.get_mut(at) {
            answer.wanted.names.push(one.name.clone());
            answer.suggestions.push(one);
        }
    }
}

fn promised(
    graph: &Graph<'_>,
    ask: &Ask<'_>,
    file: &RepoPath,
    name: &str,
) -> Option<(RepoPath, Suggestion)> {
    let resolver = graph.resolver();
    let facts = resolver.facts(file);
    let takes = facts.imports.iter();
    let import = takes.filter(|it| it.kind == ImportKind::From);
    let import = import
        .filter(|it| it.names.iter().any(|one| one.name == name))
        .find(|it| !it.nested)?;
    let package = resolver.resolve(file, import).files.into_iter();
    let package = package.into_iter().find(|path| {
        path.stem() == "__init__"
            && Language::of_path(path.as_str()).is_some_and(|it| !it.declares_exports)
            && (ask.may_read)(path)
    })?;
    let text = graph.source().read(&package).ok()?;
    if exports_it(graph, &package, name) || !in_all(&String::from_utf8_lossy(&text), name) {
        return None;
    }
    let own = resolver.facts(&package);
    let imports = own.imports.iter();
    let imports = imports.filter(|it| it.kind == ImportKind::From && !it.nested);
    let mut definers: Vec<(&str, RepoPath)> = Vec::new();
    for import in imports {
        for path in resolver.resolve(&package, import).files {
            let facts = resolver.facts(&path);
            let defines = facts.definitions.iter().any(|it| it.name == name)
                || facts
                    .exports
                    .iter()
                    .any(|it| it.name == name && it.from.is_none());
            let known = definers.iter().any(|(_, known)| *known == path);
            if defines && path.stem() != "__init__" && !known {
                definers.push((&import.specifier, path));
            }
        }
    }
    let [(module, path)] = definers.as_slice() else {
        return None;
    };
    let one = Suggestion {
        name: name.to_owned(),
        import_statement: format!("from {module} import {name}"),
        module: (*module).to_owned(),
        path: Some(path.clone()),
        confidence: 95,
        source: HintSource::Definition,
        certain: true,
        imported: name.to_owned(),
        ..Suggestion::default()
    };
    Some((package, one))
}

// Mentions of `__all__` that are looked at in a file.
const MAX_LISTS: usize = 100;

// Whether a list or tuple of `__all__` holds the name.
pub(super) fn in_all(text: &str, name: &str) -> bool {
    let quoted = [format!("\"{name}\""), format!("'{name}'")];
    text.match_indices("__all__")
        .take(MAX_LISTS)
        .any(|(at, _)| {
            let rest = text.get(at..).unwrap_or_default();
            let Some(open) = rest.find(['[', '(']) else {
                return false;
            };
            let list = rest.get(open..).unwrap_or_default();
            let list = list.split([']', ')']).next().unwrap_or_default();
            quoted.iter().any(|it| list.contains(it))
        })
}
