//! The TypeScript and JavaScript side of [`super::import_style`].

use super::certainty::is_declared;
use super::evidence::{Candidate, Weight, nearness};
use super::import_style::{ImportStyle, Shown, Site};
use super::modules::is_generated;
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
    pub(super) fn new(site: Site<'g>, shown: Shown<'_>) -> Self {
        let resolver = site.graph.resolver();
        let near: Vec<&RepoPath> = if shown.parsed.is_empty() {
            shown.pool.iter().take(4).copied().collect()
        } else {
            shown.parsed.iter().take(8).map(|(path, _)| *path).collect()
        };
        let near: Vec<_> = near.into_iter().map(|path| resolver.facts(path)).collect();
        let rules = resolver.module_rules(site.file);
        let text = site.graph.source().read(site.file).unwrap_or_default();
        let near = shown.siblings.iter().chain(&near).map(AsRef::as_ref);
        Self {
            site,
            style: ScriptStyle::detect(&text, &resolver.facts(site.file), near, rules),
        }
    }

    fn exported_candidate(
        &self,
        facts: &FileFacts,
        path: &RepoPath,
        name: &str,
    ) -> Option<(Candidate, Weight)> {
        let named = facts.exports.iter().find(|export| export.name == name);
        let export = named.or_else(|| {
            facts.exports.iter().find(|export: &&Export| {
                export.name == "default"
                    && (export.local.as_deref() == Some(name)
                        || (export.local.is_none() && path.stem() == name))
            })
        })?;
        let local = export.local.as_deref().unwrap_or(&export.name);
        let mut defined = facts.definitions.iter();
        let definition = defined.find(|one| one.name == local || one.name == name);
        let kind = definition.map_or(DefinitionKind::Variable, |one| one.kind);
        let own = export.from.is_none().then_some(kind);
        let weight = Weight::offer(own, nearness(path, self.site.file));
        let module = self.place_module(path);
        let candidate = Candidate::new(module, export.name.clone(), Some(path.clone()));
        Some((candidate, weight))
    }

    // The specifier of a module that the file named by `like`: an alias stays an alias.
    fn placed_like(&self, path: &RepoPath, like: &str) -> String {
        let Site { graph, file } = self.site;
        let style = self.style.like(like);
        if like.starts_with('.') {
            return style.relative(file, path, like);
        }
        // The last part alone is another.
        let beside = like.rsplit_once('/');
        let beside =
            beside.map(|(above, _)| style.ended(&format!("{above}/{}", path.stem()), path));
        let beside = beside.filter(|beside| leads_to(graph.resolver(), file, beside, path));
        let first = like.split('/').next();
        let mut aliases = graph.resolver().aliases(file, path).into_iter();
        let alias = aliases.find(|alias| alias.split('/').next() == first);
        let alias = beside.or_else(|| Some(style.ended(&alias?, path)));
        alias.unwrap_or_else(|| style.relative(file, path, like))
    }

    // The module at a path as the file names it: by an alias where it prefers those.
    fn place_module(&self, path: &RepoPath) -> String {
        let Site { graph, file } = self.site;
        let resolver = graph.resolver();
        let by_alias = self.style.aliases && !path.is_below(file.directory());
        let Some(alias) =
            by_alias.then(|| resolver.aliases(file, path).into_iter().next()).flatten()
        else {
            return self.style.relative(file, path, "");
        };
        let ended = self.style.ended(&alias, path);
        if leads_to(resolver, file, &ended, path) { ended } else { alias }
    }
}

impl ImportStyle for Script<'_> {
    fn evidence(&self, facts: &FileFacts, path: &RepoPath, name: &str) -> Vec<(Candidate, Weight)> {
        let Site { graph, file } = self.site;
        let resolver = graph.resolver();
        let mut found = Vec::new();
        let near = nearness(path, file);
        for import in &facts.imports {
            use ImportKind::{Import, ImportEquals, Require};
            if !matches!(import.kind, Import | Require | ImportEquals) || path == file {
                continue;
            }
            let Some(taken) = import.names.iter().find(|one: &&ImportedName| one.local() == name)
            else {
                continue;
            };
            let resolution = resolver.resolve(path, import);
            let relative = import.specifier.starts_with('.');
            let same_role = relative && path.file_name() == file.file_name();
            let same_package = resolver.package_of(path) == resolver.package_of(file);
            let built = RepoPath::resolve(path.directory(), &import.specifier).ok();
            let built = built.filter(|_| relative && resolution.is_unresolved());
            let built = built.filter(|_| same_package && is_generated(graph, path, import));
            let is_plain = !relative || same_role || built.is_some();
            if resolution.is_unresolved() && !(same_package && is_plain) {
                continue;
            }
            let target = resolution.files.first().cloned();
            if target.as_ref() == Some(file) {
                continue;
            }
            // What the settings of one tool take from a package says little of those of another.
            let is_apart = target.is_none() && tool_of(path) != tool_of(file);
            let near = if is_apart && taken.name != "default" { 0 } else { near };
            let module = match &target {
                Some(target) if relative => {
                    // Where neighbors name a source file in full, so does the file.
                    let ending = import.specifier.rsplit('.').next();
                    let in_full = matches!(ending, Some("ts" | "tsx" | "mts" | "cts"));
                    let like = if in_full && same_package {
                        &self.style.like(&import.specifier)
                    } else {
                        &self.style
                    };
                    like.relative(file, target, &import.specifier)
                }
                Some(target) if !leads_to(resolver, file, &import.specifier, target) => {
                    self.style.relative(file, target, "")
                }
                _ => import.specifier.clone(),
            };
            let built = built.map(|built| self.style.relative(file, &built, &import.specifier));
            let candidate = Candidate::new(built.unwrap_or(module), &*taken.name, target);
            found.push((candidate, Weight::vote(near, import)));
        }
        if path != file {
            found.extend(self.exported_candidate(facts, path, name));
        }
        found
    }

    fn outside_names(&self, name: &str) -> Vec<(String, String, HintSource)> {
        let Site { graph, file } = self.site;
        let resolver = graph.resolver();
        let packages = resolver.declared_like(file, name).into_iter();
        packages
            .map(|package| (package, "default".to_owned(), HintSource::Manifest))
            .collect()
    }

    fn declares_module(&self, module: &str) -> bool {
        let resolver = self.site.graph.resolver();
        package_part(module).is_some_and(|package| resolver.declares(self.site.file, package))
    }

    fn installed_modules(&self, _: &Installed, _: &str) -> Vec<String> {
        self.site.graph.resolver().declared(self.site.file)
    }

    fn library_name(&self, module: &str) -> String {
        // `test` and what is newer exist under the prefix alone.
        let bare = !self.style.node_prefix && module != "test";
        let prefix = if bare { "" } else { "node:" };
        format!("{prefix}{module}")
    }

    fn statement(&self, name: &str, module: &str, imported: &str, type_only: bool) -> String {
        self.style.statement(name, module, imported, type_only)
    }

    fn spell_module(
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
        let plain = (kind.is_none() || style.rules.explicit_types) && undef.usage.typed;
        let type_only = style.types && !undef.usage.value && (erased || voted || plain);
        let resolver = undef.graph.resolver();
        // The specifier by which the file imports the same module already, else the candidate's.
        let mut own = undef.facts.imports.iter();
        let same = own.find(|import| {
            let taken = candidate.path.is_some() && !import.names.is_empty() && !import.nested;
            taken && resolver.target(undef.file, import) == candidate.path
        });
        let module = same.map_or(&candidate.module, |import| &import.specifier);
        (module.clone(), type_only)
    }

    fn respell_module(&self, path: &RepoPath, like: &str) -> (String, bool) {
        let module = self.placed_like(path, like);
        let is_relative = like.starts_with('.') && module.starts_with('.');
        let keeps_root = is_relative || module.split('/').next() == like.split('/').next();
        (module, keeps_root)
    }

    // Module kinds, packages, types beside values.
    fn suits_import(
        &self,
        undef: &Undefined<'_>,
        one: &Suggestion,
        import: &Import,
        kind: Option<DefinitionKind>,
    ) -> bool {
        let (graph, rules) = (self.site.graph, self.style.rules);
        let resolver = graph.resolver();
        let path = one.path.as_ref();
        let (module, imported) = (&*import.specifier, &*one.imported);
        let candidate = Candidate::new(module, imported, one.path.clone());
        let erased = kind.is_some_and(DefinitionKind::is_erased)
            || path.is_some_and(|path| is_type(graph, path, &one.imported));
        let typed = if undef.usage.value {
            !one.type_only && !erased
        } else {
            one.type_only || !erased || !rules.explicit_types
        };
        // Node.js loads a CommonJS file by `require`, where an import statement fails, and a module by statements.
        let mut own = undef.facts.imports.iter();
        let mixed = match import.kind {
            ImportKind::Import => {
                let has_statement = own.any(|import| import.kind == ImportKind::Import);
                rules.common && !has_statement && !self.style.modules
            }
            ImportKind::Require => path.and_then(|path| path.extension()) == Some("mjs"),
            _ => false,
        };
        path.is_none_or(|path| resolver.is_spelled(rules, &import.specifier, path))
            && typed
            && !mixed
            && !crosses_boundary(undef, &candidate)
            && is_declared(undef, &import.specifier)
    }
}

/// Checks whether a candidate leads by its path into another package than the file's, where neither the file nor its
/// neighbors go like that.
pub(super) fn crosses_boundary(undef: &Undefined<'_>, candidate: &Candidate) -> bool {
    let resolver = undef.graph.resolver();
    let is_relative = candidate.module.starts_with('.');
    let path = candidate.path.as_ref().filter(|_| is_relative);
    let theirs = path.and_then(|path| resolver.package_of(path));
    let (Some(theirs), Some(ours)) = (theirs, resolver.package_of(undef.file)) else {
        return false;
    };
    let siblings = undef.siblings.iter().flat_map(|facts| &facts.imports);
    theirs.0 != ours.0
        && !undef.facts.imports.iter().chain(siblings).any(|import| {
            import.specifier.starts_with("..")
                && (resolver.target(undef.file, import))
                    .is_some_and(|path| path.is_below(&theirs.0))
        })
}

/// Checks whether a file or the one that defines the name exports it as a type alone.
pub(super) fn is_type(graph: &Graph<'_>, path: &RepoPath, name: &str) -> bool {
    let files = std::iter::once(path.clone()).chain(graph.defining(path, name));
    files.into_iter().any(|path| {
        let facts = graph.resolver().facts(&path);
        let mut own = facts.exports.iter().filter(|one| one.name == name).peekable();
        path.as_str().ends_with(".d.ts") || (own.peek().is_some() && own.all(|one| one.type_only))
    })
}

// The tool whose settings a file holds: `vitest` for `vitest.config.ts`.
fn tool_of(path: &RepoPath) -> Option<&str> {
    path.stem().split_once(".config").map(|(tool, _)| tool)
}

// Whether the specifier means the same file from here.
fn leads_to(resolver: &Resolver<'_>, file: &RepoPath, specifier: &str, target: &RepoPath) -> bool {
    resolver.target(file, &Import::from_specifier(specifier)).as_ref() == Some(target)
}
