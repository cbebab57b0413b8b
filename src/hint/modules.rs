use super::Query;
use super::evidence::nearness;
use super::exports::exports_it;
use super::idiom::{Idiom, own_idiom};
use super::similar::distance;
use crate::graph::Graph;
use crate::languages::Language;
use crate::model::{HintSource, Import, ImportKind, RepoPath, Suggestion};
use crate::policy::is_test;
use crate::source::{Ignored, Source};

const MAX_SUGGESTIONS: usize = 3;

/// Proposes files for modules that `file` imports and that do not exist: those with the same or a similar name that
/// have something of what is imported. Certain when one alone has all of it.
#[must_use]
pub fn missing_modules(
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
            let taken = import.names.iter().map(|one| one.name.as_str());
            let missing = MissingModule {
                graph,
                query,
                import,
                language,
                idiom: own_idiom(graph, query.file, language),
                taken: taken.filter(|name| *name != "*").collect(),
            };
            found.extend(missing.rows().into_iter().map(|row| Suggestion {
                name: module.clone(),
                ..row
            }));
        }
    }
    found
}

/// Checks whether an import is what a log means by a module. A log names a Python module absolutely, whatever dots
/// the file wrote, or only the package that is not there; Node.js names the file by its whole path, of which what
/// ran it may have left the part below the repository.
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
struct MissingModule<'a> {
    graph: &'a Graph<'a>,
    query: &'a Query<'a>,
    import: &'a Import,
    language: &'static Language,
    idiom: Box<dyn Idiom + 'a>,
    // Names that are imported from it.
    taken: Vec<&'a str>,
}

impl MissingModule<'_> {
    fn rows(&self) -> Vec<Suggestion> {
        let specifier = &self.import.specifier;
        // A name may have dots of its own: `./user.service`.
        let tail = specifier.rsplit('/').next().unwrap_or(specifier);
        let wanted = [self.language.last_part(specifier), tail];
        let files = self
            .graph
            .source()
            .listing()
            .files()
            .map(|entry| &entry.path);
        let candidates = files.filter(|path| {
            *path != self.query.file
                && Language::of_path(path.as_str()) == Some(self.language)
                && (self.query.may_read)(path)
        });
        // (edits between the names, whether it has all that is imported, the file)
        let mut places: Vec<(usize, bool, &RepoPath)> = candidates
            .filter_map(|path| {
                let name = match path.stem() {
                    "__init__" | "index" => path.directory().rsplit('/').next()?,
                    stem => stem,
                };
                let far = if wanted.contains(&name) {
                    0
                } else {
                    1 + wanted
                        .iter()
                        .filter_map(|wanted| distance(wanted, name))
                        .min()?
                };
                let mut taken = self.taken.iter();
                let has_some = self.taken.is_empty() || taken.any(|name| self.holds(path, name));
                has_some.then(|| (far, self.has_all(path), path))
            })
            .collect();
        places.sort_by_key(|(far, has_all, path)| {
            let near = std::cmp::Reverse(nearness(path, self.query.file));
            (!has_all, *far, near, (*path).clone())
        });
        let whole = places.iter().filter(|(_, has_all, _)| *has_all).count();
        let first = places.first().map(|(_, _, path)| *path);
        let certain = whole == 1 && first.is_some_and(|path| self.is_certain(path));
        let rows = places.iter().take(MAX_SUGGESTIONS).enumerate();
        rows.map(|(at, (far, has_all, path))| {
            let certain = certain && at == 0;
            let (module, _) = self.idiom.respelled(path, &self.import.specifier);
            Suggestion {
                import_statement: self.idiom.restated(self.import, &module),
                module,
                path: Some((*path).clone()),
                confidence: match far {
                    _ if certain => 90,
                    0 => 50,
                    _ => 30,
                },
                source: if *far == 0 || *has_all {
                    HintSource::Definition
                } else {
                    HintSource::Similar
                },
                certain,
                imported: "*".to_owned(),
                type_only: self.import.type_only,
                replaces: Some(self.import.specifier.clone()),
                ..Suggestion::default()
            }
        })
        .collect()
    }

    fn has_all(&self, path: &RepoPath) -> bool {
        !self.taken.is_empty() && self.taken.iter().all(|name| self.holds(path, name))
    }

    // Whether a file has the name for others to take. A component is taken as a whole.
    fn holds(&self, path: &RepoPath, name: &str) -> bool {
        if self.language.declares_exports {
            let component = matches!(path.extension(), Some("vue" | "svelte"));
            return (component && name == "default") || exports_it(self.graph, path, name);
        }
        let submodule =
            || path.stem() == "__init__" && self.graph.has_module(path.directory(), name);
        self.graph.defining(path, name).is_some() || submodule()
    }

    fn is_certain(&self, path: &RepoPath) -> bool {
        // Python modules show all that they import: the name has to be from there.
        let is_home = |name: &&str| {
            self.language.declares_exports
                || path.stem() == "__init__"
                || self.graph.defining(path, name).as_ref() == Some(path)
        };
        self.taken.iter().all(is_home)
            && !is_aside(path)
            && self.may_be_ours(path)
            && !is_generated(self.graph, self.query.file, self.import)
            && self.leads(path)
    }

    // Whether the specifier cannot mean a package that is declared, of the library, or simply not installed.
    fn may_be_ours(&self, path: &RepoPath) -> bool {
        let specifier = self.import.specifier.as_str();
        let package = self.language.package(specifier);
        if specifier.starts_with(['.', '#', '/', '~']) || package.is_empty() {
            return true;
        }
        // An alias of the file's own project leads there.
        let (module, _) = self.idiom.respelled(path, specifier);
        if self.language.declares_exports {
            return module.split('/').next() == specifier.split('/').next();
        }
        let top = package.split('.').next().unwrap_or(package);
        let import = Import::from_specifier(top);
        let found = self.graph.resolver().resolve(self.query.file, &import);
        !found.files.is_empty() || has_folder(self.graph.source(), top)
    }

    fn leads(&self, path: &RepoPath) -> bool {
        let (module, keeps) = self.idiom.respelled(path, &self.import.specifier);
        let resolver = self.graph.resolver();
        let there = Import {
            specifier: module.clone(),
            ..self.import.clone()
        };
        let found = resolver.resolve(self.query.file, &there).files;
        // For a package of Python its submodules, where those are taken.
        let within = |file: &RepoPath| path.stem() == "__init__" && file.is_below(path.directory());
        let leads = found.contains(path) || (!found.is_empty() && found.iter().all(within));
        let rules = resolver.module_rules(self.query.file);
        keeps && leads && resolver.is_spelled(rules, &module, path)
    }
}

/// Packages of this repository, other than the one of that name, that are called almost like it; of a
/// package with a scope, those in its scope.
#[must_use]
pub fn near_packages(source: &dyn Source, package: &str) -> Vec<String> {
    let scope = |name: &str| name.split_once('/').map(|(scope, _)| scope.to_owned());
    let allowed = if package.len() > 6 { 2 } else { 1 };
    let own = own_packages(source);
    if own.iter().any(|name| name == package) {
        return Vec::new();
    }
    let near = |name: &String| {
        scope(name) == scope(package) && strsim::osa_distance(name, package) <= allowed
    };
    own.into_iter().filter(near).collect()
}

/// The names of the packages whose manifests are in the repository.
#[must_use]
pub fn own_packages(source: &dyn Source) -> Vec<String> {
    let files = source.listing().files().map(|entry| &entry.path);
    let manifests = files.filter(|path| {
        path.file_name() == "package.json" && !path.as_str().contains("node_modules/")
    });
    let name = |path: &RepoPath| {
        let manifest: serde_json::Value = serde_json::from_slice(&source.read(path).ok()?).ok()?;
        manifest.get("name")?.as_str().map(str::to_owned)
    };
    manifests.filter_map(name).collect()
}

// Whether a file is a test, or in a folder of documents, examples or third-party code.
fn is_aside(path: &RepoPath) -> bool {
    let aside = [
        "doc", "docs", "example", "examples", "legacy", "vendor", "fakes", "scripts",
    ];
    let mut folders = path.directory().split('/');
    is_test(path.as_str())
        || folders.any(|folder| aside.contains(&folder.to_ascii_lowercase().as_str()))
}

fn has_folder(source: &dyn Source, name: &str) -> bool {
    let inner = format!("/{name}");
    let mut files = source.listing().files();
    files.any(|entry| {
        let mut above = entry.path.ancestors();
        above.any(|folder| folder == name || folder.ends_with(&inner))
    })
}

// Whether a log names a module by the path to which an alias leads; the root may have been taken off.
fn is_path_of(graph: &Graph<'_>, file: &RepoPath, import: &Import, module: &str) -> bool {
    let is_it = |path: RepoPath| {
        let head = module.strip_suffix(path.as_str());
        head.is_some_and(|head| head.is_empty() || head.ends_with('/'))
    };
    module.contains('/') && named_paths(graph, file, import).any(is_it)
}

// Whether git ignores the file that the import names: a build writes it.
fn is_generated(graph: &Graph<'_>, file: &RepoPath, import: &Import) -> bool {
    let mut ignored = Ignored::new(graph.source(), "");
    let mut paths = named_paths(graph, file, import);
    paths.any(|path| ignored.is_ignored(&path))
}

// Where a file may have been that an import names.
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
    let paths = tried.into_iter().chain(named.map(|path| path.to_string()));
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

/// Files that a file imports a missing module from, of those that `gone` confirms.
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
        found.extend(path.filter(|path| !found.contains(path)));
    }
    found
}
