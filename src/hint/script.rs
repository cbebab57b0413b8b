use super::evidence::{Candidate, Weight, nearness};
use super::idiom::{Idiom, Shown, Site};
use super::proof::is_declared;
use super::query::Undefined;
use crate::graph::Graph;
use crate::languages::typescript::ScriptStyle;
use crate::languages::{Resolver, package_part};
use crate::model::{
    DefinitionKind, Export, FileFacts, HintSource, Import, ImportKind, ImportedName, RepoPath,
    Suggestion,
};
use crate::source::Installed;

/// TypeScript and JavaScript, with the style of the file's imports.
pub(super) struct Script<'g> {
    site: Site<'g>,
    style: ScriptStyle,
}

impl<'g> Script<'g> {
    pub(super) fn of(site: Site<'g>, shown: Shown<'_>) -> Self {
        let resolver = site.graph.resolver();
        let near: Vec<std::sync::Arc<FileFacts>> = if shown.parsed.is_empty() {
            let few = shown.pool.iter().take(4);
            few.map(|path| resolver.facts(path)).collect()
        } else {
            let few = shown.parsed.iter().take(8);
            few.map(|(_, facts)| facts.clone()).collect()
        };
        let rules = resolver.module_rules(site.file);
        let near = near.iter().map(AsRef::as_ref);
        Self {
            site,
            style: ScriptStyle::detect(shown.text, shown.facts, near, rules),
        }
    }
}

impl Idiom for Script<'_> {
    fn evidence(&self, facts: &FileFacts, path: &RepoPath, name: &str) -> Vec<(Candidate, Weight)> {
        let Site { graph, file } = self.site;
        evidence(graph, &self.style, facts, path, file, name)
    }

    fn outside(&self, name: &str) -> Vec<(String, String, HintSource)> {
        let Site { graph, file } = self.site;
        let resolver = graph.resolver();
        let packages = match resolver.declared_as(file, name) {
            Some(package) => vec![package],
            None => resolver.declared_like(file, name),
        };
        let row = |package| (package, "default".to_owned(), HintSource::Manifest);
        packages.into_iter().map(row).collect()
    }

    fn declares(&self, module: &str) -> bool {
        let resolver = self.site.graph.resolver();
        package_part(module).is_some_and(|package| resolver.declares(self.site.file, package))
    }

    fn installed(&self, _: &Installed, _: &str) -> Vec<String> {
        self.site.graph.resolver().declared(self.site.file)
    }

    fn library(&self, module: &str) -> String {
        // `test` and what is newer exist under the prefix alone.
        let bare = !self.style.node_prefix && module != "test";
        let prefix = if bare { "" } else { "node:" };
        format!("{prefix}{module}")
    }

    fn module(&self, path: &RepoPath) -> String {
        self.style.relative(self.site.file, path, "")
    }

    fn statement(&self, name: &str, module: &str, imported: &str, type_only: bool) -> String {
        self.style.statement(name, module, imported, type_only)
    }

    fn restated(&self, import: &Import, module: &str) -> String {
        self.style.restated(import, module)
    }

    fn spelled(
        &self,
        undef: &Undefined<'_>,
        candidate: &Candidate,
        weight: &Weight,
        kind: Option<DefinitionKind>,
    ) -> (String, bool) {
        let style = &self.style;
        let erased = kind.is_some_and(DefinitionKind::is_erased);
        let voted = weight.types > 0 && weight.types == weight.count.max(1);
        // Without a use at run time `import type` says what is meant of anything.
        let unknown = kind.is_none() && style.rules.explicit_types && undef.usage.typed;
        let type_only = style.types && !undef.usage.value && (erased || voted || unknown);
        (spelled(self.site.graph, undef, candidate), type_only)
    }

    fn respelled(&self, path: &RepoPath, like: &str) -> (String, bool) {
        let module = respelled(self.site.graph, &self.style, self.site.file, path, like);
        let keeps_root = like.starts_with('.') == module.starts_with('.');
        (module, keeps_root)
    }

    // Module kinds, packages, types beside values.
    fn suits(
        &self,
        undef: &Undefined<'_>,
        one: &Suggestion,
        import: &Import,
        kind: Option<DefinitionKind>,
    ) -> bool {
        let (graph, style) = (self.site.graph, &self.style);
        let resolver = graph.resolver();
        let candidate = Candidate::new(
            import.specifier.clone(),
            one.imported.clone(),
            one.path.clone(),
        );
        let path = one.path.as_ref();
        let spelled =
            path.is_none_or(|path| resolver.is_spelled(style.rules, &import.specifier, path));
        let erased = kind.is_some_and(DefinitionKind::is_erased)
            || one
                .path
                .as_ref()
                .is_some_and(|path| is_type(graph, path, &one.imported));
        let typed = if undef.usage.value {
            !one.type_only && !erased
        } else {
            one.type_only || !erased || !style.rules.explicit_types
        };
        // What Node.js loads by `require` is no place for a statement of modules, and a module
        // nothing to require.
        let own = undef.facts.imports.iter();
        let has_statement = own.clone().any(|it| it.kind == ImportKind::Import);
        let module = one.path.as_ref().and_then(|it| it.extension()) == Some("mjs");
        let mixed = match import.kind {
            ImportKind::Import => style.rules.common && !has_statement && !style.modules,
            ImportKind::Require => module,
            _ => false,
        };
        // Where the file names emitted files, a source file is not what it loads.
        let mut own = undef.facts.imports.iter();
        let emitted = import.specifier.starts_with('.')
            && own.any(|it| names_emitted(resolver, undef.file, it))
            && !names_emitted(resolver, undef.file, import);
        spelled
            && typed
            && !emitted
            && !mixed
            && !crosses(graph, undef, &candidate)
            && is_declared(graph, undef, &import.specifier)
    }

    fn is_astray(&self, undef: &Undefined<'_>, candidate: &Candidate) -> bool {
        let graph = self.site.graph;
        crosses(graph, undef, candidate) || !is_declared(graph, undef, &candidate.module)
    }
}

fn evidence(
    graph: &Graph<'_>,
    style: &ScriptStyle,
    facts: &FileFacts,
    path: &RepoPath,
    file: &RepoPath,
    name: &str,
) -> Vec<(Candidate, Weight)> {
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
        let bound = |one: &&ImportedName| one.local() == name;
        let Some(taken) = import.names.iter().find(bound) else {
            continue;
        };
        let resolution = resolver.resolve(path, import);
        let relative = import.specifier.starts_with('.');
        let same_role = relative && path.file_name() == file.file_name();
        let same_package = resolver.package_of(path) == resolver.package_of(file);
        // What the tools of a package make up (`$app/server`), its own files may name.
        let is_alias = resolution.files.is_empty()
            && import.specifier.starts_with(['@', '~', '$'])
            && package_part(&import.specifier).is_none();
        let is_unknown = resolution.is_unresolved() || is_alias;
        if is_unknown && !(same_package && (same_role || !relative)) {
            continue;
        }
        let target = resolution.files.first().cloned();
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
        let candidate = Candidate::new(module, taken.name.clone(), target);
        found.push((candidate, Weight::vote(near, import)));
    }
    if path != file {
        found.extend(exported(graph, style, facts, path, file, name));
    }
    found
}

// Whether an import names a file by its place and leads to another, as to the source of what is emitted.
fn names_emitted(resolver: &Resolver<'_>, file: &RepoPath, import: &Import) -> bool {
    let named = RepoPath::resolve(file.directory(), &import.specifier);
    let named = named.ok().filter(|_| import.specifier.starts_with("../"));
    let target = resolver.target(file, import);
    let apart = |(named, target): (RepoPath, RepoPath)| {
        named != target && named.stem() == target.stem() && named.directory() != target.directory()
    };
    named.zip(target).is_some_and(apart)
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
) -> Vec<(Candidate, Weight)> {
    let default = |export: &&Export| {
        export.name == "default"
            && (export.local.as_deref() == Some(name)
                || (export.local.is_none() && path.stem() == name))
    };
    let named = facts.exports.iter().find(|export| export.name == name);
    let Some(export) = named.or_else(|| facts.exports.iter().find(default)) else {
        return Vec::new();
    };
    let local = export.local.as_deref().unwrap_or(&export.name);
    let mut defined = facts.definitions.iter();
    let definition = defined.find(|one| one.name == local || one.name == name);
    let kind = definition.map_or(DefinitionKind::Variable, |one| one.kind);
    let own = export.from.is_none().then_some(kind);
    let weight = Weight::offer(own, nearness(path, file));
    let module = placed(graph, style, path, file);
    let candidate = Candidate::new(module, export.name.clone(), Some(path.clone()));
    vec![(candidate, weight)]
}

// What stands at a path as the file names it: by an alias where it prefers those.
fn placed(graph: &Graph<'_>, style: &ScriptStyle, path: &RepoPath, file: &RepoPath) -> String {
    let resolver = graph.resolver();
    let aliases = style.prefers_alias(path.is_below(file.directory()));
    let alias = aliases
        .then(|| resolver.aliases(file, path).into_iter().next())
        .flatten();
    alias.map_or_else(
        || style.relative(file, path, ""),
        |alias| {
            let ended = style.ended(&alias, path);
            if leads(resolver, file, &ended, path) {
                ended
            } else {
                alias
            }
        },
    )
}

// The specifier as the asked file writes it: what it imports the same file by already.
fn spelled(graph: &Graph<'_>, undef: &Undefined<'_>, candidate: &Candidate) -> String {
    let resolver = graph.resolver();
    let leads = |import: &&Import| {
        let taken = !import.names.is_empty() && !import.nested;
        taken && resolver.target(undef.file, import).as_ref() == candidate.path.as_ref()
    };
    let own = undef.facts.imports.iter().filter(leads);
    let mut same = own.filter(|_| candidate.path.is_some());
    match same.next() {
        Some(first) if !same.any(|it| it.specifier == candidate.module) => first.specifier.clone(),
        _ => candidate.module.clone(),
    }
}

// Whether a candidate leads by its place into another package than the file's, and neither the file nor
// its neighbours go there like that.
fn crosses(graph: &Graph<'_>, undef: &Undefined<'_>, candidate: &Candidate) -> bool {
    let resolver = graph.resolver();
    let Some(path) = candidate
        .path
        .as_ref()
        .filter(|_| candidate.module.starts_with('.'))
    else {
        return false;
    };
    let (Some(theirs), Some(ours)) = (resolver.package_of(path), resolver.package_of(undef.file))
    else {
        return false;
    };
    if theirs.0 == ours.0 {
        return false;
    }
    let goes = |import: &Import| {
        import.specifier.starts_with("..")
            && resolver
                .target(undef.file, import)
                .is_some_and(|found| found.is_below(&theirs.0))
    };
    let siblings = undef.siblings.iter().flat_map(|facts| &facts.imports);
    !undef.facts.imports.iter().chain(siblings).any(goes)
}

// Whether a file exports the name as a type alone, or has no part that is there at run time.
fn is_type(graph: &Graph<'_>, path: &RepoPath, name: &str) -> bool {
    let resolver = graph.resolver();
    let stem = |path: &RepoPath| {
        let endings = [(".d.ts", ".js"), (".d.mts", ".mjs"), (".d.cts", ".cjs")];
        endings.iter().find_map(|(declared, code)| {
            let stem = path.as_str().strip_suffix(declared)?;
            RepoPath::new(&format!("{stem}{code}")).ok()
        })
    };
    if stem(path).is_some_and(|code| !resolver.is_file(&code)) {
        return true;
    }
    let (mut path, mut name) = (path.clone(), name.to_owned());
    for _ in 0..MAX_PASSED {
        let facts = resolver.facts(&path);
        let own = facts.exports.iter().filter(|one| one.name == name);
        if own.clone().any(|one| one.type_only) && !own.clone().any(|one| !one.type_only) {
            return true;
        }
        let Some((from, local)) = own.into_iter().find_map(|one| {
            let local = one.local.as_ref().unwrap_or(&one.name);
            Some((one.from.as_ref()?, local))
        }) else {
            return false;
        };
        let next = resolver
            .resolve(&path, &Import::from_specifier(from))
            .files
            .into_iter();
        let Some(next) = next.into_iter().next() else {
            return false;
        };
        (path, name) = (next, local.clone());
    }
    false
}

/// Files that pass a name on one after the other.
const MAX_PASSED: usize = 16;

// Whether the specifier means the same file from here.
fn leads(resolver: &Resolver<'_>, file: &RepoPath, specifier: &str, target: &RepoPath) -> bool {
    resolver
        .target(file, &Import::from_specifier(specifier))
        .as_ref()
        == Some(target)
}

// What a script writes for a module that it named by `like`: an alias stays an alias.
fn respelled(
    graph: &Graph<'_>,
    style: &ScriptStyle,
    file: &RepoPath,
    path: &RepoPath,
    like: &str,
) -> String {
    if like.starts_with('.') {
        return style.like(like).relative(file, path, like);
    }
    // The last part alone is another.
    let beside = like.rsplit_once('/').map(|(above, _)| {
        let plain = format!("{above}/{}", path.stem());
        style.like(like).ended(&plain, path)
    });
    let beside = beside.filter(|it| leads(graph.resolver(), file, it, path));
    if let Some(beside) = beside {
        return beside;
    }
    let first = like.split('/').next();
    let aliases = graph.resolver().aliases(file, path);
    let same = aliases
        .into_iter()
        .find(|alias| alias.split('/').next() == first);
    same.map_or_else(
        || style.relative(file, path, like),
        |alias| style.like(like).ended(&alias, path),
    )
}
