use std::collections::BTreeSet;

use super::entity::{covers, names_file};
use super::evidence::Candidate;
use super::fix::inserted;
use super::idiom::Idiom;
use super::injected::is_injected;
use super::query::Undefined;
use crate::graph::Graph;
use crate::languages::python::spelling::place;
use crate::languages::{called_later, facts, uses};
use crate::model::{DefinitionKind, Import, ImportKind, RepoPath, Suggestion};

/// What keeps a suggestion from being called certain, where anything does: put into the file as the patch
/// would, it binds the name, leads to what it claims by the rules of the file's own package, has the members that
/// are used, is a value where one is needed, is not handed to the file by what runs it, and the files that import
/// each other still load. `kind` is what it leads to, when that is known.
pub(super) fn doubt(
    graph: &Graph<'_>,
    idiom: &dyn Idiom,
    undef: &Undefined<'_>,
    one: &Suggestion,
    kind: Option<DefinitionKind>,
) -> Option<&'static str> {
    let text = std::str::from_utf8(undef.text).ok();
    let text = text.and_then(|it| inserted(graph.resolver(), undef.file, it, undef.past, one));
    let text = text.unwrap_or_default();
    let after = facts(undef.file, text.as_bytes());
    let Some(import) = binding(&after.imports, undef, &one.module) else {
        return Some("no place for it is known");
    };
    let loads = |path: &RepoPath| {
        let erased = import.type_only || undef.language.declares_exports && !undef.usage.value;
        erased
            || import.nested
            || loads_already(graph, undef, path)
            || still_loads(graph, undef, path)
    };
    let proofs: [(&str, &dyn Fn() -> bool); 7] = [
        ("it leads elsewhere", &|| leads(graph, undef, one, import)),
        ("another module has its name", &|| {
            !has_twin(graph, undef, one)
        }),
        ("the name is a fixture of tests", &|| {
            !is_injected(graph, undef, one)
        }),
        ("a member that is used is not there", &|| {
            has_members(graph, undef, one)
        }),
        ("what uses the name comes first", &|| {
            import.nested || comes_first(undef, text.as_bytes(), import)
        }),
        ("the rules of the package or the module refuse it", &|| {
            idiom.suits(undef, one, import, kind)
        }),
        ("the modules may load each other", &|| {
            one.path.as_ref().is_none_or(loads)
        }),
    ];
    proofs.iter().find(|(_, holds)| !holds()).map(|it| it.0)
}

/// Files that are looked through for a way back; beyond it nothing is proved.
const MAX_FILES: usize = 5_000;

// Whether the import can be part of no circle: nothing that the other file loads leads back to this one, or takes
// from a package around it what that may not have bound yet; its modules are there.
fn still_loads(graph: &Graph<'_>, undef: &Undefined<'_>, target: &RepoPath) -> bool {
    let with_packages = |path: &RepoPath| -> Vec<RepoPath> {
        let above = path.ancestors().filter(|it| !it.is_empty());
        let inits = above.filter_map(|it| RepoPath::new(&format!("{it}/__init__.py")).ok());
        let inits = inits.take_while(|it| graph.resolver().is_file(it));
        let packages = inits.filter(|it| path.extension() == Some("py") && it != path);
        std::iter::once(path.clone()).chain(packages).collect()
    };
    let around = with_packages(undef.file);
    let mut seen: BTreeSet<RepoPath> = BTreeSet::new();
    let mut open = with_packages(target);
    open.retain(|path| path == target || !around.contains(path));
    while let Some(path) = open.pop() {
        if seen.len() > MAX_FILES {
            return false;
        }
        if !seen.insert(path.clone()) {
            continue;
        }
        let edges = graph.file(&path);
        let all = edges.facts.imports.iter().zip(&edges.resolutions);
        for (import, found) in all.filter(|(import, _)| !import.type_only) {
            let is_module = |name: &str| found.files.iter().any(|it| place(it).ends_with(name));
            let mut taken = import.names.iter();
            let modules = !import.names.is_empty() && taken.all(|one| is_module(&one.name));
            for next in &found.files {
                if next == undef.file || around.contains(next) && !modules {
                    return false;
                }
                let new = with_packages(next).into_iter();
                open.extend(new.filter(|it| !around.contains(it)));
            }
        }
    }
    true
}

// Whether the import stands above what uses its name while the file is loaded; statements of
// modules come first wherever they stand.
fn comes_first(undef: &Undefined<'_>, text: &[u8], import: &Import) -> bool {
    if undef.language.declares_exports && import.kind == ImportKind::Import {
        return true;
    }
    let early = used_early(undef, text);
    early.is_none_or(|lines| lines.iter().all(|line| *line >= import.line))
}

// The lines that use the name while the file is loaded; `None` where that cannot be told.
fn used_early(undef: &Undefined<'_>, text: &[u8]) -> Option<Vec<u32>> {
    let used = uses(undef.file, text, undef.name)?;
    let later = called_later(undef.file, text)?;
    let lines = used.places.iter().map(|at| {
        let above = text.get(..*at).unwrap_or_default();
        1 + memchr::memchr_iter(b'\n', above).count() as u32
    });
    let is_early = |line: &u32| !later.iter().any(|it| it.contains(line));
    Some(lines.filter(is_early).collect())
}

// Whether one more name of a module that the file imports anyway changes nothing of what is loaded when: imports
// are live, and it is used by what runs later.
fn loads_already(graph: &Graph<'_>, undef: &Undefined<'_>, target: &RepoPath) -> bool {
    let now = graph.file(undef.file);
    let mut imports = now.facts.imports.iter().zip(&now.resolutions);
    let is_there = imports.any(|(import, found)| {
        let live = import.kind == ImportKind::Import && !import.type_only && !import.nested;
        live && found.files.first() == Some(target)
    });
    is_there
        && undef.language.declares_exports
        && used_early(undef, undef.text).is_some_and(|lines| lines.is_empty())
}

// The import at the top level that binds the name; else the one below it that stands again where the
// last version had it.
fn binding<'i>(imports: &'i [Import], undef: &Undefined<'_>, module: &str) -> Option<&'i Import> {
    let mut top = imports.iter().filter(|it| !it.nested);
    top.find(|it| it.binds(undef.name)).or_else(|| {
        let mut below = imports.iter().filter(|it| it.specifier == module);
        below.find(|it| it.binds(undef.name))
    })
}

fn leads(graph: &Graph<'_>, undef: &Undefined<'_>, one: &Suggestion, import: &Import) -> bool {
    let mut import = import.clone();
    import.names.retain(|taken| taken.local() == undef.name);
    let found = graph.resolver().resolve(undef.file, &import);
    match &one.path {
        Some(path) => found.files.contains(path),
        None => {
            found.files.is_empty()
                && found.external.is_some()
                && !is_of_own_folder(graph, undef, &import.specifier)
                || undef.language.is_standard(&import.specifier)
        }
    }
}

// Whether a dotted module of Python starts at a folder beside the file or above it: one that is not
// there is gone, and of no package.
fn is_of_own_folder(graph: &Graph<'_>, undef: &Undefined<'_>, specifier: &str) -> bool {
    let Some((top, _)) = specifier.split_once('.') else {
        return false;
    };
    let mut above = undef.file.ancestors();
    !undef.language.declares_exports
        && above.any(|directory| {
            let folder = match directory {
                "" => format!("{top}/"),
                directory => format!("{directory}/{top}/"),
            };
            let mut files = graph.source().listing().files();
            files.any(|it| it.path.as_str().starts_with(&folder))
        })
}

// Whether another file of the same name, in a folder of the same name, could be meant as a whole.
fn has_twin(graph: &Graph<'_>, undef: &Undefined<'_>, one: &Suggestion) -> bool {
    let Some(path) = one.path.as_ref().filter(|_| one.imported == "*") else {
        return false;
    };
    let folder = |directory: &str| directory.rsplit('/').next().map(str::to_owned);
    let listing = graph.source().listing();
    listing.files().map(|entry| &entry.path).any(|other| {
        other != path
            && other != undef.file
            && other.file_name() == path.file_name()
            && !matches!(path.stem(), "index" | "__init__")
            && folder(other.directory()) == folder(path.directory())
    })
}

fn has_members(graph: &Graph<'_>, undef: &Undefined<'_>, one: &Suggestion) -> bool {
    let candidate = Candidate::of(one);
    let module =
        one.imported == "*" || (!undef.language.declares_exports && names_file(&candidate));
    if !module {
        return true;
    }
    covers(graph, undef.language, &candidate, &undef.usage) != Some(false)
}

/// Whether the file may take something from a module: its package declares it, or the file or its
/// neighbours take from that package already.
pub(super) fn is_declared(graph: &Graph<'_>, undef: &Undefined<'_>, module: &str) -> bool {
    graph.resolver().is_at_hand(undef.file, module) || is_in_use(undef, module)
}

/// Whether the file or its neighbours import from the module, or from the package it is part of.
pub(super) fn is_in_use(undef: &Undefined<'_>, module: &str) -> bool {
    let part = |module| undef.language.package(module);
    let wanted = part(module);
    let siblings = undef.siblings.iter().flat_map(|facts| &facts.imports);
    let mut all = undef.facts.imports.iter().chain(siblings);
    all.any(|import| part(&import.specifier) == wanted)
}
