//! Resolves Python imports.

use super::language::is_standard;
use super::roots;
use crate::languages::files::{child, join_path};
use crate::languages::resolver::{Resolution, Resolver};
use crate::model::{FileFacts, Import, ImportKind, RepoPath};

/// What a Python import means.
pub(super) fn resolve(resolver: &Resolver<'_>, from: &RepoPath, import: &Import) -> Resolution {
    let found = module_of(resolver, from, import);
    // A string may go on to name a class or function in the module.
    if found.files.is_empty()
        && import.kind == ImportKind::Importlib
        && let Some((above, attribute)) = import.specifier.rsplit_once('.')
        && !attribute.is_empty()
    {
        let shorter = Import {
            specifier: above.to_owned(),
            ..import.clone()
        };
        let shorter = module_of(resolver, from, &shorter);
        if !shorter.files.is_empty() {
            return shorter;
        }
    }
    found
}

fn module_of(resolver: &Resolver<'_>, from: &RepoPath, import: &Import) -> Resolution {
    let dots = import.specifier.bytes().take_while(|byte| *byte == b'.').count();
    let module = import.specifier.get(dots..).unwrap_or_default();
    let parts: Vec<&str> = module.split('.').filter(|part| !part.is_empty()).collect();
    if dots > 0 {
        return resolve_relative(resolver, from, dots, &parts, import);
    }
    let Some(first) = parts.first() else {
        return Resolution::default();
    };
    let roots = roots::find_roots(resolver, from);
    let standard = is_standard(first);
    let hoped = if standard { &[][..] } else { &roots.hoped[..] };
    let mut namespaces = Vec::new();
    let mut within_root = false;
    let mut tried = Vec::new();
    for root in roots.certain().chain(hoped) {
        match find_module(resolver, root, &parts) {
            Found::Module(module) => {
                // The standard library wins, because a stray `types.py` beside a script does not replace it.
                if standard && module.is_lone(root, first) {
                    continue;
                }
                return resolve_named(resolver, &module, import);
            }
            Found::Namespace(directory) => namespaces.push(directory),
            Found::Missing { within } => {
                within_root |= within;
                if tried.len() < 12 {
                    tried.push(child(root, &parts.join("/")));
                }
            }
        }
    }
    if !standard && let Some(found) = in_namespaces(resolver, &namespaces, import) {
        return found;
    }
    if within_root && !standard {
        return Resolution {
            tried,
            ..Resolution::default()
        };
    }
    Resolution::external(*first)
}

/// The `conftest.py` of the file's directory and of those above, nearest first, for tests.
pub(super) fn find_conftests(resolver: &Resolver<'_>, from: &RepoPath) -> Vec<RepoPath> {
    let name = from.file_name();
    let is_test = name.starts_with("test_") || name.ends_with("_test.py") || name == "conftest.py";
    if !is_test || from.extension() != Some("py") {
        return Vec::new();
    }
    let files = &resolver.files;
    from.ancestors()
        .filter_map(|directory| files.file(&child(directory, "conftest.py")))
        .filter(|path| *path != from)
        .cloned()
        .collect()
}

enum Found {
    Module(Module),
    Namespace(String),
    /// `within`: the first part is a package of ours that lacks the rest.
    Missing {
        within: bool,
    },
}

/// A module file; for a package the directory it opens.
struct Module {
    files: Vec<RepoPath>,
    package: Option<String>,
}

impl Module {
    // A single module directly in a root, not a package.
    fn is_lone(&self, root: &str, name: &str) -> bool {
        self.package.is_none()
            && self
                .files
                .first()
                .is_some_and(|file| file.directory() == root && file.stem() == name)
    }
}

// A package goes before a module of the same name.
fn module_at(resolver: &Resolver<'_>, path: &str) -> Option<Module> {
    if path.is_empty() {
        return None;
    }
    package_at(resolver, path).or_else(|| {
        let files = with_stub(resolver, path);
        let package = None;
        (!files.is_empty()).then_some(Module { files, package })
    })
}

fn package_at(resolver: &Resolver<'_>, directory: &str) -> Option<Module> {
    let files = with_stub(resolver, &child(directory, "__init__"));
    let package = Some(directory.to_owned());
    (!files.is_empty()).then_some(Module { files, package })
}

// The file of a module and its stub.
fn with_stub(resolver: &Resolver<'_>, stem: &str) -> Vec<RepoPath> {
    let stub = [stem, ".pyi"].concat();
    let paths = [&stub[..stub.len() - 1], &stub];
    paths.iter().filter_map(|path| resolver.files.file(path)).cloned().collect()
}

fn find_module(resolver: &Resolver<'_>, root: &str, parts: &[&str]) -> Found {
    let path = child(root, &parts.join("/"));
    if let Some(module) = module_at(resolver, &path) {
        return Found::Module(module);
    }
    if resolver.files.has_directory(&path) {
        return Found::Namespace(path);
    }
    let within = parts.len() > 1
        && parts
            .first()
            .is_some_and(|first| roots::is_package(resolver, &child(root, first)));
    Found::Missing { within }
}

fn resolve_relative(
    resolver: &Resolver<'_>,
    from: &RepoPath,
    dots: usize,
    parts: &[&str],
    import: &Import,
) -> Resolution {
    let Some(base) = from.ancestors().nth(dots - 1) else {
        return Resolution {
            tried: vec![format!("{} leaves the repository", import.specifier)],
            ..Resolution::default()
        };
    };
    let path = join_path(base, &parts.join("/")).unwrap_or_default();
    let module = if parts.is_empty() {
        package_at(resolver, &path)
    } else {
        module_at(resolver, &path)
    };
    if let Some(module) = module {
        return resolve_named(resolver, &module, import);
    }
    if resolver.files.has_directory(&path)
        && let Some(found) = in_namespaces(resolver, std::slice::from_ref(&path), import)
    {
        return found;
    }
    Resolution {
        tried: vec![format!("{path}.py"), child(&path, "__init__.py")],
        ..Resolution::default()
    }
}

// `from p import a, b`: a name the package binds is the package's; else a submodule of that name.
fn resolve_named(resolver: &Resolver<'_>, module: &Module, import: &Import) -> Resolution {
    let mut submodules = Vec::new();
    let mut whole = import.names.is_empty();
    if let (Some(directory), ImportKind::From) = (&module.package, import.kind) {
        for name in &import.names {
            let submodule = module_at(resolver, &child(directory, &name.name));
            match submodule {
                Some(submodule)
                    if name.name != "*" && !binds_name(resolver, module, directory, &name.name) =>
                {
                    submodules.extend(submodule.files);
                }
                _ => whole = true,
            }
        }
    } else {
        whole = true;
    }
    if whole {
        submodules.extend(module.files.iter().cloned());
    }
    Resolution::distinct(submodules)
}

// Whether the package's own code binds the name to something that is not the submodule itself.
fn binds_name(resolver: &Resolver<'_>, module: &Module, directory: &str, name: &str) -> bool {
    let Some(init) = module.files.first() else {
        return false;
    };
    let mentions = resolver
        .source
        .read(init)
        .is_ok_and(|bytes| memchr::memmem::find(&bytes, name.as_bytes()).is_some());
    mentions && binds_other(&resolver.facts(init), directory, name)
}

fn binds_other(facts: &FileFacts, directory: &str, name: &str) -> bool {
    let package = directory.rsplit('/').next().unwrap_or_default();
    facts.exports.iter().filter(|export| export.name == name).any(|export| {
        match (&export.from, &export.local) {
            (None, _) => true,
            // `from . import name`, `from pkg import name`: the submodule itself.
            (Some(from), None) => {
                let last = from.rsplit('.').next().unwrap_or_default();
                !(last.is_empty() || last == package)
            }
            (Some(from), Some(local)) => {
                let last = from.rsplit('.').next().unwrap_or_default();
                !(local == "*" && last == name)
            }
        }
    })
}

fn in_namespaces(
    resolver: &Resolver<'_>,
    directories: &[String],
    import: &Import,
) -> Option<Resolution> {
    if import.kind != ImportKind::From {
        return None;
    }
    let mut files = Vec::new();
    for name in &import.names {
        let module = directories
            .iter()
            .find_map(|directory| module_at(resolver, &child(directory, &name.name)));
        if let Some(module) = module {
            files.extend(module.files);
        }
    }
    (!files.is_empty()).then(|| Resolution::distinct(files))
}
