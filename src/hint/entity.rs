use super::evidence::Candidate;
use super::query::Undefined;
use crate::graph::Graph;
use crate::languages::python::spelling::place;
use crate::languages::{Language, Uses};
use crate::model::{DefinitionKind, RepoPath};

/// What a candidate leads to: two that lead to one definition do not contradict each other.
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
    /// What the definition is, when its file says so: of a type and a value of one name, the value.
    pub(super) fn kind(&self, graph: &Graph<'_>, name: &str) -> Option<DefinitionKind> {
        let Self::Defined(path) = self else {
            return None;
        };
        let facts = graph.resolver().facts(path);
        let local = facts
            .exports
            .iter()
            .find(|export| export.name == name && export.from.is_none())
            .and_then(|export| export.local.as_deref());
        let kinds = facts
            .definitions
            .iter()
            .filter(|one| one.name == local.unwrap_or(name));
        kinds
            .map(|one| one.kind)
            .min_by_key(|kind| kind.is_erased())
    }
}

/// Follows a candidate through re-exports to what it means.
pub(super) fn entity(graph: &Graph<'_>, candidate: &Candidate, undef: &Undefined<'_>) -> Entity {
    let Some(path) = &candidate.path else {
        let module = candidate
            .module
            .strip_prefix("node:")
            .unwrap_or(&candidate.module);
        // The default export of a module of old is the module.
        let imported = match candidate.imported.as_str() {
            "default" if undef.language.declares_exports => "*",
            imported => imported,
        };
        return Entity::Outside(module.to_owned(), imported.to_owned());
    };
    if candidate.imported == "*" || (!undef.language.declares_exports && names_file(candidate)) {
        return Entity::File(path.clone());
    }
    // Another name behind an alias is followed by that name.
    Entity::Defined(
        graph
            .defining(path, &candidate.imported)
            .unwrap_or_else(|| path.clone()),
    )
}

/// Whether it is `from package import module`.
pub(super) fn names_file(candidate: &Candidate) -> bool {
    let Some(path) = &candidate.path else {
        return false;
    };
    let place = place(path);
    let last = place.rsplit('/').next().unwrap_or_default();
    last == candidate.imported && candidate.module.rsplit('.').next() != Some(last)
}

/// Whether the module has every member that the file uses; `None` when it uses none or nothing is known of the
/// module.
pub(super) fn covers(
    graph: &Graph<'_>,
    language: &Language,
    candidate: &Candidate,
    usage: &Uses,
) -> Option<bool> {
    let has = |member: &String| {
        let Some(path) = &candidate.path else {
            return library_has(language, &candidate.module, member);
        };
        let facts = graph.resolver().facts(path);
        let exported = facts.exports.iter().any(|export| export.name == *member);
        let module = || path.stem() == "__init__" && graph.has_module(path.directory(), member);
        Some(graph.defining(path, member).is_some() || exported || module())
    };
    usage
        .members
        .iter()
        .filter_map(has)
        .reduce(|all, one| all && one)
}

// Whether a module of the library has a member, where its table is whole: that of Node.js has few
// constants, and hardly a name of modules that repeat others (`path/posix`).
fn library_has(language: &Language, module: &str, member: &str) -> Option<bool> {
    const FEW: usize = 10;
    let module = module.strip_prefix("node:").unwrap_or(module);
    let typed = format!("{module} type");
    let mut names = language.exported(module).chain(language.exported(&typed));
    if names.any(|name| name == member) {
        return Some(true);
    }
    let constant = !member.bytes().any(|byte| byte.is_ascii_lowercase());
    let least = if language.declares_exports { FEW } else { 1 };
    let exports = language.exported(module).nth(least - 1).is_some();
    (exports && !(language.declares_exports && constant)).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::library_has;
    use crate::languages::{PYTHON, TYPESCRIPT};

    #[test]
    fn members_are_looked_up_in_the_library_of_the_language() {
        for (language, module, member, has) in [
            (&TYPESCRIPT, "node:http", "createServer", Some(true)),
            (&TYPESCRIPT, "http", "AgentOptions", Some(true)),
            (&TYPESCRIPT, "http", "HTTPStatus", Some(false)),
            // Constants, modules that repeat others, packages.
            (&TYPESCRIPT, "fs", "F_OK", None),
            (&TYPESCRIPT, "path/posix", "join", None),
            (&TYPESCRIPT, "json", "loads", None),
            (&PYTHON, "http", "HTTPStatus", Some(true)),
            (&PYTHON, "json", "parse", Some(false)),
            (&PYTHON, "express", "Router", None),
        ] {
            assert_eq!(
                library_has(language, module, member),
                has,
                "{module}.{member}"
            );
        }
    }
}
