use super::entity::coverage;
use super::evidence::{Candidate, Weight, nearness};
use super::idiom::{Idiom, Shown, Site};
use super::proof::is_declared;
use super::query::Undefined;
use super::restored::stands_again;
use super::subject::by_subject;
use super::suggest::Parsed;
use crate::graph::Graph;
use crate::languages::typescript::ScriptStyle;
use crate::languages::{Resolver, package_part};
use crate::model::{
    DefinitionKind, FileFacts, HintSource, Import, ImportKind, ImportedName, RepoPath, Suggestion,
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
            style: ScriptStyle::of(shown.text, shown.facts, near, rules),
        }
    }
}

impl Idiom for Script<'_> {
    fn evidence(&self, facts: &FileFacts, path: &RepoPath, name: &str) -> Vec<(Candidate, Weight)> {
        let Site { graph, file } = self.site;
        evidence(graph, &self.style, facts, path, file, name)
    }

    fn namesakes(
        &self,
        pool: &[&RepoPath],
        parsed: &Parsed<'_>,
        asked: &Undefined<'_>,
    ) -> Vec<(Candidate, Weight)> {
        let graph = self.site.graph;
        let others = parsed.iter().map(|(path, facts)| (*path, facts.as_ref()));
        let mut found = by_subject(graph, &self.style, pool, others, asked.file, asked.name);
        found.extend(same_named(graph, &self.style, pool, asked));
        found
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
        asked: &Undefined<'_>,
        candidate: &Candidate,
        weight: &Weight,
        kind: Option<DefinitionKind>,
    ) -> (String, bool) {
        let style = &self.style;
        let erased = kind.is_some_and(DefinitionKind::is_erased);
        let voted = weight.types > 0 && weight.types == weight.count.max(1);
        // Without a use at run time `import type` says what is meant of anything.
        let unknown = kind.is_none() && style.rules.explicit_types && asked.usage.typed;
        let type_only = style.types && !asked.usage.value && (erased || voted || unknown);
        (spelled(self.site.graph, style, asked, candidate), type_only)
    }

    fn respelled(&self, path: &RepoPath, like: &str) -> (String, bool) {
        let module = respelled(self.site.graph, &self.style, self.site.file, path, like);
        let keeps_root = like.starts_with('.') == module.starts_with('.');
        (module, keeps_root)
    }

    // Module kinds, packages, types beside values.
    fn suits(
        &self,
        asked: &Undefined<'_>,
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
        let typed = if asked.usage.value {
            !one.type_only && !erased
        } else {
            one.type_only || !erased || !style.rules.explicit_types
        };
        // Where the file names emitted files, a source file is not what it loads.
        let loads = emitted(resolver, asked.file, import).is_some()
            || !import.specifier.starts_with('.')
            || !relative_imports(asked).any(|own| {
                let names = emitted(resolver, asked.file, own);
                let path = one.path.as_ref();
                names.is_some_and(|(source, _)| {
                    path.is_some_and(|path| path.as_str().split('/').any(|part| part == source))
                })
            });
        // What Node.js loads by `require` is no place for a statement of modules, and a module
        // nothing to require.
        let own = asked.facts.imports.iter();
        let has_statement = own.clone().any(|it| it.kind == ImportKind::Import);
        let module = one.path.as_ref().and_then(|it| it.extension()) == Some("mjs");
        let mixed = match import.kind {
            ImportKind::Import => style.rules.common && !has_statement && !style.modules,
            ImportKind::Require => module,
            _ => false,
        };
        spelled
            && typed
            && loads
            && (!mixed || stands_again(asked, one))
            && !crosses(graph, asked, &candidate)
            && is_declared(graph, asked, &import.specifier)
    }

    fn is_astray(&self, asked: &Undefined<'_>, candidate: &Candidate) -> bool {
        let graph = self.site.graph;
        crosses(graph, asked, candidate) || !is_declared(graph, asked, &candidate.module)
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
        found.push((Candidate::new(module, taken.name.clone(), target), weight));
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
    let found = graph.resolver().target(file, import)?;
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
) -> Vec<(Candidate, Weight)> {
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
    let candidate = |module: String, imported: &str, path: &RepoPath| {
        Candidate::new(module, imported, Some(path.clone()))
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
        let entry = resolver.target(file, &Import::of(&package));
        let Some(entry) = entry else {
            return vec![(
                candidate(style.relative(file, path, ""), &export.name, path),
                weight,
            )];
        };
        if graph.defining(&entry, &export.name).as_ref() == Some(path) || entry == *path {
            let weight = Weight {
                defines: None,
                passes_on: true,
                ..weight
            };
            return vec![(candidate(package, &export.name, &entry), weight)];
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
    let mut found = vec![(candidate(module, &export.name, path), weight.clone())];
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
                candidate(style.relative(file, &index, ""), &export.name, &index),
                weight,
            ));
        }
    }
    found
}

// Whether the file imports something outside the directory by its place.
fn reaches_out(resolver: &Resolver<'_>, file: &RepoPath, directory: &str) -> bool {
    let facts = resolver.facts(file);
    let above = facts
        .imports
        .iter()
        .filter(|import| import.specifier.starts_with(".."));
    above
        .filter_map(|import| resolver.target(file, import))
        .any(|path| !path.is_below(directory))
}

// The specifier as the asked file writes it: what it imports the same file by already; `dist` where
// its own imports name what is emitted.
fn spelled(
    graph: &Graph<'_>,
    style: &ScriptStyle,
    asked: &Undefined<'_>,
    candidate: &Candidate,
) -> String {
    let resolver = graph.resolver();
    let Some(path) = &candidate.path else {
        return candidate.module.clone();
    };
    let own = || {
        let taken = asked.facts.imports.iter();
        taken.filter(|import| !import.names.is_empty() && !import.nested)
    };
    let to = |import: &&Import| resolver.target(asked.file, import).as_ref() == Some(path);
    let mut same = own().filter(to);
    if let Some(import) = same.next() {
        let also = same.any(|other| other.specifier == candidate.module);
        return if also {
            &candidate.module
        } else {
            &import.specifier
        }
        .clone();
    }
    if !candidate.module.starts_with('.') {
        return candidate.module.clone();
    }
    relative_imports(asked)
        .filter_map(|import| emitted(resolver, asked.file, import))
        .find_map(|(from, to)| {
            let (from, to) = (format!("/{from}/"), format!("/{to}/"));
            let stem = candidate.module.replacen(&from, &to, 1);
            let spelled = style.like("x.js").ended_like(&stem);
            (stem != candidate.module && leads(resolver, asked.file, &spelled, path))
                .then_some(spelled)
        })
        .unwrap_or_else(|| candidate.module.clone())
}

// What shows whether the file names sources or what is emitted: its own imports of what stands
// elsewhere, else those of its neighbours.
fn relative_imports<'a>(asked: &'a Undefined<'_>) -> impl Iterator<Item = &'a Import> {
    let above = |import: &&Import| import.specifier.starts_with("../");
    let alone = !asked.facts.imports.iter().any(|import| above(&import));
    let siblings = asked.siblings.iter().filter(move |_| alone);
    let theirs = siblings.flat_map(|facts| &facts.imports);
    asked.facts.imports.iter().chain(theirs)
}

// For an import that names an emitted file by its place: the folder of the source it leads to and
// the folder it names.
fn emitted(resolver: &Resolver<'_>, file: &RepoPath, import: &Import) -> Option<(String, String)> {
    if !import.specifier.starts_with('.') {
        return None;
    }
    let named = RepoPath::resolve(file.directory(), &import.specifier).ok()?;
    let found = resolver.target(file, import)?;
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

// Whether a candidate leads by its place into another package than the file's, and neither the file nor
// its neighbours go there like that.
fn crosses(graph: &Graph<'_>, asked: &Undefined<'_>, candidate: &Candidate) -> bool {
    let resolver = graph.resolver();
    let Some(path) = candidate
        .path
        .as_ref()
        .filter(|_| candidate.module.starts_with('.'))
    else {
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
                .target(asked.file, import)
                .is_some_and(|found| found.is_below(&theirs.0))
    };
    let siblings = asked.siblings.iter().flat_map(|facts| &facts.imports);
    !asked.facts.imports.iter().chain(siblings).any(goes)
}

// Whether a file exports the name as a type alone, or has no part that is there at run time.
fn is_type(graph: &Graph<'_>, path: &RepoPath, name: &str) -> bool {
    let resolver = graph.resolver();
    let stem = |path: &RepoPath| {
        let known = [(".d.ts", ".js"), (".d.mts", ".mjs"), (".d.cts", ".cjs")];
        known.iter().find_map(|(declared, code)| {
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
        let next = resolver.resolve(&path, &Import::of(from)).files.into_iter();
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
    resolver.target(file, &Import::of(specifier)).as_ref() == Some(target)
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

// Modules that bear the name: of a namespace those that have every member that the file uses of it,
// and those with a default export.
fn same_named(
    graph: &Graph<'_>,
    style: &ScriptStyle,
    pool: &[&RepoPath],
    asked: &Undefined<'_>,
) -> Vec<(Candidate, Weight)> {
    let usage = &asked.usage;
    let plain = |text: &str| text.to_lowercase().replace(['_', '-'], "");
    let wanted = plain(asked.name);
    let mut found = Vec::new();
    for path in pool.iter().filter(|path| **path != asked.file) {
        let stem = match path.stem() {
            "index" => path.directory().rsplit('/').next().unwrap_or_default(),
            stem => stem,
        };
        if stem != asked.name && plain(stem) != wanted {
            continue;
        }
        let candidate = |imported: &str| {
            Candidate::new(
                style.relative(asked.file, path, ""),
                imported,
                Some((*path).clone()),
            )
        };
        let weight = Weight {
            passes_on: true,
            near: nearness(path, asked.file),
            ..Weight::default()
        };
        let exports = &graph.resolver().facts(path).exports;
        if stem == asked.name && exports.iter().any(|export| export.name == "default") {
            found.push((candidate("default"), weight.clone()));
        }
        let whole = candidate("*");
        let namespace = !usage.members.is_empty() && !usage.called;
        if namespace
            && coverage(graph, asked.language, &whole, usage)
                .is_some_and(|(found, all)| found == all)
        {
            found.push((whole, weight));
        }
    }
    found
}
