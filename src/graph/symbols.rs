//! Follows an imported name to its definition, through re-exports.

use std::collections::{BTreeSet, HashSet};

use super::edges::{FileEdges, Graph};
use crate::languages::{Language, words};
use crate::model::{Export, Import, ImportKind, ImportedName, RepoPath};

/// Re-exports followed for one name, and files whose names a star passes on. A barrel may have hundreds of
/// stars; only a knot that never ends has thousands.
const MAX_STEPS: usize = 4_096;

impl Graph<'_> {
    /// The file that defines `name` as imported from `start`: behind re-exports, `export *`,
    /// aliases and what a package's `__init__` passes on.
    ///
    /// A name that comes from outside the repository leads to the last file that passes it on,
    /// unless that is `start` itself. `None` when the name leads nowhere.
    pub fn defining(&self, start: &RepoPath, name: &str) -> Option<RepoPath> {
        let mut seen = HashSet::new();
        // Where the name leaves the repository, when nothing in it defines the name.
        let mut last = None;
        // Depth first, in the order a module system would look: own names, then `export *`.
        let mut open = vec![(start.clone(), name.to_owned())];
        while let Some((file, name)) = open.pop() {
            if seen.len() > MAX_STEPS || !seen.insert((file.clone(), name.clone())) {
                continue;
            }
            if name == "*" {
                return Some(file);
            }
            let facts = self.resolver.facts(&file);
            let python = passes_on_all(&file);
            let own = facts.exports.iter().filter(|export| export.name == name);
            let mut found = false;
            let mut steps = Vec::new();
            for export in own {
                let Some(from) = &export.from else {
                    return Some(file);
                };
                found = true;
                let local = export.local.as_deref().unwrap_or(&export.name);
                let next = self.step(&file, from, local, python);
                if next.is_empty() && last.is_none() && file != *start {
                    last = Some(file.clone());
                }
                steps.extend(next);
            }
            if !found {
                if facts.definitions.iter().any(|definition| definition.name == name) {
                    return Some(file);
                }
                let stars = facts.exports.iter().filter(|export| export.name == "*");
                for from in stars.filter_map(|star: &Export| star.from.as_ref()) {
                    if name != "default" {
                        let to = self.files_of(&file, from, "*", python);
                        steps.extend(to.into_iter().map(|to| (to, name.clone())));
                    }
                }
            }
            open.extend(steps.into_iter().rev());
        }
        last
    }

    /// Whether imports bind a name by files of the repository that have no such name any more.
    pub fn has_lost(&self, file: &RepoPath, imports: &[Import], bound: &str) -> bool {
        let python = passes_on_all(file);
        // `import a.b as c` takes no name from `a.b`.
        let taking = imports.iter().filter(|one| !python || one.kind == ImportKind::From);
        let mut givers = taking.flat_map(|import| {
            let taken = import.names.iter().filter(|taken| taken.local() == bound);
            taken.flat_map(|taken| self.step(file, &import.specifier, &taken.name, python))
        });
        // A star or a default may give what the text does not name.
        let may_give = |(file, name): (RepoPath, String)| {
            let text = self.source.read(&file).unwrap_or_default();
            matches!(&*name, "*" | "default")
                || words(&text, &name).next().is_some()
                || self.resolver.facts(&file).exports.iter().any(|export| export.name == "*")
        };
        givers.next().is_some_and(|first| !may_give(first) && !givers.any(may_give))
    }

    /// The names that a file exports, be it by a star, and the submodules of a Python package;
    /// sorted.
    pub fn offered(&self, file: &RepoPath) -> Vec<String> {
        let mut names = BTreeSet::new();
        let mut files = vec![file.clone()];
        let mut at = 0;
        while let Some(file) = files.get(at).cloned().filter(|_| at < MAX_STEPS) {
            at += 1;
            let python = passes_on_all(&file);
            for export in &self.resolver.facts(&file).exports {
                match (export.name.as_str(), &export.from) {
                    ("default", _) | ("*", None) => {}
                    ("*", Some(from)) => {
                        let new = self.files_of(&file, from, "*", python).into_iter().take(1);
                        files.extend(new.filter(|file| !files.contains(file)).collect::<Vec<_>>());
                    }
                    (name, _) => {
                        names.insert(name.to_owned());
                    }
                }
            }
        }
        if file.stem() == "__init__" {
            names.extend(self.list_submodules(file.directory()));
        }
        names.into_iter().collect()
    }

    fn list_submodules(&self, directory: &str) -> impl Iterator<Item = String> {
        self.source.listing().below(directory).iter().filter_map(move |entry| {
            let rest = entry.path.as_str().strip_prefix(directory)?;
            let rest = rest.strip_prefix('/').unwrap_or(rest);
            let module = rest.strip_suffix("/__init__.py").or_else(|| rest.strip_suffix(".py"))?;
            (!module.contains('/') && module != "__init__").then(|| module.to_owned())
        })
    }

    /// Whether a directory holds a Python module or package of this name.
    pub fn has_module(&self, directory: &str, name: &str) -> bool {
        let listing = self.source.listing();
        ["py", "pyi"].iter().any(|extension| {
            listing.has_file(&format!("{directory}/{name}.{extension}"))
                || listing.has_file(&format!("{directory}/{name}/__init__.{extension}"))
        })
    }

    // Where a re-export of `local` from `from` leads.
    fn step(
        &self,
        file: &RepoPath,
        from: &str,
        local: &str,
        python: bool,
    ) -> Vec<(RepoPath, String)> {
        self.files_of(file, from, local, python)
            .into_iter()
            .map(|to| {
                let whole = local == "*" || (python && is_module(&to, from, local));
                let name = if whole { "*" } else { local };
                (to, name.to_owned())
            })
            .collect()
    }

    fn files_of(&self, file: &RepoPath, from: &str, name: &str, python: bool) -> Vec<RepoPath> {
        let module = python && name == "*" && !from.starts_with('.');
        let import = Import {
            kind: match (python, module) {
                (true, true) => ImportKind::Import,
                (true, false) => ImportKind::From,
                _ => ImportKind::ExportFrom,
            },
            names: vec![ImportedName::new(name, None)],
            ..Import::from_specifier(from)
        };
        let mut files = self.resolver.resolve(file, &import).files;
        files.truncate(2);
        files
    }

    /// For one import of a file: the names it takes, each with the file that defines it.
    pub fn defined(&self, edges: &FileEdges, at: usize) -> Vec<(String, RepoPath)> {
        let (Some(import), Some(resolution)) =
            (edges.facts.imports.get(at), edges.resolutions.get(at))
        else {
            return Vec::new();
        };
        let python = passes_on_all(&edges.path);
        let names = import.names.iter().map(|name| &name.name);
        let found = names.filter(|name| *name != "*").filter_map(|wanted| {
            let file = resolution.files.iter().find_map(|file| {
                if python && is_module(file, &import.specifier, wanted) {
                    return Some(file.clone());
                }
                self.defining(file, wanted)
            });
            Some((wanted.clone(), file?))
        });
        found.collect()
    }
}

// Whether others may take all that a file binds, as in Python.
fn passes_on_all(file: &RepoPath) -> bool {
    Language::of_path(file.as_str()).is_some_and(|language| !language.declares_exports)
}

// Whether `from x import name` gave the submodule `name` itself and not the package it is in.
pub(super) fn is_module(file: &RepoPath, specifier: &str, name: &str) -> bool {
    let package = specifier.rsplit('.').next().unwrap_or_default();
    let (directory, own) = match file.stem() {
        "__init__" => file.directory().rsplit_once('/').unwrap_or(("", file.directory())),
        stem => (file.directory(), stem),
    };
    let above = directory.rsplit('/').next().unwrap_or_default();
    own == name && (package.is_empty() || above == package)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::graph::{Graph, cycles};
    use crate::languages::{Resolver, facts};
    use crate::model::RepoPath;
    use crate::source::Memory;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).unwrap()
    }

    fn memory(files: &[(&str, &str)]) -> Memory {
        Memory::named(files.iter().copied())
    }

    // A row of `cases.toml`.
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Case {
        says: String,
        files: BTreeMap<String, String>,
        #[serde(default)]
        leads: BTreeMap<String, Vec<String>>,
        #[serde(default)]
        defines: BTreeMap<String, String>,
    }

    #[test]
    fn resolver_follows_table_of_imports_and_names() {
        let mut all: BTreeMap<String, Vec<Case>> =
            toml::from_str(include_str!("../../tests/reading/imports/cases.toml")).unwrap();
        for Case {
            says,
            files,
            leads,
            defines,
        } in all.remove("case").unwrap()
        {
            let tree: Vec<_> = files.iter().map(|(at, text)| (&**at, &**text)).collect();
            let source = memory(&tree);
            let resolver = Resolver::new(&source);
            for (from, expected) in leads {
                let imports = facts(&path(&from), files[&from].as_bytes()).imports;
                let found = imports.iter().map(|import| {
                    let found = resolver.resolve(&path(&from), import);
                    let files: Vec<&str> = found.files.iter().map(RepoPath::as_str).collect();
                    let target = match found.external {
                        Some(name) => format!("({name})"),
                        None if files.is_empty() => "?".to_owned(),
                        None => files.join(" "),
                    };
                    format!("{} -> {target}", import.specifier)
                });
                assert_eq!(found.collect::<Vec<_>>(), expected, "{says}");
            }
            for (asked, expected) in defines {
                let (file, name) = asked.split_once(' ').unwrap();
                let found = Graph::new(&source).defining(&path(file), name);
                let found = found.as_ref().map_or("?", RepoPath::as_str);
                assert_eq!(found, expected, "{says}: {asked}");
            }
        }
    }

    #[test]
    fn imports_lose_names_that_their_module_lost() {
        let source = memory(&[
            ("p/__init__.py", ""),
            ("p/new.py", "def decode_url(): ...\n"),
            ("p/lazy.py", "from .new import *\n"),
            ("p/a.ts", "export const fresh = 1;\nexport default fresh;\n"),
        ]);
        let graph = Graph::new(&source);
        for (file, text, bound, expected) in [
            ("p/use.py", "from .new import decode\n", "decode", true),
            ("p/use.py", "from p.new import decode as d\n", "d", true),
            (
                "p/use.py",
                "from .new import decode_url\n",
                "decode_url",
                false,
            ),
            ("p/use.py", "from .lazy import decode\n", "decode", false),
            ("p/use.py", "from . import new\n", "new", false),
            ("p/use.py", "import p.new as decode\n", "decode", false),
            ("p/use.py", "from six import decode\n", "decode", false),
            ("p/use.ts", "import { stale } from './a';\n", "stale", true),
            ("p/use.ts", "import { fresh } from './a';\n", "fresh", false),
            ("p/use.ts", "import stale from './a';\n", "stale", false),
        ] {
            let imports = facts(&path(file), text.as_bytes()).imports;
            let found = graph.has_lost(&path(file), &imports, bound);
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn resolver_adds_conftests_above_a_test() {
        let source = memory(&[
            ("conftest.py", ""),
            ("tests/conftest.py", ""),
            ("tests/unit/test_a.py", ""),
            ("src/m.py", ""),
        ]);
        let resolver = Resolver::new(&source);
        assert_eq!(
            resolver.implicit(&path("tests/unit/test_a.py")),
            [path("tests/conftest.py"), path("conftest.py")]
        );
        assert!(resolver.implicit(&path("src/m.py")).is_empty());
    }

    #[test]
    fn defining_reads_barrel_with_hundreds_of_stars() {
        let modules: Vec<(String, String)> = (0..300)
            .map(|at| (format!("m{at}.ts"), format!("export const n{at} = 1;\n")))
            .collect();
        let barrel: String = (0..300).map(|at| format!("export * from './m{at}';\n")).collect();
        let mut files: Vec<(&str, &str)> = vec![("index.ts", &barrel)];
        files.extend(modules.iter().map(|(name, text)| (&name[..], &text[..])));
        let source = memory(&files);
        let (graph, index) = (Graph::new(&source), path("index.ts"));
        assert_eq!(graph.defining(&index, "n299"), Some(path("m299.ts")));
        assert_eq!(graph.offered(&index).len(), 300);
    }

    #[test]
    fn symbol_closure_reaches_definition_in_one_hop() {
        let source = memory(&[
            ("t.ts", "import { far, near } from './index';\n"),
            (
                "index.ts",
                "export * from './a';\nexport { near } from './b';\n",
            ),
            ("a.ts", "export const far = 1;\n"),
            ("b.ts", "export function near() {}\n"),
        ]);
        let closure = Graph::new(&source).imported(&[path("t.ts")], 1, true);
        let reached: Vec<&str> = closure.nodes.iter().map(|node| node.path.as_str()).collect();
        assert_eq!(reached, ["t.ts", "a.ts", "b.ts", "index.ts"]);
    }

    #[test]
    fn cycles_skip_imports_inside_functions() {
        let knots = |b: &str| {
            let source = memory(&[("a.py", "import b\n"), ("b.py", b)]);
            cycles(&Graph::new(&source).whole()).len()
        };
        for (b, expected) in [
            ("import a\n", 1),
            ("try:\n    import a\nexcept ImportError:\n    a = None\n", 1),
            ("def f():\n    import a\n    return a\n", 0),
            (
                "class F:\n    def f(self):\n        import a\n        return a\n",
                0,
            ),
        ] {
            assert_eq!(knots(b), expected, "{b}");
        }
    }
}
