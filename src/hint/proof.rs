use std::collections::BTreeSet;

use super::entity::{covers, names_file};
use super::evidence::Candidate;
use super::fix::inserted;
use super::idiom::Idiom;
use super::query::Undefined;
use crate::graph::Graph;
use crate::languages::python::spelling::place;
use crate::languages::{facts, uses, words};
use crate::model::{DefinitionKind, Import, ImportKind, RepoPath, Suggestion};
use crate::policy::is_test;

/// What keeps a suggestion from being called certain, where anything does: put into the file as the patch
/// would, it binds the name, leads to what it claims by the rules of the file's own package, has the members that
/// are used, is a value where one is needed, and the files that import each other still load. `kind` is what it leads to, when that is known.
pub(super) fn doubt(
    graph: &Graph<'_>,
    idiom: &dyn Idiom,
    undef: &Undefined<'_>,
    one: &Suggestion,
    kind: Option<DefinitionKind>,
) -> Option<&'static str> {
    let text = std::str::from_utf8(undef.text).ok();
    let text = text.and_then(|it| inserted(graph.resolver(), undef.file, it, one));
    let text = text.unwrap_or_default();
    let after = facts(undef.file, text.as_bytes());
    let mut top = after.imports.iter().filter(|import| !import.nested);
    let Some(import) = top.find(|import| import.binds(undef.name)) else {
        return Some("no place for it is known");
    };
    let loads = |path: &RepoPath| {
        let erased = import.type_only || undef.language.declares_exports && !undef.usage.value;
        erased || still_loads(graph, undef, path)
    };
    let proofs: [(&str, &dyn Fn() -> bool); 7] = [
        ("it leads elsewhere", &|| leads(graph, undef, one, import)),
        ("another module has its name", &|| {
            !has_twin(graph, undef, one)
        }),
        ("the name may be a fixture of tests", &|| {
            !may_be_fixture(graph, undef, one)
        }),
        ("a member that is used is not there", &|| {
            has_members(graph, undef, one)
        }),
        ("what uses the name comes first", &|| {
            comes_first(undef, text.as_bytes(), import)
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

// Whether the import is above the first use of its name; import statements of scripts are hoisted.
fn comes_first(undef: &Undefined<'_>, text: &[u8], import: &Import) -> bool {
    if undef.language.declares_exports && import.kind == ImportKind::Import {
        return true;
    }
    let used = uses(undef.file, text, undef.name).unwrap_or_default();
    let first = used.places.iter().min().copied().unwrap_or_default();
    let above = text.get(..first).unwrap_or_default();
    1 + memchr::memchr_iter(b'\n', above).count() >= import.line as usize
}

// Whether pytest may hand the name to a test as a parameter: the file that defines it, or what is loaded before the
// test, has fixtures and the name.
fn may_be_fixture(graph: &Graph<'_>, undef: &Undefined<'_>, one: &Suggestion) -> bool {
    let file = undef.file;
    if undef.language.declares_exports
        || !(is_test(file.as_str()) || file.file_name() == "conftest.py")
    {
        return false;
    }
    let path = one.path.as_ref();
    let mut files = graph.resolver().implicit(file);
    files.extend(path.and_then(|path| graph.defining(path, &one.imported)));
    files.iter().any(|path| {
        let text = graph.source().read(path).unwrap_or_default();
        memchr::memmem::find(&text, b"fixture").is_some()
            && words(&text, undef.name).next().is_some()
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
