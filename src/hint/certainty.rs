//! Checks a candidate before it is called certain: it must resolve, bind the name and close no import
//! cycle. Otherwise a sure fix could break the program.
//!
//! `certain` is set in three places: `choose` for undefined names, `exports` for missing exports, `modules` for
//! modules that do not resolve. Two lower it: `exports` where the old module is a package's index or the file is a
//! test, `fixes::imports` for a replaced import in a test and for changes that policy refuses.

use std::collections::BTreeSet;

use super::evidence::Candidate;
use super::fix::insert_import;
use super::import_style::ImportStyle;
use super::query::Undefined;
use crate::graph::Graph;
use crate::languages::python::spelling::module_place;
use crate::languages::{Has, Language, exported, facts, uses, words};
use crate::model::{DefinitionKind, HintSource, Import, ImportKind, RepoPath, Suggestion};
use crate::policy::is_test;

/// The definition that a candidate leads to: two that lead to one do not contradict each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Entity {
    /// A file of the repository as a whole.
    File(RepoPath),
    /// The name, as this file defines it.
    Defined(RepoPath),
    /// A name of a module outside, or `*` for the module.
    Outside(String, String),
}

impl Entity {
    /// Returns the kind of definition; of a type and a value of one name, the value.
    pub(super) fn kind(&self, graph: &Graph<'_>, name: &str) -> Option<DefinitionKind> {
        let Self::Defined(path) = self else {
            return None;
        };
        let facts = graph.resolver().facts(path);
        let mut exports = facts.exports.iter();
        let export = exports.find(|export| export.name == name && export.from.is_none());
        let local = export.and_then(|export| export.local.as_deref()).unwrap_or(name);
        let kinds = facts.definitions.iter().filter(|one| one.name == local).map(|one| one.kind);
        kinds.min_by_key(|kind| kind.is_erased())
    }
}

/// Follows a candidate through re-exports to its definition.
pub(super) fn candidate_entity(candidate: &Candidate, undef: &Undefined<'_>) -> Entity {
    let declares = undef.language.declares_exports;
    let Some(path) = &candidate.path else {
        let module = &candidate.module;
        let module = module.strip_prefix("node:").unwrap_or(module);
        // The default export of a CommonJS module is the module.
        let imported = match candidate.imported.as_str() {
            "default" if declares => "*",
            imported => imported,
        };
        return Entity::Outside(module.to_owned(), imported.to_owned());
    };
    if candidate.imported == "*" || (!declares && names_submodule(candidate)) {
        return Entity::File(path.clone());
    }
    let definer = undef.graph.defining(path, &candidate.imported);
    Entity::Defined(definer.unwrap_or_else(|| path.clone()))
}

// Whether it is `from package import module`.
fn names_submodule(candidate: &Candidate) -> bool {
    let Some(path) = &candidate.path else {
        return false;
    };
    let place = module_place(path);
    let last = place.rsplit('/').next().unwrap_or_default();
    last == candidate.imported && candidate.module.rsplit('.').next() != Some(last)
}

/// Checks whether the module has every member that the file uses; `None` when it uses none or the module is unknown.
pub(super) fn covers_candidate(undef: &Undefined<'_>, candidate: &Candidate) -> Option<bool> {
    let has = undef.usage.members.iter().filter_map(|member| {
        let Some(path) = &candidate.path else {
            return library_has(undef.language, &candidate.module, member);
        };
        let facts = undef.graph.resolver().facts(path);
        let exported = facts.exports.iter().any(|export| export.name == *member);
        Some(
            undef.graph.defining(path, member).is_some()
                || exported
                || path.stem() == "__init__" && undef.graph.has_module(path.directory(), member),
        )
    });
    has.reduce(|all, one| all && one)
}

// Whether a module of the library has a member. The table of Node.js has few constants.
fn library_has(language: &Language, module: &str, member: &str) -> Option<bool> {
    let module = module.strip_prefix("node:").unwrap_or(module);
    let typed = format!("{module} type");
    let names = language.exported(module);
    let mut names = names.chain(language.exported(&typed)).peekable();
    names.peek()?;
    let constant = !member.bytes().any(|byte| byte.is_ascii_lowercase());
    let has = names.any(|name| name == member);
    (has || !(language.declares_exports && constant)).then_some(has)
}

/// Returns why a suggestion is not certain: written into the file as the patch would, it must bind the name above
/// its first use, lead to the definition that it claims, have the members that are used, be a value where one is
/// needed, and the files that import each other must still load. `kind` is the kind of the definition, if known.
pub(super) fn why_uncertain(
    style: &dyn ImportStyle,
    undef: &Undefined<'_>,
    one: &Suggestion,
    kind: Option<DefinitionKind>,
) -> Option<&'static str> {
    let text = std::str::from_utf8(undef.text).ok();
    let text = text.and_then(|text| insert_import(undef.graph.resolver(), undef.file, text, one));
    let text = text.unwrap_or_default();
    let after = facts(undef.file, text.as_bytes());
    let mut top = after.imports.iter().filter(|import| !import.nested);
    let Some(import) = top.find(|import| import.binds(undef.name)) else {
        return Some("the file has no place for an import");
    };
    let is_named = one.path.is_none() && !matches!(one.imported.as_str(), "*" | "default");
    let is_known = !is_named || one.source == HintSource::Stdlib;
    let has_name = is_known
        || exported(undef.installed, undef.file, &one.module, &one.imported) != Some(Has::Nothing);
    let leads_there = leads_to(undef, one, import);
    let is_no_fixture = !may_be_fixture(undef, one);
    let has_members = has_members(undef, one);
    let is_first = comes_first(undef, text.as_bytes(), import);
    let is_suited = style.suits_import(undef, one, import, kind);
    let proofs = [
        (has_name, "the installed package has no such name"),
        (leads_there, "it resolves to another file"),
        (is_no_fixture, "the name may be a fixture of tests"),
        (has_members, "a member that the file uses is missing"),
        (is_first, "the name is used above the imports"),
        (is_suited, "the package or the module system refuses it"),
    ];
    let failed = proofs.iter().find(|(holds, _)| !holds);
    // Last, because it reads all that the other file loads.
    failed.map(|(_, doubt)| *doubt).or_else(|| {
        let erased = import.type_only || undef.language.declares_exports && !undef.usage.value;
        let path = one.path.as_ref().filter(|_| !erased);
        path.is_some_and(|path| !still_loads(undef, path))
            .then_some("the modules may import each other")
    })
}

// Whether the import can be part of no cycle: nothing that the other file loads leads back to this one, or to a
// package around it whose names may not be bound yet.
fn still_loads(undef: &Undefined<'_>, target: &RepoPath) -> bool {
    let mut around = package_files(undef.file, undef);
    around.push(undef.file.clone());
    let mut seen: BTreeSet<RepoPath> = BTreeSet::new();
    let mut open = vec![target.clone()];
    while let Some(path) = open.pop() {
        // Bounds the search for import cycles; beyond it nothing is proven.
        if seen.len() > 5_000 {
            return false;
        }
        let edges = undef.graph.file(&path);
        let all = edges.facts.imports.iter().zip(&edges.resolutions);
        let needed = all.filter(|(import, _)| !import.type_only);
        let mut loaded: Vec<RepoPath> = needed.flat_map(|(_, found)| found.files.clone()).collect();
        if loaded.iter().any(|next| around.contains(next)) {
            return false;
        }
        let inits = package_files(&path, undef).into_iter();
        loaded.extend(inits.filter(|init| !around.contains(init)));
        open.extend(loaded.into_iter().filter(|next| seen.insert(next.clone())));
    }
    true
}

fn package_files(path: &RepoPath, undef: &Undefined<'_>) -> Vec<RepoPath> {
    let folders = path.ancestors().filter(|folder| !folder.is_empty());
    let inits = folders.map(|folder| RepoPath::new(&format!("{folder}/__init__.py")));
    let is_python = path.extension() == Some("py");
    let inits = inits.filter_map(Result::ok).filter(|_| is_python);
    inits.take_while(|init| undef.graph.resolver().is_file(init)).collect()
}

// Whether the import is above the first use of its name. Scripts pass always, since their import statements are
// hoisted.
fn comes_first(undef: &Undefined<'_>, text: &[u8], import: &Import) -> bool {
    if undef.language.declares_exports && import.kind == ImportKind::Import {
        return true;
    }
    let used = uses(undef.file, text, undef.name).unwrap_or_default();
    let first = used.places.iter().min().copied().unwrap_or_default();
    let above = text.get(..first).unwrap_or_default();
    1 + memchr::memchr_iter(b'\n', above).count() >= import.line as usize
}

// Whether pytest may hand the name to a test as a parameter: the file that defines it, or one that is loaded before
// the test, has fixtures and the name.
fn may_be_fixture(undef: &Undefined<'_>, one: &Suggestion) -> bool {
    let is_of_tests = is_test(undef.file.as_str()) || undef.file.file_name() == "conftest.py";
    if undef.language.declares_exports || !is_of_tests {
        return false;
    }
    let mut files = undef.graph.resolver().implicit(undef.file);
    files.extend(one.path.clone());
    files.iter().any(|path| {
        let text = undef.graph.source().read(path).unwrap_or_default();
        memchr::memmem::find(&text, b"fixture").is_some()
            && words(&text, undef.name).next().is_some()
    })
}

fn leads_to(undef: &Undefined<'_>, one: &Suggestion, import: &Import) -> bool {
    let mut import = import.clone();
    import.names.retain(|taken| taken.local() == undef.name);
    let found = undef.graph.resolver().resolve(undef.file, &import);
    match &one.path {
        Some(path) => found.files.contains(path),
        None => {
            let outside = found.files.is_empty() && found.external.is_some();
            outside || undef.language.is_standard(&import.specifier)
        }
    }
}

fn has_members(undef: &Undefined<'_>, one: &Suggestion) -> bool {
    let candidate = Candidate::new(&*one.module, &*one.imported, one.path.clone());
    let module =
        one.imported == "*" || (!undef.language.declares_exports && names_submodule(&candidate));
    !module || covers_candidate(undef, &candidate) != Some(false)
}

/// Checks whether the file may take something from a module: its package declares it, or the file or its neighbors
/// take from that package already.
pub(super) fn is_declared(undef: &Undefined<'_>, module: &str) -> bool {
    undef.graph.resolver().is_at_hand(undef.file, module) || is_in_use(undef, module)
}

/// Checks whether the file or its neighbors import from the module's package.
pub(super) fn is_in_use(undef: &Undefined<'_>, module: &str) -> bool {
    let wanted = undef.language.package(module);
    let siblings = undef.siblings.iter().flat_map(|facts| &facts.imports);
    let mut all = undef.facts.imports.iter().chain(siblings);
    all.any(|import| undef.language.package(&import.specifier) == wanted)
}
