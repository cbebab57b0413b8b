use std::collections::BTreeSet;

use super::Query;
use super::evidence::nearness;
use super::idiom::{Idiom, own_idiom};
use super::renamed::{definition, exports_it, is_alike};
use super::slip::{Named, Place};
use crate::graph::Graph;
use crate::languages::{Language, words};
use crate::model::{Export, HintSource, Import, ImportKind, RepoPath, Suggestion};
use crate::policy::is_test;
use crate::source::{Entry, Ignored, Source};

const MAX_SUGGESTIONS: usize = 3;
/// Files around a module that is gone whose imports are looked at.
const MAX_AROUND: usize = 300;

/// Proposes where a module has gone that `file` imports and that is not there: a file of its name,
/// or one that exports all that is taken from it. Certain when exactly one exports it all.
#[must_use]
pub fn moved_modules(graph: &Graph<'_>, query: &Query<'_>, modules: &[String]) -> Vec<Suggestion> {
    let Some(language) = Language::of_path(query.file.as_str()) else {
        return Vec::new();
    };
    let facts = graph.resolver().facts(query.file);
    let mut found = Vec::new();
    for module in modules {
        let imports = facts.imports.iter().filter(|import| {
            let reads = matches!(
                import.kind,
                ImportKind::Import
                    | ImportKind::From
                    | ImportKind::Require
                    | ImportKind::ExportFrom
            );
            reads
                && (leads_to(query.file, import, module)
                    || is_path_of(graph, query.file, import, module))
                && graph
                    .resolver()
                    .resolve(query.file, import)
                    .files
                    .is_empty()
        });
        for import in imports {
            let mut rows = moved(graph, query, import, language);
            for row in &mut rows {
                row.name.clone_from(module);
            }
            found.append(&mut rows);
        }
    }
    found
}

/// Whether an import is what a log means by a module. A log names a Python module absolutely,
/// whatever dots the file wrote, or only the package that is not there; Node.js names the file by
/// its whole path, of which what ran it may have left the part below the repository.
#[must_use]
pub fn leads_to(file: &RepoPath, import: &Import, module: &str) -> bool {
    let specifier = import.specifier.as_str();
    let bare = specifier.trim_start_matches('.');
    if specifier == module {
        return true;
    }
    if !specifier.starts_with('.') {
        return specifier
            .strip_prefix(module)
            .is_some_and(|rest| rest.starts_with('.'));
    }
    if bare.starts_with('/') || specifier == "." || specifier == ".." {
        let place = RepoPath::resolve(file.directory(), specifier);
        let whole = module.starts_with(['/', 'f']);
        return place.is_ok_and(|path| {
            let head = module.strip_suffix(path.as_str());
            // The root may have been taken off a log.
            head.is_some_and(|head| head.is_empty() || (whole && head.ends_with('/')))
        });
    }
    // `.a.b`: the log says the package's name before it, or stops at `a`.
    let parts: Vec<&str> = bare.split('.').filter(|part| !part.is_empty()).collect();
    (1..=parts.len()).any(|end| {
        let head = parts.get(..end).unwrap_or_default().join(".");
        module.ends_with(&format!(".{head}"))
    })
}

// An import that leads nowhere.
struct Moved<'a> {
    graph: &'a Graph<'a>,
    query: &'a Query<'a>,
    import: &'a Import,
    language: &'static Language,
    idiom: Box<dyn Idiom + 'a>,
    // What is taken by its name.
    taken: Vec<&'a str>,
    // What stood last where it leads, and where that was.
    past: Option<(Vec<u8>, RepoPath)>,
    // The only file that holds that now.
    renamed: Option<RepoPath>,
}

fn moved(
    graph: &Graph<'_>,
    query: &Query<'_>,
    import: &Import,
    language: &'static Language,
) -> Vec<Suggestion> {
    let taken = import.names.iter().map(|it| it.name.as_str());
    let past = stood(graph, query, import);
    let moved = Moved {
        graph,
        query,
        import,
        language,
        idiom: own_idiom(graph, query.file, language),
        taken: taken.filter(|it| *it != "*").collect(),
        renamed: past
            .as_ref()
            .and_then(|past| renamed(graph.source(), query, past)),
        past,
    };
    let package = moved.near_package();
    package.map_or_else(|| moved.rows(), |one| vec![one])
}

impl Moved<'_> {
    fn rows(&self) -> Vec<Suggestion> {
        let source = self.graph.source();
        let named = Named::of(source, self.query.file, self.import, self.language);
        let files = source.listing().files().map(|entry| &entry.path);
        let may_be = |path: &&RepoPath| {
            *path != self.query.file && named.may_be(path) && (self.query.may_read)(path)
        };
        let orphan = self.orphan();
        let place = |path| {
            let is_here = self.renamed.as_ref() == Some(path);
            let (far, slip) = if is_here { (0, true) } else { (3, false) };
            let named = named.place(self.graph, path);
            let is_other = || is_here || orphan.as_ref() == Some(path) || self.defines_first(path);
            named.or_else(|| is_other().then_some(Place { path, far, slip }))
        };
        let found = files.filter(may_be).filter_map(place);
        let mut places: Vec<Place<'_>> = found.filter(|it| self.may_be_it(it)).collect();
        places.sort_by_key(|place| {
            (
                Some(place.path) != self.renamed.as_ref(),
                !(self.has_all(place) || (place.slip && self.is_unknown(place))),
                !place.slip,
                place.far,
                std::cmp::Reverse(nearness(place.path, self.query.file)),
                place.path.clone(),
            )
        });
        let certain = places
            .first()
            .is_some_and(|first| self.is_meant(first, &places));
        let rows = places.iter().enumerate().take(MAX_SUGGESTIONS);
        rows.map(|(at, place)| self.row(place, certain && at == 0))
            .collect()
    }

    // Whether a file itself defines the first name that is taken. Where it is known what took the place, nobody
    // else is asked.
    fn defines_first(&self, path: &RepoPath) -> bool {
        let Some(first) = self.import.names.first().filter(|it| it.name != "*") else {
            return false;
        };
        let name = match &first.alias {
            Some(alias) if first.name == "default" => alias,
            _ => &first.name,
        };
        let uses = |text: &[u8]| words(text, name).next().is_some();
        self.renamed.is_none()
            && self.graph.source().read(path).is_ok_and(|it| uses(&it))
            && match first.name.as_str() {
                "default" => {
                    let exports = &self.graph.resolver().facts(path).exports;
                    let is_it =
                        |it: &Export| it.name == "default" && it.local.as_deref() == Some(name);
                    exports.iter().any(is_it)
                }
                name => holds(self.graph, path, name) && is_home(self.graph, path, name),
            }
    }

    // What a star takes has no name to look for: the only file around that defines something and that nobody imports,
    // or of several the only one whose name begins like the one that is gone.
    fn orphan(&self) -> Option<RepoPath> {
        let (graph, file) = (self.graph, self.query.file);
        if self.renamed.is_some() || !self.import.names.iter().any(|it| it.name == "*") {
            return None;
        }
        let entries = graph.source().listing().files().map(|entry| &entry.path);
        let around = entries.filter(|path| {
            path.is_below(file.directory())
                && Language::of_path(path.as_str()) == Some(self.language)
                && !is_test(path.as_str())
        });
        let around: Vec<&RepoPath> = around.take(MAX_AROUND).collect();
        let edges: Vec<_> = around.iter().map(|it| graph.file(it)).collect();
        let all = edges.iter().flat_map(|it| &it.resolutions);
        let taken: BTreeSet<&RepoPath> = all.flat_map(|it| &it.files).collect();
        let entry = ["__init__", "__main__", "conftest", "index"];
        let orphans = edges.iter().filter(|edge| {
            edge.path != *file
                && !entry.contains(&edge.path.stem())
                && !taken.contains(&edge.path)
                && !edge.facts.definitions.is_empty()
        });
        let orphans: Vec<&RepoPath> = orphans.map(|it| &it.path).collect();
        let last = self.language.last_part(&self.import.specifier);
        let like = |it: &&&RepoPath| it.stem().starts_with(last) || last.starts_with(it.stem());
        let mut alike = orphans.iter().filter(like);
        match (orphans.as_slice(), alike.next(), alike.next()) {
            ([only], ..) | (_, Some(only), None) => Some((*only).clone()),
            _ => None,
        }
    }

    fn has_all(&self, place: &Place<'_>) -> bool {
        let mut taken = self.taken.iter();
        taken.all(|name| holds(self.graph, place.path, name))
    }

    // What a module of old exports is not always known.
    fn is_unknown(&self, place: &Place<'_>) -> bool {
        let facts = self.graph.resolver().facts(place.path);
        facts.exports.is_empty()
    }

    // A file that has nothing of what is taken is not where it went; and where a file stood, one that merely has
    // the same names is another.
    fn may_be_it(&self, place: &Place<'_>) -> bool {
        let mut taken = self.taken.iter();
        let has_some = self.taken.is_empty()
            || taken.any(|name| holds(self.graph, place.path, name))
            || self.is_unknown(place);
        let took_over = |past| {
            Some(place.path) == self.renamed.as_ref()
                || took_over(self.graph.source(), past, place.path, &self.taken)
        };
        has_some && self.past.as_ref().is_none_or(took_over)
    }

    // Whether nothing but the first can be meant: it is where the file went, the only one that is spelled almost
    // like it, or the only one that defines what is taken.
    fn is_meant(&self, first: &Place<'_>, places: &[Place<'_>]) -> bool {
        // All of a module is taken by a star: that goes where the file went.
        let checkable = !self.taken.is_empty() || self.past.is_some();
        let whole: Vec<_> = places
            .iter()
            .filter(|it| checkable && self.has_all(it))
            .collect();
        let defines = |name: &&str| is_own(self.graph, first.path, name);
        let is_only = match whole.iter().filter(|it| it.slip).count() {
            _ if self.renamed.is_some() => self.renamed.as_ref() == Some(first.path),
            0 => whole.len() == 1 && self.taken.iter().all(defines),
            slips => slips == 1 && first.slip,
        };
        let aside = |path: &RepoPath| is_test(path.as_str()) || is_aside(path);
        is_only
            && checkable
            && self.has_all(first)
            && (!aside(first.path) || aside(self.query.file))
            && self.may_be_ours(first)
            && !is_made(self.graph, self.query.file, self.import)
            && self.leads(first.path)
    }

    // A package of others that is not installed is no file of ours that has the same names.
    fn may_be_ours(&self, place: &Place<'_>) -> bool {
        let specifier = self.import.specifier.as_str();
        let package = self.language.package(specifier);
        if specifier.starts_with(['.', '#', '/', '~']) || package.is_empty() {
            return true;
        }
        let top = package.split('.').next().unwrap_or(package);
        let source = self.graph.source();
        let is_ours = |name: &str| {
            let import = Import::of(name);
            let found = self.graph.resolver().resolve(self.query.file, &import);
            !found.files.is_empty() || has_folder(source, name)
        };
        let theirs = self.language.is_standard(top) || self.idiom.declares(specifier);
        is_ours(top) || package != top && is_ours(package) || place.slip && !theirs
    }

    fn leads(&self, path: &RepoPath) -> bool {
        let (module, keeps) = self.idiom.respelled(path, &self.import.specifier);
        let resolver = self.graph.resolver();
        let there = Import {
            specifier: module.clone(),
            ..self.import.clone()
        };
        let found = resolver.resolve(self.query.file, &there).files;
        let rules = resolver.module_rules(self.query.file);
        keeps && leads_there(&found, path) && resolver.is_spelled(rules, &module, path)
    }

    fn row(&self, place: &Place<'_>, certain: bool) -> Suggestion {
        let (module, _) = self.idiom.respelled(place.path, &self.import.specifier);
        let defined = place.far == 0 || !self.taken.is_empty() && self.has_all(place);
        Suggestion {
            confidence: match place.far {
                _ if certain => 90,
                0 => 50,
                _ => 30,
            },
            source: if defined {
                HintSource::Definition
            } else {
                HintSource::Similar
            },
            certain,
            ..self.instead(module, place.path.clone())
        }
    }

    // The import with another module in its place.
    fn instead(&self, module: String, path: RepoPath) -> Suggestion {
        Suggestion {
            name: self.import.specifier.clone(),
            import_statement: self.idiom.restated(self.import, &module),
            module,
            path: Some(path),
            imported: "*".to_owned(),
            type_only: self.import.type_only,
            replaces: Some(self.import.specifier.clone()),
            ..Suggestion::default()
        }
    }

    // The only package of this workspace that is called almost like the one that is not there and that has
    // what is taken from it.
    fn near_package(&self) -> Option<Suggestion> {
        let specifier = self.import.specifier.as_str();
        // What the manifest names without a scope is a package of a registry.
        let may_be_ours = specifier.starts_with('@') || !self.idiom.declares(specifier);
        if !self.language.declares_exports
            || !may_be_ours
            || specifier.starts_with(['.', '#', '/', '~'])
        {
            return None;
        }
        let package = self.language.package(specifier);
        let rest = specifier.strip_prefix(package)?;
        let near = near_packages(self.graph.source(), package).into_iter();
        let mut found = near.filter_map(|name| {
            let module = format!("{name}{rest}");
            let there = Import {
                specifier: module.clone(),
                ..self.import.clone()
            };
            let path = self.graph.resolver().target(self.query.file, &there)?;
            let mut taken = self.taken.iter();
            taken
                .all(|it| holds(self.graph, &path, it))
                .then_some((module, path))
        });
        let (module, path) = found.next().filter(|_| found.next().is_none())?;
        Some(Suggestion {
            confidence: 90,
            source: HintSource::Definition,
            certain: true,
            ..self.instead(module, path)
        })
    }
}

/// Packages of this repository, other than the one of that name, that are called almost like it; of a
/// package with a scope, those in its scope.
#[must_use]
pub fn near_packages(source: &dyn Source, package: &str) -> Vec<String> {
    let scope = |name: &str| name.split_once('/').map(|(scope, _)| scope.to_owned());
    let allowed = if package.len() > 6 { 2 } else { 1 };
    let own = own_packages(source);
    if own.iter().any(|it| it == package) {
        return Vec::new();
    }
    let near = |name: &String| {
        scope(name) == scope(package) && strsim::osa_distance(name, package) <= allowed
    };
    own.into_iter().filter(near).collect()
}

/// The names of the packages whose manifests stand in the repository.
#[must_use]
pub fn own_packages(source: &dyn Source) -> Vec<String> {
    let files = source.listing().files().map(|entry| &entry.path);
    let manifests = files
        .filter(|it| it.file_name() == "package.json" && !it.as_str().contains("node_modules/"));
    let name = |path: &RepoPath| {
        let manifest: serde_json::Value = serde_json::from_slice(&source.read(path).ok()?).ok()?;
        manifest.get("name")?.as_str().map(str::to_owned)
    };
    manifests.filter_map(name).collect()
}

// Whether a file is there to be read or for other code than the product's.
fn is_aside(path: &RepoPath) -> bool {
    let aside = [
        "doc", "docs", "example", "examples", "legacy", "vendor", "fakes", "scripts",
    ];
    let mut folders = path.directory().split('/');
    folders.any(|folder| aside.contains(&folder.to_ascii_lowercase().as_str()))
}

fn has_folder(source: &dyn Source, name: &str) -> bool {
    let (inner, listing) = (format!("/{name}"), source.listing());
    let named = |path: &RepoPath| {
        let mut above = path.ancestors();
        above.any(|it| it == name || it.ends_with(&inner))
    };
    listing.files().any(|entry| named(&entry.path))
}

// Whether a log names a module by the path to which an alias leads; the root may have been taken off.
fn is_path_of(graph: &Graph<'_>, file: &RepoPath, import: &Import, module: &str) -> bool {
    let is_it = |path: RepoPath| {
        let head = module.strip_suffix(path.as_str());
        head.is_some_and(|head| head.is_empty() || head.ends_with('/'))
    };
    module.contains('/') && named_paths(graph, file, import).any(is_it)
}

// Whether git ignores the file that the import names: it is made, and was not made yet.
fn is_made(graph: &Graph<'_>, file: &RepoPath, import: &Import) -> bool {
    let mut ignored = Ignored::new(graph.source(), "");
    let mut paths = named_paths(graph, file, import);
    paths.any(|path| ignored.is_ignored(&path))
}

// Where a file may have stood that an import names.
fn named_paths(
    graph: &Graph<'_>,
    file: &RepoPath,
    import: &Import,
) -> impl Iterator<Item = RepoPath> {
    let tried = graph.resolver().resolve(file, import).tried;
    let named = RepoPath::resolve(file.directory(), &import.specifier);
    let named = named
        .ok()
        .filter(|_| import.specifier.starts_with("./") || import.specifier.starts_with("../"));
    let paths = tried.into_iter().chain(named.map(|it| it.to_string()));
    let endings = ["", ".py", ".js", ".ts", ".tsx", ".mjs"];
    // TypeScript names a module by what the compiler writes.
    let compiled = [
        (".js", ".ts"),
        (".js", ".tsx"),
        (".mjs", ".mts"),
        (".cjs", ".cts"),
    ];
    paths
        .flat_map(move |path| {
            let stem =
                |(ending, other): (&str, &str)| Some(path.strip_suffix(ending)?.to_owned() + other);
            let sources: Vec<String> = compiled.into_iter().filter_map(stem).collect();
            let more = endings.map(|ending| format!("{path}{ending}"));
            more.into_iter().chain(sources)
        })
        .filter_map(|path| RepoPath::new(&path).ok())
}

/// Files that stood where a file imports a missing module from, of those that `gone` tells.
#[must_use]
pub fn gone_files(
    graph: &Graph<'_>,
    file: &RepoPath,
    module: &str,
    gone: &dyn Fn(&RepoPath) -> bool,
) -> Vec<RepoPath> {
    let facts = graph.resolver().facts(file);
    let imports = facts.imports.iter();
    let imports = imports.filter(|import| leads_to(file, import, module));
    let mut found: Vec<RepoPath> = Vec::new();
    for import in imports {
        let path = named_paths(graph, file, import).find(|path| gone(path));
        found.extend(path.filter(|it| !found.contains(it)));
    }
    found
}

// What stood last where the import leads, and where that was.
fn stood(graph: &Graph<'_>, query: &Query<'_>, import: &Import) -> Option<(Vec<u8>, RepoPath)> {
    let mut past = named_paths(graph, query.file, import)
        .filter_map(|path| Some(((query.earlier)(&path).into_iter().next()?, path)));
    past.find(|(text, _)| !text.trim_ascii().is_empty())
}

// Whether a file defines what is taken just as the file did that is gone; where that defined none of
// it, whether it is nearly the same as a whole.
fn took_over(
    source: &dyn Source,
    (text, old_path): &(Vec<u8>, RepoPath),
    path: &RepoPath,
    taken: &[&str],
) -> bool {
    let bytes = source.read(path).unwrap_or_default();
    let pairs = taken.iter().filter_map(|name| {
        let then = definition(old_path, text, name)?;
        Some(definition(path, &bytes, name) == Some(then))
    });
    let pairs: Vec<bool> = pairs.collect();
    let lines = |text: &[u8]| -> Vec<String> {
        let text = String::from_utf8_lossy(text);
        text.lines().map(str::to_owned).collect()
    };
    match pairs.as_slice() {
        [] => is_alike(&lines(text), &lines(&bytes)),
        pairs => pairs.iter().all(|same| *same),
    }
}

// The only file that holds now what stood where the import leads.
fn renamed(
    source: &dyn Source,
    query: &Query<'_>,
    (text, old_path): &(Vec<u8>, RepoPath),
) -> Option<RepoPath> {
    let listing = source.listing();
    let long = |entry: &&Entry| entry.bytes == text.len() as u64;
    let mut same = listing
        .files()
        .filter(long)
        .map(|entry| &entry.path)
        .filter(|path| {
            path.extension() == old_path.extension()
                && (query.may_read)(path)
                && source.read(path).is_ok_and(|it| *it == **text)
        });
    let (only, None) = (same.next()?, same.next()) else {
        return None;
    };
    Some(only.clone())
}

// For a package of Python its submodules, where those are taken.
fn leads_there(found: &[RepoPath], path: &RepoPath) -> bool {
    let within = |file: &RepoPath| path.stem() == "__init__" && file.is_below(path.directory());
    found.contains(path) || (!found.is_empty() && found.iter().all(within))
}

/// Whether a file has the name for others to take. Data and components are taken as a whole.
pub(super) fn holds(graph: &Graph<'_>, path: &RepoPath, name: &str) -> bool {
    match Language::of_path(path.as_str()) {
        None => true,
        Some(language) if !language.declares_exports => {
            let submodule =
                || path.stem() == "__init__" && graph.has_module(path.directory(), name);
            graph.defining(path, name).is_some() || submodule()
        }
        Some(_) => {
            let component = matches!(path.extension(), Some("vue" | "svelte" | "astro" | "mdx"));
            (component && name == "default") || exports_it(graph, path, name)
        }
    }
}

// Whether the file itself is where the name is from: Python modules show all that they import.
fn is_own(graph: &Graph<'_>, path: &RepoPath, name: &str) -> bool {
    Language::of_path(path.as_str()).is_none_or(|it| it.declares_exports)
        || path.stem() == "__init__"
        || is_home(graph, path, name)
}

fn is_home(graph: &Graph<'_>, path: &RepoPath, name: &str) -> bool {
    graph.defining(path, name).as_ref() == Some(path)
}

/// Whether two imports that lead nowhere mean one module.
pub(super) fn are_one(
    graph: &Graph<'_>,
    (file, own): (&RepoPath, &Import),
    (other, import): (&RepoPath, &Import),
) -> bool {
    let paths: Vec<RepoPath> = named_paths(graph, file, own).collect();
    let same = own.specifier == import.specifier && !own.specifier.starts_with('.');
    same || named_paths(graph, other, import).any(|it| paths.contains(&it))
}
