//! The Python side of [`super::import_style`].

use super::evidence::{Candidate, Weight, nearness};
use super::import_style::{ImportStyle, Shown, Site};
use super::query::Undefined;
use crate::languages::python::requirements::{declares, is_required, normal_name};
use crate::languages::python::spelling::{self, Tops, module_place, place_of};
use crate::languages::{Has, PYTHON, exported};
use crate::model::{
    DefinitionKind, FileFacts, HintSource, Import, ImportKind, ImportedName, RepoPath, Suggestion,
};
use crate::source::Installed;

/// Python, with the names by which the repository calls its own modules.
pub(super) struct Python<'g> {
    site: Site<'g>,
    tops: Tops,
}

impl<'g> Python<'g> {
    pub(super) fn new(site: Site<'g>, shown: Shown<'_>) -> Self {
        let resolver = site.graph.resolver();
        let mut tops = Tops::default();
        tops.learn(resolver, site.file, &resolver.facts(site.file));
        for facts in shown.siblings {
            tops.learn(resolver, site.file, facts);
        }
        for (path, facts) in shown.parsed.iter().take(32) {
            tops.learn(resolver, path, facts);
        }
        Self { site, tops }
    }

    // Relative when the imports of its package are, in the file or else in its neighbors.
    fn is_relative(&self, undef: &Undefined<'_>) -> bool {
        let resolver = self.site.graph.resolver();
        let place = module_place(undef.file);
        let own = self.tops.dotted(resolver, undef.file, &place);
        let top = own.split('.').next();
        let siblings = undef.siblings.iter().flat_map(|facts| &facts.imports);
        let imports = undef.facts.imports.iter().chain(siblings);
        let mut own = imports
            .map(|import| import.specifier.as_str())
            .filter(|module| module.starts_with('.') || module.split('.').next() == top);
        own.next().is_some_and(|module| module.starts_with('.'))
    }
}

impl ImportStyle for Python<'_> {
    fn evidence(&self, facts: &FileFacts, path: &RepoPath, name: &str) -> Vec<(Candidate, Weight)> {
        let Site { graph, file } = self.site;
        let resolver = graph.resolver();
        let mut found = Vec::new();
        let near = nearness(path, file);
        for import in &facts.imports {
            // What `file` itself imports at its top is not missing there.
            if path == file && !import.nested {
                continue;
            }
            let Some(taken) = taken_name(import, name) else {
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
                    Some(place) => self.tops.dotted(resolver, file, &place),
                    None => continue,
                }
            } else {
                import.specifier.clone()
            };
            let imported = taken.map_or_else(|| "*".to_owned(), |taken| taken.name);
            let candidate = Candidate::new(module, imported, target);
            found.push((candidate, Weight::vote(near, import)));
        }
        if path == file || path.file_name() == "conftest.py" {
            return found;
        }
        let defined = facts.definitions.iter().find(|one| one.name == name);
        let passed = defined.is_none()
            && path.stem() == "__init__"
            && !file.is_below(path.directory())
            && !graph.has_lost(path, &facts.imports, name)
            && facts.exports.iter().any(|export| {
                let is_member = export.name == name && export.local.as_deref() != Some("*");
                // Imports from outside do not count, because a package takes them for its own use.
                is_member
                    && export.from.as_ref().is_some_and(|from| {
                        let import = Import::from_specifier(from);
                        from.starts_with('.') || !resolver.resolve(path, &import).files.is_empty()
                    })
            });
        if defined.is_some() || passed {
            let module = self.tops.dotted(resolver, file, &module_place(path));
            let candidate = Candidate::new(module, name, Some(path.clone()));
            found.push((candidate, Weight::offer(defined.map(|one| one.kind), near)));
        }
        found
    }

    fn namesakes(&self, pool: &[&RepoPath], undef: &Undefined<'_>) -> Vec<(Candidate, Weight)> {
        let resolver = self.site.graph.resolver();
        let modules = pool.iter().filter_map(|path| {
            let place = module_place(path);
            let (above, last) = place.rsplit_once('/').unwrap_or(("", &place));
            if last != undef.name || *path == undef.file {
                return None;
            }
            let dotted = self.tops.dotted(resolver, undef.file, &place);
            let (module, imported) = match dotted.rsplit_once('.') {
                Some((package, last)) => (package.to_owned(), last.to_owned()),
                None if above.is_empty() || !resolver.is_package(above) => (dotted, "*".to_owned()),
                None => return None,
            };
            let candidate = Candidate::new(module, imported, Some((*path).clone()));
            let kind = Some(DefinitionKind::Namespace);
            Some((candidate, Weight::offer(kind, nearness(path, undef.file))))
        });
        modules.collect()
    }

    fn outside_names(&self, name: &str) -> Vec<(String, String, HintSource)> {
        if PYTHON.is_standard(name) {
            return vec![(name.to_owned(), "*".to_owned(), HintSource::Stdlib)];
        }
        // A class with the name of its package: `Redis` of redis, `IniConfig` of iniconfig.
        let package = name.to_lowercase();
        let imported = if package == name { "*" } else { name };
        let class = name.starts_with(|letter: char| letter.is_ascii_uppercase());
        let meant = (imported == "*" || class)
            && declares(self.site.graph.source(), self.site.file, &package);
        let found = meant.then(|| (package, imported.to_owned(), HintSource::Manifest));
        found.into_iter().collect()
    }

    fn declares_module(&self, module: &str) -> bool {
        let top = module.split('.').next().unwrap_or(module);
        declares(self.site.graph.source(), self.site.file, top)
    }

    fn installed_modules(&self, installed: &Installed, name: &str) -> Vec<String> {
        let (source, file) = (self.site.graph.source(), self.site.file);
        let named = installed.distributions().into_iter().flat_map(|one| {
            one.modules.into_iter().map(move |module| (normal_name(&one.name), module))
        });
        let meant = named.filter(|(package, module)| {
            let found = exported(installed, file, module, name);
            matches!(found, Some(Has::Exported { .. })) && is_required(source, file, package)
        });
        meant.map(|(_, module)| module).collect()
    }

    fn statement(&self, name: &str, module: &str, imported: &str, _: bool) -> String {
        spelling::write_statement(name, module, imported)
    }

    fn spell_module(
        &self,
        undef: &Undefined<'_>,
        candidate: &Candidate,
        _: &Weight,
        _: Option<DefinitionKind>,
    ) -> (String, bool) {
        let resolver = self.site.graph.resolver();
        let relative = self.is_relative(undef);
        let path = candidate.path.as_ref();
        let module =
            spelling::spell_module(resolver, &candidate.module, path, undef.file, relative);
        (module, false)
    }

    fn suits_import(
        &self,
        _: &Undefined<'_>,
        one: &Suggestion,
        _: &Import,
        _: Option<DefinitionKind>,
    ) -> bool {
        let Some(path) = one.path.as_ref().filter(|_| one.imported != "*") else {
            return true;
        };
        let facts = self.site.graph.resolver().facts(path);
        let text = self.site.graph.source().read(path).unwrap_or_default();
        spelling::may_count_on(&facts, &text, &one.imported)
    }

    fn respell_module(&self, path: &RepoPath, like: &str) -> (String, bool) {
        let (resolver, file) = (self.site.graph.resolver(), self.site.file);
        let place = module_place(path);
        let names = resolver.module_names(file, &place);
        // The most leading parts in common; reversed, so that `max_by_key` takes the first of equal names.
        let names = names.into_iter().rev();
        let best = names.max_by_key(|name| {
            name.split('.').zip(like.split('.')).take_while(|(a, b)| a == b).count()
        });
        let module = best.unwrap_or_else(|| place.replace('/', "."));
        let relative = like.starts_with('.');
        let spelled = spelling::spell_module(resolver, &module, Some(path), file, relative);
        (spelled, true)
    }
}

// The taken name when a `from` import binds `name`; `Some(None)` when it is the whole module.
fn taken_name(import: &Import, name: &str) -> Option<Option<ImportedName>> {
    let bound = |one: &&ImportedName| one.local() == name;
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
