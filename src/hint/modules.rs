//! Proposes files for a module that does not exist.

use super::Query;
use super::evidence::nearness;
use super::exports::exports_name;
use super::import_style::{BoxedStyle, Shown, Site};
use super::similar::distance;
use crate::graph::Graph;
use crate::languages::{Language, restated, words};
use crate::model::{HintSource, Import, ImportKind, RepoPath, Suggestion};
use crate::policy::is_test;
use crate::source::Ignored;

/// The edits to a name that has nothing in common.
const RENAMED: usize = usize::MAX;

/// Proposes files for modules that `file` imports and that do not exist: those with the same or a similar name that
/// export some of the imported names. Certain when a single file has all of it.
pub(super) fn missing_modules(
    graph: &Graph<'_>,
    query: &Query<'_>,
    modules: &[String],
) -> Vec<Suggestion> {
    let Some(language) = Language::of_path(query.file.as_str()) else {
        return Vec::new();
    };
    let file = query.file;
    let site = Site { graph, file };
    let facts = graph.resolver().facts(file);
    let mut found = Vec::new();
    for module in modules {
        for import in facts.imports.iter().filter(|import| {
            use ImportKind::{ExportFrom, From, Import, Require};
            let found = graph.resolver().resolve(file, import);
            // Node.js names the path to which an alias leads.
            let mut tried = found.tried.iter().map(|path| format!("/{path}"));
            matches!(import.kind, Import | From | Require | ExportFrom)
                && found.files.is_empty()
                && (leads_to(file, import, module)
                    || tried.any(|path| format!("/{module}").ends_with(&path)))
        }) {
            let taken = import.names.iter().map(|one| one.name.as_str());
            let missing = MissingModule {
                graph,
                query,
                import,
                language,
                style: site.choose_style(language, Shown::default()),
                taken: taken.filter(|name| *name != "*").collect(),
            };
            let suggestions = missing.list_suggestions().into_iter();
            found.extend(suggestions.map(|one| Suggestion {
                name: module.clone(),
                ..one
            }));
        }
    }
    found
}

/// Checks whether an import is what a log means by a module. A log names a Python module absolutely, or only the
/// package that is missing; Node.js names the file by its absolute path.
pub(super) fn leads_to(file: &RepoPath, import: &Import, module: &str) -> bool {
    let specifier = import.specifier.as_str();
    let bare = specifier.trim_start_matches('.');
    if specifier == module {
        return true;
    }
    if !specifier.starts_with('.') {
        let rest = specifier.strip_prefix(module);
        return rest.is_some_and(|rest| rest.starts_with('.'));
    }
    if bare.starts_with('/') || specifier == "." || specifier == ".." {
        let place = RepoPath::resolve(file.directory(), specifier);
        // The root of the path may have been cut off.
        let head = place.ok().and_then(|path| module.strip_suffix(path.as_str()));
        return head.is_some_and(|head| head.is_empty() || head.ends_with('/'));
    }
    // `.a.b`: the log says the package's name before it, or stops at `a`.
    let parts: Vec<&str> = bare.split('.').filter(|part| !part.is_empty()).collect();
    (1..=parts.len()).any(|end| {
        let head = parts.get(..end).unwrap_or_default().join(".");
        module.ends_with(&format!(".{head}"))
    })
}

// An import that leads nowhere.
struct MissingModule<'a> {
    graph: &'a Graph<'a>,
    query: &'a Query<'a>,
    import: &'a Import,
    language: &'static Language,
    style: BoxedStyle<'a>,
    // Names that are imported from it.
    taken: Vec<&'a str>,
}

impl MissingModule<'_> {
    fn list_suggestions(&self) -> Vec<Suggestion> {
        let source = self.graph.source();
        let candidates = source.listing().files().map(|entry| &entry.path).filter(|path| {
            *path != self.query.file
                && Language::of_path(path.as_str()) == Some(self.language)
                && (self.query.ask.may_read)(path)
        });
        let places = candidates.filter_map(|path| {
            let edits = self.count_edits(path)?;
            let mut taken = self.taken.iter();
            let has_some = self.taken.is_empty() || taken.any(|name| self.has_name(path, name));
            has_some.then(|| (edits, self.has_all(path), path))
        });
        let mut places: Vec<(usize, bool, &RepoPath)> = places.collect();
        places.sort_by_key(|(edits, has_all, path)| {
            let near = std::cmp::Reverse(nearness(path, self.query.file));
            (!has_all, *edits, near, (*path).clone())
        });
        let whole = places.iter().filter(|(_, has_all, _)| *has_all).count();
        let first = places.first().filter(|(edits, _, _)| *edits < RENAMED);
        let certain = whole == 1 && first.is_some_and(|(_, _, path)| self.is_certain(path));
        let mut found: Vec<Suggestion> = Vec::new();
        for (edits, has_all, path) in places.into_iter().take(3) {
            let certain = certain && found.is_empty();
            let is_same = edits == 0 || has_all;
            let (module, _) = self.style.respell_module(path, &self.import.specifier);
            found.push(Suggestion {
                import_statement: restated(source, self.query.file, self.import, &module),
                module,
                path: Some(path.clone()),
                confidence: if certain { 90 } else { 40 },
                source: if is_same { HintSource::Definition } else { HintSource::Similar },
                certain,
                imported: "*".to_owned(),
                type_only: self.import.type_only,
                replaces: Some(self.import.specifier.clone()),
                ..Suggestion::default()
            });
        }
        found
    }

    // Edits between the name of a file and the one that is imported; `None` where they are not alike.
    fn count_edits(&self, path: &RepoPath) -> Option<usize> {
        let specifier = &self.import.specifier;
        // A name may have dots of its own: `./user.service`.
        let tail = specifier.rsplit('/').next().unwrap_or(specifier);
        let wanted = [self.language.last_part(specifier), tail];
        let name = match path.stem() {
            "__init__" | "index" => path.directory().rsplit('/').next()?,
            stem => stem,
        };
        if wanted.contains(&name) {
            return Some(0);
        }
        let near = wanted.iter().filter_map(|wanted| distance(wanted, name));
        let near = near.min().map(|edits| 1 + edits);
        near.or_else(|| self.may_be_renamed(path).then_some(RENAMED))
    }

    // Whether a file of another name defines all that is imported, and no test of it is meant.
    fn may_be_renamed(&self, path: &RepoPath) -> bool {
        let text = self.graph.source().read(path).unwrap_or_default();
        let mut taken = self.taken.iter();
        !is_test(path.as_str())
            && taken.all(|name| *name != "default" && words(&text, name).next().is_some())
            && self.has_all(path)
            && self.taken.iter().all(|name| self.is_home(path, name))
    }

    fn has_all(&self, path: &RepoPath) -> bool {
        !self.taken.is_empty() && self.taken.iter().all(|name| self.has_name(path, name))
    }

    // Whether a file has the name for others to take. A component is taken as a whole.
    fn has_name(&self, path: &RepoPath, name: &str) -> bool {
        if self.language.declares_exports {
            let component = matches!(path.extension(), Some("vue" | "svelte"));
            return (component && name == "default") || exports_name(self.graph, path, name);
        }
        let is_package = path.stem() == "__init__";
        self.graph.defining(path, name).is_some()
            || (is_package && self.graph.has_module(path.directory(), name))
    }

    // Python modules show all that they import: the name has to be from there.
    fn is_home(&self, path: &RepoPath, name: &str) -> bool {
        self.language.declares_exports
            || path.stem() == "__init__"
            || self.graph.defining(path, name).as_ref() == Some(path)
    }

    fn is_certain(&self, path: &RepoPath) -> bool {
        self.taken.iter().all(|name| self.is_home(path, name))
            && !is_test(path.as_str())
            && !is_generated(self.graph, self.query.file, self.import)
            && self.may_be_ours()
            && self.leads_here(path)
    }

    // Whether the specifier cannot mean a package that is declared, of the library, or simply not installed.
    fn may_be_ours(&self) -> bool {
        let specifier = self.import.specifier.as_str();
        let package = self.language.package(specifier);
        // An alias of the file's own project leads there.
        if self.language.declares_exports || specifier.starts_with('.') || package.is_empty() {
            return true;
        }
        let top = package.split('.').next().unwrap_or(package);
        let (resolver, top) = (self.graph.resolver(), Import::from_specifier(top));
        let found = resolver.resolve(self.query.file, &top);
        !found.files.is_empty()
    }

    fn leads_here(&self, path: &RepoPath) -> bool {
        let (module, keeps_root) = self.style.respell_module(path, &self.import.specifier);
        let resolver = self.graph.resolver();
        let there = Import {
            specifier: module.clone(),
            ..self.import.clone()
        };
        let found = resolver.resolve(self.query.file, &there).files;
        // For a package of Python its submodules, where those are taken.
        let is_package = path.stem() == "__init__" && !found.is_empty();
        let leads = found.contains(path)
            || is_package && found.iter().all(|file| file.is_below(path.directory()));
        let rules = resolver.module_rules(self.query.file);
        keeps_root && leads && resolver.is_spelled(rules, &module, path)
    }
}

// Endings of source files that an import leaves out.
const ENDINGS: [&str; 6] = ["", ".py", ".js", ".ts", ".tsx", ".mjs"];

/// Checks whether git ignores the file that an import names: a build writes it.
pub(super) fn is_generated(graph: &Graph<'_>, file: &RepoPath, import: &Import) -> bool {
    let mut ignored = Ignored::new(graph.source(), "");
    let mut paths = graph.resolver().resolve(file, import).tried;
    if import.specifier.starts_with("./") || import.specifier.starts_with("../") {
        let named = RepoPath::resolve(file.directory(), &import.specifier);
        paths.extend(named.ok().map(|path| path.to_string()));
    }
    let named = paths.iter().flat_map(|path| ENDINGS.map(|ending| format!("{path}{ending}")));
    let mut paths = named.filter_map(|path| RepoPath::new(&path).ok());
    paths.any(|path| ignored.is_ignored(&path))
}
