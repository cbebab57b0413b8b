use super::evidence::nearness;
use super::idiom::{Idiom, Site};
use super::renamed::{body, exports_it, is_alike};
use super::slip::{Named, Place};
use super::{Query, suggest};
use crate::graph::Graph;
use crate::languages::{Language, facts};
use crate::model::{HintSource, Import, ImportKind, RepoPath, Suggestion};
use crate::policy::is_test;
use crate::source::{Entry, Ignored, Source};

const MAX_SUGGESTIONS: usize = 3;

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
                && leads_to(query.file, import, module)
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
pub(super) fn leads_to(file: &RepoPath, import: &Import, module: &str) -> bool {
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

fn moved(
    graph: &Graph<'_>,
    query: &Query<'_>,
    import: &Import,
    language: &'static Language,
) -> Vec<Suggestion> {
    let source = graph.source();
    let named = Named::of(query.file, import, language);
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
        .filter(|path| named.may_be(path) && *path != query.file && (query.may_read)(path));
    let mut places: Vec<Place<'_>> = pool.filter_map(|path| named.place(graph, path)).collect();
    // The file that stood where the import leads, under another path now.
    let past = stood(graph, query, import);
    let renamed = past.as_ref().and_then(|past| renamed(source, query, past));
    // What it holds is known then, and who else might is not asked.
    let definers = match &renamed {
        Some(_) => Vec::new(),
        None => definers(graph, query, import),
    };
    for path in &definers {
        if named.may_be(path) && places.iter().all(|other| other.path != path) {
            places.push(Place {
                path,
                far: 3,
                slip: false,
            });
        }
    }
    if let Some(path) = &renamed
        && places.iter().all(|it| it.path != path)
    {
        places.push(Place {
            path,
            far: 0,
            slip: true,
        });
    }
    let site = Site {
        graph,
        file: query.file,
    };
    let idiom = site.own_idiom(language);
    // What the manifest names without a scope is a package of a registry.
    let may_be_ours = import.specifier.starts_with('@') || !idiom.declares(&import.specifier);
    if may_be_ours && let Some((module, path)) = near_package(graph, query, import, language) {
        return vec![Suggestion {
            confidence: 90,
            source: HintSource::Definition,
            certain: true,
            ..instead(&*idiom, import, module, path)
        }];
    }
    let has = |path: &RepoPath, name: &str| holds(graph, path, name);
    let has_all = |path: &RepoPath| taken.iter().all(|name| has(path, name));
    // What a module of old exports is not always known.
    let unknown = |path| graph.resolver().facts(path).exports.is_empty();
    // A file that has nothing of what is taken is not where it went.
    places.retain(|place| {
        taken.is_empty() || taken.iter().any(|name| has(place.path, name)) || unknown(place.path)
    });
    // Where a file stood there, one that merely has the same names is another.
    if let Some(past) = &past {
        places.retain(|place| {
            Some(place.path) == renamed.as_ref() || took_over(source, past, place.path, &taken)
        });
    }
    places.sort_by_key(|place| {
        (
            Some(place.path) != renamed.as_ref(),
            !(has_all(place.path) || (place.slip && unknown(place.path))),
            !place.slip,
            place.far,
            std::cmp::Reverse(nearness(place.path, query.file)),
            place.path.clone(),
        )
    });
    // All of a module is taken by a star: that goes where the file went.
    let whole = |place: &&Place<'_>| (!taken.is_empty() || past.is_some()) && has_all(place.path);
    let slips = places.iter().filter(whole).filter(|it| it.slip).count();
    let alone = places.iter().filter(whole).count() == 1;
    // One that is spelled almost like it, or the only one that defines what is taken.
    let is_meant = |place: &Place<'_>| match slips {
        _ if renamed.is_some() => renamed.as_ref() == Some(place.path),
        0 => alone && taken.iter().all(|name| is_own(graph, place.path, name)),
        count => count == 1 && place.slip,
    };
    // A package that is declared is not installed, and none of our files stands for it.
    let package = language.package(&import.specifier);
    let top = package.split('.').next().unwrap_or(package);
    let outside = !import.specifier.starts_with(['.', '#', '/', '~']) && !package.is_empty();
    let own = || {
        let known = |name: &str| {
            let found = graph
                .resolver()
                .resolve(query.file, &Import::of(name))
                .files;
            !found.is_empty() || has_folder(source, name)
        };
        !outside || known(top) || (package != top && known(package))
    };
    let foreign = outside
        && !own()
        && (REMOVED.contains(&top)
            || language.is_standard(top)
            || idiom.declares(&import.specifier));
    let made = is_made(graph, query.file, import);
    let is_ours = |place: &Place<'_>| {
        let side = |path: &RepoPath| is_test(path.as_str()) || is_aside(path);
        !foreign
            && !made
            && (place.far == 0 || place.slip || renamed.is_some() || own())
            && (!side(place.path) || side(query.file))
    };
    let row = |(at, place): (usize, &Place<'_>)| {
        let Place { path, far, .. } = place;
        let like = import.specifier.as_str();
        let (module, keeps) = idiom.respelled(path, like);
        let certain = at == 0 && whole(&place) && is_meant(place) && keeps && is_ours(place) && {
            let there = Import {
                specifier: module.clone(),
                ..import.clone()
            };
            let rules = graph.resolver().module_rules(query.file);
            let found = graph.resolver().resolve(query.file, &there);
            leads_there(&found.files, path) && graph.resolver().is_spelled(rules, &module, path)
        };
        Suggestion {
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
            ..instead(&*idiom, import, module, (*path).clone())
        }
    };
    places
        .iter()
        .enumerate()
        .take(MAX_SUGGESTIONS)
        .map(row)
        .collect()
}

// The import with another module in its place.
fn instead(idiom: &dyn Idiom, import: &Import, module: String, path: RepoPath) -> Suggestion {
    Suggestion {
        name: import.specifier.clone(),
        import_statement: idiom.restated(import, &module),
        module,
        path: Some(path),
        imported: "*".to_owned(),
        type_only: import.type_only,
        replaces: Some(import.specifier.clone()),
        ..Suggestion::default()
    }
}

// The only package of this workspace that is called almost like the one that is not there and that has
// what is taken from it.
fn near_package(
    graph: &Graph<'_>,
    query: &Query<'_>,
    import: &Import,
    language: &'static Language,
) -> Option<(String, RepoPath)> {
    let specifier = import.specifier.as_str();
    if !language.declares_exports || specifier.starts_with(['.', '#', '/', '~']) {
        return None;
    }
    let package = language.package(specifier);
    let rest = specifier.strip_prefix(package)?;
    let found = near_packages(graph.source(), package)
        .into_iter()
        .filter_map(|name| {
            let there = Import {
                specifier: format!("{name}{rest}"),
                ..import.clone()
            };
            let path = graph.resolver().target(query.file, &there)?;
            let mut taken = import.names.iter().filter(|it| it.name != "*");
            taken
                .all(|it| holds(graph, &path, &it.name))
                .then_some((there.specifier, path))
        });
    let mut found: Vec<(String, RepoPath)> = found.collect();
    found.pop().filter(|_| found.is_empty())
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

/// Modules that Python had, until 3.14.
const REMOVED: &[&str] = &[
    "aifc",
    "asynchat",
    "asyncore",
    "audioop",
    "binhex",
    "cgi",
    "cgitb",
    "chunk",
    "crypt",
    "distutils",
    "formatter",
    "imghdr",
    "imp",
    "macpath",
    "mailcap",
    "msilib",
    "nis",
    "nntplib",
    "ossaudiodev",
    "parser",
    "pipes",
    "smtpd",
    "sndhdr",
    "spwd",
    "sunau",
    "symbol",
    "telnetlib",
    "uu",
    "xdrlib",
];

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
    (text, was): &(Vec<u8>, RepoPath),
    path: &RepoPath,
    taken: &[&str],
) -> bool {
    let bytes = source.read(path).unwrap_or_default();
    let (Ok(then), Ok(now)) = (std::str::from_utf8(text), std::str::from_utf8(&bytes)) else {
        return false;
    };
    let (before, after) = (facts(was, text), facts(path, &bytes));
    let mut pairs = before
        .definitions
        .iter()
        .filter(|it| taken.contains(&it.name.as_str()))
        .map(|one| {
            let other = after.definitions.iter().find(|it| it.name == one.name);
            other.is_some_and(|it| body(then, one) == body(now, it))
        })
        .peekable();
    if pairs.peek().is_some() {
        return pairs.all(|same| same);
    }
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    is_alike(&lines(then), &lines(now))
}

// The only file that holds now what stood where the import leads.
fn renamed(
    source: &dyn Source,
    query: &Query<'_>,
    (text, was): &(Vec<u8>, RepoPath),
) -> Option<RepoPath> {
    let listing = source.listing();
    let long = |entry: &&Entry| entry.bytes == text.len() as u64;
    let mut same = listing
        .files()
        .filter(long)
        .map(|entry| &entry.path)
        .filter(|path| {
            path.extension() == was.extension()
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

// Files that are known to define the first name that is taken.
fn definers(graph: &Graph<'_>, query: &Query<'_>, import: &Import) -> Vec<RepoPath> {
    let Some(first) = import.names.first().filter(|it| it.name != "*") else {
        return Vec::new();
    };
    let default = first.name == "default";
    let name = match &first.alias {
        Some(alias) if default => alias,
        _ => &first.name,
    };
    let names = [name.clone()];
    let query = Query {
        names: &names,
        ..*query
    };
    suggest(graph, &query)
        .into_iter()
        .filter(|it| it.source != HintSource::Similar)
        .filter(|it| !default || it.imported == "default")
        .filter_map(|it| it.path)
        .collect()
}

// Whether a file has the name for others to take. Data and components are taken as a whole.
fn holds(graph: &Graph<'_>, path: &RepoPath, name: &str) -> bool {
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
        || graph.defining(path, name).as_ref() == Some(path)
}
